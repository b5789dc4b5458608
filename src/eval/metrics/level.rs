//! Rows 19-21 of the table: the worst of it, falls and rises, regret.

use super::reward::{finite, no_regimes, regime_means};
use super::{Outcome, Reference};
use crate::eval::encounter::{Analysis, Encounter, Swings};
use crate::eval::reference::best_exits;
use crate::eval::series::{count, mean};
use crate::sum::Sum;

/// The least of the regimes' mean rewards.
pub(super) fn worst_regime(run: &Analysis<'_>, _: &Reference) -> Outcome {
    let means = regime_means(run);
    Outcome::or(means.iter().copied().reduce(f64::min), means.len(), no_regimes(run))
}

/// The least trailing mean within any encounter.
pub(super) fn worst_window(run: &Analysis<'_>, _: &Reference) -> Outcome {
    let windows = run.encounters.iter().filter_map(|encounter| encounter.swings.lowest);
    let windows: Vec<f64> = windows.collect();
    Outcome::or(windows.iter().copied().reduce(f64::min), windows.len(), "no_finite_reward")
}

/// The mean of the lowest 5 % of rewards (at least one row).
pub(super) fn cvar05(run: &Analysis<'_>, _: &Reference) -> Outcome {
    let n: usize = run.encounters.iter().map(|encounter| encounter.rewards.len()).sum();
    let lowest = n.div_ceil(20);
    let mut rewards: Vec<f64> = Vec::with_capacity(2 * lowest);
    let keep_lowest = |rewards: &mut Vec<f64>| {
        if lowest < rewards.len() {
            rewards.select_nth_unstable_by(lowest, f64::total_cmp);
            rewards.truncate(lowest);
        }
    };
    // The lowest so far, and as many again: a tenth of the rows is held at most.
    for reward in finite(run) {
        if rewards.len() == 2 * lowest {
            keep_lowest(&mut rewards);
        }
        rewards.push(reward);
    }
    keep_lowest(&mut rewards);
    // In order: the sum does not hang on the order of the rows.
    rewards.sort_unstable_by(f64::total_cmp);
    Outcome::or(mean(&rewards), lowest, "no_finite_reward")
}

/// The greatest fall of the trailing mean within one encounter.
pub(super) fn max_drawdown(run: &Analysis<'_>, _: &Reference) -> Outcome {
    extreme(run, |swings| swings.fall)
}

/// The greatest rise of the trailing mean within one encounter.
pub(super) fn max_rise(run: &Analysis<'_>, _: &Reference) -> Outcome {
    extreme(run, |swings| swings.rise)
}

fn extreme(run: &Analysis<'_>, of: impl Fn(&Swings) -> f64) -> Outcome {
    let long = run.encounters.iter().filter(|encounter| encounter.span.n >= 2 * encounter.span.w);
    let moves: Vec<f64> = long.map(|encounter| of(&encounter.swings)).collect();
    match moves.iter().copied().reduce(f64::max) {
        Some(greatest) => Outcome::float(greatest, moves.len()),
        None if finite(run).next().is_none() => Outcome::undefined("no_finite_reward"),
        None => Outcome::float(0.0, 0).because("short"),
    }
}

/// The level that each encounter's rewards are held against: that of its regime, where there is one.
pub(in crate::eval) fn regret_levels(run: &Analysis<'_>, reference: &Reference) -> Vec<Option<f64>> {
    let own = reference.regret.is_none().then(|| best_exits(std::slice::from_ref(run)));
    let levels = reference.regret.as_ref().or(own.as_ref());
    let level =
        |visit: &Encounter<'_>| visit.regime.as_ref().zip(levels).and_then(|(regime, levels)| levels.get(regime));
    run.encounters.iter().map(|visit| level(visit).copied()).collect()
}

/// The regret and the labelled finite rows it is summed over.
fn regret(run: &Analysis<'_>, reference: &Reference) -> (f64, usize) {
    let (mut total, mut rows) = (Sum::default(), 0);
    for (encounter, level) in run.encounters.iter().zip(regret_levels(run, reference)) {
        let Some(best) = level else { continue };
        for reward in encounter.rewards.iter() {
            total.add(best - reward);
            rows += 1;
        }
    }
    (total.value(), rows)
}

/// Why no row has a regret.
fn no_regret(run: &Analysis<'_>) -> &'static str {
    match no_regimes(run) {
        "no_finite_reward" if run.encounters.iter().any(|visit| visit.regime.is_some() && visit.span.n > 0) => {
            "no_reference"
        }
        reason => reason,
    }
}

/// The sum over labelled rows of the regime's reference level (its best exit, over all runs unless
/// asked otherwise) less the reward: a proxy for dynamic regret that may be negative.
pub(super) fn empirical_regret(run: &Analysis<'_>, reference: &Reference) -> Outcome {
    let (total, rows) = regret(run, reference);
    Outcome::or((rows > 0).then_some(total), rows, no_regret(run))
}

/// The same per row.
pub(super) fn empirical_regret_per_step(run: &Analysis<'_>, reference: &Reference) -> Outcome {
    let (total, rows) = regret(run, reference);
    Outcome::or((rows > 0).then(|| total / count(rows)), rows, no_regret(run))
}
