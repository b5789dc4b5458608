//! `mlp`: a small network scores the actions.

use std::path::Path;

use super::menu::Menu;
use super::network::{Network, n_parameters};
use super::settings::{MOST_WEIGHTS, Settings};
use super::softmax::Sampler;
use super::weights::{self, Tensor};
use super::{Checkpoint, Context, Differentiable, Policy, PolicyError};
use crate::random::Rng;
use crate::snapshot::{self, SnapshotError};
use crate::space::Element;
use crate::value::Value;

/// The units of the hidden layers unless others are asked for.
const HIDDEN: [usize; 2] = [64, 64];
/// How much smaller the weights of the scores begin: all actions are about as probable at first.
const LAST: f64 = 0.01;

/// A network with hyperbolic tangents in its `hidden` layers scores the actions; the highest
/// score is taken, or with `sample` one is drawn by their softmax.
///
/// The weights file holds, for each layer from 0, `layers.N.weight` of shape
/// `[outputs, inputs]` and `layers.N.bias` of shape `[outputs]`, float64.
pub(super) struct Mlp {
    id: String,
    menu: Menu,
    network: Network,
    sampler: Sampler,
    features: Vec<f64>,
}

impl Mlp {
    pub(super) fn new(id: &str, mut settings: Settings<'_>, context: Context<'_>) -> Result<Self, String> {
        let menu = Menu::new(id, &mut settings, context);
        let hidden = settings.counts("hidden", 1, &HIDDEN);
        let sample = settings.flag("sample", false);
        let mut rng = Rng::named(settings.seed(context.seed), "policy");
        let sizes =
            menu.as_ref().map_or_else(Vec::new, |menu| [&[menu.n_features()], &*hidden, &[menu.n_actions()]].concat());
        if n_parameters(&sizes).is_none_or(|size| size > MOST_WEIGHTS) {
            settings.note(format!("layers of {sizes:?} are too many weights (most: {MOST_WEIGHTS})"));
        }
        let menu = settings.finish(menu)?;
        let network = Network::new(&sizes, LAST, &mut rng);
        let sampler = Sampler::new(menu.n_actions(), sample.then_some(rng));
        Ok(Self { id: id.to_owned(), menu, network, sampler, features: Vec::new() })
    }

    /// Names and shapes of the layers' tensors.
    fn tensors(&self) -> Vec<(String, Vec<usize>)> {
        let sizes = self.network.sizes();
        let layers = sizes.iter().zip(sizes.iter().skip(1)).enumerate();
        layers
            .flat_map(|(layer, (inputs, outputs))| {
                [
                    (format!("layers.{layer}.weight"), vec![*outputs, *inputs]),
                    (format!("layers.{layer}.bias"), vec![*outputs]),
                ]
            })
            .collect()
    }
}

fn views(tensors: &[(String, Vec<usize>)]) -> Vec<Tensor<'_>> {
    tensors.iter().map(|(name, shape)| Tensor { name, shape }).collect()
}

impl Policy for Mlp {
    fn act(&mut self, observation: &Element, action: &mut Element) -> Result<(), PolicyError> {
        self.menu.read(observation, &mut self.features)?;
        self.sampler.scores().copy_from_slice(self.network.forward(&self.features));
        *action = self.menu.action(self.sampler.choose());
        Ok(())
    }

    fn save(&self, dir: &Path) -> Result<Checkpoint, PolicyError> {
        let tensors = self.tensors();
        weights::save(&self.id, dir, &views(&tensors), self.network.parameters()).map(Checkpoint::Weights)
    }

    fn load(&mut self, path: &Path) -> Result<(), PolicyError> {
        let tensors = self.tensors();
        weights::load(&self.id, path, &views(&tensors), self.network.parameters_mut())
    }

    fn snapshot(&self) -> Result<Value, SnapshotError> {
        Ok(snapshot::state([
            ("weights", snapshot::numbers(self.network.parameters())),
            ("rng", self.sampler.snapshot()),
        ]))
    }

    fn restore(&mut self, state: &Value) -> Result<(), SnapshotError> {
        snapshot::read_numbers_into(state, "weights", self.network.parameters_mut())?;
        self.sampler.restore(snapshot::entry(state, "rng")?)
    }

    fn parameters(&self) -> Option<&[f64]> {
        Some(self.network.parameters())
    }

    fn parameters_mut(&mut self) -> Option<&mut [f64]> {
        Some(self.network.parameters_mut())
    }

    fn representation(&self) -> Option<&[f64]> {
        self.network.representation()
    }

    fn differentiable(&mut self) -> Option<&mut dyn Differentiable> {
        Some(self)
    }
}

impl Differentiable for Mlp {
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
        scores.copy_from_slice(self.network.forward(features));
    }

    fn add_gradient(&mut self, features: &[f64], by_score: &[f64], gradient: &mut [f64]) {
        self.network.backward(features, by_score, gradient);
    }

    fn action(&self, place: usize) -> Element {
        self.menu.action(place)
    }
}
