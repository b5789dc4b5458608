//! Row 28 of the table: how long a run took, by its own clock.

use super::{Outcome, Reference};
use crate::eval::encounter::Analysis;
use crate::eval::instant::instant;
use crate::eval::series::count;

/// Seconds between the earliest and the latest observation, and how many rows have a time.
fn span(run: &Analysis<'_>) -> Result<(f64, usize), &'static str> {
    let mut times = run.run.observed_at.iter().flatten().filter_map(|text| instant(text));
    let Some(first) = times.next() else { return Err("no_times") };
    let (mut earliest, mut latest, mut n) = (first.nanoseconds, first.nanoseconds, 1);
    for time in times {
        if time.aware != first.aware {
            return Err("mixed_times");
        }
        (earliest, latest, n) = (earliest.min(time.nanoseconds), latest.max(time.nanoseconds), n + 1);
    }
    #[expect(clippy::cast_precision_loss, reason = "nanoseconds as seconds")]
    let seconds = (latest - earliest) as f64 / 1e9;
    Ok((seconds, n))
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
