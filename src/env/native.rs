//! What every native environment shares: seeding, the episode's phase, the time limit, action
//! checks, arguments and parameters. A [`World`] is only its own dynamics.
//!
//! Stepping allocates nothing as long as the caller keeps handing in the same element.

use super::setting::Field;
use super::snapshot::{self as slots, Slot};
use super::{Env, EnvError, Info, Transition};
use crate::array::{Array, DType};
use crate::random::Rng;
use crate::snapshot::{self, SnapshotError};
use crate::space::{Element, Space, SpaceError};
use crate::suggest;
use crate::value::{Map, Value};

/// The dynamics of one environment.
pub(super) trait World: Clone {
    /// The fields that `gymnasium.make` takes as keyword arguments.
    const ARGUMENTS: &'static [&'static str] = &[];

    /// The observation space and the action space.
    fn spaces(&self) -> Result<(Space, Space), SpaceError>;

    /// Everything that can be set between steps, by name, in a fixed order.
    fn fields(&mut self) -> Vec<(&'static str, Field<'_>)>;

    /// What changes from step to step.
    fn state(&mut self) -> Vec<Slot<'_>>;

    /// Begins an episode.
    fn start(&mut self, rng: &mut Rng);

    /// Takes one step.
    fn advance(&mut self, action: Action, rng: &mut Rng) -> Outcome;

    /// Writes the present observation.
    fn observe(&self, observation: &mut Element);
}

/// An action that was found to be of the action space's kind.
#[derive(Clone, Copy, Debug)]
pub(super) enum Action {
    /// An element of the discrete action space.
    Discrete(i64),
    /// The one number of a continuous action; it may lie outside the bounds.
    #[allow(dead_code, reason = "for the environments with continuous actions")]
    Continuous(f32),
}

impl Action {
    /// The discrete action (0 for a continuous one, which a discrete space never lets through).
    pub(super) fn index(self) -> i64 {
        match self {
            Self::Discrete(index) => index,
            Self::Continuous(_) => 0,
        }
    }

    /// The continuous action (0 for a discrete one, which a box never lets through).
    #[allow(dead_code, reason = "for the environments with continuous actions")]
    pub(super) fn force(self) -> f32 {
        match self {
            Self::Discrete(_) => 0.0,
            Self::Continuous(force) => force,
        }
    }
}

/// What a step of a world brought.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    pub(super) reward: f64,
    pub(super) terminated: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
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

/// A world behind the interface of an environment.
pub(super) struct Native<W> {
    id: &'static str,
    limit: Option<u64>,
    world: W,
    observation_space: Space,
    action_space: Space,
    rng: Option<Rng>,
    elapsed: u64,
    phase: Phase,
}

impl<W: World> Native<W> {
    /// `world` under `id`, with its arguments set from `kwargs`, truncated after `limit` steps.
    ///
    /// # Errors
    /// When `kwargs` holds what the world does not take.
    pub(super) fn new(id: &'static str, limit: Option<u64>, mut world: W, kwargs: &Map) -> Result<Self, EnvError> {
        let problem = |message: String| EnvError::Argument { id: id.to_owned(), message };
        for (name, value) in kwargs {
            let known = W::ARGUMENTS.contains(&name.as_str());
            match world.fields().into_iter().find(|(field, _)| known && field == name) {
                Some((_, mut field)) => field.set(value).map_err(|message| problem(format!("`{name}` {message}")))?,
                None => return Err(problem(unknown_argument(name, W::ARGUMENTS))),
            }
        }
        let (observation_space, action_space) = world.spaces().map_err(|error| problem(error.to_string()))?;
        let phase = Phase::Unstarted;
        Ok(Self { id, limit, world, observation_space, action_space, rng: None, elapsed: 0, phase })
    }

    /// `action` as the world takes it. A box's bounds are for the world to apply (Gymnasium's
    /// worlds clip); what is not a finite number is refused.
    fn checked(&self, action: &Element) -> Result<Action, EnvError> {
        match (&self.action_space, action) {
            (space @ Space::Discrete { .. }, Element::Discrete(index)) if space.contains(action) => {
                return Ok(Action::Discrete(*index));
            }
            (Space::Box(_), Element::Array(array)) => {
                if let (Some([force]), [1]) = (array.as_f32(), array.shape())
                    && force.is_finite()
                {
                    return Ok(Action::Continuous(*force));
                }
            }
            _ => {}
        }
        Err(EnvError::Action {
            id: self.id.to_owned(),
            action: action.to_string(),
            space: self.action_space.to_string(),
        })
    }
}

fn unknown_argument(name: &str, known: &[&str]) -> String {
    let near = suggest::nearest(name, known.iter().copied()).map(|near| format!("; did you mean `{near}`?"));
    let takes = if known.is_empty() { "no arguments".to_owned() } else { known.join(", ") };
    format!("takes no argument `{name}`{}; it takes {takes}", near.unwrap_or_default())
}

impl<W: World> Env for Native<W> {
    fn id(&self) -> &str {
        self.id
    }

    fn observation_space(&self) -> &Space {
        &self.observation_space
    }

    fn action_space(&self) -> &Space {
        &self.action_space
    }

    fn reset(&mut self, seed: Option<u64>, observation: &mut Element) -> Result<Info, EnvError> {
        if let Some(seed) = seed {
            self.rng = Some(Rng::new(seed));
        }
        // Gymnasium draws a first seed from the system; a run here is always repeatable.
        self.world.start(self.rng.get_or_insert_with(|| Rng::new(0)));
        self.elapsed = 0;
        self.phase = Phase::Running;
        self.world.observe(observation);
        Ok(Info::default())
    }

    fn step(&mut self, action: &Element, observation: &mut Element) -> Result<Transition, EnvError> {
        let misuse = |message: &str| EnvError::Failed { id: self.id.to_owned(), message: message.to_owned() };
        match self.phase {
            Phase::Running => {}
            Phase::Unstarted => return Err(misuse("stepped before its first reset; call reset first")),
            Phase::Ended => return Err(misuse("stepped after its episode ended; call reset first")),
        }
        let action = self.checked(action)?;
        let Outcome { reward, terminated } = self.world.advance(action, self.rng.get_or_insert_with(|| Rng::new(0)));
        self.elapsed += 1;
        let truncated = self.limit.is_some_and(|limit| self.elapsed >= limit);
        if terminated || truncated {
            self.phase = Phase::Ended;
        }
        self.world.observe(observation);
        Ok(Transition { reward, terminated, truncated, info: Info::default() })
    }

    fn parameters(&self) -> Map {
        self.world.clone().fields().into_iter().map(|(name, field)| (name.to_owned(), field.get())).collect()
    }

    fn snapshot(&self) -> Result<Value, SnapshotError> {
        Ok(snapshot::state([
            ("parameters", self.parameters().into()),
            ("state", slots::save(self.world.clone().state())),
            ("rng", self.rng.as_ref().map(Rng::snapshot).into()),
            ("elapsed", snapshot::count(self.elapsed)),
            ("phase", self.phase.name().into()),
        ]))
    }

    fn restore(&mut self, state: &Value) -> Result<(), SnapshotError> {
        let parameters = snapshot::read(state, "parameters", Value::as_map)?;
        for (name, mut field) in self.world.fields() {
            let value = parameters.get(name).ok_or_else(|| snapshot::damaged(name))?;
            field.set(value).map_err(|_| snapshot::damaged(name))?;
        }
        slots::restore(self.world.state(), state, "state")?;
        self.rng = match snapshot::entry(state, "rng")? {
            Value::Null => None,
            point => {
                let mut rng = Rng::new(0);
                rng.restore_snapshot(point)?;
                Some(rng)
            }
        };
        self.elapsed = snapshot::read_count(state, "elapsed")?;
        self.phase = snapshot::read(state, "phase", |phase| Phase::named(phase.as_text()?))?;
        Ok(())
    }

    fn set_parameter(&mut self, name: &str, value: &Value) -> Result<(), EnvError> {
        let (id, before) = (self.id, self.world.clone());
        let problem = |message: String| EnvError::Parameter { id: id.to_owned(), name: name.to_owned(), message };
        let mut fields = self.world.fields();
        let Some((_, field)) = fields.iter_mut().find(|(field, _)| *field == name) else {
            let near = suggest::nearest(name, fields.iter().map(|(field, _)| *field));
            let near = near.map(|near| format!("; did you mean `{near}`?"));
            return Err(problem(format!("does not exist{}", near.unwrap_or_default())));
        };
        field.set(value).map_err(problem)?;
        let space = self.world.spaces().map_err(|error| problem(error.to_string()))?.0;
        if matches!(space, Space::Discrete { .. }) && space != self.observation_space {
            self.world = before;
            return Err(problem("would change the observation space".to_owned()));
        }
        Ok(())
    }
}

/// Writes `values`, each rounded to float32, into `observation`.
#[expect(clippy::cast_possible_truncation, reason = "observations are float32")]
pub(super) fn write_floats(observation: &mut Element, values: &[f64]) {
    match observation {
        Element::Array(array) if array.shape() == [values.len()] && array.dtype() == DType::F32 => {
            for (slot, value) in array.as_f32_mut().into_iter().flatten().zip(values) {
                *slot = *value as f32;
            }
        }
        _ => {
            *observation = Element::Array(Array::zeros(DType::F32, &[values.len()]));
            write_floats(observation, values);
        }
    }
}

/// `x` to the power of 2 by the C library's `pow`, as Python's `x ** 2`; it is not always `x * x`.
pub(super) fn square(x: f64) -> f64 {
    x.powf(std::hint::black_box(2.0))
}
