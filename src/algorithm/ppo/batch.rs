//! The steps that `ppo` learns from at once, and what each of them was worth.

use super::super::moments::moments;
use crate::snapshot::{self, SnapshotError};
use crate::value::Value;

/// One step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Step {
    /// The place of the action taken.
    pub(super) action: usize,
    /// Its probability when it was taken.
    pub(super) probability: f64,
    /// The critic's value of the observation.
    pub(super) value: f64,
    /// The reward.
    pub(super) reward: f64,
    /// The value of what follows, where the next step does not continue this one.
    pub(super) after: Option<f64>,
    /// How much better it was than the critic expected.
    pub(super) advantage: f64,
    /// What the critic should have expected.
    pub(super) follows: f64,
}

/// Up to a horizon of steps.
pub(super) struct Batch {
    n_features: usize,
    features: Vec<f64>,
    steps: Vec<Step>,
}

impl Batch {
    pub(super) fn new(n_features: usize, horizon: usize) -> Self {
        // A long horizon over wide observations fills up as it goes.
        let steps = horizon.min(1 << 16);
        Self {
            n_features,
            features: Vec::with_capacity(steps.saturating_mul(n_features).min(1 << 20)),
            steps: Vec::with_capacity(steps),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    pub(super) fn clear(&mut self) {
        self.features.clear();
        self.steps.clear();
    }

    /// Adds a step whose reward is not known yet.
    pub(super) fn act(&mut self, features: &[f64], step: Step) {
        self.features.extend_from_slice(features);
        self.steps.push(step);
    }

    /// What the last step brought; `after` is the value of what follows, unless the next step does.
    pub(super) fn reward(&mut self, reward: f64, after: Option<f64>) {
        if let Some(step) = self.steps.last_mut() {
            (step.reward, step.after) = (reward, after);
        }
    }

    /// The next step will not continue the last one: the last one gives way, its value standing
    /// for what followed.
    pub(super) fn cut(&mut self) {
        if self.steps.last().is_none_or(|step| step.after.is_some()) {
            return;
        }
        let value = self.steps.pop().map(|step| step.value);
        self.features.truncate(self.steps.len() * self.n_features);
        if let Some(step) = self.steps.last_mut() {
            step.after = step.after.or(value);
        }
    }

    /// The steps so far; their advantages come only once there are enough of them.
    pub(super) fn snapshot(&self) -> Value {
        let steps = self.steps.iter().map(|step| {
            snapshot::state([
                ("action", snapshot::index(step.action)),
                ("probability", step.probability.into()),
                ("value", step.value.into()),
                ("reward", step.reward.into()),
                ("after", step.after.into()),
            ])
        });
        snapshot::state([("features", snapshot::numbers(&self.features)), ("steps", steps.collect::<Vec<_>>().into())])
    }

    /// Goes back to a snapshot of fewer than `horizon` steps with `n_actions` actions.
    ///
    /// # Errors
    /// When `state` is none.
    pub(super) fn restore(&mut self, state: &Value, horizon: usize, n_actions: usize) -> Result<(), SnapshotError> {
        let steps = snapshot::read(state, "steps", |list| list.as_list().filter(|list| list.len() < horizon))?;
        self.features = snapshot::read_numbers(state, "features")?;
        if self.features.len() != steps.len() * self.n_features {
            return Err(snapshot::damaged("features"));
        }
        self.steps.clear();
        for step in steps {
            self.steps.push(Step {
                action: snapshot::read_index(step, "action", n_actions)?,
                probability: snapshot::read_number(step, "probability")?,
                value: snapshot::read_number(step, "value")?,
                reward: snapshot::read_number(step, "reward")?,
                after: snapshot::read_optional(step, "after", Value::as_float)?,
                ..Step::default()
            });
        }
        Ok(())
    }

    /// Gives every step its advantage, generalised by `lambda`.
    pub(super) fn weigh(&mut self, discount: f64, lambda: f64) {
        let (mut next_value, mut next_advantage) = (0.0, 0.0);
        for step in self.steps.iter_mut().rev() {
            if let Some(after) = step.after {
                (next_value, next_advantage) = (after, 0.0);
            }
            let error = step.reward + discount * next_value - step.value;
            step.advantage = error + discount * lambda * next_advantage;
            step.follows = step.advantage + step.value;
            (next_value, next_advantage) = (step.value, step.advantage);
        }
    }

    pub(super) fn get(&self, index: usize) -> Option<(&[f64], &Step)> {
        let begin = index * self.n_features;
        Some((self.features.get(begin..begin + self.n_features)?, self.steps.get(index)?))
    }

    /// Mean and deviation of the advantages of the steps `chosen`; of a single one, 0 and 1.
    pub(super) fn moments(&self, chosen: &[usize]) -> [f64; 2] {
        let advantages = chosen.iter().filter_map(|index| self.steps.get(*index)).map(|step| step.advantage);
        if chosen.len() < 2 { [0.0, 1.0] } else { moments(advantages) }
    }
}
