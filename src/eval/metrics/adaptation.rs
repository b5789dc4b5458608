//! Rows 11, 12, 15-18 and 23 of the table: how fast a level is reached (again).

use super::Outcome;
use super::Reference;
use super::revisit::why_none;
use crate::eval::encounter::{Analysis, Encounter, Pair};
use crate::eval::series::{count, median, theil_sen, trailing_means};

/// The first row of an encounter, from 1, at which the trailing mean reaches `level`.
pub(in crate::eval) fn rows_to(encounter: &Encounter<'_>, level: f64) -> Option<usize> {
    let w = encounter.span.w;
    trailing_means(&encounter.rewards, w).position(|mean| mean >= level).map(|index| index + w)
}

/// How a revisit came back to the level it was left at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::eval) enum Recovery {
    /// After so many rows; 0 when it never fell below.
    After(usize),
    /// Not within its so many rows.
    Censored(usize),
}

/// The recovery of one pair up to the share `recover` of the way back; `None` when either visit
/// has no finite row.
pub(in crate::eval) fn recovery_of(pair: &Pair<'_>, recover: f64) -> Option<Recovery> {
    let (reference, entry) = (pair.before.span.exit?, pair.after.span.entry?);
    if entry >= reference {
        return Some(Recovery::After(0));
    }
    let level = reference - (1.0 - recover) * (reference - entry);
    Some(match rows_to(pair.after, level) {
        Some(row) => Recovery::After(row),
        None => Recovery::Censored(pair.after.span.n),
    })
}

/// The median over revisits of the rows until 95 % of the way back to the level before.
/// Revisits that never get there have no value and are counted.
pub(super) fn recovery_rows(run: &Analysis<'_>, _: &Reference) -> Outcome {
    let recoveries: Vec<Recovery> =
        run.pairs().iter().filter_map(|pair| recovery_of(pair, run.settings.recover)).collect();
    let reached = recoveries.iter().filter_map(|recovery| match recovery {
        Recovery::After(rows) => Some(*rows),
        Recovery::Censored(_) => None,
    });
    censored_median(&reached.collect::<Vec<_>>(), recoveries.len(), why_none(run))
}

/// The median of the `reached` of `asked` visits; undefined for `none` where none was asked.
fn censored_median(reached: &[usize], asked: usize, none: Option<&'static str>) -> Outcome {
    let rows: Vec<f64> = reached.iter().map(|rows| count(*rows)).collect();
    let mut outcome = Outcome::or(median(&rows), rows.len(), none.unwrap_or("censored"));
    outcome.n_censored = Some(asked - reached.len());
    outcome
}

/// The median over encounters of the rows until the threshold asked for.
pub(super) fn time_to_threshold(run: &Analysis<'_>, _: &Reference) -> Outcome {
    let Some(threshold) = run.settings.threshold else { return Outcome::undefined("no_threshold") };
    let asked: Vec<&Encounter<'_>> = run.encounters.iter().filter(|visit| visit.span.n > 0).collect();
    let reached: Vec<usize> = asked.iter().filter_map(|visit| rows_to(visit, threshold)).collect();
    censored_median(&reached, asked.len(), asked.is_empty().then_some("no_finite_reward"))
}

/// How much faster each revisit of a regime recovers than the one before: minus the Theil-Sen
/// slope of its recovery rows, averaged over regimes.
pub(super) fn recovery_trend(run: &Analysis<'_>, _: &Reference) -> Outcome {
    let slopes = run.regimes.iter().filter_map(|regime| {
        let visits = run.pairs_of(regime).into_iter().enumerate();
        let points = visits.filter_map(|(visit, pair)| match recovery_of(&pair, run.settings.recover)? {
            Recovery::After(rows) => Some((count(visit), count(rows))),
            Recovery::Censored(_) => None,
        });
        theil_sen(&points.collect::<Vec<_>>()).map(|slope| -slope)
    });
    Outcome::mean(&slopes.collect::<Vec<_>>(), why_none(run).unwrap_or("too_few_revisits"))
}

/// The mean over shifts of the exit before less the entry after. Mixes the scales of two regimes.
pub(super) fn shift_drop(run: &Analysis<'_>, _: &Reference) -> Outcome {
    let span = |place: usize| run.encounters.get(place).map(|visit| &visit.span);
    let drops = run.shifts().filter_map(|(before, after)| Some(span(before)?.exit? - span(after)?.entry?));
    Outcome::mean(&drops.collect::<Vec<_>>(), no_shift(run))
}

/// Why no shift can be judged.
fn no_shift(run: &Analysis<'_>) -> &'static str {
    if run.shifts().next().is_some() { "no_finite_reward" } else { "no_shift" }
}

/// The rows until the share `adapt` of an encounter's gain; 0 where there was none.
pub(in crate::eval) fn adaptation_of(encounter: &Encounter<'_>, adapt: f64) -> Option<usize> {
    let (entry, gain) = (encounter.span.entry?, encounter.span.gain()?);
    if gain <= 0.0 {
        return Some(0);
    }
    rows_to(encounter, entry + adapt * gain).or(Some(encounter.span.n))
}

fn adaptations<'a>(run: &'a Analysis<'_>) -> impl Iterator<Item = usize> + 'a {
    run.encounters.iter().skip(1).filter_map(|visit| adaptation_of(visit, run.settings.adapt))
}

/// The mean over encounters after the first of the rows until 90 % of the encounter's gain.
pub(super) fn adaptation_rows(run: &Analysis<'_>, _: &Reference) -> Outcome {
    let rows: Vec<f64> = adaptations(run).map(count).collect();
    let outcome = Outcome::mean(&rows, if run.encounters.len() > 1 { "no_finite_reward" } else { "no_shift" });
    if !rows.is_empty() && rows.iter().all(|rows| *rows == 0.0) { outcome.because("no_gain") } else { outcome }
}

/// How far the trailing mean falls below the exit before, within the first fifth of a revisit
/// (at least its entry window).
pub(in crate::eval) fn stability_gap_of(pair: &Pair<'_>) -> Option<f64> {
    let Encounter { span, rewards, .. } = pair.after;
    let early = rewards.get(..span.w.max(span.n.div_ceil(5))).unwrap_or(rewards);
    Some(pair.before.span.exit? - trailing_means(early, span.w).reduce(f64::min)?)
}

/// The mean over revisits of the stability gap.
pub(super) fn stability_gap(run: &Analysis<'_>, _: &Reference) -> Outcome {
    let gaps: Vec<f64> = run.pairs().iter().filter_map(stability_gap_of).collect();
    Outcome::mean(&gaps, why_none(run).unwrap_or("no_finite_reward"))
}

/// `level` of each regime's first encounter, by the regime's order.
fn first_encounters(run: &Analysis<'_>, level: impl Fn(&Encounter<'_>) -> Option<f64>) -> Vec<(f64, f64)> {
    let firsts = run.regimes.iter().enumerate().filter_map(|(order, regime)| Some((order, run.visits(regime).next()?)));
    firsts.filter_map(|(order, visit)| Some((count(order), level(visit)?))).collect()
}

fn slope(points: &[(f64, f64)]) -> Outcome {
    const FEWEST: usize = 3;
    let slope = theil_sen(points).filter(|_| points.len() >= FEWEST);
    Outcome::or(slope, points.len(), "too_few_regimes")
}

/// Whether later new regimes are learned less well: the slope of their exit levels.
pub(super) fn plasticity_exit_slope(run: &Analysis<'_>, _: &Reference) -> Outcome {
    slope(&first_encounters(run, |visit| visit.span.exit))
}

/// Whether later new regimes are learned more slowly: the slope of their adaptation rows.
pub(super) fn plasticity_adapt_slope(run: &Analysis<'_>, _: &Reference) -> Outcome {
    slope(&first_encounters(run, |visit| adaptation_of(visit, run.settings.adapt).map(count)))
}
