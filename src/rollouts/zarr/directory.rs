//! A store's directory: plain files, nothing synchronised one by one (the whole store is published
//! at once, see [`crate::atomic`]).

use std::collections::BTreeSet;
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The files below one directory.
#[derive(Debug)]
pub(super) struct Directory {
    root: PathBuf,
    /// Directories known to exist, so that a chunk costs one call and not three.
    made: Mutex<BTreeSet<PathBuf>>,
}

impl Directory {
    pub(super) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), made: Mutex::default() }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Where `key` is.
    pub(super) fn path(&self, key: &str) -> PathBuf {
        if key.is_empty() { self.root.clone() } else { self.root.join(key) }
    }

    /// Writes a file, with the directories above it.
    pub(super) fn write(&self, key: &str, bytes: &[u8]) -> std::io::Result<()> {
        self.create(key)?.write_all(bytes)
    }

    /// Starts a file, with the directories above it.
    pub(super) fn create(&self, key: &str) -> std::io::Result<fs::File> {
        let path = self.path(key);
        if let Some(parent) = path.parent() {
            let known = self.made.lock().is_ok_and(|made| made.contains(parent));
            if !known {
                fs::create_dir_all(parent)?;
                if let Ok(mut made) = self.made.lock() {
                    made.insert(parent.to_owned());
                }
            }
        }
        fs::File::create(path)
    }

    /// A file's bytes, or `None` where there is no such file.
    pub(super) fn read(&self, key: &str) -> std::io::Result<Option<Vec<u8>>> {
        absent(read(&self.path(key)))
    }
}

/// Opens a regular file: opening a pipe would wait for its writer.
pub(super) fn open(path: &Path) -> std::io::Result<fs::File> {
    if !fs::metadata(path)?.is_file() {
        return Err(std::io::Error::other("it is not a file"));
    }
    fs::File::open(path)
}

/// The bytes of a regular file.
fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of a regular file.
pub(in crate::rollouts) fn read_to_string(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    open(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// A missing file is an answer, not an error.
pub(super) fn absent<T>(result: std::io::Result<T>) -> std::io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}
