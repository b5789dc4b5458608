//! Why an array's file could not be read or written.

use std::io;
use std::path::Path;

use crate::diagnostic::{Exit, Problem};

/// Why a `.npy` or `.npz` file could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields are named in the messages")]
pub enum NpyError {
    /// The system did not hand over the bytes.
    #[error("cannot be read: {0}")]
    Read(#[from] io::Error),
    /// It does not begin as these files do.
    #[error("is no {what} file")]
    Foreign { what: &'static str },
    /// A version of the format that is not known.
    #[error("has version {major}.{minor} of the .npy format; 1.0, 2.0 and 3.0 can be read")]
    Version { major: u8, minor: u8 },
    /// The header is not what the format asks for.
    #[error("has a malformed header: {0}")]
    Header(String),
    /// Elements that no dtype here holds.
    #[error("holds elements of the type {descr}, {why}")]
    Dtype { descr: String, why: &'static str },
    /// More elements than were to be read, or than there can be.
    #[error("holds an array of shape {shape:?}, more than {most} bytes")]
    TooLarge { shape: Vec<usize>, most: usize },
    /// It ends before the array does.
    #[error("is cut off: its header promises {expected} elements, {found} are there")]
    Truncated { expected: usize, found: usize },
    /// An unsigned integer beyond what integers here hold.
    #[error("holds {value} (element {position} in C order, from 1), which does not fit i64")]
    Unsigned { value: u64, position: usize },
    /// The archive around the arrays is malformed.
    #[error("is a malformed archive: {0}")]
    Archive(String),
    /// The archive holds no such array.
    #[error("holds no array `{key}`; it holds {}", held(.keys))]
    Key { key: String, keys: Vec<String> },
    /// One array of an archive.
    #[error("array `{key}` {cause}")]
    Member { key: String, cause: Box<NpyError> },
    /// Any of these, of one file.
    #[error("{path} {cause}")]
    File { path: String, cause: Box<NpyError> },
    /// It could not be written.
    #[error("{0}")]
    Write(String),
}

fn held(keys: &[String]) -> String {
    if keys.is_empty() { "none".to_owned() } else { keys.join(", ") }
}

impl NpyError {
    /// The same, of the file at `path`.
    pub(in crate::array) fn at(self, path: &Path) -> Self {
        Self::File { path: path.display().to_string(), cause: Box::new(self) }
    }

    /// The same, of the archive's array `key`.
    pub(in crate::array) fn of(self, key: &str) -> Self {
        Self::Member { key: key.to_owned(), cause: Box::new(self) }
    }
}

impl Problem for NpyError {
    fn code(&self) -> &'static str {
        match self {
            Self::Member { cause, .. } | Self::File { cause, .. } => cause.code(),
            Self::Read(_) => "array/unreadable",
            Self::Write(_) => "array/unwritable",
            _ => "array/file",
        }
    }

    fn exit(&self) -> Exit {
        if matches!(self, Self::Write(_)) { Exit::Failure } else { Exit::Input }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Member { cause, .. } | Self::File { cause, .. } => cause.hint(),
            Self::Dtype { .. } => {
                Some("save it from Python as `array.astype(...)` of a number or bool dtype".to_owned())
            }
            Self::Key { key, keys } => {
                crate::suggest::nearest(key, keys.iter().map(String::as_str)).map(crate::suggest::question)
            }
            _ => None,
        }
    }
}
