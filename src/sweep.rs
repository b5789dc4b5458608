//! Sweeps: one experiment at many points, each trial in a process of its own.
//!
//! A [`space`] says which points there are and in which order; a [`plan`] makes trials of them,
//! each a [`crate::unit`] whose identity is that of its resolved configuration; a [`pool`] runs
//! what is not finished yet. What a trial leaves is the same whichever process ran it, and when;
//! all that is said about a sweep is read from its [`directory`].

pub(crate) mod axis;
pub(crate) mod begin;
pub(crate) mod best;
pub(crate) mod directory;
pub(crate) mod distribution;
pub(crate) mod earlier;
mod error;
pub mod evaluation;
mod intact;
pub(crate) mod kept;
pub(crate) mod numbers;
pub(crate) mod outcome;
pub(crate) mod plan;
pub(crate) mod pool;
pub(crate) mod progress;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod search;
pub mod sobol;
pub(crate) mod space;
pub(crate) mod stopping;
pub mod table;
pub(crate) mod tpe;

pub use directory::{Directory, Header};
pub use distribution::Distribution;
pub use error::SweepError;
pub use outcome::Outcome;
pub use plan::{Resolved, Rows, Totals, Trial};
pub use pool::Failure;
pub use report::report;
pub use search::Sampler;
pub use space::{Condition, Draws, Method, Space};
pub use stopping::{Decision, Hearing, Rule, Stopping, Watched};
pub use tpe::Tpe;

use crate::value::{Map, Value};

/// Which end of a metric is the good one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Goal {
    /// More is better.
    #[default]
    Maximize,
    /// Less is better.
    Minimize,
}

impl Goal {
    /// Both, in the order messages name them.
    pub const ALL: [Self; 2] = [Self::Maximize, Self::Minimize];

    /// The name scripts and files have for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Maximize => "maximize",
            Self::Minimize => "minimize",
        }
    }

    /// Whether `one` is better than `other`; what is no number is worse than any.
    #[must_use]
    pub fn is_better(self, one: f64, other: f64) -> bool {
        match (one.is_nan(), other.is_nan()) {
            (true, _) => false,
            (false, true) => true,
            (false, false) if self == Self::Maximize => one > other,
            (false, false) => one < other,
        }
    }
}

/// What is asked of every trial of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// The sweep's name.
    pub name: String,
    /// The metric that trials are compared by.
    pub metric: String,
    /// Which end of it is the good one.
    pub goal: Goal,
    /// When trials are ended early, if they are.
    pub stopping: Option<stopping::Stopping>,
}

/// A point's values by the names of their axes; what is nested has the names on the way before its
/// own, with points between.
#[must_use]
pub fn flat(point: &Map) -> Map {
    fn put(prefix: &str, map: &Map, flat: &mut Map) {
        for (name, value) in map {
            let name = format!("{prefix}{name}");
            match value {
                Value::Map(inner) => put(&format!("{name}."), inner, flat),
                value => drop(flat.insert(name, value.clone())),
            }
        }
    }
    let mut result = Map::new();
    put("", point, &mut result);
    result
}

/// A point in a line that no other point has: `noise=0.05 seed=1`. What could be taken for something
/// else stands in quotes.
#[must_use]
pub fn describe(point: &Map) -> String {
    use crate::text::json;
    let plain = |text: &str| {
        let is_odd = |letter: char| letter.is_whitespace() || letter.is_control() || "=\"".contains(letter);
        !text.is_empty() && !text.contains(is_odd) && json::parse(text).is_err()
    };
    let text = |value: &Value| match value {
        Value::Text(text) if plain(text) => text.clone(),
        other => json::to_compact(other),
    };
    let name = |name: &str| text(&Value::Text(name.to_owned()));
    let words: Vec<String> =
        flat(point).iter().map(|(axis, value)| format!("{}={}", name(axis), text(value))).collect();
    words.join(" ")
}

/// The mean of some values, if there are any.
fn mean(values: &[f64]) -> Option<f64> {
    let mut sum = crate::sum::Sum::default();
    values.iter().for_each(|value| sum.add(*value));
    #[expect(clippy::cast_precision_loss, reason = "a count of trials")]
    let count = values.len() as f64;
    (!values.is_empty()).then(|| sum.value() / count)
}
