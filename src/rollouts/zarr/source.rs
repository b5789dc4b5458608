//! Where a store's bytes are read from: the files below a directory, or the objects below an
//! address. Whoever reads names them by the same keys, and does not see which it is.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::StoreError;
use super::directory::{Directory, open};
use super::objects::Objects;
use crate::object::Address;

/// What a store is read from.
#[derive(Debug)]
pub(super) enum Source {
    Directory(Directory),
    Objects(Box<Objects>),
}

/// A file or an object that is read from.
#[derive(Debug)]
pub(super) enum Opened<'a> {
    File {
        file: File,
        size: u64,
    },
    /// An object's bytes.
    Bytes(Arc<[u8]>),
    /// An object whose bytes are fetched as they are needed.
    Object {
        objects: &'a Objects,
        key: &'a str,
        size: u64,
    },
}

/// What a store takes.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::rollouts) struct Held {
    pub(in crate::rollouts) files: u64,
    pub(in crate::rollouts) bytes: u64,
}

impl Source {
    /// What stands at `path`, a directory's or an address.
    pub(super) fn at(path: &Path) -> Result<Self, StoreError> {
        match Address::of(path) {
            Some(address) => {
                let address = address.map_err(|error| StoreError::objects(path, error))?;
                Objects::at(path, &address).map(|objects| Self::Objects(Box::new(objects)))
            }
            None if path.exists() => Ok(Self::Directory(Directory::new(path))),
            None => Err(StoreError::Missing { path: path.to_owned() }),
        }
    }

    /// The directory, or the address.
    pub(super) fn root(&self) -> &Path {
        match self {
            Self::Directory(directory) => directory.root(),
            Self::Objects(objects) => objects.root(),
        }
    }

    /// Where `key` is, for messages.
    pub(super) fn path(&self, key: &str) -> PathBuf {
        if key.is_empty() { self.root().to_owned() } else { self.root().join(key) }
    }

    /// The bytes at `key`, or `None` where there is nothing.
    pub(super) fn read(&self, key: &str) -> io::Result<Option<Vec<u8>>> {
        match self {
            Self::Directory(directory) => directory.read(key),
            Self::Objects(objects) => objects.read(key),
        }
    }

    /// What is at `key`, to be read from, or `None` where there is nothing.
    pub(super) fn open<'a>(&'a self, key: &'a str) -> io::Result<Option<Opened<'a>>> {
        match self {
            Self::Directory(directory) => {
                let file = super::directory::absent(open(&directory.path(key)))?;
                file.map(|file| Ok(Opened::File { size: file.metadata()?.len(), file })).transpose()
            }
            Self::Objects(objects) => objects.open(key),
        }
    }

    /// Makes ready for what will need nearly everything.
    pub(super) fn prefetch(&self) {
        if let Self::Objects(objects) = self {
            objects.prefetch();
        }
    }

    /// Whether anything is at `key`.
    pub(super) fn exists(&self, key: &str) -> bool {
        match self {
            Self::Directory(directory) => directory.path(key).symlink_metadata().is_ok(),
            Self::Objects(objects) => objects.size(key).is_some(),
        }
    }

    /// The names directly below `key`, sorted.
    pub(super) fn names(&self, key: &str) -> io::Result<Vec<String>> {
        match self {
            Self::Directory(directory) => {
                let entries = std::fs::read_dir(directory.path(key))?;
                let names = entries.map(|entry| Ok(entry?.file_name().into_string().ok()));
                let names: Vec<Option<String>> = names.collect::<io::Result<_>>()?;
                let mut names: Vec<String> = names.into_iter().flatten().collect();
                names.sort_unstable();
                Ok(names)
            }
            Self::Objects(objects) => Ok(objects.names(key)),
        }
    }

    /// The keys of everything that is no directory, sorted.
    pub(super) fn keys(&self) -> io::Result<Vec<String>> {
        let mut keys = Vec::new();
        match self {
            Self::Directory(directory) => walk(directory.root(), "", &mut keys)?,
            Self::Objects(objects) => keys.extend(objects.keys().cloned()),
        }
        keys.sort_unstable();
        Ok(keys)
    }

    /// What everything below `key` takes.
    pub(super) fn held(&self, key: &str) -> Held {
        match self {
            Self::Directory(directory) => held(&directory.path(key)),
            Self::Objects(objects) => objects.held(key),
        }
    }

    /// Why bytes could not be fetched that are there, if that was so even once: what was read is
    /// not all there is, and says nothing of it.
    pub(super) fn fault(&self) -> Option<StoreError> {
        match self {
            Self::Directory(_) => None,
            Self::Objects(objects) => objects.fault().map(|error| StoreError::objects(self.root(), error)),
        }
    }
}

impl Opened<'_> {
    /// How many bytes there are.
    pub(super) fn size(&self) -> u64 {
        match self {
            Self::File { size, .. } | Self::Object { size, .. } => *size,
            Self::Bytes(bytes) => bytes.len() as u64,
        }
    }

    /// Fills `target` with the bytes from `offset` on.
    pub(super) fn read_exact_at(&self, target: &mut [u8], offset: u64) -> io::Result<()> {
        match self {
            Self::File { file, .. } => file.read_exact_at(target, offset),
            Self::Bytes(bytes) => {
                let start = usize::try_from(offset).unwrap_or(usize::MAX);
                let part = start.checked_add(target.len()).and_then(|end| bytes.get(start..end));
                target.copy_from_slice(part.ok_or(io::ErrorKind::UnexpectedEof)?);
                Ok(())
            }
            Self::Object { objects, key, size } => {
                let end = offset.checked_add(target.len() as u64).filter(|end| end <= size);
                let range = offset..end.ok_or(io::ErrorKind::UnexpectedEof)?;
                if !range.is_empty() {
                    target.copy_from_slice(&objects.range(key, range)?);
                }
                Ok(())
            }
        }
    }
}

/// Adds the keys of everything below `directory`, whose own key is `key`.
fn walk(directory: &Path, key: &str, keys: &mut Vec<String>) -> io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let below = if key.is_empty() { name } else { format!("{key}/{name}") };
        if entry.file_type()?.is_dir() {
            walk(&entry.path(), &below, keys)?;
        } else {
            keys.push(below);
        }
    }
    Ok(())
}

/// What is below `directory`, as far as it can be seen.
fn held(directory: &Path) -> Held {
    let Ok(entries) = std::fs::read_dir(directory) else { return Held::default() };
    entries.flatten().fold(Held::default(), |sum, entry| {
        let own = match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => held(&entry.path()),
            Ok(metadata) => Held { files: 1, bytes: metadata.len() },
            Err(_) => Held::default(),
        };
        Held { files: sum.files + own.files, bytes: sum.bytes.saturating_add(own.bytes) }
    })
}
