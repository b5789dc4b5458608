//! NumPy's `.npz` archives, both ways: a ZIP file of one `.npy` member an array, stored or
//! deflated. Members that are no `.npy` are passed over.

mod zip;

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use indexmap::IndexMap;

use super::Array;
use super::npy::{self, NpyError};
use zip::Archive;

/// What does not fit the 32 bits of a ZIP file's sizes and offsets, headers aside.
const MOST: usize = u32::MAX as usize - (1 << 24);

/// Every array of the archive at `path`, in its order.
///
/// # Errors
/// [`NpyError`], with the path and the array's name.
pub fn open(path: &Path) -> Result<IndexMap<String, Array>, NpyError> {
    open_at_most(path, usize::MAX)
}

/// As [`open`], where all arrays together take no more than `most` bytes.
///
/// # Errors
/// Also when they take more.
pub fn open_at_most(path: &Path, most: usize) -> Result<IndexMap<String, Array>, NpyError> {
    let read = || {
        let mut archive = Archive::open(BufReader::new(File::open(path)?))?;
        let mut arrays = IndexMap::new();
        let mut room = most;
        for key in archive.keys() {
            let array = archive.read(&key, room).map_err(|cause| cause.of(&key))?;
            room = room.saturating_sub(array.len().saturating_mul(array.dtype().size()));
            arrays.insert(key, array);
        }
        Ok(arrays)
    };
    read().map_err(|cause: NpyError| cause.at(path))
}

/// The array `key` of the archive at `path`; no other is read.
///
/// # Errors
/// [`NpyError`], with the path; when there is no such array.
pub fn open_one(path: &Path, key: &str) -> Result<Array, NpyError> {
    open_one_at_most(path, key, usize::MAX)
}

/// The array `key` of the archive at `path`, of at most `most` bytes.
///
/// # Errors
/// Also when it is larger.
pub fn open_one_at_most(path: &Path, key: &str, most: usize) -> Result<Array, NpyError> {
    let read = || {
        let mut archive = Archive::open(BufReader::new(File::open(path)?))?;
        let keys = archive.keys();
        if !keys.iter().any(|known| known == key) {
            return Err(NpyError::Key { key: key.to_owned(), keys });
        }
        archive.read(key, most).map_err(|cause| cause.of(key))
    };
    read().map_err(|cause: NpyError| cause.at(path))
}

/// Writes `arrays` as the archive at `path`, complete or not at all; deflated if `compressed`.
/// The same arrays give the same bytes.
///
/// # Errors
/// What the system says; when an array takes 4 GiB or more, or all of them do as they are, before
/// anything is written.
pub fn save(path: &Path, arrays: &IndexMap<String, Array>, compressed: bool) -> Result<(), NpyError> {
    let mut total = 0_usize;
    for (key, array) in arrays {
        let size = array.len().saturating_mul(array.dtype().size());
        total = total.saturating_add(size);
        if size >= MOST || total >= MOST && !compressed {
            let line = format!(
                "cannot write {}: with `{key}` its arrays take {total} bytes, and an .npz file holds less than 4 GiB here; save them as .npy files",
                path.display()
            );
            return Err(NpyError::Write(line));
        }
    }
    npy::staged(path, |file| zip::write(file, arrays, compressed))
}
