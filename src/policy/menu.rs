//! What policies over a discrete choice share: the menu of actions, and observations as features.
//!
//! Features are the numbers of the observation; of a discrete one, a 1 at its place among zeros.

use super::settings::{Settings, count};
use super::{Context, PolicyError};
use crate::space::{Element, Space};
use crate::value::Value;

/// The most weights a policy may have: 256 MB of them.
pub(super) const MOST_WEIGHTS: usize = 1 << 25;

/// The actions to choose among, and how observations are read.
#[derive(Clone, Debug)]
pub(super) struct Menu {
    id: String,
    /// The action of the first place.
    start: i64,
    n_actions: usize,
    n_features: usize,
    /// The observation space, if discrete: its first element.
    discrete: Option<i64>,
}

impl Menu {
    /// The menu for the spaces of `context`; reads the setting `n_actions`, which must then agree.
    pub(super) fn new(id: &str, settings: &mut Settings<'_>, context: Context<'_>) -> Option<Self> {
        let (start, n_actions) = actions(settings, context)?;
        let (n_features, discrete) = match *context.observation_space {
            Space::Discrete { n, start, .. } => (usize::try_from(n).unwrap_or(usize::MAX), Some(start)),
            _ => {
                let mut numbers = Vec::new();
                if !context.observation_space.blank().append_numbers(&mut numbers) || numbers.is_empty() {
                    settings.note(format!("needs numeric observations; the space is {}", context.observation_space));
                    return None;
                }
                (numbers.len(), None)
            }
        };
        if n_actions.checked_mul(n_features).is_none_or(|size| size > MOST_WEIGHTS) {
            settings.note(format!(
                "{n_actions} actions with {n_features} features are too many weights (most: {MOST_WEIGHTS})"
            ));
            return None;
        }
        Some(Self { id: id.to_owned(), start, n_actions, n_features, discrete })
    }

    pub(super) fn n_actions(&self) -> usize {
        self.n_actions
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
                let place = value.checked_sub(start).and_then(|place| usize::try_from(place).ok());
                place.and_then(|place| features.get_mut(place)).map(|feature| *feature = 1.0).is_some()
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
        Element::Discrete(self.start.saturating_add(i64::try_from(place).unwrap_or(i64::MAX)))
    }
}

/// The first action and their number; reads the setting `n_actions`.
pub(super) fn actions(settings: &mut Settings<'_>, context: Context<'_>) -> Option<(i64, usize)> {
    let given = settings.read("n_actions", |value: &Value| count(value, 1), "an integer of at least 1");
    let Space::Discrete { n, start, .. } = *context.action_space else {
        settings.note(format!("needs a discrete action space; the environment's is {}", context.action_space));
        return None;
    };
    let n = usize::try_from(n).unwrap_or(usize::MAX);
    if let Some(given) = given.filter(|given| *given != n) {
        settings.note(format!("`kwargs.n_actions` is {given}, but the environment has {n} actions"));
    }
    Some((start, n))
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
