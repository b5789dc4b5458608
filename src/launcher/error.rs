//! Why units could not be handed to an engine.

use std::path::Path;

use crate::atomic::AtomicError;
use crate::diagnostic::{Exit, Problem};

/// Why units could not be handed to an engine.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LauncherError {
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file could not be put in place.
    #[error(transparent)]
    Write(#[from] AtomicError),
    /// A submission's file is not what it should be.
    #[error("{path}: {message}")]
    Malformed {
        /// The file.
        path: String,
        /// What is wrong.
        message: String,
    },
    /// There is no such task.
    #[error("{path} has tasks 0 to {last}, there is no task {task}", last = tasks.saturating_sub(1))]
    Task {
        /// The submission.
        path: String,
        /// How many tasks it has.
        tasks: usize,
        /// What was asked for.
        task: usize,
    },
    /// What is asked of the engine cannot be written down.
    #[error("{option} {value:?}: {problem}")]
    Option {
        /// What is asked for, as in a script for the engine.
        option: String,
        /// The value.
        value: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Slurm puts its own meaning into a path.
    #[error("{path:?}: Slurm reads `%` and `\\` in the path of a log as marks of its own")]
    Place {
        /// The submission's directory.
        path: String,
    },
    /// A program of the engine cannot be started.
    #[error("cannot start {program}: {source}")]
    Absent {
        /// The program.
        program: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The engine does not take the work.
    #[error("{program}: {message}")]
    Refused {
        /// The program that said so.
        program: String,
        /// What it said.
        message: String,
    },
}

impl LauncherError {
    pub(super) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| Self::Io { path: path.display().to_string(), source }
    }
}

impl Problem for LauncherError {
    fn code(&self) -> &'static str {
        match self {
            Self::Io { .. } | Self::Write(_) => "launcher/io",
            Self::Malformed { .. } => "launcher/malformed",
            Self::Task { .. } => "launcher/task",
            Self::Option { .. } => "launcher/option",
            Self::Place { .. } => "launcher/place",
            Self::Absent { .. } => "launcher/absent",
            Self::Refused { .. } => "launcher/refused",
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Option { .. } | Self::Place { .. } | Self::Task { .. } => Exit::Usage,
            Self::Malformed { .. } => Exit::Input,
            Self::Io { .. } | Self::Write(_) | Self::Absent { .. } | Self::Refused { .. } => Exit::Failure,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Place { .. } => Some("name another directory for the results".to_owned()),
            Self::Absent { .. } => {
                Some("submit from a machine of the cluster; without a cluster, leave out --launcher".to_owned())
            }
            Self::Refused { .. } => {
                Some("what was planned is kept; the same command, of a sweep with --resume, submits it".to_owned())
            }
            _ => None,
        }
    }
}
