//! Linear policies: `linear_menu` takes the highest score, `linear_softmax` makes probabilities
//! of the scores and can be trained by their gradient.

use std::path::Path;

use super::menu::Menu;
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
pub(super) struct Linear {
    id: String,
    menu: Menu,
    weights: Vec<f64>,
    sampler: Sampler,
    features: Vec<f64>,
    /// Whether the scores stand for probabilities, and so have a gradient to follow.
    softmax: bool,
}

impl Linear {
    /// Takes the action whose score is highest, the first of several.
    pub(super) fn menu(id: &str, mut settings: Settings<'_>, context: Context<'_>) -> Result<Self, String> {
        let weighted = weighted(id, &mut settings, context);
        let (menu, weights, _) = settings.finish(weighted)?;
        let sampler = Sampler::new(menu.n_actions(), None);
        Ok(Self { id: id.to_owned(), menu, weights, sampler, features: Vec::new(), softmax: false })
    }

    /// Chooses each action with the probability that the softmax of the scores gives it, or, unless
    /// `sample` is asked for, the most probable one.
    pub(super) fn softmax(id: &str, mut settings: Settings<'_>, context: Context<'_>) -> Result<Self, String> {
        let weighted = weighted(id, &mut settings, context);
        let sample = settings.flag("sample", false);
        let (menu, weights, rng) = settings.finish(weighted)?;
        let sampler = Sampler::new(menu.n_actions(), sample.then_some(rng));
        Ok(Self { id: id.to_owned(), menu, weights, sampler, features: Vec::new(), softmax: true })
    }

    fn shape(&self) -> [usize; 2] {
        [self.menu.n_actions(), self.menu.n_features()]
    }
}

/// Reads `n_actions`, `initial` and `seed`: the menu, its initial weights, and the stream they
/// were drawn from.
fn weighted(id: &str, settings: &mut Settings<'_>, context: Context<'_>) -> Option<(Menu, Vec<f64>, Rng)> {
    let menu = Menu::new(id, settings, context);
    let initial = settings.non_negative("initial", INITIAL);
    let mut rng = Rng::named(settings.seed(context.seed), "policy");
    let menu = menu?;
    let size = menu.n_actions() * menu.n_features();
    let weights = (0..size).map(|_| initial * rng.standard_normal()).collect();
    Some((menu, weights, rng))
}

/// Writes the product of each row of `weights` with `features` over `scores`.
fn score(weights: &[f64], features: &[f64], scores: &mut [f64]) {
    for (slot, row) in scores.iter_mut().zip(weights.chunks_exact(features.len().max(1))) {
        *slot = row.iter().zip(features).map(|(weight, feature)| weight * feature).sum();
    }
}

impl Policy for Linear {
    fn act(&mut self, observation: &Element, action: &mut Element) -> Result<(), PolicyError> {
        self.menu.read(observation, &mut self.features)?;
        score(&self.weights, &self.features, self.sampler.scores());
        *action = self.menu.action(self.sampler.choose());
        Ok(())
    }

    fn save(&self, dir: &Path) -> Result<Checkpoint, PolicyError> {
        let tensor = Tensor { name: "weight", shape: &self.shape() };
        weights::save(&self.id, dir, &[tensor], &self.weights).map(Checkpoint::Weights)
    }

    fn load(&mut self, path: &Path) -> Result<(), PolicyError> {
        let tensor = Tensor { name: "weight", shape: &self.shape() };
        weights::load(&self.id, path, &[tensor], &mut self.weights)
    }

    fn snapshot(&self) -> Result<Value, SnapshotError> {
        Ok(snapshot::state([("weights", snapshot::numbers(&self.weights)), ("rng", self.sampler.snapshot())]))
    }

    fn restore(&mut self, state: &Value) -> Result<(), SnapshotError> {
        snapshot::read_numbers_into(state, "weights", &mut self.weights)?;
        self.sampler.restore(snapshot::entry(state, "rng")?)
    }

    fn parameters(&self) -> Option<&[f64]> {
        Some(&self.weights)
    }

    fn parameters_mut(&mut self) -> Option<&mut [f64]> {
        Some(&mut self.weights)
    }

    fn differentiable(&mut self) -> Option<&mut dyn Differentiable> {
        if self.softmax { Some(self) } else { None }
    }
}

impl Differentiable for Linear {
    fn n_actions(&self) -> usize {
        self.menu.n_actions()
    }

    fn n_features(&self) -> usize {
        self.menu.n_features()
    }

    fn features(&self, observation: &Element, features: &mut Vec<f64>) -> Result<(), PolicyError> {
        self.menu.read(observation, features)
    }

    fn scores(&mut self, features: &[f64], scores: &mut [f64]) {
        score(&self.weights, features, scores);
    }

    fn add_gradient(&mut self, features: &[f64], by_score: &[f64], gradient: &mut [f64]) {
        for (row, by_score) in gradient.chunks_exact_mut(features.len().max(1)).zip(by_score) {
            for (slot, feature) in row.iter_mut().zip(features) {
                *slot += by_score * feature;
            }
        }
    }

    fn action(&self, place: usize) -> Element {
        self.menu.action(place)
    }
}
