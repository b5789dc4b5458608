//! Learning algorithms: what changes a policy while a run goes on.
//!
//! An algorithm owns the policy. The run loop asks the algorithm for actions, which by default are
//! the policy's own, and tells it what came of them; [`Algorithm::finish`] leaves the policy worth
//! exporting. Exploration belongs to the algorithm: what an exported policy does is what it does
//! without one.

mod actor;
mod adam;
mod ars;
mod at_shift;
mod cem;
mod generations;
mod hill_climbing;
mod moments;
mod none;
mod ppo;
pub mod registry;
mod reinforce;
mod search;
mod subject;
mod temporal_difference;

pub use at_shift::{Control, Maker, controlled};

use crate::diagnostic::{Exit, Problem};
use crate::policy::{Policy, PolicyError};
use crate::regime::Regime;
use crate::reward::StepView;
use crate::snapshot::SnapshotError;
use crate::space::Element;
use crate::suggest;
use crate::value::Value;

/// Learns from steps, episodes and windows.
pub trait Algorithm {
    /// The policy that acts now.
    fn policy(&self) -> &dyn Policy;

    /// The same, to act or be restored.
    fn policy_mut(&mut self) -> &mut dyn Policy;

    /// The action for `observation`, written into `action`: the policy's own, unless the
    /// algorithm explores.
    ///
    /// # Errors
    /// As [`Policy::act`].
    fn act(&mut self, observation: &Element, action: &mut Element) -> Result<(), PolicyError> {
        self.policy_mut().act(observation, action)
    }

    /// At the run's start, with the first regime in force.
    ///
    /// # Errors
    /// As [`Algorithm::on_step`].
    fn on_start(&mut self, _regime: &Regime) -> Result<(), AlgorithmError> {
        Ok(())
    }

    /// After each step, with the composed reward.
    ///
    /// # Errors
    /// When the algorithm fails (scripted ones can).
    fn on_step(&mut self, _step: &StepView<'_>, _reward: f64) -> Result<(), AlgorithmError> {
        Ok(())
    }

    /// After each finished episode.
    ///
    /// # Errors
    /// As [`Algorithm::on_step`].
    fn on_episode(&mut self, _episode: &Episode) -> Result<(), AlgorithmError> {
        Ok(())
    }

    /// After each window, the last and possibly shorter one included.
    ///
    /// # Errors
    /// As [`Algorithm::on_step`].
    fn on_window(&mut self, _window: &Window) -> Result<(), AlgorithmError> {
        Ok(())
    }

    /// When a regime of another label, or one without a label, comes into force; not at the run's
    /// start.
    ///
    /// # Errors
    /// As [`Algorithm::on_step`].
    fn on_shift(&mut self, _regime: &Regime) -> Result<(), AlgorithmError> {
        Ok(())
    }

    /// Another algorithm acted since this one's last step, if it had any: an episode that this one
    /// saw the beginning of did not go on. `within_episode` says that one is under way whose
    /// beginning it did not see, and which is therefore not its own to judge.
    fn take_over(&mut self, _within_episode: bool) {}

    /// At the run's end: leaves the best judged policy.
    ///
    /// # Errors
    /// As [`Algorithm::on_step`].
    fn finish(&mut self) -> Result<(), AlgorithmError> {
        Ok(())
    }

    /// The state between two windows, its random stream included and its policy left out, for a
    /// checkpoint.
    ///
    /// # Errors
    /// When it cannot be saved; the default is that it cannot.
    fn snapshot(&self) -> Result<Value, SnapshotError> {
        Err(SnapshotError::unknown("the algorithm"))
    }

    /// Goes back to where [`Algorithm::snapshot`] was taken; the algorithm is one made anew, and
    /// its policy was restored before.
    ///
    /// # Errors
    /// When `state` is not what this algorithm saved.
    fn restore(&mut self, _state: &Value) -> Result<(), SnapshotError> {
        Err(SnapshotError::unknown("the algorithm"))
    }

    /// What the user should know, each thing once; the run loop collects it.
    fn take_warnings(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// A finished episode.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Episode {
    /// Its number within the run, from 0.
    pub index: u64,
    /// Its length.
    pub steps: u64,
    /// The sum of its composed rewards, undiscounted.
    pub total_reward: f64,
    /// The task ended it.
    pub terminated: bool,
    /// A limit ended it.
    pub truncated: bool,
}

/// A finished window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Window {
    /// Its number within the run, from 0.
    pub index: u64,
    /// Its length.
    pub steps: u64,
    /// The sum of its composed rewards.
    pub total_reward: f64,
    /// The steps of the run so far.
    pub done: u64,
}

/// Why an algorithm could not be made or go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AlgorithmError {
    /// No algorithm of this name is registered.
    #[error("unknown algorithm `{name}`")]
    UnknownName {
        /// The name asked for.
        name: String,
        /// The nearest registered name.
        nearest: Option<String>,
    },
    /// A parameter it does not take or of the wrong kind, or a policy it cannot train.
    #[error("algorithm `{name}`: {message}")]
    Argument {
        /// The algorithm.
        name: String,
        /// The field, what was expected and what came.
        message: String,
    },
    /// The policy it was given could not be made, or failed.
    #[error(transparent)]
    GivenPolicy(#[from] PolicyError),
    /// Its default policy does not fit the environment.
    #[error("algorithm `{name}`: {source}")]
    Policy {
        /// The algorithm.
        name: String,
        /// What is wrong with the policy.
        source: PolicyError,
    },
    /// The algorithm itself failed.
    #[error("algorithm `{name}`: {message}")]
    Failed {
        /// The algorithm.
        name: String,
        /// What happened.
        message: String,
    },
}

impl Problem for AlgorithmError {
    fn code(&self) -> &'static str {
        match self {
            Self::UnknownName { .. } => "algorithm/unknown-name",
            Self::Argument { .. } => "algorithm/argument",
            Self::GivenPolicy(source) => source.code(),
            Self::Policy { .. } => "algorithm/policy",
            Self::Failed { .. } => "algorithm/failed",
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::GivenPolicy(source) => source.exit(),
            _ => Exit::Failure,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::GivenPolicy(source) => source.hint(),
            Self::UnknownName { nearest: Some(nearest), .. } => Some(suggest::question(nearest)),
            // Behind a `+` stands a control.
            Self::UnknownName { nearest: None, name } if name.contains('+') => {
                Some(format!("controls: {}", Control::NAMES.map(|(name, _)| name).join(", ")))
            }
            Self::UnknownName { nearest: None, .. } => {
                Some(format!("registered algorithms: {}", registry::NAMES.join(", ")))
            }
            _ => None,
        }
    }
}
