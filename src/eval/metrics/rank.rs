//! Row 24 of the table: effective rank, over the rows where it was measured. A row without a
//! measurement is no measurement of zero.

use super::{Outcome, Reference};
use crate::eval::encounter::Analysis;
use crate::eval::series::{THEIL_SEN_MOST, count, mean, theil_sen};

const NOT_MEASURED: &str = "not_measured";

/// Steps and ranks of the measured rows.
fn measured(run: &Analysis<'_>) -> Vec<(f64, f64)> {
    let steps = run.run.step.iter();
    #[expect(clippy::cast_precision_loss, reason = "a step as an abscissa")]
    steps
        .zip(&run.run.effective_rank)
        .filter(|(_, rank)| !rank.is_nan())
        .map(|(step, rank)| (*step as f64, *rank))
        .collect()
}

/// The first or last tenth of the measurements, at least one.
fn level(run: &Analysis<'_>, last: bool) -> Option<(f64, usize)> {
    let ranks: Vec<f64> = measured(run).into_iter().map(|(_, rank)| rank).collect();
    let w = ranks.len().div_ceil(10);
    let part = if last { ranks.get(ranks.len() - w..) } else { ranks.get(..w) };
    Some((mean(part?)?, w))
}

fn outcome(level: Option<(f64, usize)>) -> Outcome {
    Outcome::or(level.map(|(value, _)| value), level.map_or(0, |(_, n)| n), NOT_MEASURED)
}

pub(super) fn first(run: &Analysis<'_>, _: &Reference) -> Outcome {
    outcome(level(run, false))
}

pub(super) fn last(run: &Analysis<'_>, _: &Reference) -> Outcome {
    outcome(level(run, true))
}

/// Last over first, less one.
pub(super) fn change(run: &Analysis<'_>, _: &Reference) -> Outcome {
    let levels = level(run, false).zip(level(run, true));
    outcome(levels.map(|((first, _), (last, n))| (last / first - 1.0, n)))
}

/// The Theil-Sen slope against the step; of so many points that some are left out, it says so.
pub(super) fn slope(run: &Analysis<'_>, _: &Reference) -> Outcome {
    let points = measured(run);
    let reason = if points.is_empty() { NOT_MEASURED } else { "too_few_measurements" };
    let outcome = Outcome::or(theil_sen(&points), points.len(), reason);
    if outcome.value.is_some() && points.len() > THEIL_SEN_MOST { outcome.because("thinned") } else { outcome }
}

/// The share of rows that were measured: 0 when none was.
pub(super) fn coverage(run: &Analysis<'_>, _: &Reference) -> Outcome {
    let rows = run.run.effective_rank.len();
    Outcome::or((rows > 0).then(|| count(measured(run).len()) / count(rows)), rows, "no_rows")
}
