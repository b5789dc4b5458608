//! Metrics: what one is, what it yields, and the [`TABLE`] of all of them.
//!
//! To add one, write its function in the file of its family and its line in `metrics/table.rs`.

mod adaptation;
mod baseline;
pub(super) mod component;
mod counts;
mod frozen;
mod level;
mod rank;
mod revisit;
mod reward;
mod table;
mod time;

use std::borrow::Cow;

use super::encounter::Analysis;
use super::reference::Reference;
use crate::value::{Map, Value};
pub(super) use adaptation::{Recovery, adaptation_of, recovery_of, rows_to, stability_gap_of};
pub(super) use level::regret_levels;
pub(super) use revisit::{drop_of, normalised_drop, retention_of};
pub(super) use reward::residuals_by_row;
pub use table::TABLE;

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Greater values are better.
    Higher,
    /// Smaller values are better.
    Lower,
    /// Neither.
    Neutral,
}

impl Direction {
    /// Every direction.
    pub const ALL: [Self; 3] = [Self::Higher, Self::Lower, Self::Neutral];

    /// The direction's name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Higher => "higher",
            Self::Lower => "lower",
            Self::Neutral => "neutral",
        }
    }
}

/// A metric's value on one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The value (an integer or a float); `None` where the metric is not defined.
    pub value: Option<Value>,
    /// How many rows, pairs or encounters it was taken over.
    pub n: usize,
    /// Why there is no value, or how a value is to be read.
    pub reason: Option<Cow<'static, str>>,
    /// Visits that never got there, where that can be.
    pub n_censored: Option<usize>,
    /// The value of each regime by name, where the table asks for it.
    pub by_regime: Option<Map>,
}

impl Outcome {
    pub(super) fn float(value: f64, n: usize) -> Self {
        if value.is_finite() { Self::of(Value::Float(value), n) } else { Self::undefined("overflow") }
    }

    fn count(value: usize, n: usize) -> Self {
        Self::of(Value::Int(i64::try_from(value).unwrap_or(i64::MAX)), n)
    }

    pub(super) fn of(value: Value, n: usize) -> Self {
        Self { value: Some(value), n, reason: None, n_censored: None, by_regime: None }
    }

    pub(super) fn undefined(reason: impl Into<Cow<'static, str>>) -> Self {
        Self { value: None, n: 0, reason: Some(reason.into()), n_censored: None, by_regime: None }
    }

    /// The same with the value of each regime, where it has a value at all.
    fn with_regimes(mut self, own: Map) -> Self {
        self.by_regime = self.value.is_some().then_some(own);
        self
    }

    fn because(mut self, reason: &'static str) -> Self {
        self.reason = Some(Cow::Borrowed(reason));
        self
    }

    /// `value` over `n` observations, or undefined for `reason`.
    fn or(value: Option<f64>, n: usize, reason: &'static str) -> Self {
        value.map_or_else(|| Self::undefined(reason), |value| Self::float(value, n))
    }

    /// The mean of `values`, or undefined for `reason` when there are none.
    fn mean(values: &[f64], reason: &'static str) -> Self {
        Self::or(super::series::mean(values), values.len(), reason)
    }
}

/// One metric of the table.
#[derive(Debug)]
pub struct Metric {
    /// Its name, the same in every output.
    pub name: &'static str,
    /// Its unit: `reward` (per step), `rows`, `ratio`, `count`, ...
    pub unit: &'static str,
    /// Which way is better.
    pub direction: Direction,
    /// What it says, in one sentence.
    pub about: &'static str,
    /// Computes it.
    pub(super) compute: fn(&Analysis<'_>, &Reference) -> Outcome,
}

/// What a report says of a metric beside its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// Its unit.
    pub unit: String,
    /// Which way is better.
    pub direction: Direction,
    /// What it says, in one sentence.
    pub about: String,
    /// Whether the user defined it.
    pub own: bool,
}

impl From<&Metric> for Measure {
    fn from(metric: &Metric) -> Self {
        Self { unit: metric.unit.to_owned(), direction: metric.direction, about: metric.about.to_owned(), own: false }
    }
}
