//! The best point so far, by its mean over the repeats that have come in: a single trial that was
//! lucky with its seed is not the best one.

use std::collections::HashMap;

use super::plan::Trial;
use super::{Goal, describe, flat};
use crate::sum::Sum;
use crate::text::json;
use crate::value::{Map, Value};

/// The axis whose values are repeats, unless something else is said.
pub(crate) const REPEATS: &str = "seed";

/// Whether values of `axis` are repeats to someone who takes those of `over` for it: the
/// configuration's own seed is one, too.
#[must_use]
pub(crate) fn is_repeats(axis: &str, over: &str) -> bool {
    axis == over || (over == REPEATS && axis == "run.seed")
}

/// The best point so far.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Best {
    /// The mean of its trials' values.
    pub mean: f64,
    /// How many trials these are.
    pub trials: u64,
    /// The point in words, without the repeats' axis.
    pub point: String,
    /// The point's axes, flat, without the repeats'.
    pub axes: Map,
}

#[derive(Debug)]
struct Group {
    sum: Sum,
    trials: u64,
    /// The first of its trials by number, which decides between equals.
    first: String,
    axes: Map,
}

impl Group {
    #[expect(clippy::cast_precision_loss, reason = "a count of trials")]
    fn mean(&self) -> f64 {
        self.sum.value() / self.trials as f64
    }
}

/// The points' means as trials come in.
#[derive(Debug)]
pub(super) struct Ranking {
    goal: Goal,
    groups: HashMap<String, Group>,
    best: Option<String>,
}

impl Ranking {
    pub(super) fn new(goal: Goal) -> Self {
        Self { goal, groups: HashMap::new(), best: None }
    }

    /// Takes in the value of a trial.
    pub(super) fn add(&mut self, trial: &Trial, value: f64) {
        let mut axes = flat(&trial.point);
        axes.retain(|axis, _| !is_repeats(axis, REPEATS));
        let key = json::to_canonical(&Value::Map(axes.clone()));
        let new = || Group { sum: Sum::default(), trials: 0, first: trial.id.clone(), axes: axes.clone() };
        let group = self.groups.entry(key.clone()).or_insert_with(new);
        group.sum.add(value);
        group.trials += 1;
        if trial.id < group.first {
            group.first.clone_from(&trial.id);
        }
        // Only the best one's own change makes another one the best that has not changed.
        self.best = if self.best.as_ref() == Some(&key) {
            self.groups.keys().fold(None, |best, key| self.better(best, key))
        } else {
            self.better(self.best.as_ref(), &key)
        }
        .cloned();
    }

    /// The better of two groups by their keys.
    fn better<'a>(&self, best: Option<&'a String>, key: &'a String) -> Option<&'a String> {
        let (Some(before), Some(group)) = (best.and_then(|best| self.groups.get(best)), self.groups.get(key)) else {
            return best.or(Some(key));
        };
        let (old, new) = (before.mean(), group.mean());
        let wins = self.goal.is_better(new, old) || (!self.goal.is_better(old, new) && group.first < before.first);
        if wins { Some(key) } else { best }
    }

    pub(super) fn best(&self) -> Option<Best> {
        let group = self.groups.get(self.best.as_ref()?)?;
        Some(Best { mean: group.mean(), trials: group.trials, point: describe(&group.axes), axes: group.axes.clone() })
    }
}
