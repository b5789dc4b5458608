//! A policy that learns by its gradient, as it acts while it learns: every action is drawn by the
//! softmax of the policy's scores from the stream called `algorithm`.

use crate::policy::settings::Settings;
use crate::policy::softmax::{draw, softmax};
use crate::policy::{Differentiable, Policy, PolicyError};
use crate::random::Rng;
use crate::space::Element;

pub(super) struct Actor {
    pub(super) policy: Box<dyn Policy>,
    pub(super) rng: Rng,
    /// The features observed last, and the actions' probabilities at the last draw.
    pub(super) features: Vec<f64>,
    pub(super) probabilities: Vec<f64>,
}

impl Actor {
    /// Notes when `policy` cannot be trained by gradients.
    pub(super) fn new(settings: &mut Settings<'_>, mut policy: Box<dyn Policy>, rng: Rng) -> Option<Self> {
        let sizes = policy.differentiable().map(|scores| [scores.n_features(), scores.n_actions()]);
        if sizes.is_none() {
            settings.note("its policy has no gradient: `linear_softmax` and `mlp` do");
        }
        let [features, probabilities] = sizes?.map(|size| vec![0.0; size]);
        Some(Self { policy, rng, features, probabilities })
    }

    /// How many parameters the policy has.
    pub(super) fn n_parameters(&self) -> usize {
        self.policy.parameters().map_or(0, <[f64]>::len)
    }

    /// Writes the features of `observation`.
    ///
    /// # Errors
    /// When the observation does not fit.
    pub(super) fn observe(&mut self, observation: &Element) -> Result<(), PolicyError> {
        self.policy.differentiable().map_or(Ok(()), |scores| scores.features(observation, &mut self.features))
    }

    /// Draws the action at the features observed last; its place.
    pub(super) fn draw(&mut self, action: &mut Element) -> usize {
        let Some(scores) = self.policy.differentiable() else { return 0 };
        probabilities(scores, &self.features, &mut self.probabilities);
        let place = draw(&self.probabilities, &mut self.rng);
        *action = scores.action(place);
        place
    }
}

/// Writes the actions' probabilities at `features`.
pub(super) fn probabilities(scores: &mut dyn Differentiable, features: &[f64], probabilities: &mut [f64]) {
    scores.scores(features, probabilities);
    softmax(probabilities);
}
