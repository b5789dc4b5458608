//! Rows 2-4, 25 and 27 of the table: levels over a whole run, refused actions, residuals.

use super::{Outcome, Reference};
use crate::eval::encounter::{Analysis, Residuals};
use crate::eval::series::{count, sum};
use crate::sum::Sum;

/// All finite rewards, in order.
pub(super) fn finite<'a>(run: &'a Analysis<'_>) -> impl Iterator<Item = f64> + 'a {
    run.run.reward.iter().copied().filter(|reward| reward.is_finite())
}

/// The sum of all finite rewards, and how many there are.
fn total(run: &Analysis<'_>) -> (f64, usize) {
    let (mut sum, mut n) = (Sum::default(), 0);
    for reward in finite(run) {
        sum.add(reward);
        n += 1;
    }
    (sum.value(), n)
}

/// The mean of all finite rewards.
pub(super) fn mean_reward(run: &Analysis<'_>, _: &Reference) -> Outcome {
    let (sum, n) = total(run);
    Outcome::or((n > 0).then(|| sum / count(n)), n, "no_finite_reward")
}

/// The sum of all finite rewards.
pub(super) fn total_reward(run: &Analysis<'_>, _: &Reference) -> Outcome {
    let (sum, n) = total(run);
    Outcome::or((n > 0).then_some(sum), n, "no_finite_reward")
}

/// The mean over regimes of the mean reward under each, whatever its share of the rows.
pub(super) fn macro_reward(run: &Analysis<'_>, _: &Reference) -> Outcome {
    Outcome::mean(&regime_means(run), no_regimes(run))
}

/// Why no regime can be judged.
pub(super) fn no_regimes(run: &Analysis<'_>) -> &'static str {
    if run.regimes.is_empty() { "no_regimes" } else { "no_finite_reward" }
}

/// The mean reward under each regime that has finite rows, in order of first encounter.
pub(super) fn regime_means(run: &Analysis<'_>) -> Vec<f64> {
    let of = |regime| {
        let visits = || run.visits(regime);
        let n: usize = visits().map(|visit| visit.rewards.len()).sum();
        (n > 0).then(|| sum(visits().flat_map(|visit| visit.rewards.iter().copied())) / count(n))
    };
    run.regimes.iter().filter_map(of).collect()
}

/// The mean over regimes of the exit level of the last encounter with each: a stand-in for
/// average performance, from the training trace alone.
pub(super) fn final_performance(run: &Analysis<'_>, _: &Reference) -> Outcome {
    let exits = run.regimes.iter().filter_map(|regime| run.visits(regime).next_back()?.span.exit);
    Outcome::mean(&exits.collect::<Vec<_>>(), no_regimes(run))
}

/// The share of rows whose action the environment refused.
pub(super) fn invalid_action_rate(run: &Analysis<'_>, _: &Reference) -> Outcome {
    let refused = &run.run.invalid_action;
    let rate = count(refused.iter().filter(|refused| **refused).count()) / count(refused.len());
    Outcome::or((!refused.is_empty()).then_some(rate), refused.len(), "no_rows")
}

/// What is left of each finite reward once the row's components are taken away, in rows that have
/// components.
pub(in crate::eval) fn residuals_by_row<'a>(run: &'a Analysis<'_>) -> impl Iterator<Item = (usize, f64)> + 'a {
    let columns: Vec<&Vec<f64>> = run.run.components.values().collect();
    let rewards = run.run.reward.iter().enumerate().filter(|(_, reward)| reward.is_finite());
    rewards.filter_map(move |(row, reward)| {
        let mut components = Sum::default();
        let mut any = false;
        for value in columns.iter().filter_map(|column| column.get(row)).filter(|value| !value.is_nan()) {
            components.add(*value);
            any = true;
        }
        any.then(|| (row, reward - components.value()))
    })
}

/// What is left of all rows together, looked at once.
fn residuals<'a>(run: &'a Analysis<'_>) -> &'a Residuals {
    run.residuals.get_or_init(|| {
        let mut residuals = Residuals::default();
        for (row, left) in residuals_by_row(run) {
            let size = run.run.reward.get(row).map_or(1.0, |reward| reward.abs().max(1.0));
            residuals.n += 1;
            residuals.off += usize::from(left.abs() > 1e-6 * size);
            residuals.greatest = residuals.greatest.max(left.abs());
        }
        residuals
    })
}

/// The greatest difference between a reward and the sum of its components.
pub(super) fn residual_max(run: &Analysis<'_>, _: &Reference) -> Outcome {
    let Residuals { n, greatest, .. } = *residuals(run);
    Outcome::or((n > 0).then_some(greatest), n, "no_components")
}

/// The share of rows whose components do not add up to the reward (beyond a millionth of it).
pub(super) fn residual_frac(run: &Analysis<'_>, _: &Reference) -> Outcome {
    let Residuals { n, off, .. } = *residuals(run);
    Outcome::or((n > 0).then(|| count(off) / count(n)), n, "no_components")
}
