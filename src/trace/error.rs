//! Why a trace could not be written or read, and how each reason presents itself.

use std::io;
use std::path::Path;

use crate::diagnostic::{Exit, Problem};

/// Why writing or reading a trace stopped.
///
/// Oddities that lose no more than a row are not errors but
/// [`Warning`](crate::trace::columns::Warning)s, unless the reader is strict.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file, or the directory that should hold it, cannot be written.
    #[error("cannot write {path}: {source}")]
    Write {
        /// The trace's path.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// Another writer holds the file.
    #[error("cannot write {path}: another writer has it open")]
    Locked {
        /// The trace's path.
        path: String,
    },
    /// A compressed trace to append to is damaged.
    #[error("cannot append to {path}: {cause}")]
    Damaged {
        /// The trace's path.
        path: String,
        /// What is wrong with it.
        cause: String,
    },
    /// The writer was closed, by the caller or by an earlier failure.
    #[error("the writer of {path} is closed")]
    Closed {
        /// The trace's path.
        path: String,
    },
    /// A metadata key or an extra key of a row is one that the row has already.
    #[error("{place} key `{key}` is taken: a row of {path} has it already")]
    TakenKey {
        /// The trace's path.
        path: String,
        /// `metadata` or `extra`.
        place: &'static str,
        /// The key.
        key: String,
    },
    /// The file cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The input's path, as the user named it.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// The file is text in an encoding other than UTF-8.
    #[error("{path} is {encoding} text; a trace is UTF-8")]
    Encoding {
        /// The input's path, as the user named it.
        path: String,
        /// The encoding that its byte-order mark tells.
        encoding: &'static str,
    },
    /// A directory without a single trace.
    #[error("{path} holds no trace: no *.jsonl, *.jsonl.gz or *.jsonl.zst below it")]
    EmptyDirectory {
        /// The directory, as the user named it.
        path: String,
    },
    /// What must be read twice is there only once.
    #[error("{path} can be read only once, and a table needs its columns before its rows")]
    OnlyOnce {
        /// The input, as the user named it.
        path: String,
    },
    /// A strict reader met something odd.
    #[error("{message}")]
    Strict {
        /// The warning's code.
        code: &'static str,
        /// The warning's message, with its place.
        message: String,
    },
}

impl TraceError {
    pub(super) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::Write { path: path.display().to_string(), source }
    }
}

impl Problem for TraceError {
    fn code(&self) -> &'static str {
        match self {
            Self::Write { .. } => "trace/write",
            Self::Locked { .. } => "trace/locked",
            Self::Damaged { .. } => "trace/damaged",
            Self::Closed { .. } => "trace/closed",
            Self::TakenKey { .. } => "trace/taken-key",
            Self::Read { .. } => "trace/read",
            Self::Encoding { .. } => "trace/encoding",
            Self::EmptyDirectory { .. } => "trace/empty-directory",
            Self::OnlyOnce { .. } => "trace/only-once",
            Self::Strict { .. } => "trace/strict",
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Write { .. }
            | Self::Locked { .. }
            | Self::Damaged { .. }
            | Self::Closed { .. }
            | Self::TakenKey { .. } => Exit::Failure,
            Self::Read { .. }
            | Self::Encoding { .. }
            | Self::EmptyDirectory { .. }
            | Self::OnlyOnce { .. }
            | Self::Strict { .. } => Exit::Input,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Locked { .. } => Some("give each run a trace file of its own".to_owned()),
            Self::Damaged { .. } => Some("write to a new file; readers join runs across files".to_owned()),
            Self::TakenKey { key, .. } => Some(format!("rename it, for instance to `run_{key}`")),
            Self::OnlyOnce { .. } => Some("save it to a file first, or ask for rows as they stand".to_owned()),
            Self::Encoding { path, encoding } => Some(format!("convert it first: iconv -f {encoding} -t UTF-8 {path}")),
            _ => None,
        }
    }
}
