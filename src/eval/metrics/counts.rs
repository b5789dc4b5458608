//! Row 1 of the table: counts.

use super::{Outcome, Reference};
use crate::eval::encounter::Analysis;

pub(super) fn n_steps(run: &Analysis<'_>, _: &Reference) -> Outcome {
    Outcome::count(run.run.step.len(), run.run.step.len())
}

pub(super) fn n_segments(run: &Analysis<'_>, _: &Reference) -> Outcome {
    Outcome::count(run.segments.len(), run.run.step.len())
}

pub(super) fn n_encounters(run: &Analysis<'_>, _: &Reference) -> Outcome {
    Outcome::count(run.encounters.len(), run.run.step.len())
}

/// Changes from one encounter to the next: one less than the encounters, where nothing was left out.
pub(super) fn n_shifts(run: &Analysis<'_>, _: &Reference) -> Outcome {
    Outcome::count(run.shifts().count(), run.run.step.len())
}

/// Canonical regimes; unlabelled rows are none.
pub(super) fn n_regimes(run: &Analysis<'_>, _: &Reference) -> Outcome {
    Outcome::count(run.regimes.len(), run.run.step.len())
}

/// Rows whose reward is not a finite number.
pub(super) fn n_nonfinite(run: &Analysis<'_>, _: &Reference) -> Outcome {
    let count = run.run.reward.iter().filter(|reward| !reward.is_finite()).count();
    Outcome::count(count, run.run.step.len())
}
