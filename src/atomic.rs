//! Files and directories that appear complete or not at all.
//!
//! Everything is written beside its final name, flushed to the disk, and renamed into place.
//! A crash at any moment leaves the old content or the new, never a mixture; the temporary
//! names begin with a dot so that no reader takes them for data. A process that ends otherwise
//! than by a kill leaves none of them ([`crate::closing`]).

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::closing::{Close, Kept};

/// Why a file or directory could not be put in place.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {path}: {source}")]
pub struct AtomicError {
    /// The final path.
    pub path: String,
    /// What the system said.
    pub source: io::Error,
}

impl AtomicError {
    fn at(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self { path: path.display().to_string(), source }
    }
}

/// Writes `bytes` to `path`, complete or not at all; parent directories are made.
///
/// # Errors
/// When the directory cannot be made or written; what was at `path` is then untouched.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<(), AtomicError> {
    let staged = StagedFile::new(path)?;
    (&staged.file).write_all(bytes).map_err(AtomicError::at(path))?;
    staged.commit()
}

/// A file under construction, which [`StagedFile::commit`] puts in place whole.
///
/// Dropped without a commit, it is removed. What is no file, such as a pipe or `/dev/stdout`, is
/// written to as it stands: it must not be replaced by a file.
#[derive(Debug)]
pub(crate) struct StagedFile {
    target: PathBuf,
    /// `None` where the target itself is written to.
    staged: Option<Kept<Staging>>,
    file: File,
}

/// What has a temporary name; nothing any more once it was put in place or removed.
#[derive(Debug)]
struct Staging(Option<PathBuf>);

impl Staging {
    fn keep(path: PathBuf) -> Kept<Self> {
        Kept::new(Self(Some(path)))
    }

    fn remove(&mut self) {
        let Some(path) = self.0.take() else { return };
        // What cannot be removed is hidden from readers and harms no one.
        let _ = if path.is_dir() { remove_tree(&path) } else { fs::remove_file(path) };
    }
}

impl Close for Staging {
    fn close_now(&mut self) {
        self.remove();
    }
}

impl StagedFile {
    /// Starts a file that will stand at `target`; parent directories are made.
    ///
    /// # Errors
    /// When the parent cannot be made or written.
    pub(crate) fn new(target: &Path) -> Result<Self, AtomicError> {
        let start = || {
            if fs::metadata(target).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
                let file = File::options().write(true).open(target)?;
                return Ok(Self { target: target.to_owned(), staged: None, file });
            }
            make_parent(target)?;
            // A link stays one: what it leads to is replaced.
            let target = fs::canonicalize(target).unwrap_or_else(|_| target.to_owned());
            let staged = staging_name(&target);
            let file = File::create_new(&staged)?;
            Ok(Self { target, staged: Some(Staging::keep(staged)), file })
        };
        start().map_err(AtomicError::at(target))
    }

    /// What to write to meanwhile.
    #[must_use]
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Flushes everything to the disk and puts the file in place of what stood there.
    ///
    /// # Errors
    /// When the system refuses; what stood at the target is then untouched.
    pub(crate) fn commit(self) -> Result<(), AtomicError> {
        let Some(staged) = &self.staged else { return Ok(()) };
        let mut staging = staged.lock();
        let mut publish = || {
            self.file.sync_all()?;
            if let Some(staged) = &staging.0 {
                fs::rename(staged, &self.target)?;
            }
            staging.0 = None;
            sync_directory(&parent_of(&self.target))
        };
        publish().map_err(AtomicError::at(&self.target))
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        if let Some(staged) = &self.staged {
            staged.lock().remove();
        }
    }
}

/// Removes what killed processes left of [`write_file`] to `path`, which no living one writes.
pub(crate) fn remove_staged(path: &Path) {
    let prefix = staging_prefix(path);
    for entry in fs::read_dir(parent_of(path)).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            // What stays is hidden from readers and harms no one.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// A directory under construction, which [`StagedDirectory::commit`] puts in place whole.
///
/// Dropped without a commit, it is removed; what a killed process left is removed by the next that
/// stages for the same target.
#[derive(Debug)]
pub(crate) struct StagedDirectory {
    target: PathBuf,
    staged: PathBuf,
    staging: Kept<Staging>,
    /// Locked as long as someone works in it.
    held: File,
}

impl StagedDirectory {
    /// Starts a directory that will stand at `target`; parent directories are made.
    ///
    /// # Errors
    /// When the parent cannot be made or written.
    pub(crate) fn new(target: &Path) -> Result<Self, AtomicError> {
        let stage = || {
            make_parent(target)?;
            remove_abandoned(target);
            loop {
                let staged = staging_name(target);
                fs::create_dir(&staged)?;
                // Whoever looks whether it is abandoned holds the lock for a moment. Where the file
                // system has no locks, nothing is ever taken for abandoned either.
                let held = File::open(&staged).inspect(|directory| drop(directory.lock()));
                match held {
                    Ok(held) if staged.is_dir() => return Ok((staged, held)),
                    Err(error) if staged.is_dir() => return Err(error),
                    // It was taken for abandoned before it was locked.
                    _ => {}
                }
            }
        };
        let (staged, held) = stage().map_err(AtomicError::at(target))?;
        Ok(Self { target: target.to_owned(), staging: Staging::keep(staged.clone()), staged, held })
    }

    /// Where to write meanwhile.
    #[must_use]
    pub(crate) fn path(&self) -> &Path {
        &self.staged
    }

    /// Flushes everything to the disk and puts the directory in place. What stood at the target
    /// is exchanged in the same instant and then removed.
    ///
    /// # Errors
    /// When the system refuses; what stood at the target is then untouched.
    pub(crate) fn commit(self) -> Result<(), AtomicError> {
        let mut staging = self.staging.lock();
        let publish = || -> io::Result<()> {
            // Who may look at the old content may look at the new, and no one else.
            if let Ok(old) = fs::metadata(&self.target) {
                fs::set_permissions(&self.staged, old.permissions())?;
            }
            rustix::fs::syncfs(&self.held)?;
            publish(&self.staged, &self.target)?;
            sync_directory(&parent_of(&self.target))
        };
        publish().map_err(AtomicError::at(&self.target))?;
        // After an exchange the old content stands under the staging name.
        staging.remove();
        Ok(())
    }
}

impl Drop for StagedDirectory {
    fn drop(&mut self) {
        self.staging.lock().remove();
    }
}

/// Removes what killed processes left of directories staged for `target`: what is locked by no one.
fn remove_abandoned(target: &Path) {
    let prefix = staging_prefix(target);
    for entry in fs::read_dir(parent_of(target)).into_iter().flatten().flatten() {
        let is_staged = entry.file_name().to_string_lossy().starts_with(&prefix);
        if !is_staged || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        // Locked until it is gone: whoever made it this instant waits, and makes another.
        if let Ok(directory) = File::open(entry.path())
            && directory.try_lock().is_ok()
        {
            let _ = remove_tree(&entry.path());
        }
    }
}

/// Removes a directory, also one that its owner made read-only.
fn remove_tree(path: &Path) -> io::Result<()> {
    fn open_up(path: &Path) {
        use std::os::unix::fs::PermissionsExt;
        const OWNER: u32 = 0o700;
        let _ = fs::set_permissions(path, fs::Permissions::from_mode(OWNER));
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open_up(&entry.path());
            }
        }
    }
    fs::remove_dir_all(path).or_else(|_| {
        open_up(path);
        fs::remove_dir_all(path)
    })
}

/// Renames `staged` to `target`, exchanging the two where something stands there already.
fn publish(staged: &Path, target: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, staged, CWD, target, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        Err(Errno::EXIST) => match renameat_with(CWD, staged, CWD, target, RenameFlags::EXCHANGE) {
            // Some network file systems know neither flag: two renames, the old content kept aside.
            Err(Errno::INVAL | Errno::NOSYS) => swap_in_two(staged, target),
            other => Ok(other?),
        },
        Err(Errno::INVAL | Errno::NOSYS) if !target.exists() => fs::rename(staged, target),
        Err(Errno::INVAL | Errno::NOSYS) => swap_in_two(staged, target),
        Err(error) => Err(error.into()),
    }
}

/// The exchange in two steps; a failure of the second is undone.
fn swap_in_two(staged: &Path, target: &Path) -> io::Result<()> {
    let aside = staging_name(target);
    fs::rename(target, &aside)?;
    if let Err(error) = fs::rename(staged, target) {
        fs::rename(&aside, target)?;
        return Err(error);
    }
    fs::remove_dir_all(&aside)
}

/// Makes the directory that holds `path` and returns it.
fn make_parent(path: &Path) -> io::Result<PathBuf> {
    let parent = parent_of(path);
    fs::create_dir_all(&parent)?;
    Ok(parent)
}

fn parent_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// A fresh name beside `path`: hidden, and unlike that of any other process or call.
fn staging_name(path: &Path) -> PathBuf {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let nonce =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.subsec_nanos());
    let call = CALLS.fetch_add(1, Ordering::Relaxed);
    parent_of(path).join(format!("{}{}-{call}-{nonce:x}", staging_prefix(path), std::process::id()))
}

/// What the names of everything staged for `path` begin with.
fn staging_prefix(path: &Path) -> String {
    format!(".{}.tmp-", path.file_name().unwrap_or_default().to_string_lossy())
}
