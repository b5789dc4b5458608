//! Why a campaign could not be planned, or a shard not run.

use std::io;
use std::path::Path;

use crate::atomic::AtomicError;
use crate::diagnostic::{Diagnostic, Exit, Problem};
use crate::object::ObjectError;
use crate::rollouts::{StoreError, WriteError};
use crate::unit::UnitError;

/// Why an index or a manifest could not be read, or a plan not be made of it.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// The file cannot be read.
    #[error("cannot read {path}: {source}")]
    File {
        /// The file.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// A line of it is not what it should be.
    #[error("{path}:{line}: {what}")]
    Line {
        /// The file.
        path: String,
        /// Its line, from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// The whole is not what it should be.
    #[error("{path}: {what}")]
    Whole {
        /// The file.
        path: String,
        /// What is wrong.
        what: String,
    },
    /// A manifest has no such shard.
    #[error("{path} has no {id}; it has {count}, from {first} to {last}")]
    Unknown {
        /// The manifest.
        path: String,
        /// What was asked for.
        id: String,
        /// How many shards it has.
        count: usize,
        /// The first of them.
        first: String,
        /// The last of them.
        last: String,
    },
}

impl ManifestError {
    pub(super) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::File { path: path.display().to_string(), source }
    }

    pub(super) fn line(path: &Path, line: usize, what: impl Into<String>) -> Self {
        Self::Line { path: path.display().to_string(), line, what: what.into() }
    }

    pub(super) fn whole(path: &Path, what: impl Into<String>) -> Self {
        Self::Whole { path: path.display().to_string(), what: what.into() }
    }
}

impl Problem for ManifestError {
    fn code(&self) -> &'static str {
        match self {
            Self::File { .. } => "campaign/unreadable",
            Self::Line { .. } | Self::Whole { .. } => "campaign/manifest",
            Self::Unknown { .. } => "campaign/unknown-shard",
        }
    }

    fn exit(&self) -> Exit {
        if matches!(self, Self::Unknown { .. }) { Exit::Usage } else { Exit::Input }
    }
}

/// Why a shard could not be made. What stood in its place is untouched.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The shard is not sound.
    #[error("{shard_id}: {what}")]
    Entry {
        /// The shard.
        shard_id: String,
        /// What does not hold.
        what: String,
    },
    /// The shard was planned for other options, or another script.
    #[error("{shard_id} was planned with the writer's hash {planned}, but the options and the script give {actual}")]
    Config {
        /// The shard.
        shard_id: String,
        /// The hash in the manifest.
        planned: String,
        /// The hash of what is to be run.
        actual: String,
    },
    /// Something stands in the shard's place that is not its store, or not any more.
    #[error("{path} is not {shard_id} as it is planned: {what}")]
    Conflict {
        /// The shard.
        shard_id: String,
        /// Its place.
        path: String,
        /// What is wrong with what stands there.
        what: String,
    },
    /// A record is of no row of the shard, or of one that is over.
    #[error("{shard_id}: record {prefix}: {what}")]
    Record {
        /// The shard.
        shard_id: String,
        /// The record's `rollout_id_prefix`.
        prefix: String,
        /// What is wrong with its source.
        what: String,
    },
    /// A row of the shard got no record.
    #[error("{shard_id}: no record came of {missing} of its {count} rows, the first of them {sample_key}")]
    Rows {
        /// The shard.
        shard_id: String,
        /// How many rows have none.
        missing: usize,
        /// How many rows there are.
        count: usize,
        /// The first of them.
        sample_key: String,
    },
    /// The records' source found too little in its rows to make records of them. A run of the shard
    /// returns that as its outcome.
    #[error("{shard_id}: insufficient support: {why}")]
    InsufficientSupport {
        /// The shard.
        shard_id: String,
        /// What there was too little of.
        why: String,
    },
    /// The records' source failed.
    #[error("{}", _0.message)]
    Source(Box<Diagnostic>),
    /// It took longer than it may.
    #[error("{}", _0.message)]
    TimedOut(Box<Diagnostic>),
    /// It was asked to stop.
    #[error("{}", _0.message)]
    Interrupted(Box<Diagnostic>),
    /// The store that was written is not sound.
    #[error("{shard_id}: the store that was written is not valid: {first}{}", more(*.count))]
    Invalid {
        /// The shard.
        shard_id: String,
        /// The first thing wrong.
        first: String,
        /// How many things are wrong.
        count: usize,
    },
    /// The store could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The store could not be read back.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The attempt could not be made or promoted.
    #[error(transparent)]
    Unit(#[from] UnitError),
    /// A marker could not be written.
    #[error(transparent)]
    Marker(#[from] AtomicError),
    /// Object storage did not do its part.
    #[error(transparent)]
    Object(#[from] ObjectError),
}

fn more(count: usize) -> String {
    if count > 1 { format!(" (and {} more)", count - 1) } else { String::new() }
}

impl RunError {
    /// The finding, with everything that is known of it.
    #[must_use]
    pub(crate) fn into_diagnostic(self) -> Diagnostic {
        match self {
            Self::Source(diagnostic) | Self::TimedOut(diagnostic) | Self::Interrupted(diagnostic) => *diagnostic,
            other => other.into(),
        }
    }

    /// The error in one line, with the place in a script that it came from.
    #[must_use]
    pub fn told(&self) -> String {
        match self {
            Self::Source(diagnostic) | Self::TimedOut(diagnostic) | Self::Interrupted(diagnostic) => {
                let at = diagnostic.location.as_ref().map(|location| format!(" ({}:{})", location.file, location.line));
                diagnostic.message.clone() + &at.unwrap_or_default()
            }
            other => other.to_string(),
        }
    }

    /// The kind of error, as failure markers name it.
    #[must_use]
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Entry { .. } => "MalformedShard",
            Self::Config { .. } => "ConfigMismatch",
            Self::Conflict { .. } => "OwnershipConflict",
            Self::Record { .. } | Self::Rows { .. } => "RowMismatch",
            Self::InsufficientSupport { .. } => "InsufficientSupport",
            Self::Source(_) => "OracleError",
            Self::TimedOut(_) => "TimeoutError",
            Self::Interrupted(_) => "Interrupted",
            Self::Invalid { .. } => "ValidationError",
            Self::Write(_) | Self::Store(_) | Self::Unit(_) | Self::Marker(_) | Self::Object(_) => "WriteError",
        }
    }
}

impl Problem for RunError {
    fn code(&self) -> &'static str {
        match self {
            Self::Entry { .. } => "campaign/shard",
            Self::Config { .. } => "campaign/config",
            Self::Conflict { .. } => "campaign/conflict",
            Self::Record { .. } | Self::Rows { .. } => "campaign/rows",
            Self::InsufficientSupport { .. } => "campaign/insufficient-support",
            Self::Source(_) => "campaign/oracle",
            Self::TimedOut(_) => "limit/time",
            Self::Interrupted(_) => "script/interrupted",
            Self::Invalid { .. } => "campaign/invalid",
            Self::Write(error) => error.code(),
            Self::Store(error) => error.code(),
            Self::Unit(error) => error.code(),
            Self::Marker(_) => "campaign/write",
            Self::Object(error) => error.code(),
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Entry { .. } | Self::Config { .. } => Exit::BadConfig,
            Self::Source(diagnostic) | Self::TimedOut(diagnostic) | Self::Interrupted(diagnostic) => diagnostic.exit,
            // The disk may have room, and the directory be there, another time.
            Self::Write(WriteError::Store(_) | WriteError::Place(_)) | Self::Marker(_) => Exit::TryAgain,
            Self::Unit(UnitError::Io { .. }) => Exit::TryAgain,
            Self::Object(error) => error.exit(),
            _ => Exit::Failure,
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Config { .. } => {
                "the script, a module of it or an option changed since: plan again, and run into another --final-root"
                    .to_owned()
            }
            Self::Conflict { path, .. } => {
                format!("nothing was touched: move {path} away and run again, or run into another --final-root")
            }
            Self::Unit(error) => return error.hint(),
            Self::Object(error) => return error.hint(),
            _ => return None,
        })
    }
}
