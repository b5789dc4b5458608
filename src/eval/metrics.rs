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
mod time;

use std::collections::BTreeMap;

use super::encounter::Analysis;
use crate::value::{Map, Value};
pub(super) use adaptation::{ADAPT, RECOVER, Recovery, adaptation_of, recovery_of, rows_to, stability_gap_of};
pub(super) use revisit::{drop_of, normalised_drop, retention_of};

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
    /// Visits that never got there, where that can be.
    pub n_censored: Option<usize>,
    /// The value of each regime by name, where the table asks for it.
    pub by_regime: Option<Map>,
}

impl Outcome {
    fn float(value: f64, n: usize) -> Self {
        if value.is_finite() { Self::of(Value::Float(value), n) } else { Self::undefined("overflow") }
    }

    fn count(value: usize, n: usize) -> Self {
        Self::of(Value::Int(i64::try_from(value).unwrap_or(i64::MAX)), n)
    }

    fn of(value: Value, n: usize) -> Self {
        Self { value: Some(value), n, reason: None, n_censored: None, by_regime: None }
    }

    fn undefined(reason: &'static str) -> Self {
        Self { value: None, n: 0, reason: Some(reason), n_censored: None, by_regime: None }
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
    /// What it says, in one sentence.
    pub about: &'static str,
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
    ($($name:literal, $unit:literal, $direction:ident, $compute:path, $about:literal;)+) => {
        &[$(Metric {
            name: $name,
            unit: $unit,
            direction: Direction::$direction,
            about: $about,
            compute: $compute,
        }),+]
    };
}

/// Every metric, in the order reports show them.
pub const TABLE: &[Metric] = table! {
    "n_steps", "count", Neutral, counts::n_steps,
        "Rows of the run.";
    "n_segments", "count", Neutral, counts::n_segments,
        "Stretches of rows with one regime label.";
    "n_encounters", "count", Neutral, counts::n_encounters,
        "Stretches of rows with one canonical regime.";
    "n_shifts", "count", Neutral, counts::n_shifts,
        "Changes from one encounter to the next.";
    "n_regimes", "count", Neutral, counts::n_regimes,
        "Different canonical regimes; unlabelled rows are none.";
    "n_nonfinite", "count", Neutral, counts::n_nonfinite,
        "Rows whose reward is not a finite number; no other metric counts their reward.";
    "mean_reward", "reward", Higher, reward::mean_reward,
        "Mean reward of a step.";
    "total_reward", "reward", Higher, reward::total_reward,
        "Sum of all rewards.";
    "macro_reward", "reward", Higher, reward::macro_reward,
        "Mean over regimes of the mean reward under each, whatever its share of the rows.";
    "final_performance", "reward", Higher, reward::final_performance,
        "Mean over regimes of the exit level of the last encounter with each; a proxy for average performance.";
    "forgetting", "reward", Lower, revisit::forgetting,
        "Mean over revisits of the exit level of the visit before less the revisit's entry level.";
    "forgetting_macro", "reward", Lower, revisit::forgetting_macro,
        "Forgetting averaged within each regime first, then over regimes.";
    "bwt", "reward", Higher, revisit::bwt,
        "Backward transfer in its revisit form: minus forgetting.";
    "rem", "ratio", Higher, revisit::rem,
        "Remembering: 1 less the negative part of normalised backward transfer; needs reward bounds.";
    "bwt_plus", "reward", Higher, revisit::bwt_plus,
        "The positive part of backward transfer.";
    "forgetting_max", "reward", Lower, revisit::forgetting_max,
        "Mean over revisits of the best earlier exit level less the revisit's entry level.";
    "forgetting_norm", "ratio", Lower, revisit::forgetting_norm,
        "Forgetting as a share of the regime's range of rewards over all runs evaluated together.";
    "retention", "ratio", Higher, revisit::retention,
        "Mean over revisits of entry level over the exit level before, where both are positive.";
    "recovery_rows", "rows", Lower, adaptation::recovery_rows,
        "Median over revisits of the rows until 95 % of the way back to the level before.";
    "recovery_trend", "rows/visit", Higher, adaptation::recovery_trend,
        "Rows by which each revisit of a regime recovers faster than the one before.";
    "jumpstart", "reward", Higher, revisit::jumpstart,
        "Mean over revisits of the entry level less that of the regime's first encounter.";
    "asymptote_gain", "reward", Higher, revisit::asymptote_gain,
        "Mean over revisits of the exit level less that of the visit before.";
    "shift_drop", "reward", Lower, adaptation::shift_drop,
        "Mean over shifts of the exit level before less the entry level after; mixes the scales of regimes.";
    "adaptation_rows", "rows", Lower, adaptation::adaptation_rows,
        "Mean over encounters after the first of the rows until 90 % of the encounter's gain.";
    "time_to_threshold", "rows", Lower, adaptation::time_to_threshold,
        "Median over encounters of the rows until the trailing mean reaches the threshold asked for.";
    "stability_gap", "reward", Lower, adaptation::stability_gap,
        "Mean over revisits of the exit level before less the lowest trailing mean early in the revisit.";
    "worst_regime", "reward", Higher, level::worst_regime,
        "Least mean reward under any regime.";
    "worst_window", "reward", Higher, level::worst_window,
        "Least trailing mean within any encounter.";
    "cvar05", "reward", Higher, level::cvar05,
        "Mean of the lowest 5 % of rewards.";
    "max_drawdown", "reward", Lower, level::max_drawdown,
        "Greatest fall of the trailing mean within one encounter.";
    "max_rise", "reward", Higher, level::max_rise,
        "Greatest rise of the trailing mean within one encounter.";
    "empirical_regret", "reward x rows", Lower, level::empirical_regret,
        "Sum over labelled rows of the regime's best exit level over all runs less the reward; may be negative.";
    "empirical_regret_per_step", "reward", Lower, level::empirical_regret_per_step,
        "Empirical regret of a labelled row.";
    "plasticity_exit_slope", "reward/regime", Higher, adaptation::plasticity_exit_slope,
        "Theil-Sen slope of the exit levels of first encounters in order; regimes differ in difficulty.";
    "plasticity_adapt_slope", "rows/regime", Lower, adaptation::plasticity_adapt_slope,
        "Theil-Sen slope of the adaptation rows of first encounters in order; regimes differ in difficulty.";
    "erank_first", "rank", Higher, rank::first,
        "Mean of the first tenth of the measured effective ranks.";
    "erank_last", "rank", Higher, rank::last,
        "Mean of the last tenth of the measured effective ranks.";
    "erank_change", "ratio", Higher, rank::change,
        "Last effective rank over the first, less one.";
    "erank_slope", "rank/step", Higher, rank::slope,
        "Theil-Sen slope of the measured effective ranks against the step.";
    "erank_coverage", "ratio", Neutral, rank::coverage,
        "Share of rows with a measured effective rank.";
    "invalid_action_rate", "ratio", Lower, reward::invalid_action_rate,
        "Share of rows whose action the environment refused.";
    "residual_max", "reward", Lower, reward::residual_max,
        "Greatest difference between a reward and the sum of its components.";
    "residual_frac", "ratio", Lower, reward::residual_frac,
        "Share of rows whose components do not add up to the reward.";
    "span_s", "s", Neutral, time::span_s,
        "Seconds from the earliest to the latest observation.";
    "steps_per_s", "1/s", Neutral, time::steps_per_s,
        "Steps a second over that span.";
};
