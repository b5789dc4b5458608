//! Object storage that speaks S3: addresses `s3://bucket/key`, and what stands at them.
//!
//! An address stands where a path does; [`Address::of`] tells them apart. [`Bucket`] reads, lists,
//! writes and removes objects, and creates one only where none is ([`Bucket::put_if_absent`]):
//! that is what a promotion is made of where nothing can be renamed. Every request is tried again a
//! few times and then gives up. Programs built without the feature `s3` have the same types, and
//! one answer: [`ObjectError::Unbuilt`].

mod error;
#[cfg(feature = "s3")]
mod s3;
#[cfg(feature = "s3")]
mod settings;
#[cfg(not(feature = "s3"))]
mod unbuilt;

use std::path::{Path, PathBuf};

pub use error::ObjectError;
#[cfg(feature = "s3")]
pub(crate) use s3::Bucket;
#[cfg(not(feature = "s3"))]
pub(crate) use unbuilt::Bucket;

const SCHEME: &str = "s3://";

/// Requests that are under way at once where there are many.
const AT_ONCE: usize = 16;

/// Where an object stands, or, as the beginning of their keys, several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    bucket: String,
    key: String,
}

impl Address {
    /// The address that stands where a path could; `None` for paths.
    ///
    /// # Errors
    /// When it is an address that names no bucket, or a key that requests cannot carry.
    pub(crate) fn of(path: &Path) -> Option<Result<Self, ObjectError>> {
        let text = path.to_str().unwrap_or_default();
        let rest = text.strip_prefix(SCHEME)?;
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        let key = key.trim_end_matches('/');
        let refused = |what| Some(Err(ObjectError::Address { address: text.to_owned(), what }));
        if bucket.is_empty() {
            return refused("it names no bucket");
        }
        if !key.is_empty() && !is_sound(key) {
            return refused("its key has an empty part, `.` or `..`");
        }
        Some(Ok(Self { bucket: bucket.to_owned(), key: key.to_owned() }))
    }

    /// Whether an address stands where a path could.
    #[must_use]
    pub(crate) fn is(path: &Path) -> bool {
        path.as_os_str().as_encoded_bytes().starts_with(SCHEME.as_bytes())
    }

    /// The key within the bucket; `""` for the whole of it.
    #[must_use]
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// The address of another key of the same bucket.
    #[must_use]
    pub(crate) fn at(&self, key: impl Into<String>) -> Self {
        Self { bucket: self.bucket.clone(), key: key.into() }
    }

    /// The key of `name` below this address.
    #[must_use]
    pub(crate) fn below(&self, name: &str) -> String {
        match self.key.as_str() {
            "" => name.to_owned(),
            key => format!("{key}/{name}"),
        }
    }

    /// The address as it stands where a path does.
    #[must_use]
    pub(crate) fn path(&self) -> PathBuf {
        PathBuf::from(self.to_string())
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{SCHEME}{}/{}", self.bucket, self.key)
    }
}

/// An object as listings tell of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Object {
    /// Its key.
    pub key: String,
    /// Its length in bytes.
    pub size: u64,
    /// When it was written, in seconds since the epoch; 0 where that is not told.
    pub written: u64,
}

/// Whether a key can be asked for: a URL has its own idea of empty parts, `.` and `..`.
fn is_sound(key: &str) -> bool {
    key.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// Does `work` for all `items`, several at once: requests mostly wait.
///
/// # Errors
/// The first that one of them met; those that were not begun are left.
pub(crate) fn for_each<T: Sync, E: Send>(items: &[T], work: impl Fn(&T) -> Result<(), E> + Sync) -> Result<(), E> {
    let queue = std::sync::Mutex::new(items.iter());
    let next = || queue.lock().ok()?.next();
    let worker = || {
        while let Some(item) = next() {
            if let Err(error) = work(item) {
                // The others find nothing left to begin.
                if let Ok(mut queue) = queue.lock() {
                    *queue = [].iter();
                }
                return Err(error);
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_ONCE.min(items.len())).map(|_| scope.spawn(worker)).collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}
