//! The native environments' side of [`Env`]: elements in, elements out, misuse refused.
//!
//! Stepping allocates nothing as long as the caller keeps handing in the same element.

use super::episode::{Episode, Phase, Step};
use super::vector::Vector;
use super::world::{World, WorldAction, WorldObservation};
use super::{Env, EnvError, Info, Transition};
use crate::snapshot::SnapshotError;
use crate::space::{Element, Space};
use crate::value::{Map, Value};

/// A native world that was made but not yet put to use.
pub(super) trait Native {
    /// As one environment.
    fn single(self: Box<Self>) -> Result<Box<dyn Env>, EnvError>;

    /// As `n` copies that are stepped together.
    fn vector(self: Box<Self>, n: usize) -> Result<Vector, EnvError>;
}

impl<W: World + 'static> Native for Episode<W> {
    fn single(self: Box<Self>) -> Result<Box<dyn Env>, EnvError> {
        let (observation_space, action_space) = self.spaces()?;
        Ok(Box::new(Single { episode: *self, observation_space, action_space }))
    }

    fn vector(self: Box<Self>, n: usize) -> Result<Vector, EnvError> {
        Vector::of(*self, n)
    }
}

/// One world behind the interface of an environment.
struct Single<W> {
    episode: Episode<W>,
    observation_space: Space,
    action_space: Space,
}

impl<W: World> Single<W> {
    #[cold]
    fn misuse(&self) -> EnvError {
        let message = match self.episode.phase() {
            Phase::Unstarted => "stepped before its first reset; call reset first",
            Phase::Running | Phase::Ended => "stepped after its episode ended; call reset first",
        };
        EnvError::Failed { id: self.episode.id.to_owned(), message: message.to_owned() }
    }

    #[cold]
    fn refused(&self, action: &Element) -> EnvError {
        let (action, space) = (action.to_string(), self.action_space.to_string());
        EnvError::Action { id: self.episode.id.to_owned(), action, space }
    }
}

impl<W: World> Env for Single<W> {
    fn id(&self) -> &str {
        self.episode.id
    }

    fn observation_space(&self) -> &Space {
        &self.observation_space
    }

    fn action_space(&self) -> &Space {
        &self.action_space
    }

    fn reset(&mut self, seed: Option<u64>, observation: &mut Element) -> Result<Info, EnvError> {
        self.episode.reset(seed).write(observation);
        Ok(Info::default())
    }

    fn reset_with(&mut self, seed: Option<u64>, options: &Map, observation: &mut Element) -> Result<Info, EnvError> {
        self.episode.reset_with(seed, options)?.write(observation);
        Ok(Info::default())
    }

    fn step(&mut self, action: &Element, observation: &mut Element) -> Result<Transition, EnvError> {
        if self.episode.phase() != Phase::Running {
            return Err(self.misuse());
        }
        let fitting = W::Action::from_element(action).filter(|action| action.fits(&self.action_space));
        let Step { reward, terminated, truncated } = match fitting {
            Some(action) => self.episode.step(action),
            None => return Err(self.refused(action)),
        };
        self.episode.observe().write(observation);
        Ok(Transition { reward, terminated, truncated, info: Info::default() })
    }

    fn parameters(&self) -> Map {
        self.episode.parameters()
    }

    fn snapshot(&self) -> Result<Value, SnapshotError> {
        self.episode.snapshot()
    }

    fn restore(&mut self, state: &Value) -> Result<(), SnapshotError> {
        self.episode.restore(state)
    }

    fn set_parameter(&mut self, name: &str, value: &Value) -> Result<(), EnvError> {
        self.episode.set_parameter(name, value)
    }
}
