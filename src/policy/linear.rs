//! `linear_menu`: one linear score an action, the highest wins.

use std::path::Path;

use super::registry::Arguments;
use super::{Checkpoint, Context, Policy, PolicyError, weights};
use crate::random::Rng;
use crate::snapshot::{self, SnapshotError};
use crate::space::{Element, Space};
use crate::value::Value;

/// The deviation of the initial weights.
const INITIAL: f64 = 0.1;

/// A menu of actions, each with a row of weights: the action whose row has the largest product
/// with the observation is taken, the first of several. There is no bias.
///
/// Features are the numbers of the observation; of a discrete one, a 1 at its place among zeros.
/// Weights begin as normal draws of deviation 0.1, row by row, from the stream called `policy`
/// under `kwargs.seed` or else the experiment's seed. The weights file holds them as `weight`,
/// float64 of shape `[n_actions, n_features]`.
pub(super) struct LinearMenu {
    id: String,
    /// The action of the first row.
    start: i64,
    shape: [usize; 2],
    weights: Vec<f64>,
    features: Vec<f64>,
    /// The observation space, if discrete: its first element.
    discrete: Option<i64>,
}

impl LinearMenu {
    pub(super) fn new(arguments: &Arguments<'_>, context: Context<'_>) -> Result<Self, PolicyError> {
        arguments.only(&["n_actions", "seed"])?;
        let Space::Discrete { n, start, .. } = *context.action_space else {
            let message = format!("needs a discrete action space; the environment's is {}", context.action_space);
            return Err(arguments.error(message));
        };
        let n_actions = arguments.integer("n_actions", 1)?.unwrap_or(n);
        if n_actions != n {
            let message = format!("`kwargs.n_actions` is {n_actions}, but the environment has {n} actions");
            return Err(arguments.error(message));
        }
        let blank = context.observation_space.blank();
        let (n_features, discrete) = match *context.observation_space {
            Space::Discrete { n, start, .. } => (usize::try_from(n).unwrap_or(usize::MAX), Some(start)),
            _ => {
                let mut numbers = Vec::new();
                if !blank.append_numbers(&mut numbers) || numbers.is_empty() {
                    let message = format!("needs numeric observations; the space is {}", context.observation_space);
                    return Err(arguments.error(message));
                }
                (numbers.len(), None)
            }
        };
        let rows = usize::try_from(n_actions).unwrap_or(usize::MAX);
        let size = rows.checked_mul(n_features).filter(|size| *size <= MOST).ok_or_else(|| {
            arguments.error(format!("{rows} actions with {n_features} features are too many weights (most: {MOST})"))
        })?;
        let mut rng = Rng::named(arguments.seed(context)?, "policy");
        Ok(Self {
            id: arguments.id.to_owned(),
            start,
            shape: [rows, n_features],
            weights: (0..size).map(|_| INITIAL * rng.standard_normal()).collect(),
            features: vec![0.0; n_features],
            discrete,
        })
    }

    /// Turns `observation` into features.
    fn read(&mut self, observation: &Element) -> Result<(), PolicyError> {
        let [_, n_features] = self.shape;
        let fits = match (self.discrete, observation, observation.as_f32()) {
            (Some(start), Element::Discrete(value), _) => {
                self.features.fill(0.0);
                let place = value.checked_sub(start).and_then(|place| usize::try_from(place).ok());
                place.and_then(|place| self.features.get_mut(place)).map(|feature| *feature = 1.0).is_some()
            }
            (None, _, Some(numbers)) if numbers.len() == n_features => {
                for (feature, number) in self.features.iter_mut().zip(numbers) {
                    *feature = f64::from(*number);
                }
                true
            }
            (None, _, _) => {
                self.features.clear();
                observation.append_numbers(&mut self.features) && self.features.len() == n_features
            }
            _ => false,
        };
        if fits {
            return Ok(());
        }
        self.features.resize(n_features, 0.0);
        let message = format!("the observation does not have the {n_features} numbers its weights are for");
        Err(PolicyError::Failed { id: self.id.clone(), message })
    }
}

/// The most weights a policy may have: 256 MB of them.
const MOST: usize = 1 << 25;

impl Policy for LinearMenu {
    fn act(&mut self, observation: &Element, action: &mut Element) -> Result<(), PolicyError> {
        self.read(observation)?;
        let [_, n_features] = self.shape;
        let mut best = (f64::NEG_INFINITY, self.start);
        for (row, index) in self.weights.chunks_exact(n_features).zip(self.start..) {
            let score: f64 = row.iter().zip(&self.features).map(|(weight, feature)| weight * feature).sum();
            if score > best.0 {
                best = (score, index);
            }
        }
        *action = Element::Discrete(best.1);
        Ok(())
    }

    fn save(&self, dir: &Path) -> Result<Checkpoint, PolicyError> {
        weights::save(&self.id, dir, self.shape, &self.weights).map(Checkpoint::Weights)
    }

    fn load(&mut self, path: &Path) -> Result<(), PolicyError> {
        weights::load(&self.id, path, self.shape, &mut self.weights)
    }

    fn snapshot(&self) -> Result<Value, SnapshotError> {
        Ok(snapshot::state([("weights", snapshot::numbers(&self.weights))]))
    }

    fn restore(&mut self, state: &Value) -> Result<(), SnapshotError> {
        let weights = snapshot::read_numbers(state, "weights")?;
        if weights.len() != self.weights.len() {
            return Err(snapshot::damaged("weights"));
        }
        self.weights = weights;
        Ok(())
    }

    fn parameters(&self) -> Option<&[f64]> {
        Some(&self.weights)
    }

    fn parameters_mut(&mut self) -> Option<&mut [f64]> {
        Some(&mut self.weights)
    }
}
