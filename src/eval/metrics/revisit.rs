//! Rows 6-10, 13 and 14 of the table: what a revisit keeps of the visit before.
//!
//! Each compares levels of one regime with each other, so regimes of different scales do not
//! mix. The agent learns on inside the entry window: wider windows understate forgetting.

use super::{Outcome, Reference};
use crate::eval::encounter::{Analysis, Pair};
use crate::eval::series::mean;

const NO_FINITE_REWARD: &str = "no_finite_reward";

/// `value` of every pair where it is defined.
fn over_pairs(run: &Analysis<'_>, value: impl Fn(&Pair<'_>) -> Option<f64>) -> Vec<f64> {
    run.pairs().iter().filter_map(value).collect()
}

/// The mean of `value` over pairs. `reason` says why no pair has one, given that some pair has
/// finite rewards in both visits.
fn mean_over_pairs(run: &Analysis<'_>, reason: &'static str, value: impl Fn(&Pair<'_>) -> Option<f64>) -> Outcome {
    Outcome::mean(&over_pairs(run, value), why_none(run).unwrap_or(reason))
}

/// Why no revisit can be judged, if none can.
pub(super) fn why_none(run: &Analysis<'_>) -> Option<&'static str> {
    let pairs = run.pairs();
    if pairs.is_empty() {
        return Some("no_revisit");
    }
    pairs.iter().all(|pair| drop_of(pair).is_none()).then_some(NO_FINITE_REWARD)
}

/// The drop from the visit before's exit to the revisit's entry.
pub(in crate::eval) fn drop_of(pair: &Pair<'_>) -> Option<f64> {
    Some(pair.before.span.exit? - pair.after.span.entry?)
}

/// The mean over revisits of exit before less entry after; also of each regime's.
pub(super) fn forgetting(run: &Analysis<'_>, _: &Reference) -> Outcome {
    let outcome = mean_over_pairs(run, NO_FINITE_REWARD, drop_of);
    let own = forgetting_of_regimes(run).into_iter();
    outcome.with_regimes(own.map(|(name, value)| (name, value.into())).collect())
}

/// The mean forgetting of each regime that was revisited.
fn forgetting_of_regimes(run: &Analysis<'_>) -> Vec<(String, f64)> {
    let of = |regime| mean(&run.pairs_of(regime).iter().filter_map(drop_of).collect::<Vec<_>>());
    run.regimes.iter().filter_map(|regime| Some((regime.name.clone(), of(regime)?))).collect()
}

/// Forgetting averaged within each regime first.
pub(super) fn forgetting_macro(run: &Analysis<'_>, _: &Reference) -> Outcome {
    let values: Vec<f64> = forgetting_of_regimes(run).into_iter().map(|(_, value)| value).collect();
    Outcome::mean(&values, why_none(run).unwrap_or(NO_FINITE_REWARD))
}

/// Backward transfer in its revisit form: minus forgetting.
pub(super) fn bwt(run: &Analysis<'_>, _: &Reference) -> Outcome {
    mean_over_pairs(run, NO_FINITE_REWARD, |pair| drop_of(pair).map(|drop| -drop))
}

/// Remembering (Díaz-Rodríguez et al. 2018): 1 less what of normalised backward transfer is loss,
/// of rewards between given bounds.
pub(super) fn rem(run: &Analysis<'_>, _: &Reference) -> Outcome {
    let bounds = &run.settings.bounds;
    let mut bwt = mean_over_pairs(run, "no_bounds", |pair| {
        let (low, high) = bounds.get(pair.after.regime.as_deref()?)?.range()?;
        Some(-drop_of(pair)? / (high - low))
    });
    bwt.value = bwt.value.and_then(|value| value.as_float()).map(|value| (1.0 - value.min(0.0).abs()).into());
    bwt
}

/// What of backward transfer is gain.
pub(super) fn bwt_plus(run: &Analysis<'_>, reference: &Reference) -> Outcome {
    let mut bwt = bwt(run, reference);
    bwt.value = bwt.value.and_then(|value| value.as_float()).map(|value| value.max(0.0).into());
    bwt
}

/// Forgetting against the best exit of any earlier visit.
pub(super) fn forgetting_max(run: &Analysis<'_>, _: &Reference) -> Outcome {
    mean_over_pairs(run, NO_FINITE_REWARD, |pair| Some(pair.best_exit? - pair.after.span.entry?))
}

/// Forgetting as a share of the regime's range of rewards: as given, else over all runs.
pub(super) fn forgetting_norm(run: &Analysis<'_>, reference: &Reference) -> Outcome {
    mean_over_pairs(run, "zero_range", |pair| normalised_drop(pair, reference))
}

pub(in crate::eval) fn normalised_drop(pair: &Pair<'_>, reference: &Reference) -> Option<f64> {
    let (low, high) = reference.ranges.get(pair.after.regime.as_deref()?)?;
    (high > low).then_some(drop_of(pair)? / (high - low))
}

/// The revisit's entry as a share of the exit before; of positive levels only.
pub(super) fn retention(run: &Analysis<'_>, _: &Reference) -> Outcome {
    mean_over_pairs(run, "sign", retention_of)
}

pub(in crate::eval) fn retention_of(pair: &Pair<'_>) -> Option<f64> {
    let (exit, entry) = (pair.before.span.exit?, pair.after.span.entry?);
    (exit > 0.0 && entry > 0.0).then_some(entry / exit)
}

/// The revisit's entry above that of the regime's first encounter.
pub(super) fn jumpstart(run: &Analysis<'_>, _: &Reference) -> Outcome {
    mean_over_pairs(run, NO_FINITE_REWARD, |pair| Some(pair.after.span.entry? - pair.first.span.entry?))
}

/// The revisit's exit above that of the visit before.
pub(super) fn asymptote_gain(run: &Analysis<'_>, _: &Reference) -> Outcome {
    mean_over_pairs(run, NO_FINITE_REWARD, |pair| Some(pair.after.span.exit? - pair.before.span.exit?))
}
