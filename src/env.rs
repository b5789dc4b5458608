//! Environments: worlds that are reset, stepped and shifted (Gymnasium's `Env`).

mod acrobot;
mod cartpole;
mod cliff_walking;
mod frozen_lake;
mod grid;
mod mountain_car;
mod mountain_car_continuous;
mod native;
mod pendulum;
pub mod registry;
mod setting;
mod snapshot;
mod taxi;

use crate::diagnostic::Problem;
use crate::snapshot::SnapshotError;
use crate::space::{Element, Space};
use crate::value::{Map, Value};

/// A world.
///
/// The time limit and everything else that `gymnasium.make` wraps around an environment is part
/// of it here: `truncated` is the environment's own word.
pub trait Env {
    /// The registered id, such as `CartPole-v1`.
    fn id(&self) -> &str;

    /// Where observations live.
    fn observation_space(&self) -> &Space;

    /// Where actions live.
    fn action_space(&self) -> &Space;

    /// Starts an episode and writes its first observation into `observation`. A seed restarts
    /// the environment's random stream, as `reset(seed=...)` does in Gymnasium.
    ///
    /// # Errors
    /// When the environment fails (a native one never does).
    fn reset(&mut self, seed: Option<u64>, observation: &mut Element) -> Result<Info, EnvError>;

    /// Takes one step and writes the observation that follows into `observation` (the terminal
    /// one at an episode's end; the caller resets).
    ///
    /// # Errors
    /// When the action lies outside the action space, or the environment fails.
    fn step(&mut self, action: &Element, observation: &mut Element) -> Result<Transition, EnvError>;

    /// The physical parameters that may be set between steps, with their present values.
    fn parameters(&self) -> Map;

    /// Sets one of [`Env::parameters`].
    ///
    /// # Errors
    /// When there is no such parameter or the value is not of its kind.
    fn set_parameter(&mut self, name: &str, value: &Value) -> Result<(), EnvError>;

    /// The state between two steps, its random stream and parameters included, for a checkpoint.
    ///
    /// # Errors
    /// When it cannot be saved; the default is that it cannot.
    fn snapshot(&self) -> Result<Value, SnapshotError> {
        Err(SnapshotError::unknown(format!("environment `{}`", self.id())))
    }

    /// Goes back to where [`Env::snapshot`] was taken; the environment is one made anew.
    ///
    /// # Errors
    /// When `state` is not what this environment saved.
    fn restore(&mut self, _state: &Value) -> Result<(), SnapshotError> {
        Err(SnapshotError::unknown(format!("environment `{}`", self.id())))
    }

    /// Provenance, stored in the bundle as it is; empty when there is nothing to say.
    fn describe(&self) -> Map {
        Map::new()
    }
}

/// What one step brought.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transition {
    /// The environment's own reward.
    pub reward: f64,
    /// The task ended here (a goal, a fall).
    pub terminated: bool,
    /// A limit ended the episode here.
    pub truncated: bool,
    /// What else the environment reports.
    pub info: Info,
}

/// What an environment reports beside the observation; the named fields land in the trace row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Info {
    /// The environment refused the action.
    pub invalid_action: bool,
    /// Everything else, by name; `observed_at`, `effective_rank`, `ticket_snapshot` and
    /// `verifier_snapshot` are recorded in the trace row.
    pub entries: Option<Box<Map>>,
}

/// Why an environment could not be made, set or stepped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnvError {
    /// No environment of this id is registered.
    #[error("unknown environment `{id}`")]
    UnknownId {
        /// The id asked for.
        id: String,
        /// The nearest registered id.
        nearest: Option<String>,
    },
    /// A keyword argument the environment does not take, or of the wrong kind.
    #[error("environment `{id}`: {message}")]
    Argument {
        /// The environment.
        id: String,
        /// The field, what was expected and what came.
        message: String,
    },
    /// A parameter the environment does not have, or a value it cannot take.
    #[error("environment `{id}`: parameter `{name}` {message}")]
    Parameter {
        /// The environment.
        id: String,
        /// The parameter.
        name: String,
        /// What was expected and what came.
        message: String,
    },
    /// The action does not lie in the action space.
    #[error("environment `{id}`: action {action} is outside {space}")]
    Action {
        /// The environment.
        id: String,
        /// The action, as data.
        action: String,
        /// The action space.
        space: String,
    },
    /// The environment itself failed (scripted and foreign ones can).
    #[error("environment `{id}`: {message}")]
    Failed {
        /// The environment.
        id: String,
        /// What happened.
        message: String,
    },
}

impl Problem for EnvError {
    fn code(&self) -> &'static str {
        match self {
            Self::UnknownId { .. } => "env/unknown-id",
            Self::Argument { .. } => "env/argument",
            Self::Parameter { .. } => "env/parameter",
            Self::Action { .. } => "env/action",
            Self::Failed { .. } => "env/failed",
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownId { nearest: Some(nearest), .. } => Some(format!("did you mean `{nearest}`?")),
            Self::UnknownId { nearest: None, .. } => {
                Some(format!("registered environments: {}", registry::IDS.join(", ")))
            }
            _ => None,
        }
    }
}
