//! A world in time: its random stream, its episode's phase and its time limit, the part of
//! `gymnasium.make` that a single environment and each copy of a batch share.

use super::EnvError;
use super::snapshot as slots;
use super::world::{Outcome, World};
use crate::random::Rng;
use crate::snapshot::{self, SnapshotError};
use crate::space::Space;
use crate::suggest;
use crate::value::{Map, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Unstarted,
    Running,
    Ended,
}

impl Phase {
    /// The phases and their names in a snapshot.
    const NAMES: [(Self, &str); 3] =
        [(Self::Unstarted, "unstarted"), (Self::Running, "running"), (Self::Ended, "ended")];

    fn name(self) -> &'static str {
        Self::NAMES.into_iter().find(|(phase, _)| *phase == self).map_or("", |(_, name)| name)
    }

    fn named(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(_, known)| *known == name).map(|(phase, _)| phase)
    }
}

/// A world under an id, with its random stream, truncated after `limit` steps.
#[derive(Clone)]
pub(super) struct Episode<W> {
    pub(super) id: &'static str,
    limit: u64,
    world: W,
    rng: Rng,
    elapsed: u64,
    phase: Phase,
}

/// What a step of an episode brought.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) reward: f64,
    pub(super) terminated: bool,
    pub(super) truncated: bool,
}

impl<W: World> Episode<W> {
    /// `world` under `id`, with its arguments set from `kwargs`.
    ///
    /// # Errors
    /// When `kwargs` holds what the world does not take.
    pub(super) fn new(id: &'static str, limit: Option<u64>, mut world: W, kwargs: &Map) -> Result<Self, EnvError> {
        set_fields(&mut world, W::ARGUMENTS, "argument", kwargs)
            .map_err(|message| EnvError::Argument { id: id.to_owned(), message })?;
        // Gymnasium draws a first seed from the system; a run here is always repeatable.
        let rng = Rng::new(0);
        Ok(Self { id, limit: limit.unwrap_or(u64::MAX), world, rng, elapsed: 0, phase: Phase::Unstarted })
    }

    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    /// The observation space and the action space.
    ///
    /// # Errors
    /// When the arguments allow none.
    pub(super) fn spaces(&self) -> Result<(Space, Space), EnvError> {
        let problem = |message: String| EnvError::Argument { id: self.id.to_owned(), message };
        self.world.spaces().map_err(|error| problem(error.to_string()))
    }

    /// Begins an episode; a seed restarts the random stream.
    pub(super) fn reset(&mut self, seed: Option<u64>) -> W::Observation {
        if let Some(seed) = seed {
            self.rng = Rng::new(seed);
        }
        self.world.start(&mut self.rng);
        self.elapsed = 0;
        self.phase = Phase::Running;
        self.world.observe()
    }

    /// [`Episode::reset`] with some of the world's fields set otherwise for this start alone.
    ///
    /// # Errors
    /// When `options` holds what the world does not take; nothing changes then.
    pub(super) fn reset_with(&mut self, seed: Option<u64>, options: &Map) -> Result<W::Observation, EnvError> {
        let problem = |message: String| EnvError::Argument { id: self.id.to_owned(), message };
        let mut altered = self.world.clone();
        set_fields(&mut altered, W::OPTIONS, "reset option", options).map_err(problem)?;
        let bounds = parameters(&altered);
        let bound = |name: &str| bounds.get(name).and_then(Value::as_float);
        if let (Some(low), Some(high)) = (bound("low"), bound("high"))
            && low > high
        {
            return Err(problem(format!("reset option `low` ({low}) must not exceed `high` ({high})")));
        }
        let ordinary: Map =
            parameters(&self.world).into_iter().filter(|(name, _)| options.contains_key(name)).collect();
        self.world = altered;
        let observation = self.reset(seed);
        let restored = set_fields(&mut self.world, W::OPTIONS, "reset option", &ordinary);
        restored.map_err(|message| EnvError::Argument { id: self.id.to_owned(), message })?;
        Ok(observation)
    }

    /// Takes one step of a running episode.
    #[inline]
    pub(super) fn step(&mut self, action: W::Action) -> Step {
        let Outcome { reward, terminated } = self.world.advance(action, &mut self.rng);
        self.elapsed += 1;
        let truncated = self.elapsed >= self.limit;
        if terminated || truncated {
            self.phase = Phase::Ended;
        }
        Step { reward, terminated, truncated }
    }

    #[inline]
    pub(super) fn observe(&self) -> W::Observation {
        self.world.observe()
    }

    /// See [`super::Env::snapshot`].
    ///
    /// # Errors
    /// When the world does not say what its state is.
    pub(super) fn snapshot(&self) -> Result<Value, SnapshotError> {
        let mut world = self.world.clone();
        let state = world.state().ok_or_else(|| self.unknown())?;
        Ok(snapshot::state([
            ("parameters", self.parameters().into()),
            ("state", slots::save(state)),
            ("rng", self.rng.snapshot()),
            ("elapsed", snapshot::count(self.elapsed)),
            ("phase", self.phase.name().into()),
        ]))
    }

    /// See [`super::Env::restore`].
    ///
    /// # Errors
    /// When `state` is not what an episode of this world saved.
    pub(super) fn restore(&mut self, state: &Value) -> Result<(), SnapshotError> {
        let parameters = snapshot::read(state, "parameters", Value::as_map)?;
        for (name, mut field) in self.world.fields() {
            let value = parameters.get(name).ok_or_else(|| snapshot::damaged(name))?;
            field.set(value).map_err(|_| snapshot::damaged(name))?;
        }
        let unknown = self.unknown();
        slots::restore(self.world.state().ok_or(unknown)?, state, "state")?;
        self.rng.restore_snapshot(snapshot::entry(state, "rng")?)?;
        self.elapsed = snapshot::read_count(state, "elapsed")?;
        self.phase = snapshot::read(state, "phase", |phase| Phase::named(phase.as_text()?))?;
        Ok(())
    }

    fn unknown(&self) -> SnapshotError {
        SnapshotError::unknown(format!("environment `{}`", self.id))
    }

    /// See [`super::Env::parameters`].
    pub(super) fn parameters(&self) -> Map {
        parameters(&self.world)
    }

    /// See [`super::Env::set_parameter`].
    ///
    /// # Errors
    /// When there is no such parameter or the value is not of its kind; nothing changes then.
    pub(super) fn set_parameter(&mut self, name: &str, value: &Value) -> Result<(), EnvError> {
        let problem = |message| EnvError::Parameter { id: self.id.to_owned(), name: name.to_owned(), message };
        let mut world = self.world.clone();
        let mut fields = world.fields();
        let Some((_, field)) = fields.iter_mut().find(|(field, _)| *field == name) else {
            let hint = suggest::hint(name, "known are", fields.iter().map(|(field, _)| *field));
            return Err(problem(format!("does not exist; {hint}")));
        };
        field.set(value).map_err(problem)?;
        drop(fields);
        // A box may be left (its bounds are told once), a discrete space counts the states.
        let space = |world: &W| world.spaces().map(|(space, _)| space).map_err(|error| problem(error.to_string()));
        let (before, after) = (space(&self.world)?, space(&world)?);
        if matches!(after, Space::Discrete { .. }) && after != before {
            return Err(problem("would change the observation space".to_owned()));
        }
        self.world = world;
        Ok(())
    }
}

fn parameters<W: World>(world: &W) -> Map {
    world.clone().fields().into_iter().map(|(name, field)| (name.to_owned(), field.get())).collect()
}

/// Sets the fields that `values` names; only those in `known`, which are `kind`s.
fn set_fields<W: World>(world: &mut W, known: &[&str], kind: &str, values: &Map) -> Result<(), String> {
    for (name, value) in values {
        let takes = known.contains(&name.as_str());
        match world.fields().into_iter().find(|(field, _)| takes && field == name) {
            Some((_, mut field)) => field.set(value).map_err(|message| format!("`{name}` {message}"))?,
            None => return Err(unknown(name, known, kind)),
        }
    }
    Ok(())
}

fn unknown(name: &str, known: &[&str], kind: &str) -> String {
    format!("takes no {kind} `{name}`; {}", suggest::hint(name, "it takes", known.iter().copied()))
}
