//! Why an experiment could not be made, or stopped.

use crate::algorithm::AlgorithmError;
use crate::atomic::AtomicError;
use crate::diagnostic::{Exit, Problem};
use crate::env::EnvError;
use crate::policy::PolicyError;
use crate::regime::RegimeError;
use crate::reward::{ScoreError, TermError};
use crate::snapshot::SnapshotError;
use crate::trace::TraceError;

/// Why an experiment could not be made from its configuration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// `env`.
    #[error(transparent)]
    Env(#[from] EnvError),
    /// `algorithm.policy`.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// `algorithm`.
    #[error(transparent)]
    Algorithm(#[from] AlgorithmError),
    /// `reward`.
    #[error(transparent)]
    Term(#[from] TermError),
    /// `regime`.
    #[error(transparent)]
    Provider(#[from] RegimeError),
    /// A regime that the environment or the composition cannot follow.
    #[error("regime `{regime}`: {message}")]
    Regime {
        /// The regime's label.
        regime: String,
        /// What does not fit.
        message: String,
    },
}

impl Problem for ExperimentError {
    fn code(&self) -> &'static str {
        match self {
            Self::Env(source) => source.code(),
            Self::Policy(source) => source.code(),
            Self::Algorithm(source) => source.code(),
            Self::Term(source) => source.code(),
            Self::Provider(source) => source.code(),
            Self::Regime { .. } => "experiment/regime",
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Env(source) => source.exit(),
            Self::Policy(source) => source.exit(),
            Self::Algorithm(source) => source.exit(),
            Self::Term(source) => source.exit(),
            Self::Provider(source) => source.exit(),
            Self::Regime { .. } => Exit::Failure,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Env(source) => source.hint(),
            Self::Policy(source) => source.hint(),
            Self::Algorithm(source) => source.hint(),
            Self::Term(source) => source.hint(),
            Self::Provider(source) => source.hint(),
            Self::Regime { .. } => None,
        }
    }
}

/// Why a run stopped before its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The trace cannot be written.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// What stands beside the trace cannot be written.
    #[error(transparent)]
    Beside(#[from] AtomicError),
    /// The run was to go on from a checkpoint and cannot.
    #[error(transparent)]
    Resume(#[from] ResumeError),
    /// A reward term failed.
    #[error(transparent)]
    Reward(#[from] ScoreError),
    /// The environment failed, or refused what the policy did.
    #[error("step {step}: {source}")]
    Env {
        /// The step.
        step: u64,
        /// What happened.
        source: EnvError,
    },
    /// The policy failed.
    #[error("step {step}: {source}")]
    Policy {
        /// The step.
        step: u64,
        /// What happened.
        source: PolicyError,
    },
    /// The algorithm failed.
    #[error("step {step}: {source}")]
    Algorithm {
        /// The step.
        step: u64,
        /// What happened.
        source: AlgorithmError,
    },
    /// The regime provider failed.
    #[error("step {step}: {source}")]
    Provider {
        /// The step.
        step: u64,
        /// What happened.
        source: RegimeError,
    },
    /// A regime came into force that the environment or the composition cannot follow.
    #[error("step {step}: {source}")]
    Regime {
        /// The step.
        step: u64,
        /// What does not fit.
        source: Box<ExperimentError>,
    },
    /// A callback failed.
    #[error("step {step}: {message}")]
    Callback {
        /// The step.
        step: u64,
        /// What happened.
        message: String,
    },
    /// The experiment ran already.
    #[error("the experiment ran already; make another one to run it again")]
    AlreadyRun,
}

/// Why a run cannot go on from a checkpoint.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResumeError {
    /// A part cannot be checkpointed.
    #[error("the run cannot be resumed: {0}")]
    Part(SnapshotError),
    /// The trace is compressed.
    #[error("the run cannot be resumed: {path} is compressed, so it cannot be cut back to a checkpoint")]
    Compressed {
        /// The trace.
        path: String,
    },
    /// The trace is no file.
    #[error("the run cannot be resumed: {path} is not a file, so it cannot be cut back to a checkpoint")]
    NotAFile {
        /// The trace.
        path: String,
    },
    /// No trace was asked for.
    #[error("the run cannot be resumed: a checkpoint stands beside a trace, and no trace is written")]
    NoTrace,
    /// The checkpoint cannot be read.
    #[error("cannot read {path}: {source}")]
    Unreadable {
        /// The checkpoint.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The checkpoint is not one of this program, or not whole.
    #[error("cannot resume from {path}: {message}")]
    Damaged {
        /// The checkpoint.
        path: String,
        /// What is wrong with it.
        message: String,
    },
    /// The checkpoint belongs to another experiment.
    #[error("cannot resume from {path}: it was written under another configuration")]
    OtherConfig {
        /// The checkpoint.
        path: String,
    },
}

impl Problem for ResumeError {
    fn code(&self) -> &'static str {
        match self {
            Self::Part(_) | Self::Compressed { .. } | Self::NotAFile { .. } | Self::NoTrace => {
                "experiment/no-checkpoint"
            }
            Self::Unreadable { .. } | Self::Damaged { .. } | Self::OtherConfig { .. } => "experiment/resume",
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Unreadable { .. } | Self::Damaged { .. } => Exit::Input,
            _ => Exit::Failure,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Part(_) => "run it without resuming; it then begins anew",
            Self::Compressed { .. } => "name the trace .jsonl",
            Self::NotAFile { .. } => "write the trace to a file",
            Self::NoTrace => "name a trace",
            Self::Unreadable { .. } | Self::Damaged { .. } | Self::OtherConfig { .. } => {
                "without resuming, the run begins anew and replaces the trace"
            }
        };
        Some(hint.to_owned())
    }
}

impl Problem for RunError {
    fn code(&self) -> &'static str {
        match self {
            Self::Trace(source) => source.code(),
            Self::Beside(_) => "experiment/beside",
            Self::Resume(source) => source.code(),
            Self::Reward(source) => source.code(),
            Self::Env { source, .. } => source.code(),
            Self::Policy { source, .. } => source.code(),
            Self::Algorithm { source, .. } => source.code(),
            Self::Provider { source, .. } => source.code(),
            Self::Regime { source, .. } => source.code(),
            Self::Callback { .. } => "experiment/callback",
            Self::AlreadyRun => "experiment/already-run",
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Env { source, .. } => source.exit(),
            Self::Resume(source) => source.exit(),
            _ => Exit::Failure,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Trace(source) => source.hint(),
            Self::Reward(source) => source.hint(),
            Self::Env { source, .. } => source.hint(),
            Self::Policy { source, .. } => source.hint(),
            Self::Algorithm { source, .. } => source.hint(),
            Self::Provider { source, .. } => source.hint(),
            Self::Regime { source, .. } => source.hint(),
            Self::Resume(source) => source.hint(),
            Self::Beside(_) | Self::Callback { .. } | Self::AlreadyRun => None,
        }
    }
}
