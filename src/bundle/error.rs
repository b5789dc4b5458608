//! Why a bundle could not be written, opened or served.

use std::io;

use super::manifest::ManifestError;
use crate::atomic::AtomicError;
use crate::diagnostic::{Exit, Problem};
use crate::experiment::{ExperimentError, RunError};
use crate::policy::PolicyError;
use crate::text::decode::Mistakes;

/// Why a bundle could not be written, opened or served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BundleError {
    /// There is no bundle.
    #[error("{dir} is not a bundle: it has no manifest.yaml")]
    Missing {
        /// The directory, as the user named it.
        dir: String,
    },
    /// A file of the bundle cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// The manifest cannot be read.
    #[error("{path}: {source}")]
    Manifest {
        /// The manifest.
        path: String,
        /// What is wrong with it.
        source: ManifestError,
    },
    /// Something in the bundle is not as it must be.
    #[error("{path}: `{field}` {message}")]
    Field {
        /// The manifest.
        path: String,
        /// The field at fault.
        field: &'static str,
        /// What is wrong with it, as the rest of a sentence.
        message: String,
    },
    /// The bundle records a run but cannot be served.
    #[error("{path}: the bundle cannot be served: {message}")]
    NotServable {
        /// The manifest.
        path: String,
        /// Why.
        message: &'static str,
    },
    /// The reward specification is not one of ours.
    #[error("{path}: `reward_spec`: {source}")]
    RewardSpec {
        /// The manifest.
        path: String,
        /// What is wrong with it.
        source: Mistakes,
    },
    /// A directory that must not be replaced stands where the bundle should.
    #[error("{dir} exists and is not a bundle; it is left as it is")]
    Occupied {
        /// The directory, as the user named it.
        dir: String,
    },
    /// The bundle cannot be put in place.
    #[error(transparent)]
    Write(#[from] AtomicError),
    /// The policy cannot be saved or restored.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// A part cannot be recorded, or rebuilt from the manifest.
    #[error(transparent)]
    Part(#[from] ExperimentError),
    /// Serving stopped before its end.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl Problem for BundleError {
    fn code(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "bundle/missing",
            Self::Read { .. } => "bundle/read",
            Self::Manifest { source, .. } => source.code(),
            Self::Field { .. } => "bundle/field",
            Self::NotServable { .. } => "bundle/not-servable",
            Self::RewardSpec { .. } => "bundle/reward-spec",
            Self::Occupied { .. } => "bundle/occupied",
            Self::Write(_) => "bundle/write",
            Self::Policy(source) => source.code(),
            Self::Part(source) => source.code(),
            Self::Run(source) => source.code(),
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Missing { .. }
            | Self::Read { .. }
            | Self::Manifest { .. }
            | Self::Field { .. }
            | Self::RewardSpec { .. } => Exit::Input,
            Self::NotServable { .. } | Self::Occupied { .. } | Self::Write(_) => Exit::Failure,
            Self::Policy(source) => source.exit(),
            Self::Part(source) => source.exit(),
            Self::Run(source) => source.exit(),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Occupied { .. } => Some("export to a new directory, or over an earlier bundle".to_owned()),
            Self::Policy(source) => source.hint(),
            Self::Part(source) => source.hint(),
            Self::Run(source) => source.hint(),
            _ => None,
        }
    }
}
