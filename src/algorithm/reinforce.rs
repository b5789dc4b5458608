//! `reinforce`: the policy gradient of Williams 1992 ("Simple statistical gradient-following
//! algorithms for connectionist reinforcement learning").
//!
//! After every `batch` episodes, the log-probability of each action taken is weighted by the
//! discounted return that followed it, brought to mean 0 and deviation 1 over the batch, and the
//! parameters take one step of Adam along the sum's gradient. While learning, actions are drawn
//! by the softmax of the policy's scores from the stream called `algorithm`.
//!
//! An episode of more than `horizon` steps is cut: what is kept of it is bounded.

use super::actor::{Actor, probabilities};
use super::adam::Adam;
use super::moments::{moments, number};
use super::{Algorithm, AlgorithmError, Episode};
use crate::policy::settings::Settings;
use crate::policy::{Policy, PolicyError};
use crate::random::Rng;
use crate::reward::StepView;
use crate::snapshot::{self, SnapshotError};
use crate::space::Element;
use crate::value::Value;

pub(super) struct Reinforce {
    actor: Actor,
    learning_rate: f64,
    discount: f64,
    batch: usize,
    horizon: usize,
    adam: Adam,
    gradient: Vec<f64>,
    /// The steps since the last change: features one after the other, places, rewards.
    features: Vec<f64>,
    actions: Vec<usize>,
    rewards: Vec<f64>,
    /// After how many steps each finished episode ended.
    ends: Vec<usize>,
    /// Scratch: the loss by each score.
    by_score: Vec<f64>,
    /// The user was told that an episode was cut.
    told: bool,
    warnings: Vec<String>,
}

impl Reinforce {
    pub(super) fn new(mut settings: Settings<'_>, policy: Box<dyn Policy>, seed: u64) -> Result<Self, String> {
        let rng = Rng::named(settings.seed(seed), "algorithm");
        let learning_rate = settings.positive("learning_rate", 0.05);
        let discount = settings.share("discount", 0.995);
        let batch = settings.count("batch", 1, 5);
        let horizon = settings.count("horizon", 1, 10_000);
        let actor = Actor::new(&mut settings, policy, rng);
        let actor = settings.finish(actor)?;
        let size = actor.n_parameters();
        Ok(Self {
            learning_rate,
            discount,
            batch,
            horizon,
            adam: Adam::new(size),
            gradient: vec![0.0; size],
            features: Vec::new(),
            actions: Vec::new(),
            rewards: Vec::new(),
            ends: Vec::new(),
            by_score: vec![0.0; actor.probabilities.len()],
            actor,
            told: false,
            warnings: Vec::new(),
        })
    }

    fn end_episode(&mut self) {
        if self.ends.last().copied().unwrap_or(0) == self.rewards.len() {
            return; // it was cut just now
        }
        self.ends.push(self.rewards.len());
        if self.ends.len() >= self.batch {
            self.update();
            self.clear();
        }
    }

    fn clear(&mut self) {
        self.features.clear();
        self.actions.clear();
        self.rewards.clear();
        self.ends.clear();
    }

    fn update(&mut self) {
        if self.rewards.iter().any(|reward| !reward.is_finite()) {
            return; // nothing can be learned from it
        }
        // Rewards become the returns that follow them.
        let mut begin = 0;
        for end in &self.ends {
            let episode = self.rewards.get_mut(begin..*end).unwrap_or_default();
            episode.iter_mut().rev().fold(0.0, |after, reward| {
                *reward += self.discount * after;
                *reward
            });
            begin = *end;
        }
        let [mean, deviation] = moments(self.rewards.iter().copied());
        let count = number(self.rewards.len());
        let Some(scores) = self.actor.policy.differentiable().filter(|_| deviation > 0.0) else { return };
        self.gradient.fill(0.0);
        let steps = self.features.chunks_exact(scores.n_features().max(1)).zip(&self.actions).zip(&self.rewards);
        for ((features, action), follows) in steps {
            let weight = (follows - mean) / deviation / count;
            probabilities(scores, features, &mut self.by_score);
            for (place, by_score) in self.by_score.iter_mut().enumerate() {
                let taken = f64::from(u8::from(place == *action));
                *by_score = -weight * (taken - *by_score);
            }
            scores.add_gradient(features, &self.by_score, &mut self.gradient);
        }
        if let Some(parameters) = self.actor.policy.parameters_mut() {
            self.adam.descend(parameters, &self.gradient, self.learning_rate);
        }
    }
}

impl Algorithm for Reinforce {
    fn policy(&self) -> &dyn Policy {
        &*self.actor.policy
    }

    fn policy_mut(&mut self) -> &mut dyn Policy {
        &mut *self.actor.policy
    }

    fn act(&mut self, observation: &Element, action: &mut Element) -> Result<(), PolicyError> {
        self.actor.observe(observation)?;
        self.actions.push(self.actor.draw(action));
        self.features.extend_from_slice(&self.actor.features);
        Ok(())
    }

    fn on_step(&mut self, step: &StepView<'_>, reward: f64) -> Result<(), AlgorithmError> {
        self.rewards.push(reward);
        let begun = self.rewards.len() - self.ends.last().copied().unwrap_or(0);
        if begun >= self.horizon && !step.terminated && !step.truncated {
            if !std::mem::replace(&mut self.told, true) {
                self.warnings.push(format!("an episode of more than {} steps was cut to learn from it", self.horizon));
            }
            self.end_episode();
        }
        Ok(())
    }

    fn on_episode(&mut self, _: &Episode) -> Result<(), AlgorithmError> {
        self.end_episode();
        Ok(())
    }

    fn take_over(&mut self, _: bool) {
        let kept = self.ends.last().copied().unwrap_or(0);
        self.rewards.truncate(kept);
        self.actions.truncate(kept);
        self.features.truncate(kept * self.actor.features.len());
    }

    fn snapshot(&self) -> Result<Value, SnapshotError> {
        Ok(snapshot::state([
            ("rng", self.actor.rng.snapshot()),
            ("adam", self.adam.snapshot()),
            ("features", snapshot::numbers(&self.features)),
            ("actions", snapshot::indices(&self.actions)),
            ("rewards", snapshot::numbers(&self.rewards)),
            ("ends", snapshot::indices(&self.ends)),
            ("told", self.told.into()),
        ]))
    }

    fn restore(&mut self, state: &Value) -> Result<(), SnapshotError> {
        self.actor.rng.restore_snapshot(snapshot::entry(state, "rng")?)?;
        self.adam.restore(snapshot::entry(state, "adam")?)?;
        self.features = snapshot::read_numbers(state, "features")?;
        self.actions = snapshot::read_indices(state, "actions", self.by_score.len())?;
        self.rewards = snapshot::read_numbers(state, "rewards")?;
        self.ends = snapshot::read_indices(state, "ends", self.rewards.len() + 1)?;
        self.told = snapshot::read_flag(state, "told")?;
        let steps = self.rewards.len();
        if self.actions.len() != steps || self.features.len() != steps * self.actor.features.len() {
            return Err(snapshot::damaged("features"));
        }
        Ok(())
    }

    fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }
}
