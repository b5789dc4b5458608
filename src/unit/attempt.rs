//! One try at a unit: a private directory, locked while its process lives, and its promotion.

use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::place::put;
use super::{MARKER, Unit, UnitError};
use crate::digest::sha256_hex;
use crate::object::for_each;
use crate::text::json;
use crate::value::{Map, Value};

/// How a finished attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Promotion {
    /// What it made is the unit's now.
    Promoted,
    /// Something stands in the unit's place already; this attempt's work is not needed.
    Beaten,
}

/// A try under way. Dropped before it is promoted, it leaves nothing.
#[derive(Debug)]
pub(crate) struct Attempt {
    unit: Unit,
    path: PathBuf,
    place: PathBuf,
    /// The directory, locked: the system lets go of the lock when the process ends, however it does.
    lock: File,
    /// Whether the directory is not this attempt's to remove any more.
    released: bool,
}

impl Attempt {
    /// Starts an attempt at `unit`, whose result will stand at `place`, in a directory below
    /// `attempts` that no other attempt has.
    ///
    /// # Errors
    /// When its directory cannot be made.
    pub(crate) fn begin(attempts: &Path, place: PathBuf, unit: &Unit) -> Result<Self, UnitError> {
        loop {
            match Self::named(attempts.join(fresh_name(unit)), place.clone(), unit) {
                Ok(Some(attempt)) => return Ok(attempt),
                // Someone who clears up took it for abandoned before it was locked.
                Ok(None) | Err(UnitError::Taken { .. }) => {}
                Err(problem) => return Err(problem),
            }
        }
    }

    /// Starts an attempt in the directory `path`, which must not be there yet.
    ///
    /// # Errors
    /// When it is, or cannot be made.
    pub(crate) fn begin_at(path: &Path, place: PathBuf, unit: &Unit) -> Result<Self, UnitError> {
        let taken = || UnitError::Taken { path: path.display().to_string() };
        Self::named(path.to_owned(), place, unit)?.ok_or_else(taken)
    }

    /// `None` where the directory was gone before it was locked.
    fn named(path: PathBuf, place: PathBuf, unit: &Unit) -> Result<Option<Self>, UnitError> {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(parent).map_err(UnitError::at(parent))?;
        match fs::create_dir(&path) {
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {
                return Err(UnitError::Taken { path: path.display().to_string() });
            }
            made => made.map_err(UnitError::at(&path))?,
        }
        // Whoever looks whether it is abandoned holds the lock for a moment.
        let locked = File::open(&path).and_then(|directory| directory.lock().map(|()| directory));
        match locked {
            Ok(lock) if path.is_dir() => Ok(Some(Self { unit: unit.clone(), path, place, lock, released: false })),
            Err(cause) if path.is_dir() => Err(UnitError::at(&path)(cause)),
            _ => Ok(None),
        }
    }

    /// Where to work.
    #[must_use]
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A name that no other attempt at the unit has, whatever its directory is called.
    #[must_use]
    pub(crate) fn fresh_name(&self) -> String {
        fresh_name(&self.unit)
    }

    /// Writes the marker, with `about` in it beside the unit's name and identity, and promotes.
    /// Whoever calls this has validated what is there.
    ///
    /// # Errors
    /// As for [`Attempt::promote`].
    pub(crate) fn complete(self, about: Map) -> Result<Promotion, UnitError> {
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
    pub(crate) fn promote(mut self) -> Result<Promotion, UnitError> {
        match self.publish(&self.path)? {
            Promotion::Promoted => {
                self.released = true;
                Ok(Promotion::Promoted)
            }
            Promotion::Beaten if self.place.join(MARKER).is_file() => Ok(Promotion::Beaten),
            Promotion::Beaten => Err(UnitError::Occupied { path: self.place.display().to_string() }),
        }
    }

    /// Flushes `directory`, which is this attempt's or lies in it, to the disk and puts it in the
    /// unit's place if nothing stands there. The unit is finished once it is sealed
    /// ([`Attempt::seal`]).
    ///
    /// # Errors
    /// When the system refuses.
    pub(crate) fn publish(&self, directory: &Path) -> Result<Promotion, UnitError> {
        sync_tree(directory).map_err(UnitError::at(directory))?;
        let home = self.place.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(home).map_err(UnitError::at(home))?;
        match put(directory, &self.place) {
            Ok(()) => {
                sync(home)?;
                Ok(Promotion::Promoted)
            }
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => Ok(Promotion::Beaten),
            Err(cause) => Err(UnitError::at(&self.place)(cause)),
        }
    }

    /// Puts the marker with `text` into what stands in the unit's place, unless it has one. It
    /// follows from what is there, so that it does not matter which of several attempts writes it.
    ///
    /// # Errors
    /// When the system refuses.
    pub(crate) fn seal(&self, text: &str) -> Result<(), UnitError> {
        let (staged, marker) = (self.path.join(MARKER), self.place.join(MARKER));
        let write = || {
            let mut file = File::create(&staged)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()
        };
        write().map_err(UnitError::at(&staged))?;
        if marker.symlink_metadata().is_err() {
            fs::rename(&staged, &marker).map_err(UnitError::at(&marker))?;
        }
        sync(&self.place)
    }

    /// Leaves the directory for people to look at, until it is cleared.
    pub(crate) fn keep(mut self) {
        self.released = true;
    }

    /// Moves the directory to `path`, for people to look at.
    ///
    /// # Errors
    /// When the system refuses.
    pub(crate) fn set_aside(mut self, path: &Path) -> Result<(), UnitError> {
        let parent = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(parent).map_err(UnitError::at(parent))?;
        fs::rename(&self.path, path).map_err(UnitError::at(path))?;
        self.released = true;
        Ok(())
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        if !self.released {
            // What stays is hidden from readers; a later run clears it.
            let _ = fs::remove_dir_all(&self.path);
        }
        let _ = self.lock.unlock();
    }
}

fn fresh_name(unit: &Unit) -> String {
    format!("{}.{}-{:016x}", unit.name(), machine(), nonce())
}

/// Whether a living process holds an attempt's directory, or may do so on another machine.
pub(super) fn is_held(path: &Path) -> bool {
    // Opening a pipe would wait for its writer.
    let is_directory = path.is_dir();
    is_elsewhere(path) || is_directory && File::open(path).is_ok_and(|directory| directory.try_lock().is_err())
}

/// Removes an attempt's directory if no living process holds it, as far as this machine can tell:
/// on a shared file system it does not see the locks of others.
pub(super) fn clear(path: &Path) -> bool {
    if is_elsewhere(path) {
        return false;
    }
    let Ok(directory) = File::open(path) else { return false };
    directory.try_lock().is_ok() && fs::remove_dir_all(path).is_ok()
}

fn sync(directory: &Path) -> Result<(), UnitError> {
    let path = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    File::open(path).and_then(|directory| directory.sync_all()).map_err(UnitError::at(path))
}

/// Flushes every file and directory of a tree. Nearly all of a flush is waiting, and those that wait
/// together wait for one write of the file system's journal.
fn sync_tree(path: &Path) -> io::Result<()> {
    let mut paths = Vec::new();
    gather(path, &mut paths)?;
    for_each(&paths, |path| File::open(path)?.sync_all())
}

/// The files and directories of a tree.
fn gather(path: &Path, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            gather(&entry.path(), paths)?;
        } else if kind.is_file() {
            paths.push(entry.path());
        }
    }
    paths.push(path.to_owned());
    Ok(())
}

/// What the attempts of this machine have in their names: of its name, which no other machine of a
/// cluster has, and which stays over a restart.
fn machine() -> String {
    let name = fs::read("/proc/sys/kernel/hostname").unwrap_or_default();
    sha256_hex(&name).chars().take(8).collect()
}

/// Whether an attempt was begun on another machine.
fn is_elsewhere(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let own = name.rsplit_once('.').and_then(|(_, own)| own.split_once('-'));
    own.is_some_and(|(of, nonce)| (of.len(), nonce.len()) == (8, 16) && of != machine())
}

/// Unlike that of any other attempt: the system's random keys, hashed.
fn nonce() -> u64 {
    RandomState::new().hash_one(std::process::id())
}
