//! Wrappers: disturbances of observations, actions and rewards around any environment, as a
//! source of shifts.
//!
//! [`wrap`] puts a stack of them around an environment, the first one innermost: actions go
//! through the stack from its last wrapper to its first, observations and rewards come back from
//! its first to its last. Everything a wrapper is set by is a parameter of the environment, called
//! `<label>.<parameter>` (`observation_noise.std`), so a regime sets it like any other. The label
//! is the wrapper's name; where a name is taken already, `_2`, `_3` and so on follow it.
//!
//! Invariants: the spaces stay those of the wrapped environment, and what a wrapper hands on has
//! their shape and dtype; a wrapper at its neutral setting changes no bit; a step allocates
//! nothing once buffers have grown to their size.
//!
//! Random numbers: each wrapper draws from its own stream,
//! [`Rng::named`]`(seed, "wrapper.<label>")` with the seed given at reset (0 before the first);
//! a reset without a seed continues it. How much is drawn for a step depends on the kind of
//! wrapper alone and not on its strength: runs that differ in a strength, or in when a regime
//! changes it, meet the same draws at the same steps.

mod action;
mod delay;
mod dropout;
mod element;
mod menu;
mod noise;
mod random_action;
mod record;
pub mod registry;
mod reward;
mod setting;
mod snapshot;

pub use record::WrapperRecord;

use super::setting::Field;
use super::{Env, EnvError, Info, Transition};
use crate::random::Rng;
use crate::snapshot::SnapshotError;
use crate::space::{Element, Space};
use crate::suggest;
use crate::value::{Map, Value};

/// One kind of disturbance. Every hook that is not given leaves what passes through as it is.
trait Wrapper {
    /// Everything it is set by, by name, in a fixed order.
    fn fields(&mut self) -> Vec<(&'static str, Field<'_>)>;

    /// Adapts it to the environment's spaces, once, before the first reset.
    ///
    /// # Errors
    /// What about the spaces or the settings does not fit, as the rest of a sentence.
    fn fit(&mut self, _observations: &Space, _actions: &Space) -> Result<(), String> {
        Ok(())
    }

    /// An episode begins: what is left of the last one is forgotten.
    fn begin(&mut self) {}

    /// An action on its way to the environment.
    fn action(&mut self, _action: &mut Element, _rng: &mut Rng) {}

    /// Whether the last action was refused, which the step's `info` then reports.
    fn refused(&self) -> bool {
        false
    }

    /// An observation on its way to the agent, the first of an episode included.
    fn observation(&mut self, _observation: &mut Element, _rng: &mut Rng) {}

    /// The reward of a step on its way to the agent; `ended` when it is the episode's last.
    fn reward(&mut self, reward: f64, _ended: bool) -> f64 {
        reward
    }

    /// What it keeps from one step to the next beside its settings, for a checkpoint; nothing
    /// unless it says so.
    fn memory(&self) -> Value {
        Value::Null
    }

    /// Goes back to what [`Wrapper::memory`] gave.
    ///
    /// # Errors
    /// When `memory` is something else.
    fn remember(&mut self, _memory: &Value, _observations: &Space, _actions: &Space) -> Result<(), SnapshotError> {
        Ok(())
    }
}

/// `env` inside `wrappers`, the first of them innermost; `env` itself when there are none.
///
/// # Errors
/// When a wrapper is unknown, does not take one of its parameters, or does not fit the spaces.
pub fn wrap(env: Box<dyn Env>, wrappers: &[WrapperRecord]) -> Result<Box<dyn Env>, EnvError> {
    if wrappers.is_empty() {
        return Ok(env);
    }
    let taken = env.parameters();
    let mut layers: Vec<Layer> = Vec::with_capacity(wrappers.len());
    for (index, record) in wrappers.iter().enumerate() {
        let misfit = |message: String| EnvError::Wrapper {
            id: env.id().to_owned(),
            index,
            wrapper: record.name.clone(),
            message,
        };
        let mut wrapper = record.build().map_err(|mistakes| misfit(mistakes.to_string()))?;
        wrapper.fit(env.observation_space(), env.action_space()).map_err(misfit)?;
        let label = label(&record.name, &taken, &layers);
        let (settings, rng) = (settings(&mut *wrapper), stream(0, &label));
        layers.push(Layer { label, wrapper, settings, rng });
    }
    let action = env.action_space().blank();
    Ok(Box::new(Wrapped { env, layers, action }))
}

/// `name`, with the first number behind it that makes it one of its own.
fn label(name: &str, parameters: &Map, layers: &[Layer]) -> String {
    let free = |label: &str| {
        let inside = |parameter: &String| parameter.split_once('.').is_some_and(|(prefix, _)| prefix == label);
        !layers.iter().any(|layer| layer.label == label) && !parameters.keys().any(inside)
    };
    let numbered = (2_usize..).map(|number| format!("{name}_{number}"));
    std::iter::once(name.to_owned()).chain(numbered).find(|label| free(label)).unwrap_or_default()
}

fn stream(seed: u64, label: &str) -> Rng {
    Rng::named(seed, &format!("wrapper.{label}"))
}

/// A wrapper in its place.
struct Layer {
    label: String,
    wrapper: Box<dyn Wrapper>,
    /// What it is set to now.
    settings: Map,
    rng: Rng,
}

/// An environment and what is around it.
struct Wrapped {
    env: Box<dyn Env>,
    /// The innermost first.
    layers: Vec<Layer>,
    /// The action on its way inwards.
    action: Element,
}

impl Wrapped {
    /// Begins an episode whose first observation is on its way to the agent.
    fn begin(&mut self, seed: Option<u64>, observation: &mut Element) {
        for layer in &mut self.layers {
            if let Some(seed) = seed {
                layer.rng = stream(seed, &layer.label);
            }
            layer.wrapper.begin();
            layer.wrapper.observation(observation, &mut layer.rng);
        }
    }
}

// Whatever a wrapper does not disturb must be handed on, also what the trait has a default for.
impl Env for Wrapped {
    fn id(&self) -> &str {
        self.env.id()
    }

    fn observation_space(&self) -> &Space {
        self.env.observation_space()
    }

    fn action_space(&self) -> &Space {
        self.env.action_space()
    }

    fn reset(&mut self, seed: Option<u64>, observation: &mut Element) -> Result<Info, EnvError> {
        let info = self.env.reset(seed, observation)?;
        self.begin(seed, observation);
        Ok(info)
    }

    fn reset_with(&mut self, seed: Option<u64>, options: &Map, observation: &mut Element) -> Result<Info, EnvError> {
        let info = self.env.reset_with(seed, options, observation)?;
        self.begin(seed, observation);
        Ok(info)
    }

    fn step(&mut self, action: &Element, observation: &mut Element) -> Result<Transition, EnvError> {
        // Checked here as well: a wrapper may put another action in the place of a wrong one.
        if !element::admissible(self.env.action_space(), action) {
            return Err(EnvError::Action {
                id: self.env.id().to_owned(),
                action: action.to_string(),
                space: self.env.action_space().to_string(),
            });
        }
        element::copy(action, &mut self.action);
        for layer in self.layers.iter_mut().rev() {
            layer.wrapper.action(&mut self.action, &mut layer.rng);
        }
        let mut transition = self.env.step(&self.action, observation)?;
        let ended = transition.terminated || transition.truncated;
        for layer in &mut self.layers {
            layer.wrapper.observation(observation, &mut layer.rng);
            transition.info.invalid_action |= layer.wrapper.refused();
            transition.reward = layer.wrapper.reward(transition.reward, ended);
        }
        Ok(transition)
    }

    /// The environment's own, then each wrapper's.
    fn parameters(&self) -> Map {
        let mut parameters = self.env.parameters();
        for layer in &self.layers {
            let settings = layer.settings.iter();
            parameters.extend(settings.map(|(name, value)| (format!("{}.{name}", layer.label), value.clone())));
        }
        parameters
    }

    fn set_parameter(&mut self, name: &str, value: &Value) -> Result<(), EnvError> {
        let split = name.split_once('.');
        let layer = split.and_then(|(label, field)| {
            self.layers.iter_mut().find(|layer| layer.label == label).map(|layer| (layer, field))
        });
        let Some((layer, field)) = layer else { return self.env.set_parameter(name, value) };
        set(&mut *layer.wrapper, field, value).map_err(|message| EnvError::Parameter {
            id: self.env.id().to_owned(),
            name: name.to_owned(),
            message,
        })?;
        layer.settings = settings(&mut *layer.wrapper);
        Ok(())
    }

    fn snapshot(&self) -> Result<Value, SnapshotError> {
        self.state()
    }

    fn restore(&mut self, state: &Value) -> Result<(), SnapshotError> {
        self.set_state(state)
    }

    fn describe(&self) -> Map {
        self.env.describe()
    }
}

/// What a wrapper is set to.
fn settings(wrapper: &mut dyn Wrapper) -> Map {
    wrapper.fields().into_iter().map(|(name, field)| (name.to_owned(), field.get())).collect()
}

/// Sets one of a wrapper's fields.
///
/// # Errors
/// That there is no such field, or what its value must be, to follow the field's name.
fn set(wrapper: &mut dyn Wrapper, name: &str, value: &Value) -> Result<(), String> {
    let mut fields = wrapper.fields();
    if let Some((_, field)) = fields.iter_mut().find(|(field, _)| *field == name) {
        return field.set(value);
    }
    Err(format!("does not exist; {}", suggest::hint(name, "known are", fields.iter().map(|(field, _)| *field))))
}
