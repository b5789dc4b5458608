//! Row 28 of the table: how long a run took, by its own clock.

use super::{Outcome, Reference};
use crate::eval::encounter::Analysis;
use crate::eval::series::count;

/// Seconds between the earliest and the latest observation, and how many rows have a time.
fn span(run: &Analysis<'_>) -> Result<(f64, usize), &'static str> {
    let moments = || run.run.observed_at.iter().filter_map(|moment| Some((moment.nanoseconds()?, moment.is_naive())));
    let Some((_, naive)) = moments().next() else { return Err("no_times") };
    if moments().any(|(_, other)| other != naive) {
        return Err("mixed_times");
    }
    let times = || moments().map(|(nanoseconds, _)| nanoseconds);
    let (Some(earliest), Some(latest)) = (times().min(), times().max()) else { return Err("no_times") };
    #[expect(clippy::cast_precision_loss, reason = "nanoseconds as seconds")]
    let seconds = (i128::from(latest) - i128::from(earliest)) as f64 / 1e9;
    Ok((seconds, times().count()))
}

pub(super) fn span_s(run: &Analysis<'_>, _: &Reference) -> Outcome {
    span(run).map_or_else(Outcome::undefined, |(seconds, rows)| Outcome::float(seconds, rows))
}

/// The steps between the timed rows, by the span.
pub(super) fn steps_per_s(run: &Analysis<'_>, _: &Reference) -> Outcome {
    match span(run) {
        Ok((seconds, rows)) if seconds > 0.0 => Outcome::float(count(rows - 1) / seconds, rows),
        Ok(_) => Outcome::undefined("zero_span"),
        Err(reason) => Outcome::undefined(reason),
    }
}
