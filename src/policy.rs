//! Policies: what acts.

use std::path::{Path, PathBuf};

use crate::space::Element;

/// Maps observations to actions.
pub trait Policy {
    /// The action for `observation`, written into `action`.
    ///
    /// # Errors
    /// When the observation does not fit, or a scripted policy raises.
    fn act(&mut self, observation: &Element, action: &mut Element) -> Result<(), PolicyError>;

    /// Writes what [`Policy::load`] needs below `dir`, an existing directory, and says in which
    /// format.
    ///
    /// # Errors
    /// When the files cannot be written.
    fn save(&self, dir: &Path) -> Result<Checkpoint, PolicyError>;

    /// Restores what [`Policy::save`] wrote: a weights file for [`Checkpoint::Weights`], the
    /// directory for [`Checkpoint::Directory`].
    ///
    /// # Errors
    /// When the files are missing, damaged, or belong to another policy.
    fn load(&mut self, path: &Path) -> Result<(), PolicyError>;

    /// The policy's parameters as one flat vector, if it has such.
    fn parameters(&self) -> Option<&[f64]> {
        None
    }

    /// The same, to be changed.
    fn parameters_mut(&mut self) -> Option<&mut [f64]> {
        None
    }
}

/// How a policy saved itself (the manifest's `policy.format`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Checkpoint {
    /// `weights`: one file, named relative to the checkpoint directory.
    Weights(PathBuf),
    /// `checkpoint`: the directory as a whole.
    Directory,
    /// Nothing was saved: the bundle records the run but cannot be served.
    Nothing,
}

/// Why a policy could not be made, act, be saved or restored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// No policy of this id is registered.
    #[error("unknown policy `{id}`")]
    UnknownId {
        /// The id asked for.
        id: String,
        /// The nearest registered id.
        nearest: Option<String>,
    },
    /// A keyword argument the policy does not take, of the wrong kind, or at odds with the
    /// environment's spaces.
    #[error("policy `{id}`: {message}")]
    Argument {
        /// The policy.
        id: String,
        /// The field, what was expected and what came.
        message: String,
    },
    /// A checkpoint that cannot be written or read.
    #[error("policy `{id}`: checkpoint {path}: {message}")]
    Checkpoint {
        /// The policy.
        id: String,
        /// The file.
        path: String,
        /// What is wrong with it.
        message: String,
    },
    /// The policy itself failed (scripted ones can).
    #[error("policy `{id}`: {message}")]
    Failed {
        /// The policy.
        id: String,
        /// What happened.
        message: String,
    },
}
