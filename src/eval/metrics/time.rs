//! Row 28 of the table: how long a run took, by its own clock.

use super::{Outcome, Reference};
use crate::eval::encounter::Analysis;
use crate::eval::instant::{Instant, instant};
use crate::eval::series::count;

/// Seconds between the earliest and the latest observation, and how many rows have a time.
fn span(run: &Analysis<'_>) -> Result<(f64, usize), &'static str> {
    let times: Vec<Instant> = run.run.observed_at.iter().flatten().filter_map(|text| instant(text)).collect();
    let Some(first) = times.first() else { return Err("no_times") };
    if times.iter().any(|time| time.aware != first.aware) {
        return Err("mixed_times");
    }
    let at = || times.iter().map(|time| time.nanoseconds);
    let nanoseconds = at().max().zip(at().min()).map_or(0, |(latest, earliest)| latest - earliest);
    #[expect(clippy::cast_precision_loss, reason = "nanoseconds as seconds")]
    let seconds = nanoseconds as f64 / 1e9;
    Ok((seconds, times.len()))
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
