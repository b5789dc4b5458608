//! Copies of one native world, stepped together on every core (Gymnasium's `SyncVectorEnv`).
//!
//! Copy `i` does exactly what a single environment seeded `seed + i` does, whatever the number of
//! threads. Episodes begin anew by themselves as Gymnasium's `NEXT_STEP` has it: the step after
//! an end ignores its action and brings the first observation, reward 0 and neither flag.
//!
//! Everything is copy-major, one array a quantity: `observations` is `[n, ...]` after one step
//! and `[n, steps, ...]` after a rollout of several. A worker owns a run of neighbouring copies
//! and takes each through all its steps; nothing is allocated while the shape stays the same.

mod crew;

use super::episode::Episode;
use super::world::World;
use super::{EnvError, registry};
use crate::array::{Array, DType};
use crate::space::Space;
use crate::value::{Map, Value};

use crew::{Copies, Crew};

/// What all copies do.
#[derive(Clone, Copy)]
pub enum Actions<'a> {
    /// Discrete actions, `[n]` or `[n, steps]` in C order.
    Discrete(&'a [i64]),
    /// Continuous actions of one number each, `[n]` or `[n, steps]` in C order.
    Continuous(&'a [f32]),
    /// Chosen in the worker, from the copy's number (from 0) and its present observation.
    Policy(&'a (dyn Fn(usize, Observation<'_>) -> Action + Sync)),
}

/// The observation of one copy: a box's numbers, or those of a discrete space or a tuple of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Observation<'a> {
    /// An element of a box.
    Floats(&'a [f32]),
    /// The number of a discrete observation, or the numbers of a tuple of them.
    Integers(&'a [i64]),
}

/// The action of one copy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// An element of a discrete space.
    Discrete(i64),
    /// The one number of a continuous action.
    Continuous(f32),
}

/// What one step or several brought, one row a copy.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// The observations that followed; terminal ones at an episode's end. `[n, ...]` or
    /// `[n, steps, ...]`, float32 for a box and int64 else.
    pub observations: Array,
    /// Rewards, float64, `[n]` or `[n, steps]`.
    pub rewards: Array,
    /// Whether the task ended there, `[n]` or `[n, steps]`.
    pub terminated: Array,
    /// Whether a limit ended the episode there, `[n]` or `[n, steps]`.
    pub truncated: Array,
}

/// Copies of one native world.
pub struct Vector {
    id: &'static str,
    n: usize,
    observation_space: Space,
    action_space: Space,
    copies: Box<dyn Copies>,
    batch: Batch,
    /// The axes before those of one observation.
    shape: Vec<usize>,
    /// Each copy has its random stream.
    seeded: bool,
    /// Each copy has an episode.
    ready: bool,
}

impl Vector {
    /// `n` copies of the native environment `id`, made as [`registry::make`] makes one.
    ///
    /// # Errors
    /// When there is no native environment of this id, it does not take `kwargs`, `n` is 0, or
    /// memory does not hold as many.
    pub fn new(id: &str, n: usize, kwargs: &Map) -> Result<Self, EnvError> {
        registry::native(id, kwargs)?.vector(n)
    }

    pub(super) fn of<W: World + 'static>(episode: Episode<W>, n: usize) -> Result<Self, EnvError> {
        let id = episode.id;
        let (observation_space, action_space) = episode.spaces()?;
        let copies: Box<dyn Copies> = Box::new(Crew::new(episode, action_space.clone(), n)?);
        let batch = blank(copies.as_ref(), &[n]).map_err(|message| problem(id, message))?;
        let (shape, seeded, ready) = (vec![n], false, false);
        Ok(Self { id, n, observation_space, action_space, copies, batch, shape, seeded, ready })
    }

    /// The registered id.
    #[must_use]
    pub fn id(&self) -> &'static str {
        self.id
    }

    /// How many copies there are.
    #[must_use]
    pub fn copies(&self) -> usize {
        self.n
    }

    /// Where one copy's observations live.
    #[must_use]
    pub fn observation_space(&self) -> &Space {
        &self.observation_space
    }

    /// Where one copy's actions live.
    #[must_use]
    pub fn action_space(&self) -> &Space {
        &self.action_space
    }

    /// Starts an episode in every copy, copy `i` with the seed `seed + i`, and returns the first
    /// observations, `[n, ...]`. Without a seed the random streams go on; the first time they are
    /// those of seed 0. `options` are as for [`super::Env::reset_with`].
    ///
    /// # Errors
    /// When the world does not take `options`.
    pub fn reset(&mut self, seed: Option<u64>, options: &Map) -> Result<&Array, EnvError> {
        self.shape_batch(None)?;
        let seed = seed.or_else(|| (!self.seeded).then_some(0));
        self.copies.reset(seed, options, &mut self.batch.observations)?;
        (self.seeded, self.ready) = (true, true);
        Ok(&self.batch.observations)
    }

    /// Takes one step in every copy.
    ///
    /// # Errors
    /// When the copies were not reset, there is not one action for each, or one lies outside the
    /// action space. Given actions are checked before any copy moves; after a policy's wrong
    /// action the copies must be reset.
    pub fn step(&mut self, actions: Actions<'_>) -> Result<&Batch, EnvError> {
        self.advance(actions, None)
    }

    /// Takes `steps` steps in every copy.
    ///
    /// # Errors
    /// As [`Vector::step`], and when memory does not hold the batch.
    pub fn rollout(&mut self, actions: Actions<'_>, steps: usize) -> Result<&Batch, EnvError> {
        self.advance(actions, Some(steps))
    }

    fn advance(&mut self, actions: Actions<'_>, steps: Option<usize>) -> Result<&Batch, EnvError> {
        if !self.ready {
            let message = "stepped before the copies were reset; call reset first".to_owned();
            return Err(EnvError::Failed { id: self.id.to_owned(), message });
        }
        let count = steps.unwrap_or(1);
        self.copies.check(actions, count)?;
        self.shape_batch(steps)?;
        self.ready = false;
        self.copies.step(actions, count, &mut self.batch)?;
        self.ready = true;
        Ok(&self.batch)
    }

    /// The parameters that may be set between steps, with their present values.
    #[must_use]
    pub fn parameters(&self) -> Map {
        self.copies.parameters()
    }

    /// Sets one of [`Vector::parameters`] in every copy.
    ///
    /// # Errors
    /// When there is no such parameter or the value is not of its kind; nothing changes then.
    pub fn set_parameter(&mut self, name: &str, value: &Value) -> Result<(), EnvError> {
        self.copies.set_parameter(name, value)
    }

    /// Gives the batch the axes of one step or of `steps`.
    fn shape_batch(&mut self, steps: Option<usize>) -> Result<(), EnvError> {
        let same = match (self.shape.as_slice(), steps) {
            ([_], None) => true,
            ([_, now], Some(steps)) => *now == steps,
            _ => false,
        };
        if !same {
            let shape: Vec<usize> = [self.n].into_iter().chain(steps).collect();
            self.batch = blank(self.copies.as_ref(), &shape).map_err(|message| problem(self.id, message))?;
            self.shape = shape;
        }
        Ok(())
    }
}

fn problem(id: &str, message: String) -> EnvError {
    EnvError::Argument { id: id.to_owned(), message }
}

/// A batch with `shape` before the axes of one observation.
fn blank(copies: &dyn Copies, shape: &[usize]) -> Result<Batch, String> {
    let zeros = |dtype: DType, shape: &[usize]| Array::try_zeros(dtype, shape).map_err(|error| error.to_string());
    let (dtype, inner) = copies.observation_layout();
    let full: Vec<usize> = shape.iter().copied().chain(inner).collect();
    Ok(Batch {
        observations: zeros(dtype, &full)?,
        rewards: zeros(DType::F64, shape)?,
        terminated: zeros(DType::Bool, shape)?,
        truncated: zeros(DType::Bool, shape)?,
    })
}
