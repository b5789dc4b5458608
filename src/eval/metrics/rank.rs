//! Row 24 of the table: effective rank, over the rows where it was measured. A row without a
//! measurement is no measurement of zero.

use super::{Outcome, Reference};
use crate::eval::encounter::Analysis;
use crate::eval::series::{count, sum, theil_sen, theil_sen_stride};

const NOT_MEASURED: &str = "not_measured";

/// Steps and ranks of the measured rows.
fn measured<'a>(run: &'a Analysis<'_>) -> impl Iterator<Item = (f64, f64)> + 'a {
    let steps = run.run.step.iter();
    #[expect(clippy::cast_precision_loss, reason = "a step as an abscissa")]
    steps.zip(&run.run.effective_rank).filter(|(_, rank)| !rank.is_nan()).map(|(step, rank)| (*step as f64, *rank))
}

/// The first or last tenth of the measurements, at least one.
fn level(run: &Analysis<'_>, last: bool) -> Option<(f64, usize)> {
    let n = measured(run).count();
    let w = n.div_ceil(10);
    let part = measured(run).skip(if last { n - w } else { 0 }).take(w);
    (w > 0).then(|| (sum(part.map(|(_, rank)| rank)) / count(w), w))
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
    let n = measured(run).count();
    let points: Vec<(f64, f64)> = measured(run).step_by(theil_sen_stride(n)).collect();
    let reason = if n == 0 { NOT_MEASURED } else { "too_few_measurements" };
    let outcome = Outcome::or(theil_sen(&points), n, reason);
    if outcome.value.is_some() && n > points.len() { outcome.because("thinned") } else { outcome }
}

/// The share of rows that were measured: 0 when none was.
pub(super) fn coverage(run: &Analysis<'_>, _: &Reference) -> Outcome {
    let rows = run.run.effective_rank.len();
    Outcome::or((rows > 0).then(|| count(measured(run).count()) / count(rows)), rows, "no_rows")
}
