//! Environments: worlds that are reset, stepped and shifted (Gymnasium's `Env`).

mod acrobot;
mod blackjack;
mod cartpole;
mod cliff_walking;
mod episode;
pub mod foreign;
mod frozen_lake;
mod grid;
mod math;
mod mountain_car;
mod mountain_car_continuous;
mod native;
mod pendulum;
pub mod registry;
mod setting;
mod snapshot;
mod taxi;
pub mod vector;
mod world;
pub mod wrapper;

use crate::diagnostic::{Exit, Problem};
use crate::snapshot::SnapshotError;
use crate::space::{Element, Space};
use crate::suggest;
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

    /// [`Env::reset`] with Gymnasium's `options`, which hold for the episode they begin: `low` and
    /// `high` bound the first state of the worlds of classic control (`Pendulum-v1`: `x_init` and
    /// `y_init`).
    ///
    /// # Errors
    /// When the environment does not take these options, or fails.
    fn reset_with(&mut self, seed: Option<u64>, options: &Map, observation: &mut Element) -> Result<Info, EnvError> {
        match options.keys().next() {
            None => self.reset(seed, observation),
            Some(name) => {
                let message = format!("takes no reset option `{name}`; it takes no reset options");
                Err(EnvError::Argument { id: self.id().to_owned(), message })
            }
        }
    }

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
    /// A wrapper that does not exist, or does not fit the environment.
    #[error("environment `{id}`: `wrappers[{index}]` (`{wrapper}`): {message}")]
    Wrapper {
        /// The environment.
        id: String,
        /// The wrapper's place, 0 for the innermost.
        index: usize,
        /// The wrapper's name.
        wrapper: String,
        /// What does not fit.
        message: String,
    },
    /// The action of one copy of a vector does not lie in the action space.
    #[error("environment `{id}`, copy {copy}, step {step} (both from 0): action {action} is outside {space}")]
    CopyAction {
        /// The environment.
        id: String,
        /// The copy, from 0.
        copy: usize,
        /// The step of the call, from 0.
        step: usize,
        /// The action.
        action: String,
        /// The action space.
        space: String,
    },
    /// The environment is a program, which may not be started here.
    #[error("environment `{id}` is another program, which may not be started here (allow it with --allow-run)")]
    NotAllowed {
        /// The environment.
        id: String,
    },
    /// An environment variable that says how programs are started is malformed.
    #[error("{name} {message}")]
    Variable {
        /// The variable.
        name: String,
        /// What was expected and what came.
        message: String,
    },
    /// The user asked to stop while the environment did not answer.
    #[error("environment `{id}` did not answer `{question}`; it was ended when you asked to stop")]
    Interrupted {
        /// The environment.
        id: String,
        /// What it was doing.
        question: String,
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
            Self::Wrapper { .. } => "env/wrapper",
            Self::Action { .. } | Self::CopyAction { .. } => "env/action",
            Self::NotAllowed { .. } => "env/not-allowed",
            Self::Variable { .. } => "env/variable",
            Self::Interrupted { .. } => "env/interrupted",
            Self::Failed { .. } => "env/failed",
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Interrupted { .. } => Exit::Interrupted,
            Self::Variable { .. } => Exit::Usage,
            _ => Exit::Failure,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownId { nearest: Some(nearest), .. } => Some(suggest::question(nearest)),
            Self::UnknownId { nearest: None, .. } => {
                Some(format!("registered environments: {}", registry::IDS.join(", ")))
            }
            _ => None,
        }
    }
}
