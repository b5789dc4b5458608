//! What policies over a discrete choice share: the actions, and observations as features.
//!
//! A [`Menu`] is both. Features are the numbers of the observation; of a discrete one, a 1 at its place among zeros.

use super::settings::{MOST_WEIGHTS, Settings, count};
use super::{Context, PolicyError};
use crate::space::{Element, Space};
use crate::value::Value;

/// The actions to choose among.
#[derive(Clone, Copy, Debug)]
pub(super) struct Actions {
    /// The action of the first place.
    start: i64,
    n: usize,
}

impl Actions {
    /// The actions of `context`; reads the setting `n_actions`, which must then agree.
    pub(super) fn new(settings: &mut Settings<'_>, context: Context<'_>) -> Option<Self> {
        let given = settings.read("n_actions", |value: &Value| count(value, 1), "an integer of at least 1");
        let Space::Discrete { n, start, .. } = *context.action_space else {
            settings.note(format!("needs a discrete action space; the environment's is {}", context.action_space));
            return None;
        };
        let n = usize::try_from(n).unwrap_or(usize::MAX);
        if let Some(given) = given.filter(|given| *given != n) {
            settings.note(format!("`kwargs.n_actions` is {given}, but the environment has {n} actions"));
        }
        Some(Self { start, n })
    }

    /// How many there are.
    pub(super) fn n(self) -> usize {
        self.n
    }

    /// The action at `place`.
    pub(super) fn at(self, place: usize) -> Element {
        Element::Discrete(self.start.saturating_add(i64::try_from(place).unwrap_or(i64::MAX)))
    }
}

/// The actions to choose among, and how observations are read.
#[derive(Clone, Debug)]
pub(super) struct Menu {
    id: String,
    actions: Actions,
    n_features: usize,
    /// The observation space, if discrete: its first element.
    discrete: Option<i64>,
}

impl Menu {
    /// The menu for the spaces of `context`; reads the setting `n_actions`, which must then agree.
    pub(super) fn new(id: &str, settings: &mut Settings<'_>, context: Context<'_>) -> Option<Self> {
        let actions = Actions::new(settings, context)?;
        let (n_features, discrete) = match *context.observation_space {
            Space::Discrete { n, start, .. } => (usize::try_from(n).unwrap_or(usize::MAX), Some(start)),
            _ => (n_numbers(settings, context)?, None),
        };
        let n_actions = actions.n();
        if n_actions.checked_mul(n_features).is_none_or(|size| size > MOST_WEIGHTS) {
            settings.note(format!(
                "{n_actions} actions with {n_features} features are too many weights (most: {MOST_WEIGHTS})"
            ));
            return None;
        }
        Some(Self { id: id.to_owned(), actions, n_features, discrete })
    }

    pub(super) fn n_actions(&self) -> usize {
        self.actions.n()
    }

    pub(super) fn n_features(&self) -> usize {
        self.n_features
    }

    /// Writes the features of `observation` over `features`.
    ///
    /// # Errors
    /// When the observation has other numbers than the space promised.
    pub(super) fn read(&self, observation: &Element, features: &mut Vec<f64>) -> Result<(), PolicyError> {
        features.clear();
        let fits = match (self.discrete, observation, observation.as_f32()) {
            (Some(start), Element::Discrete(value), _) => {
                features.resize(self.n_features, 0.0);
                place(*value, start).and_then(|place| features.get_mut(place)).map(|feature| *feature = 1.0).is_some()
            }
            (None, _, Some(numbers)) => {
                features.extend(numbers.iter().map(|number| f64::from(*number)));
                true
            }
            (None, _, None) => observation.append_numbers(features),
            _ => false,
        };
        if fits && features.len() == self.n_features {
            return Ok(());
        }
        let message = format!("the observation does not have the {} numbers its weights are for", self.n_features);
        Err(PolicyError::Failed { id: self.id.clone(), message })
    }

    /// The action at `place`.
    pub(super) fn action(&self, place: usize) -> Element {
        self.actions.at(place)
    }
}

/// How many numbers an observation has; notes when it has none.
pub(super) fn n_numbers(settings: &mut Settings<'_>, context: Context<'_>) -> Option<usize> {
    let mut numbers = Vec::new();
    if context.observation_space.blank().append_numbers(&mut numbers) && !numbers.is_empty() {
        return Some(numbers.len());
    }
    settings.note(format!("needs numeric observations; the space is {}", context.observation_space));
    None
}

/// How far `value` lies after `start`.
pub(super) fn place(value: i64, start: i64) -> Option<usize> {
    usize::try_from(value.checked_sub(start)?).ok()
}

/// The place of the highest score, the first of several.
pub(super) fn highest(scores: impl IntoIterator<Item = f64>) -> usize {
    let mut best = (f64::NEG_INFINITY, 0);
    for (place, score) in scores.into_iter().enumerate() {
        if score > best.0 {
            best = (score, place);
        }
    }
    best.1
}
