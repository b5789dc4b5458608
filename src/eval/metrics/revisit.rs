//! Rows 6-10, 13 and 14 of the table: what a revisit keeps of the visit before.
//!
//! Each compares levels of one regime with each other, so regimes of different scales do not
//! mix. The agent learns on inside the entry window: wider windows understate forgetting.

use super::{Outcome, Reference};
use crate::eval::encounter::{Analysis, Pair};
use crate::eval::series::mean;

const NO_REVISIT: &str = "no_revisit";

/// `value` of every pair where it is defined.
fn over_pairs(run: &Analysis<'_>, value: impl Fn(&Pair<'_>) -> Option<f64>) -> Vec<f64> {
    run.pairs().iter().filter_map(value).collect()
}

/// The drop from the visit before's exit to the revisit's entry.
pub(super) fn drop_of(pair: &Pair<'_>) -> Option<f64> {
    Some(pair.before.span.exit? - pair.after.span.entry?)
}

/// The mean over revisits of exit before less entry after.
pub(super) fn forgetting(run: &Analysis<'_>, _: &Reference) -> Outcome {
    Outcome::mean(&over_pairs(run, drop_of), NO_REVISIT)
}

/// Forgetting averaged within each regime first.
pub(super) fn forgetting_macro(run: &Analysis<'_>, _: &Reference) -> Outcome {
    let pairs = run.pairs();
    let per_regime: Vec<f64> = run
        .regimes()
        .into_iter()
        .filter_map(|regime| {
            let own = pairs.iter().filter(|pair| pair.after.regime.as_deref() == Some(regime));
            mean(&own.filter_map(drop_of).collect::<Vec<_>>())
        })
        .collect();
    Outcome::mean(&per_regime, NO_REVISIT)
}

/// Backward transfer in its revisit form: minus forgetting.
pub(super) fn bwt(run: &Analysis<'_>, _: &Reference) -> Outcome {
    Outcome::mean(&over_pairs(run, |pair| drop_of(pair).map(|drop| -drop)), NO_REVISIT)
}

/// What of backward transfer is gain.
pub(super) fn bwt_plus(run: &Analysis<'_>, reference: &Reference) -> Outcome {
    let bwt = bwt(run, reference);
    let value = bwt.value.as_ref().and_then(crate::value::Value::as_float).map(|value| value.max(0.0));
    Outcome::or(value, bwt.n, NO_REVISIT)
}

/// Forgetting against the best exit of any earlier visit.
pub(super) fn forgetting_max(run: &Analysis<'_>, _: &Reference) -> Outcome {
    Outcome::mean(&over_pairs(run, |pair| Some(pair.best_exit? - pair.after.span.entry?)), NO_REVISIT)
}

/// Forgetting as a share of the regime's range of rewards over all runs.
pub(super) fn forgetting_norm(run: &Analysis<'_>, reference: &Reference) -> Outcome {
    if over_pairs(run, drop_of).is_empty() {
        return Outcome::undefined(NO_REVISIT);
    }
    let values = over_pairs(run, |pair| {
        let (low, high) = reference.bounds.get(pair.after.regime.as_deref()?)?;
        (high > low).then_some(drop_of(pair)? / (high - low))
    });
    Outcome::mean(&values, "zero_range")
}

/// The revisit's entry as a share of the exit before; of positive levels only.
pub(super) fn retention(run: &Analysis<'_>, _: &Reference) -> Outcome {
    if over_pairs(run, drop_of).is_empty() {
        return Outcome::undefined(NO_REVISIT);
    }
    let values = over_pairs(run, |pair| {
        let (exit, entry) = (pair.before.span.exit?, pair.after.span.entry?);
        (exit > 0.0 && entry > 0.0).then_some(entry / exit)
    });
    Outcome::mean(&values, "sign")
}

/// The revisit's entry above that of the regime's first encounter.
pub(super) fn jumpstart(run: &Analysis<'_>, _: &Reference) -> Outcome {
    Outcome::mean(&over_pairs(run, |pair| Some(pair.after.span.entry? - pair.first.span.entry?)), NO_REVISIT)
}

/// The revisit's exit above that of the visit before.
pub(super) fn asymptote_gain(run: &Analysis<'_>, _: &Reference) -> Outcome {
    Outcome::mean(&over_pairs(run, |pair| Some(pair.after.span.exit? - pair.before.span.exit?)), NO_REVISIT)
}
