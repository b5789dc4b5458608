//! Row 29 of the table: performance with learning switched off, from served traces.

use super::{Outcome, Reference};
use crate::eval::encounter::Analysis;
use crate::eval::frozen::Frozen;
use crate::eval::series::mean;
use crate::value::Map;

const NO_FROZEN: &str = "no_frozen";
const NO_CHECKPOINTS: &str = "no_checkpoints";

/// The mean over regimes of the frozen final policy's mean reward (Lopez-Paz and Ranzato 2017,
/// their ACC on reward).
pub(super) fn average_performance(run: &Analysis<'_>, _: &Reference) -> Outcome {
    let Some(frozen) = &run.frozen else { return Outcome::undefined(NO_FROZEN) };
    let values: Vec<f64> = frozen.last().map(|(_, value)| value).collect();
    let own: Map = frozen.last().map(|(regime, value)| (regime.clone(), value.into())).collect();
    Outcome::mean(&values, "no_regimes").with_regimes(own)
}

/// The mean over regimes but the last trained of the last training exit less the frozen final
/// policy's mean reward (Continual World's forgetting, on reward).
pub(super) fn forgetting_frozen(run: &Analysis<'_>, _: &Reference) -> Outcome {
    let Some(frozen) = &run.frozen else { return Outcome::undefined(NO_FROZEN) };
    let last_trained = run.encounters.iter().rev().find_map(|visit| visit.regime.as_ref());
    let drops = run.regimes.iter().filter(|regime| Some(&regime.name) != last_trained).filter_map(|regime| {
        let exit = run.visits(regime).next_back()?.span.exit?;
        let (_, served) = frozen.last().find(|(name, _)| **name == regime.name)?;
        Some((regime.name.clone(), exit - served))
    });
    let drops: Vec<(String, f64)> = drops.collect();
    let values: Vec<f64> = drops.iter().map(|(_, drop)| *drop).collect();
    let own = drops.into_iter().map(|(regime, drop)| (regime, drop.into())).collect();
    Outcome::mean(&values, "no_earlier_regime").with_regimes(own)
}

/// For a regime served: its column, the step at which its first encounter ends, and begins.
fn trained(run: &Analysis<'_>, frozen: &Frozen) -> Vec<(usize, i64, i64)> {
    let of = |(column, name): (usize, &String)| {
        let regime = run.regimes.iter().find(|regime| regime.name == *name)?;
        let (begin, end) = run.visits(regime).next()?.span.steps;
        Some((column, begin, end))
    };
    frozen.regimes.iter().enumerate().filter_map(of).collect()
}

/// The mean over regimes of frozen performance at the end less right after the regime was first
/// learned; regimes learned last have no later checkpoint and do not count (Lopez-Paz and
/// Ranzato 2017).
pub(super) fn bwt_frozen(run: &Analysis<'_>, _: &Reference) -> Outcome {
    let Some(frozen) = &run.frozen else { return Outcome::undefined(NO_FROZEN) };
    let end = frozen.checkpoints.len().saturating_sub(1);
    let changes = trained(run, frozen).into_iter().filter_map(|(column, _, learned)| {
        let (row, _) = frozen.steps().find(|(_, step)| *step >= learned)?;
        (row < end).then_some(frozen.at(end, column)? - frozen.at(row, column)?)
    });
    Outcome::mean(&changes.collect::<Vec<_>>(), NO_CHECKPOINTS)
}

/// Falls of a regime's frozen performance from one checkpoint to the next, as shares of its scale,
/// between the checkpoints that `counts` takes: given the later one's step, and the steps at which
/// the regime's first encounter begins and ends.
fn falls(run: &Analysis<'_>, reference: &Reference, counts: impl Fn(i64, i64, i64) -> bool) -> Outcome {
    let Some(frozen) = &run.frozen else { return Outcome::undefined(NO_FROZEN) };
    let mut falls = Vec::new();
    let mut reason = NO_CHECKPOINTS;
    for (column, begin, end) in trained(run, frozen) {
        let scale = frozen.regimes.get(column).and_then(|regime| reference.scale.get(regime)).copied();
        for ((before, _), (after, step)) in frozen.steps().zip(frozen.steps().skip(1)) {
            let cells = frozen.at(before, column).zip(frozen.at(after, column));
            let Some((before, after)) = cells.filter(|_| counts(step, begin, end)) else { continue };
            match scale {
                Some(scale) if scale > 0.0 => falls.push((before - after) / scale),
                _ => reason = "zero_range",
            }
        }
    }
    Outcome::or(mean(&falls), falls.len(), reason)
}

/// CORA's isolated forgetting: falls after the regime was first learned (Powers et al. 2022).
pub(super) fn isolated_forgetting(run: &Analysis<'_>, reference: &Reference) -> Outcome {
    let Some(frozen) = &run.frozen else { return Outcome::undefined(NO_FROZEN) };
    // The step of the first checkpoint after a regime was learned, from which falls count.
    let learned = |end: i64| frozen.steps().find(|(_, step)| *step >= end).map_or(i64::MAX, |(_, step)| step);
    falls(run, reference, |step, _, end| step > learned(end))
}

/// CORA's zero-shot forward transfer: rises before the regime is first met (Powers et al. 2022).
pub(super) fn zero_shot_transfer(run: &Analysis<'_>, reference: &Reference) -> Outcome {
    let mut outcome = falls(run, reference, |step, begin, _| step < begin);
    outcome.value = outcome.value.and_then(|value| value.as_float()).map(|fall| (-fall).into());
    outcome
}
