//! `ppo`: proximal policy optimisation (Schulman et al. 2017, arXiv 1707.06347) with a clipped
//! objective and generalised advantages (Schulman et al. 2016, arXiv 1506.02438).
//!
//! After every `horizon` steps, `epochs` passes over them in minibatches of `minibatch` steps take
//! steps of Adam: the policy's along the clipped objective, its advantages brought to mean 0 and
//! deviation 1, plus `entropy` times the policy's entropy; the critic's, a network of its own with
//! `critic` hidden units, against the squared error of its values. Gradients longer than
//! `max_gradient` are shortened to it. While learning, actions are drawn by the softmax of the
//! policy's scores from the stream called `algorithm`. The critic is part of the algorithm, not of
//! the policy: an exported policy goes without it.

mod batch;

use super::actor::{Actor, probabilities};
use super::adam::Adam;
use super::moments::number;
use super::{Algorithm, AlgorithmError};
use crate::policy::network::{Network, n_parameters};
use crate::policy::settings::{MOST_WEIGHTS, Settings};
use crate::policy::{Policy, PolicyError};
use crate::random::Rng;
use crate::reward::StepView;
use crate::snapshot::{self, SnapshotError};
use crate::space::Element;
use crate::value::Value;
use batch::{Batch, Step};

/// The critic's hidden units unless others are asked for.
const HIDDEN: [usize; 2] = [64, 64];

pub(super) struct Ppo {
    actor: Actor,
    critic: Network,
    learning_rate: f64,
    discount: f64,
    lambda: f64,
    clip: f64,
    entropy: f64,
    max_gradient: f64,
    horizon: usize,
    minibatch: usize,
    epochs: usize,
    optimisers: [Adam; 2],
    gradients: [Vec<f64>; 2],
    batch: Batch,
    /// The batch's steps as they were last shuffled.
    order: Vec<usize>,
    /// Scratch: the actions' probabilities, and the loss by the scores.
    probabilities: Vec<f64>,
    by_score: Vec<f64>,
}

impl Ppo {
    pub(super) fn new(mut settings: Settings<'_>, policy: Box<dyn Policy>, seed: u64) -> Result<Self, String> {
        let rng = Rng::named(settings.seed(seed), "algorithm");
        let learning_rate = settings.positive("learning_rate", 0.001);
        let discount = settings.share("discount", 0.98);
        let lambda = settings.share("lambda", 0.8);
        let clip = settings.positive("clip", 0.2);
        let entropy = settings.non_negative("entropy", 0.0);
        let max_gradient = settings.positive("max_gradient", 0.5);
        let horizon = settings.count("horizon", 2, 256);
        let minibatch = settings.count("minibatch", 1, horizon.min(64));
        let epochs = settings.count("epochs", 1, 10);
        let hidden = settings.counts("critic", 1, &HIDDEN);
        let actor = Actor::new(&mut settings, policy, rng);
        let n_features = actor.as_ref().map_or(0, |actor| actor.features.len());
        let layers = [&[n_features], &*hidden, &[1]].concat();
        if n_parameters(&layers).is_none_or(|size| size > MOST_WEIGHTS) {
            settings.note(format!("a critic of layers {layers:?} has too many weights (most: {MOST_WEIGHTS})"));
        }
        let mut actor = settings.finish(actor)?;
        let critic = Network::new(&layers, 1.0, &mut actor.rng);
        let sizes = [actor.n_parameters(), critic.parameters().len()];
        let n_actions = actor.probabilities.len();
        Ok(Self {
            actor,
            critic,
            learning_rate,
            discount,
            lambda,
            clip,
            entropy,
            max_gradient,
            horizon,
            minibatch,
            epochs,
            optimisers: sizes.map(Adam::new),
            gradients: sizes.map(|size| vec![0.0; size]),
            batch: Batch::new(n_features, horizon),
            order: Vec::new(),
            probabilities: vec![0.0; n_actions],
            by_score: vec![0.0; n_actions],
        })
    }

    /// The critic's value of `observation`, which is observed.
    fn value(&mut self, observation: &Element) -> Result<f64, PolicyError> {
        self.actor.observe(observation)?;
        Ok(self.critic.forward(&self.actor.features).first().copied().unwrap_or(0.0))
    }

    /// Learns from the batch and empties it.
    fn update(&mut self) {
        self.batch.weigh(self.discount, self.lambda);
        if self.order.len() != self.batch.len() {
            self.order = (0..self.batch.len()).collect();
        }
        for _ in 0..self.epochs {
            self.actor.rng.shuffle(&mut self.order);
            let order = std::mem::take(&mut self.order);
            for minibatch in order.chunks(self.minibatch) {
                self.descend(minibatch);
            }
            self.order = order;
        }
        self.batch.clear();
    }

    /// One step of both networks down the loss over the steps `minibatch`.
    fn descend(&mut self, minibatch: &[usize]) {
        let Some(scores) = self.actor.policy.differentiable() else { return };
        let [mean, deviation] = self.batch.moments(minibatch);
        let [policy_gradient, critic_gradient] = &mut self.gradients;
        policy_gradient.fill(0.0);
        critic_gradient.fill(0.0);
        let share = 1.0 / number(minibatch.len());
        for index in minibatch {
            let Some((features, step)) = self.batch.get(*index) else { continue };
            let advantage = (step.advantage - mean) / (deviation + 1e-8);
            probabilities(scores, features, &mut self.probabilities);
            let probability = self.probabilities.get(step.action).copied().unwrap_or(0.0);
            let ratio = probability / step.probability;
            // Beyond the clip the objective is flat.
            let clipped = if advantage > 0.0 { ratio > 1.0 + self.clip } else { ratio < 1.0 - self.clip };
            let weight = if clipped { 0.0 } else { ratio * advantage };
            let entropy: f64 = self.probabilities.iter().map(|p| -p * p.max(f64::MIN_POSITIVE).ln()).sum();
            for (place, (slot, p)) in self.by_score.iter_mut().zip(&self.probabilities).enumerate() {
                let taken = f64::from(u8::from(place == step.action));
                let by_entropy = -p * (p.max(f64::MIN_POSITIVE).ln() + entropy);
                *slot = -share * (weight * (taken - p) + self.entropy * by_entropy);
            }
            scores.add_gradient(features, &self.by_score, policy_gradient);
            let value = self.critic.forward(features).first().copied().unwrap_or(0.0);
            self.critic.backward(features, &[share * (value - step.follows)], critic_gradient);
        }
        for gradient in [&mut *policy_gradient, &mut *critic_gradient] {
            let length = gradient.iter().map(|slope| slope * slope).sum::<f64>().sqrt();
            if length > self.max_gradient {
                gradient.iter_mut().for_each(|slope| *slope *= self.max_gradient / length);
            }
        }
        let [policy_optimiser, critic_optimiser] = &mut self.optimisers;
        if let Some(parameters) = self.actor.policy.parameters_mut() {
            policy_optimiser.descend(parameters, policy_gradient, self.learning_rate);
        }
        critic_optimiser.descend(self.critic.parameters_mut(), critic_gradient, self.learning_rate);
    }
}

impl Algorithm for Ppo {
    fn policy(&self) -> &dyn Policy {
        &*self.actor.policy
    }

    fn policy_mut(&mut self) -> &mut dyn Policy {
        &mut *self.actor.policy
    }

    fn act(&mut self, observation: &Element, action: &mut Element) -> Result<(), PolicyError> {
        let value = self.value(observation)?;
        let place = self.actor.draw(action);
        let probability = self.actor.probabilities.get(place).copied().unwrap_or(1.0);
        self.batch.act(&self.actor.features, Step { action: place, probability, value, ..Step::default() });
        Ok(())
    }

    fn on_step(&mut self, step: &StepView<'_>, reward: f64) -> Result<(), AlgorithmError> {
        let full = self.batch.len() >= self.horizon;
        let after = if step.terminated {
            Some(0.0)
        } else if step.truncated || full {
            Some(self.value(step.next_observation)?)
        } else {
            None
        };
        // A reward that is not finite cannot be learned from; it counts as nothing.
        self.batch.reward(if reward.is_finite() { reward } else { 0.0 }, after);
        if full {
            self.update();
        }
        Ok(())
    }

    fn take_over(&mut self, _: bool) {
        self.batch.cut();
    }

    fn snapshot(&self) -> Result<Value, SnapshotError> {
        Ok(snapshot::state([
            ("rng", self.actor.rng.snapshot()),
            ("critic", snapshot::numbers(self.critic.parameters())),
            ("optimisers", Value::List(self.optimisers.iter().map(Adam::snapshot).collect())),
            ("batch", self.batch.snapshot()),
            ("order", snapshot::indices(&self.order)),
        ]))
    }

    fn restore(&mut self, state: &Value) -> Result<(), SnapshotError> {
        self.actor.rng.restore_snapshot(snapshot::entry(state, "rng")?)?;
        snapshot::read_numbers_into(state, "critic", self.critic.parameters_mut())?;
        let optimisers = snapshot::read(state, "optimisers", |list| list.as_list().filter(|list| list.len() == 2))?;
        for (optimiser, state) in self.optimisers.iter_mut().zip(optimisers) {
            optimiser.restore(state)?;
        }
        self.batch.restore(snapshot::entry(state, "batch")?, self.horizon, self.by_score.len())?;
        self.order = snapshot::read_indices(state, "order", self.horizon)?;
        Ok(())
    }
}
