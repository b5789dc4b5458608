//! A unit's place on object storage, where nothing is renamed: a marker names the attempt that won.
//!
//! ```text
//! PLACE/attempts/NAME/…    what an attempt made, under a name that no other attempt has
//! PLACE/_SUCCESS.json      names the one that is the unit's; created once, never replaced
//! ```
//!
//! Everything of an attempt is there, and was seen there, before its marker is put with
//! `If-None-Match: *`, which only one of many can do. Readers start at the marker, so that what is
//! below an attempt without one is not there for them.

use std::path::{Path, PathBuf};

use super::{MARKER, Promotion};
use crate::object::{Address, Bucket, ObjectError, for_each};
use crate::text::json;
use crate::value::{Map, Value};

/// Where attempts stand below a place.
pub(crate) const ATTEMPTS_REMOTE: &str = "attempts/";

/// What the marker names its attempt by.
const ATTEMPT: &str = "attempt";

/// A marker is at most this long.
const LONGEST: u64 = 1 << 20;

/// A unit's place.
#[derive(Debug)]
pub(crate) struct Remote {
    address: Address,
    bucket: Bucket,
}

impl Remote {
    /// The place at `address`; nothing is asked of the storage yet.
    ///
    /// # Errors
    /// When a setting of the environment is missing or wrong.
    pub(crate) fn at(address: &Address) -> Result<Self, ObjectError> {
        Ok(Self { address: address.clone(), bucket: Bucket::open(address)? })
    }

    /// The marker and its length in bytes, if there is one; one that cannot be read is empty.
    ///
    /// # Errors
    /// When the storage cannot be asked.
    pub(crate) fn marker(&self) -> Result<Option<(Map, u64)>, ObjectError> {
        let bytes = self.bucket.get(&self.address.below(MARKER), LONGEST)?;
        Ok(bytes.map(|bytes| (map(&bytes), bytes.len() as u64)))
    }

    /// The attempt that a marker names, as a key below the place.
    #[must_use]
    pub(crate) fn attempt(marker: &Map) -> Option<&str> {
        let attempt = marker.get(ATTEMPT)?.as_text()?;
        let name = attempt.strip_prefix(ATTEMPTS_REMOTE)?;
        let is_name = !name.is_empty() && !name.starts_with('.') && !name.contains('/');
        is_name.then_some(attempt)
    }

    /// The bytes, `LONGEST` at most, that stand by `name` in the attempt of `marker`; in the place
    /// itself where that names none.
    ///
    /// # Errors
    /// When the storage cannot be asked.
    pub(crate) fn read(&self, marker: &Map, name: &str) -> Result<Option<Vec<u8>>, ObjectError> {
        let key = Self::attempt(marker).map_or_else(|| name.to_owned(), |attempt| format!("{attempt}/{name}"));
        self.bucket.get(&self.address.below(&key), LONGEST)
    }

    /// Writes the files of `directory` as the attempt `name`, which no other has, and makes it the
    /// unit's with a marker of `about`, unless another is.
    ///
    /// # Errors
    /// When a file cannot be read, or the storage does not take everything; or when it replaces
    /// objects that it was told not to, and so could not tell one winner from two.
    pub(crate) fn promote(&self, name: &str, directory: &Path, about: &Map) -> Result<Promotion, ObjectError> {
        let attempt = format!("{ATTEMPTS_REMOTE}{name}");
        let files = files(directory)?;
        self.probe(&attempt)?;
        let prefix = format!("{}/", self.address.below(&attempt));
        for_each(&files, |(name, path, _)| self.bucket.put_file(&format!("{prefix}{name}"), path))?;
        self.compare(&prefix, &files)?;
        let mut marker = about.clone();
        marker.insert(ATTEMPT.to_owned(), attempt.as_str().into());
        let text = json::to_canonical(&Value::Map(marker));
        if self.bucket.put_if_absent(&self.address.below(MARKER), text.as_bytes())? {
            return Ok(Promotion::Promoted);
        }
        // The answer to an earlier try may have been lost: then the marker is this attempt's own.
        let winner = self.marker()?.unwrap_or_default().0;
        if Self::attempt(&winner) == Some(attempt.as_str()) {
            return Ok(Promotion::Promoted);
        }
        // What stays is in no one's way, and can be cleared at any time.
        let _ = self.clear(&attempt);
        Ok(Promotion::Beaten)
    }

    /// Refuses storage that replaces what it was told not to: the second of these must not be taken.
    fn probe(&self, attempt: &str) -> Result<(), ObjectError> {
        let key = self.address.below(&format!("{attempt}/{PROBE}"));
        // Where the answer to a try was lost, even the first is not taken.
        let _ = self.bucket.put_if_absent(&key, b"")?;
        let replaced = self.bucket.put_if_absent(&key, b"")?;
        self.bucket.delete(&key)?;
        if replaced {
            return Err(ObjectError::Unconditional { endpoint: self.bucket.endpoint().to_owned() });
        }
        Ok(())
    }

    /// Refuses an attempt of which not everything is there.
    fn compare(&self, prefix: &str, files: &[(String, PathBuf, u64)]) -> Result<(), ObjectError> {
        let there = self.bucket.list(prefix)?;
        for (name, _, size) in files {
            let key = format!("{prefix}{name}");
            let found = there.binary_search_by(|object| object.key.cmp(&key)).ok().and_then(|at| there.get(at));
            let what = match found {
                Some(object) if object.size == *size => continue,
                Some(object) => format!("it has {} bytes, but {size} were written", object.size),
                None => "it was written, and is not there".to_owned(),
            };
            return Err(ObjectError::Changed { address: self.address.at(key).to_string(), what });
        }
        Ok(())
    }

    /// Removes what stands below `attempt`, a key below the place.
    ///
    /// # Errors
    /// When the storage does not remove all of it.
    pub(crate) fn clear(&self, attempt: &str) -> Result<(), ObjectError> {
        let objects = self.bucket.list(&format!("{}/", self.address.below(attempt)))?;
        for_each(&objects, |object| self.bucket.delete(&object.key))
    }

    /// The bucket it is in.
    #[must_use]
    pub(crate) fn bucket(&self) -> &Bucket {
        &self.bucket
    }
}

/// What conditional writes are tried with; gone before anything else is written.
const PROBE: &str = ".probe";

/// A marker's map; empty for what is none.
fn map(bytes: &[u8]) -> Map {
    match std::str::from_utf8(bytes).ok().and_then(|text| json::parse(text).ok()) {
        Some(Value::Map(map)) => map,
        _ => Map::new(),
    }
}

/// The files below a directory: each one's name there, its path, and its length.
fn files(directory: &Path) -> Result<Vec<(String, PathBuf, u64)>, ObjectError> {
    let failed =
        |path: &Path, error: std::io::Error| ObjectError::File { path: path.to_owned(), what: error.to_string() };
    let mut files = Vec::new();
    let mut directories = vec![(String::new(), directory.to_owned())];
    while let Some((prefix, directory)) = directories.pop() {
        for entry in std::fs::read_dir(&directory).map_err(|error| failed(&directory, error))? {
            let entry = entry.map_err(|error| failed(&directory, error))?;
            let about = entry.metadata().map_err(|error| failed(&entry.path(), error))?;
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if about.is_dir() {
                directories.push((format!("{name}/"), entry.path()));
            } else {
                files.push((name, entry.path(), about.len()));
            }
        }
    }
    files.sort();
    Ok(files)
}
