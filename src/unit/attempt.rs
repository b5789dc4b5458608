//! One try at a unit: a private directory, locked while its process lives, and its promotion.

use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use super::{MARKER, Unit, UnitError};
use crate::text::json;
use crate::value::{Map, Value};

/// How a finished attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promotion {
    /// Its directory is the unit's now.
    Promoted,
    /// Another attempt was faster; this one's work is gone.
    Beaten,
}

/// A try under way. Dropped before it is promoted, it leaves nothing.
#[derive(Debug)]
pub struct Attempt {
    unit: Unit,
    path: PathBuf,
    place: PathBuf,
    /// The directory, locked: the system lets go of the lock when the process ends, however it does.
    lock: File,
    promoted: bool,
}

impl Attempt {
    pub(super) fn begin(attempts: &Path, place: PathBuf, unit: &Unit) -> Result<Self, UnitError> {
        fs::create_dir_all(attempts).map_err(UnitError::at(attempts))?;
        loop {
            let path = attempts.join(format!("{}.{:016x}", unit.name(), nonce()));
            match fs::create_dir(&path) {
                Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => continue,
                made => made.map_err(UnitError::at(&path))?,
            }
            // Before the lock is there, someone who clears up may have taken the directory for an
            // abandoned one; another is made then.
            let locked = File::open(&path).and_then(|directory| Ok(directory.try_lock().map(|()| directory)?));
            match locked {
                Ok(lock) if path.is_dir() => {
                    return Ok(Self { unit: unit.clone(), path, place, lock, promoted: false });
                }
                Ok(_) => {}
                Err(_) if !path.is_dir() => {}
                Err(cause) => return Err(UnitError::at(&path)(cause)),
            }
        }
    }

    /// Where to work.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The unit that is tried.
    #[must_use]
    pub fn unit(&self) -> &Unit {
        &self.unit
    }

    /// Writes the marker, with `about` in it beside the unit's name and identity, and promotes.
    /// Whoever calls this has validated what is there.
    ///
    /// # Errors
    /// As for [`Attempt::promote`].
    pub fn complete(self, about: Map) -> Result<Promotion, UnitError> {
        let mut marker = Map::from_iter([
            ("unit".to_owned(), self.unit.name().into()),
            ("identity".to_owned(), self.unit.identity().into()),
        ]);
        marker.extend(about);
        let path = self.path.join(MARKER);
        let text = format!("{}\n", json::to_canonical(&Value::Map(marker)));
        fs::write(&path, text).map_err(UnitError::at(&path))?;
        self.promote()
    }

    /// Flushes everything to the disk and makes the directory, which must not be empty, the
    /// unit's, unless the unit is finished already.
    ///
    /// # Errors
    /// When the system refuses, or something stands in the unit's place that is no finished unit.
    pub fn promote(mut self) -> Result<Promotion, UnitError> {
        sync_tree(&self.path).map_err(UnitError::at(&self.path))?;
        match rename_to_nothing(&self.path, &self.place) {
            Ok(()) => {
                self.promoted = true;
                let home = self.place.parent().unwrap_or(Path::new("."));
                File::open(home).and_then(|home| home.sync_all()).map_err(UnitError::at(home))?;
                Ok(Promotion::Promoted)
            }
            Err(Errno::EXIST | Errno::NOTEMPTY) if self.place.join(MARKER).is_file() => Ok(Promotion::Beaten),
            Err(Errno::EXIST | Errno::NOTEMPTY) => Err(UnitError::Occupied { path: self.place.display().to_string() }),
            Err(cause) => Err(UnitError::at(&self.place)(cause.into())),
        }
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        if !self.promoted {
            // What stays is hidden from readers; a later run clears it.
            let _ = fs::remove_dir_all(&self.path);
        }
        let _ = self.lock.unlock();
    }
}

/// Renames a directory that is not empty to where nothing is. Where the file system does not know
/// the flag (NFS), a plain rename does the same: POSIX has it fail over a directory that is not
/// empty, and a unit's place never holds an empty one.
fn rename_to_nothing(from: &Path, to: &Path) -> Result<(), Errno> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => rustix::fs::rename(from, to),
        renamed => renamed,
    }
}

/// Removes an attempt's directory if no living process holds it.
pub(super) fn clear(path: &Path) -> bool {
    let Ok(directory) = File::open(path) else { return false };
    directory.try_lock().is_ok() && fs::remove_dir_all(path).is_ok()
}

/// Flushes every file and directory of a tree.
fn sync_tree(path: &Path) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            sync_tree(&entry.path())?;
        } else if kind.is_file() {
            File::open(entry.path())?.sync_all()?;
        }
    }
    File::open(path)?.sync_all()
}

/// Unlike that of any other attempt: the system's random keys, hashed.
fn nonce() -> u64 {
    RandomState::new().hash_one(std::process::id())
}
