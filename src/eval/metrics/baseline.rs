//! Row 22 of the table, and row 13's other half: first encounters against learning from scratch.
//!
//! A regime's first encounter and its baseline curve are compared over their common length, so
//! that neither gets the benefit of more rows.

use super::{Outcome, Reference};
use crate::eval::encounter::Analysis;
use crate::eval::series::{count, mean, trailing_means};
use crate::sum::Sum;
use crate::value::Map;

/// A run's first encounter with a regime beside the baseline's, cut to one length.
struct Against<'a> {
    regime: &'a str,
    run: &'a [f64],
    base: &'a [f64],
    /// The means of both.
    means: (f64, f64),
}

fn against<'a>(run: &'a Analysis<'_>, reference: &'a Reference) -> Vec<Against<'a>> {
    let Some(baseline) = &reference.baseline else { return Vec::new() };
    let of = |regime: &'a crate::eval::encounter::Regime| {
        let rewards = &run.visits(regime).next()?.rewards;
        let curve = baseline.get(&regime.name)?;
        let length = rewards.len().min(curve.rewards.len());
        let (run, base) = (rewards.get(..length)?, curve.rewards.get(..length)?);
        Some(Against { regime: &regime.name, run, base, means: (mean(run)?, mean(base)?) })
    };
    run.regimes.iter().filter_map(of).collect()
}

/// The mean over regimes of `value`; `reason` says why none has one though some could be compared.
fn compared(
    run: &Analysis<'_>,
    reference: &Reference,
    reason: &'static str,
    value: impl Fn(&Against<'_>) -> Option<f64>,
) -> Outcome {
    if reference.baseline.is_none() {
        return Outcome::undefined("no_baseline");
    }
    let pairs = against(run, reference);
    let own: Vec<(&str, f64)> = pairs.iter().filter_map(|pair| Some((pair.regime, value(pair)?))).collect();
    let values: Vec<f64> = own.iter().map(|(_, value)| *value).collect();
    let by_regime: Map = own.into_iter().map(|(regime, value)| (regime.to_owned(), value.into())).collect();
    Outcome::mean(&values, if pairs.is_empty() { "no_common_regime" } else { reason }).with_regimes(by_regime)
}

/// The mean reward above that of learning from scratch.
pub(super) fn auc_diff(run: &Analysis<'_>, reference: &Reference) -> Outcome {
    compared(run, reference, "no_common_regime", |pair| Some(pair.means.0 - pair.means.1))
}

/// Forward transfer (Wołczyk et al. 2021): the difference as a share of what was left to gain,
/// for a known greatest reward.
pub(super) fn ft_norm(run: &Analysis<'_>, reference: &Reference) -> Outcome {
    let bounds = &run.settings.bounds;
    let greatest = |pair: &Against<'_>| bounds.get(pair.regime).and_then(|bounds| bounds.max);
    let known = against(run, reference).iter().any(|pair| greatest(pair).is_some());
    compared(run, reference, if known { "denominator" } else { "no_bounds" }, |pair| {
        let left = greatest(pair)? - pair.means.1;
        (left > 0.0).then(|| (pair.means.0 - pair.means.1) / left)
    })
}

/// The difference as a share of the baseline's mean reward (Taylor and Stone 2009).
pub(super) fn transfer_ratio(run: &Analysis<'_>, reference: &Reference) -> Outcome {
    compared(run, reference, "denominator", |pair| {
        (pair.means.1 > 0.0).then(|| (pair.means.0 - pair.means.1) / pair.means.1)
    })
}

/// The reward as a multiple of the baseline's (New et al. 2022).
pub(super) fn rel_perf(run: &Analysis<'_>, reference: &Reference) -> Outcome {
    compared(run, reference, "denominator", |pair| (pair.means.1 > 0.0).then(|| pair.means.0 / pair.means.1))
}

/// How much higher and sooner the run saturates than the baseline (New et al. 2022): 0 where it
/// does not rise or stays below a fifth of the baseline's level.
pub(super) fn sample_eff(run: &Analysis<'_>, reference: &Reference) -> Outcome {
    const LEAST: f64 = 0.2;
    compared(run, reference, "denominator", |pair| {
        let w = run.settings.window.rows(pair.run.len());
        let (own, own_row) = saturation(pair.run, w)?;
        let (base, base_row) = saturation(pair.base, w)?;
        if base <= 0.0 {
            return None;
        }
        let falls = own < LEAST * base || slope_sign(pair.run) < 0.0;
        Some(if falls { 0.0 } else { own / base * (count(base_row) / count(own_row)) })
    })
}

/// The greatest trailing mean, and at which row, from 1, it is first reached.
fn saturation(rewards: &[f64], w: usize) -> Option<(f64, usize)> {
    let mut best: Option<(f64, usize)> = None;
    for (index, mean) in trailing_means(rewards, w).enumerate() {
        if best.is_none_or(|(top, _)| mean > top) {
            best = Some((mean, index + w));
        }
    }
    best
}

/// A number with the sign of the least-squares slope against the row.
fn slope_sign(rewards: &[f64]) -> f64 {
    let middle = (count(rewards.len()) - 1.0) / 2.0;
    let mut sum = Sum::default();
    for (row, reward) in rewards.iter().enumerate() {
        sum.add((count(row) - middle) * reward);
    }
    sum.value()
}

/// The entry level above the baseline's (Taylor and Stone 2009).
pub(super) fn jumpstart_baseline(run: &Analysis<'_>, reference: &Reference) -> Outcome {
    let entry = |pair: &Against<'_>| {
        let regime = run.regimes.iter().find(|regime| regime.name == pair.regime)?;
        let scratch = reference.baseline.as_ref()?.get(pair.regime)?.entry;
        Some(run.visits(regime).next()?.span.entry? - scratch)
    };
    compared(run, reference, "no_finite_reward", entry)
}
