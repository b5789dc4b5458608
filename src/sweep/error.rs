//! Why a sweep could not be planned, run or read.

use crate::atomic::AtomicError;
use crate::diagnostic::{Exit, Problem};
use crate::unit::UnitError;

/// Why a sweep could not be planned, run or read.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The directory holds a sweep, and nothing was said of going on with it.
    #[error("{path} holds a sweep already")]
    Exists {
        /// The sweep's directory.
        path: String,
    },
    /// The directory holds what a run left.
    #[error("{path} holds a run's results: {path}/{file}")]
    Run {
        /// The directory.
        path: String,
        /// What the run left.
        file: &'static str,
    },
    /// Another process runs the sweep in the directory.
    #[error("another process runs the sweep in {path} at the moment, and {what}")]
    Busy {
        /// The sweep's directory.
        path: String,
        /// Why they cannot both.
        what: &'static str,
    },
    /// The directory holds no sweep.
    #[error("{path} holds no sweep: there is no {}", super::directory::HEADER)]
    Missing {
        /// The directory.
        path: String,
    },
    /// A file of the sweep cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file of the sweep is not what it should be.
    #[error("{path}{}: {message}", line.map(|line| format!(":{line}")).unwrap_or_default())]
    Malformed {
        /// The file.
        path: String,
        /// Its line, from 1, where it is one of rows.
        line: Option<usize>,
        /// What is wrong.
        message: String,
    },
    /// The system has no thread for one more trial at a time.
    #[error("cannot start a thread for one more trial beside the {workers} under way: {source}")]
    Worker {
        /// How many trials are under way.
        workers: usize,
        /// What the system said.
        source: std::io::Error,
    },
    /// The space cannot be gone through.
    #[error("{0}")]
    Space(String),
    /// A table has no such column.
    #[error("there is no column `{name}`; {known}")]
    Column {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// A file could not be put in place.
    #[error(transparent)]
    Write(#[from] AtomicError),
    /// A trial could not be tried or finished.
    #[error(transparent)]
    Unit(#[from] UnitError),
}

impl SweepError {
    /// Whether something that was written whole is not any more.
    pub(super) fn is_damage(&self) -> bool {
        match self {
            Self::Malformed { .. } => true,
            Self::Io { source, .. } => source.kind() == std::io::ErrorKind::NotFound,
            _ => false,
        }
    }

    pub(super) fn io(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| Self::Io { path: path.display().to_string(), source }
    }
}

impl Problem for SweepError {
    fn code(&self) -> &'static str {
        match self {
            Self::Exists { .. } => "sweep/exists",
            Self::Run { .. } => "sweep/run",
            Self::Busy { .. } => "sweep/busy",
            Self::Missing { .. } => "sweep/missing",
            Self::Io { .. } | Self::Write(_) => "sweep/io",
            Self::Malformed { .. } => "sweep/malformed",
            Self::Worker { .. } => "sweep/jobs",
            Self::Space(_) => "sweep/space",
            Self::Column { .. } => "sweep/column",
            Self::Unit(problem) => problem.code(),
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Exists { .. } | Self::Run { .. } | Self::Column { .. } => Exit::Usage,
            Self::Missing { .. } | Self::Malformed { .. } => Exit::Input,
            Self::Busy { .. }
            | Self::Io { .. }
            | Self::Worker { .. }
            | Self::Write(_)
            | Self::Unit(_)
            | Self::Space(_) => Exit::Failure,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Exists { .. } => Some("--resume runs what is missing; --out names another directory".to_owned()),
            Self::Run { .. } => Some(
                "--out names another directory; in one, an evaluation would count the run among the trials".to_owned(),
            ),
            Self::Busy { .. } => Some("wait for it or end it; --out names another directory".to_owned()),
            Self::Worker { .. } => Some("name fewer --jobs; --resume goes on with what is there".to_owned()),
            Self::Unit(problem) => problem.hint(),
            Self::Malformed { path, .. } | Self::Io { path, .. } if path.ends_with(super::outcome::FILE) => {
                Some("--resume sets a damaged trial aside and runs it again".to_owned())
            }
            _ => None,
        }
    }
}
