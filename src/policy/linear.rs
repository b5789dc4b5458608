//! Linear policies: `linear_menu` takes the highest score, `linear_softmax` makes probabilities
//! of the scores and can be trained by their gradient.

use std::path::Path;

use super::menu::{Menu, highest};
use super::settings::Settings;
use super::softmax::Sampler;
use super::weights::{self, Tensor};
use super::{Checkpoint, Context, Differentiable, Policy, PolicyError};
use crate::random::Rng;
use crate::snapshot::{self, SnapshotError};
use crate::space::Element;
use crate::value::Value;

/// The deviation of the initial weights.
const INITIAL: f64 = 0.1;

/// A menu of actions, each with a row of weights; an action's score is the product of its row
/// with the observation. There is no bias.
///
/// Weights begin as normal draws of deviation `initial`, row by row, from the stream called
/// `policy`. The weights file holds them as `weight`, float64 of shape `[n_actions, n_features]`.
struct Scores {
    id: String,
    menu: Menu,
    weights: Vec<f64>,
}

impl Scores {
    /// Reads `n_actions`, `initial` and `seed`, and gives the stream on, initial weights drawn.
    fn new(id: &str, settings: &mut Settings<'_>, context: Context<'_>) -> Option<(Self, Rng)> {
        let menu = Menu::new(id, settings, context);
        let initial = settings.non_negative("initial", INITIAL);
        let mut rng = Rng::named(settings.seed(context.seed), "policy");
        let menu = menu?;
        let size = menu.n_actions() * menu.n_features();
        let weights = (0..size).map(|_| initial * rng.standard_normal()).collect();
        Some((Self { id: id.to_owned(), menu, weights }, rng))
    }

    fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.weights.chunks_exact(self.menu.n_features().max(1))
    }

    fn scores<'a>(&'a self, features: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        self.rows().map(move |row| row.iter().zip(features).map(|(weight, feature)| weight * feature).sum())
    }

    fn shape(&self) -> [usize; 2] {
        [self.menu.n_actions(), self.menu.n_features()]
    }

    fn save(&self, dir: &Path) -> Result<Checkpoint, PolicyError> {
        let tensor = Tensor { name: "weight", shape: &self.shape() };
        weights::save(&self.id, dir, &[tensor], &self.weights).map(Checkpoint::Weights)
    }

    fn load(&mut self, path: &Path) -> Result<(), PolicyError> {
        let tensor = Tensor { name: "weight", shape: &self.shape() };
        weights::load(&self.id, path, &[tensor], &mut self.weights)
    }
}

/// Takes the action whose score is highest, the first of several.
pub(super) struct LinearMenu {
    linear: Scores,
    features: Vec<f64>,
}

impl LinearMenu {
    pub(super) fn new(id: &str, mut settings: Settings<'_>, context: Context<'_>) -> Result<Self, String> {
        let linear = Scores::new(id, &mut settings, context);
        let (linear, _) = settings.finish(linear)?;
        Ok(Self { linear, features: Vec::new() })
    }
}

impl Policy for LinearMenu {
    fn act(&mut self, observation: &Element, action: &mut Element) -> Result<(), PolicyError> {
        self.linear.menu.read(observation, &mut self.features)?;
        *action = self.linear.menu.action(highest(self.linear.scores(&self.features)));
        Ok(())
    }

    fn save(&self, dir: &Path) -> Result<Checkpoint, PolicyError> {
        self.linear.save(dir)
    }

    fn load(&mut self, path: &Path) -> Result<(), PolicyError> {
        self.linear.load(path)
    }

    fn snapshot(&self) -> Result<Value, SnapshotError> {
        Ok(snapshot::state([("weights", snapshot::numbers(&self.linear.weights))]))
    }

    fn restore(&mut self, state: &Value) -> Result<(), SnapshotError> {
        snapshot::read_numbers_into(state, "weights", &mut self.linear.weights)
    }

    fn parameters(&self) -> Option<&[f64]> {
        Some(&self.linear.weights)
    }

    fn parameters_mut(&mut self) -> Option<&mut [f64]> {
        Some(&mut self.linear.weights)
    }
}

/// Chooses each action with the probability that the softmax of the scores gives it, or, unless
/// `sample` is asked for, the most probable one.
pub(super) struct LinearSoftmax {
    linear: Scores,
    sampler: Sampler,
    features: Vec<f64>,
}

impl LinearSoftmax {
    pub(super) fn new(id: &str, mut settings: Settings<'_>, context: Context<'_>) -> Result<Self, String> {
        let linear = Scores::new(id, &mut settings, context);
        let sample = settings.flag("sample", false);
        let (linear, rng) = settings.finish(linear)?;
        let sampler = Sampler::new(linear.menu.n_actions(), sample.then_some(rng));
        Ok(Self { linear, sampler, features: Vec::new() })
    }
}

impl Policy for LinearSoftmax {
    fn act(&mut self, observation: &Element, action: &mut Element) -> Result<(), PolicyError> {
        self.linear.menu.read(observation, &mut self.features)?;
        for (slot, score) in self.sampler.scores().iter_mut().zip(self.linear.scores(&self.features)) {
            *slot = score;
        }
        *action = self.linear.menu.action(self.sampler.choose());
        Ok(())
    }

    fn save(&self, dir: &Path) -> Result<Checkpoint, PolicyError> {
        self.linear.save(dir)
    }

    fn load(&mut self, path: &Path) -> Result<(), PolicyError> {
        self.linear.load(path)
    }

    fn snapshot(&self) -> Result<Value, SnapshotError> {
        Ok(snapshot::state([("weights", snapshot::numbers(&self.linear.weights)), ("rng", self.sampler.snapshot())]))
    }

    fn restore(&mut self, state: &Value) -> Result<(), SnapshotError> {
        snapshot::read_numbers_into(state, "weights", &mut self.linear.weights)?;
        self.sampler.restore(snapshot::entry(state, "rng")?)
    }

    fn parameters(&self) -> Option<&[f64]> {
        Some(&self.linear.weights)
    }

    fn parameters_mut(&mut self) -> Option<&mut [f64]> {
        Some(&mut self.linear.weights)
    }

    fn differentiable(&mut self) -> Option<&mut dyn Differentiable> {
        Some(self)
    }
}

impl Differentiable for LinearSoftmax {
    fn n_actions(&self) -> usize {
        self.linear.menu.n_actions()
    }

    fn n_features(&self) -> usize {
        self.linear.menu.n_features()
    }

    fn features(&self, observation: &Element, features: &mut Vec<f64>) -> Result<(), PolicyError> {
        self.linear.menu.read(observation, features)
    }

    fn scores(&mut self, features: &[f64], scores: &mut [f64]) {
        for (slot, score) in scores.iter_mut().zip(self.linear.scores(features)) {
            *slot = score;
        }
    }

    fn add_gradient(&mut self, features: &[f64], by_score: &[f64], gradient: &mut [f64]) {
        for (row, by_score) in gradient.chunks_exact_mut(features.len().max(1)).zip(by_score) {
            for (slot, feature) in row.iter_mut().zip(features) {
                *slot += by_score * feature;
            }
        }
    }

    fn action(&self, place: usize) -> Element {
        self.linear.menu.action(place)
    }
}
