//! The table of metrics: one entry a metric, in the order reports show them.
//!
//! To add one, write its function in the file of its family and its line in [`TABLE`].

mod adaptation;
pub(super) mod component;
mod counts;
mod level;
mod rank;
mod revisit;
mod reward;

use std::collections::BTreeMap;

use super::encounter::Analysis;
use crate::value::Value;
pub(super) use adaptation::{Recovery, recovery_of};

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
    pub reason: Option<&'static str>,
    /// Pairs that never recovered, where that can be.
    pub n_censored: Option<usize>,
}

impl Outcome {
    fn float(value: f64, n: usize) -> Self {
        Self { value: Some(Value::Float(value)), n, reason: None, n_censored: None }
    }

    fn count(value: usize, n: usize) -> Self {
        let value = Value::Int(i64::try_from(value).unwrap_or(i64::MAX));
        Self { value: Some(value), n, reason: None, n_censored: None }
    }

    fn undefined(reason: &'static str) -> Self {
        Self { value: None, n: 0, reason: Some(reason), n_censored: None }
    }

    fn because(mut self, reason: &'static str) -> Self {
        self.reason = Some(reason);
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
    /// Computes it.
    pub compute: fn(&Analysis<'_>, &Reference) -> Outcome,
}

/// What is known from all runs of an evaluation together.
#[derive(Clone, Debug, Default)]
pub struct Reference {
    /// The best exit level of each regime over all runs.
    pub best_exit: BTreeMap<String, f64>,
    /// The least and greatest finite reward of each regime over all runs.
    pub bounds: BTreeMap<String, (f64, f64)>,
}

impl Reference {
    /// The reference of a set of runs.
    #[must_use]
    pub fn of(runs: &[Analysis<'_>]) -> Self {
        let mut reference = Self::default();
        for encounter in runs.iter().flat_map(|run| &run.encounters) {
            let Some(regime) = &encounter.regime else { continue };
            if let Some(exit) = encounter.span.exit {
                let best = reference.best_exit.entry(regime.clone()).or_insert(exit);
                *best = best.max(exit);
            }
            if let (Some(min), Some(max)) = (encounter.span.min, encounter.span.max) {
                let bounds = reference.bounds.entry(regime.clone()).or_insert((min, max));
                *bounds = (bounds.0.min(min), bounds.1.max(max));
            }
        }
        reference
    }
}

macro_rules! table {
    ($($name:literal, $unit:literal, $direction:ident, $compute:path;)+) => {
        &[$(Metric { name: $name, unit: $unit, direction: Direction::$direction, compute: $compute }),+]
    };
}

/// Every metric, in the order reports show them.
pub const TABLE: &[Metric] = table! {
    "n_steps", "count", Neutral, counts::n_steps;
    "n_segments", "count", Neutral, counts::n_segments;
    "n_encounters", "count", Neutral, counts::n_encounters;
    "n_shifts", "count", Neutral, counts::n_shifts;
    "n_regimes", "count", Neutral, counts::n_regimes;
    "n_nonfinite", "count", Neutral, counts::n_nonfinite;
    "mean_reward", "reward", Higher, reward::mean_reward;
    "total_reward", "reward", Higher, reward::total_reward;
    "macro_reward", "reward", Higher, reward::macro_reward;
    "final_performance", "reward", Higher, reward::final_performance;
    "forgetting", "reward", Lower, revisit::forgetting;
    "forgetting_macro", "reward", Lower, revisit::forgetting_macro;
    "bwt", "reward", Higher, revisit::bwt;
    "bwt_plus", "reward", Higher, revisit::bwt_plus;
    "forgetting_max", "reward", Lower, revisit::forgetting_max;
    "forgetting_norm", "ratio", Lower, revisit::forgetting_norm;
    "retention", "ratio", Higher, revisit::retention;
    "recovery_rows", "rows", Lower, adaptation::recovery_rows;
    "recovery_trend", "rows/visit", Higher, adaptation::recovery_trend;
    "jumpstart", "reward", Higher, revisit::jumpstart;
    "asymptote_gain", "reward", Higher, revisit::asymptote_gain;
    "shift_drop", "reward", Lower, adaptation::shift_drop;
    "adaptation_rows", "rows", Lower, adaptation::adaptation_rows;
    "stability_gap", "reward", Lower, adaptation::stability_gap;
    "worst_regime", "reward", Higher, level::worst_regime;
    "worst_window", "reward", Higher, level::worst_window;
    "cvar05", "reward", Higher, level::cvar05;
    "max_drawdown", "reward", Lower, level::max_drawdown;
    "max_rise", "reward", Higher, level::max_rise;
    "empirical_regret", "reward x rows", Lower, level::empirical_regret;
    "empirical_regret_per_step", "reward", Lower, level::empirical_regret_per_step;
    "plasticity_exit_slope", "reward/regime", Higher, adaptation::plasticity_exit_slope;
    "plasticity_adapt_slope", "rows/regime", Lower, adaptation::plasticity_adapt_slope;
    "erank_first", "rank", Higher, rank::first;
    "erank_last", "rank", Higher, rank::last;
    "erank_change", "ratio", Higher, rank::change;
    "erank_slope", "rank/step", Higher, rank::slope;
    "erank_coverage", "ratio", Neutral, rank::coverage;
    "invalid_action_rate", "ratio", Lower, reward::invalid_action_rate;
    "residual_max", "reward", Lower, reward::residual_max;
    "residual_frac", "ratio", Lower, reward::residual_frac;
};
