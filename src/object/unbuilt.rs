//! The bucket of programs that know no object storage: there is none.

use std::ops::Range;
use std::path::Path;

use super::{Address, Object, ObjectError};

/// A bucket, which cannot be.
#[derive(Debug)]
pub(crate) enum Bucket {}

impl Bucket {
    /// The bucket of `address`.
    ///
    /// # Errors
    /// Always.
    pub(crate) fn open(_address: &Address) -> Result<Self, ObjectError> {
        Err(ObjectError::Unbuilt)
    }

    /// What the storage is called in messages.
    #[must_use]
    pub(crate) fn endpoint(&self) -> &str {
        match *self {}
    }

    /// An object's bytes.
    ///
    /// # Errors
    /// There is no such bucket.
    pub(crate) fn get(&self, _key: &str, _most: u64) -> Result<Option<Vec<u8>>, ObjectError> {
        match *self {}
    }

    /// Some of an object's bytes.
    ///
    /// # Errors
    /// There is no such bucket.
    pub(crate) fn get_range(&self, _key: &str, _range: Range<u64>) -> Result<Vec<u8>, ObjectError> {
        match *self {}
    }

    /// The objects whose keys begin with `prefix`.
    ///
    /// # Errors
    /// There is no such bucket.
    pub(crate) fn list(&self, _prefix: &str) -> Result<Vec<Object>, ObjectError> {
        match *self {}
    }

    /// Writes an object.
    ///
    /// # Errors
    /// There is no such bucket.
    pub(crate) fn put(&self, _key: &str, _bytes: &[u8]) -> Result<(), ObjectError> {
        match *self {}
    }

    /// Writes an object of a file's bytes.
    ///
    /// # Errors
    /// There is no such bucket.
    pub(crate) fn put_file(&self, _key: &str, _path: &Path) -> Result<(), ObjectError> {
        match *self {}
    }

    /// Writes an object where there is none.
    ///
    /// # Errors
    /// There is no such bucket.
    pub(crate) fn put_if_absent(&self, _key: &str, _bytes: &[u8]) -> Result<bool, ObjectError> {
        match *self {}
    }

    /// Removes an object.
    ///
    /// # Errors
    /// There is no such bucket.
    pub(crate) fn delete(&self, _key: &str) -> Result<(), ObjectError> {
        match *self {}
    }
}
