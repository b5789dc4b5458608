//! Policies: what acts.
//!
//! Native ones are made by id ([`registry`]); scripts define their own behind the same trait.

mod fixed;
mod linear;
mod menu;
mod mlp;
pub(crate) mod network;
pub mod registry;
pub(crate) mod settings;
pub(crate) mod softmax;
mod tabular;
mod tiling;
mod weights;

use std::path::{Path, PathBuf};

use crate::diagnostic::{Exit, Problem};
use crate::snapshot::SnapshotError;
use crate::space::{Element, Space};
use crate::suggest;
use crate::value::Value;

/// What a policy is made for.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// Where observations live.
    pub observation_space: &'a Space,
    /// Where actions live.
    pub action_space: &'a Space,
    /// The experiment's seed: a policy draws from the stream called `policy` under it, or under
    /// its own `seed` argument.
    pub seed: u64,
}

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

    /// The state between two steps, its random stream included, for a checkpoint.
    ///
    /// # Errors
    /// When it cannot be saved; the default is that it cannot.
    fn snapshot(&self) -> Result<Value, SnapshotError> {
        Err(SnapshotError::unknown("the policy"))
    }

    /// Goes back to where [`Policy::snapshot`] was taken; the policy is one made anew.
    ///
    /// # Errors
    /// When `state` is not what this policy saved.
    fn restore(&mut self, _state: &Value) -> Result<(), SnapshotError> {
        Err(SnapshotError::unknown("the policy"))
    }

    /// The policy's parameters as one flat vector, if it has such.
    fn parameters(&self) -> Option<&[f64]> {
        None
    }

    /// The same, to be changed.
    fn parameters_mut(&mut self) -> Option<&mut [f64]> {
        None
    }

    /// The activations of the last hidden layer at the observation that was acted on last, if the
    /// policy has such a layer: what its effective rank is measured on.
    fn representation(&self) -> Option<&[f64]> {
        None
    }

    /// The policy as scores that can be differentiated, if it is that.
    fn differentiable(&mut self) -> Option<&mut dyn Differentiable> {
        None
    }

    /// The policy as a table of action values, if it is that.
    fn action_values(&mut self) -> Option<&mut dyn ActionValues> {
        None
    }
}

/// A policy that scores a menu of actions by a function of its parameters that can be
/// differentiated; the softmax of the scores are the actions' probabilities.
pub trait Differentiable {
    /// How many actions there are.
    fn n_actions(&self) -> usize;

    /// How many features an observation has.
    fn n_features(&self) -> usize;

    /// Writes the features of `observation` over `features`.
    ///
    /// # Errors
    /// When the observation does not fit.
    fn features(&self, observation: &Element, features: &mut Vec<f64>) -> Result<(), PolicyError>;

    /// Writes the scores at `features` over `scores`, one for each action.
    fn scores(&mut self, features: &[f64], scores: &mut [f64]);

    /// Adds to `gradient`, in the order of [`Policy::parameters`], the loss by every parameter,
    /// given the loss by the scores that were last asked for, which was at `features`.
    fn add_gradient(&mut self, features: &[f64], by_score: &[f64], gradient: &mut [f64]);

    /// The action whose score stands at `place`.
    fn action(&self, place: usize) -> Element;
}

/// A policy whose action values are sums of a table's entries over the cells that an observation
/// lies in.
pub trait ActionValues {
    /// How many actions there are.
    fn n_actions(&self) -> usize;

    /// Writes the cells of `observation` over `cells`: always the same number of them.
    ///
    /// # Errors
    /// When the observation does not fit.
    fn cells(&mut self, observation: &Element, cells: &mut Vec<usize>) -> Result<(), PolicyError>;

    /// Writes the actions' values at `cells` over `values`.
    fn values(&self, cells: &[usize], values: &mut [f64]);

    /// Adds `amount` to the entry of `cell` and of the action at place `action`.
    fn add(&mut self, cell: usize, action: usize, amount: f64);

    /// The action whose value stands at `place`.
    fn action(&self, place: usize) -> Element;
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

impl Problem for PolicyError {
    fn code(&self) -> &'static str {
        match self {
            Self::UnknownId { .. } => "policy/unknown-id",
            Self::Argument { .. } => "policy/argument",
            Self::Checkpoint { .. } => "policy/checkpoint",
            Self::Failed { .. } => "policy/failed",
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Checkpoint { .. } => Exit::Input,
            _ => Exit::Failure,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownId { nearest: Some(nearest), .. } => Some(suggest::question(nearest)),
            Self::UnknownId { nearest: None, .. } => Some(format!("registered policies: {}", registry::IDS.join(", "))),
            _ => None,
        }
    }
}
