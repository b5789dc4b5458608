//! A directory as key-value storage for `zarrs`: plain files, nothing synchronised one by one
//! (the whole store is published at once, see [`crate::atomic`]).

use std::collections::BTreeSet;
use std::fs;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use zarrs::storage::byte_range::ByteRangeIterator;
use zarrs::storage::{
    Bytes, MaybeBytes, MaybeBytesIterator, OffsetBytesIterator, ReadableStorageTraits, StorageError, StoreKey,
    StorePrefix, WritableStorageTraits, store_set_partial_many,
};

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
        fs::write(path, bytes)
    }

    /// A file's bytes, or `None` where there is no such file.
    pub(super) fn read(&self, key: &str) -> std::io::Result<Option<Vec<u8>>> {
        absent(fs::read(self.path(key)))
    }
}

/// A missing file is an answer, not an error.
fn absent<T>(result: std::io::Result<T>) -> std::io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

impl ReadableStorageTraits for Directory {
    fn get(&self, key: &StoreKey) -> Result<MaybeBytes, StorageError> {
        Ok(self.read(key.as_str())?.map(Bytes::from))
    }

    fn get_partial_many<'a>(
        &'a self,
        key: &StoreKey,
        ranges: ByteRangeIterator<'a>,
    ) -> Result<MaybeBytesIterator<'a>, StorageError> {
        let Some(mut file) = absent(fs::File::open(self.path(key.as_str())))? else { return Ok(None) };
        let size = file.metadata()?.len();
        let parts = ranges.map(move |range| {
            let range = range.to_range(size);
            file.seek(SeekFrom::Start(range.start))?;
            let mut bytes = Vec::new();
            file.by_ref().take(range.end.saturating_sub(range.start)).read_to_end(&mut bytes)?;
            Ok(Bytes::from(bytes))
        });
        Ok(Some(Box::new(parts)))
    }

    fn size_key(&self, key: &StoreKey) -> Result<Option<u64>, StorageError> {
        Ok(absent(fs::metadata(self.path(key.as_str())))?.map(|metadata| metadata.len()))
    }

    fn supports_get_partial(&self) -> bool {
        true
    }
}

impl WritableStorageTraits for Directory {
    fn set(&self, key: &StoreKey, value: Bytes) -> Result<(), StorageError> {
        Ok(self.write(key.as_str(), &value)?)
    }

    fn set_partial_many(&self, key: &StoreKey, values: OffsetBytesIterator<'_>) -> Result<(), StorageError> {
        store_set_partial_many(self, key, values)
    }

    fn erase(&self, key: &StoreKey) -> Result<(), StorageError> {
        absent(fs::remove_file(self.path(key.as_str())))?;
        Ok(())
    }

    fn erase_prefix(&self, prefix: &StorePrefix) -> Result<(), StorageError> {
        absent(fs::remove_dir_all(self.path(prefix.as_str())))?;
        Ok(())
    }

    fn supports_set_partial(&self) -> bool {
        false
    }
}
