//! A run cut into segments (one label) and encounters (one canonical regime).
//!
//! A label's canonical regime is what its origins lead to; adjacent relabels of one regime are
//! one encounter, since nothing was left in between. Windows never cross an encounter's edge.

use std::borrow::Cow;
use std::sync::OnceLock;

use indexmap::IndexSet;
use rayon::prelude::*;

use super::canonical::Canonical;
use super::frozen::Frozen;
use super::select::{Gap, Selected};
use super::series::{count, deviation_from, mean, trailing_means};
use super::settings::{Settings, Window};
use crate::sum::Sum;
use crate::trace::columns::{NO_REGIME, RunColumns, Warning};

/// A maximal stretch of rows with one label.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// Its label; `None` for unlabelled rows.
    pub label: Option<String>,
    /// Its canonical regime.
    pub regime: Option<String>,
    /// Its level.
    pub span: Span,
}

/// A maximal stretch of rows with one canonical regime.
#[derive(Clone, Debug, PartialEq)]
pub struct Encounter<'a> {
    /// The canonical regime; `None` for unlabelled rows.
    pub regime: Option<String>,
    /// The labels it went under, in order.
    pub labels: Vec<String>,
    /// Its level.
    pub span: Span,
    /// Its finite rewards, in order.
    pub rewards: Cow<'a, [f64]>,
    /// How its trailing mean moves.
    pub swings: Swings,
    /// Whether it follows on the encounter before: no other regime's rows were left out between.
    pub adjoins: bool,
}

/// How the trailing mean of an encounter moves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Swings {
    /// Its least value; `None` where there is no finite row.
    pub lowest: Option<f64>,
    /// Its greatest fall.
    pub fall: f64,
    /// Its greatest rise.
    pub rise: f64,
}

impl Swings {
    fn of(rewards: &[f64], w: usize) -> Self {
        let (mut least, mut greatest) = (f64::INFINITY, f64::NEG_INFINITY);
        let (mut fall, mut rise): (f64, f64) = (0.0, 0.0);
        for mean in trailing_means(rewards, w) {
            (least, greatest) = (least.min(mean), greatest.max(mean));
            (fall, rise) = (fall.max(greatest - mean), rise.max(mean - least));
        }
        Self { lowest: (!rewards.is_empty()).then_some(least), fall, rise }
    }
}

/// What the components of a run leave of its rewards, over the rows that have both.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Residuals {
    /// The rows.
    pub(super) n: usize,
    /// Those of which more is left than rounding leaves.
    pub(super) off: usize,
    /// The most that is left of any.
    pub(super) greatest: f64,
}

/// A stretch of rows and the level of its rewards. Undefined levels (no finite row) are `None`.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// The first row, and one past the last.
    pub rows: (usize, usize),
    /// The steps of the first and the last row.
    pub steps: (i64, i64),
    /// Finite rows.
    pub n: usize,
    /// The window, in finite rows.
    pub w: usize,
    /// The mean over the first window.
    pub entry: Option<f64>,
    /// The mean over the last window.
    pub exit: Option<f64>,
    /// The mean, sample deviation, least and greatest reward.
    pub mean: Option<f64>,
    /// The sample standard deviation.
    pub sd: Option<f64>,
    /// The least reward.
    pub min: Option<f64>,
    /// The greatest reward.
    pub max: Option<f64>,
}

impl Span {
    fn new(run: &RunColumns, rows: (usize, usize), rewards: &[f64], window: Window) -> Self {
        let step = |row: usize| run.step.get(row).copied().unwrap_or_default();
        let (n, w) = (rewards.len(), window.rows(rewards.len()));
        let mut total = Sum::default();
        let (mut least, mut greatest) = (f64::INFINITY, f64::NEG_INFINITY);
        for reward in rewards {
            total.add(*reward);
            (least, greatest) = (least.min(*reward), greatest.max(*reward));
        }
        let mean_of_all = (n > 0).then(|| total.value() / count(n));
        Self {
            rows,
            steps: (step(rows.0), step(rows.1.saturating_sub(1))),
            n,
            w,
            entry: mean(rewards.get(..w).unwrap_or(rewards)),
            exit: mean(rewards.get(rewards.len().saturating_sub(w)..).unwrap_or(rewards)),
            mean: mean_of_all,
            sd: mean_of_all.and_then(|mean| deviation_from(mean, rewards)),
            min: (n > 0).then_some(least),
            max: (n > 0).then_some(greatest),
        }
    }

    /// Exit less entry.
    #[must_use]
    pub fn gain(&self) -> Option<f64> {
        Some(self.exit? - self.entry?)
    }
}

/// Two encounters with one regime, nothing of it between them.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// The places of the two visits among the encounters.
    pub places: (usize, usize),
    /// The visit before.
    pub before: &'a Encounter<'a>,
    /// The revisit.
    pub after: &'a Encounter<'a>,
    /// The regime's first encounter.
    pub first: &'a Encounter<'a>,
    /// The best exit of all visits before the revisit.
    pub best_exit: Option<f64>,
}

/// A canonical regime of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Regime {
    /// Its name.
    pub name: String,
    /// The places of its visits among the encounters, in order; at least one.
    pub visits: Vec<usize>,
}

/// A run with its segments and encounters.
#[derive(Debug)]
pub struct Analysis<'a> {
    /// The rows.
    pub run: &'a RunColumns,
    /// What was asked for.
    pub settings: &'a Settings,
    /// The segments, in order.
    pub segments: Vec<Segment>,
    /// The encounters, in order.
    pub encounters: Vec<Encounter<'a>>,
    /// The canonical regimes, in order of first encounter.
    pub regimes: Vec<Regime>,
    /// What its components leave of its rewards, once that was asked for.
    pub(super) residuals: OnceLock<Residuals>,
    /// What its policy does with learning switched off, where that was served.
    pub frozen: Option<Frozen>,
    /// What is odd about the labels.
    pub warnings: Vec<Warning>,
}

impl<'a> Analysis<'a> {
    /// Cuts the selected rows up.
    #[must_use]
    pub(super) fn new(selected: &'a Selected, settings: &'a Settings) -> Self {
        let run = &selected.run;
        let canonical = Canonical::of(run);
        let window = settings.window;
        let stretches = stretches(selected);
        let visits = merged(&stretches, selected, &canonical);
        let mut regimes: indexmap::IndexMap<usize, Vec<usize>> = indexmap::IndexMap::new();
        for (place, visit) in visits.iter().enumerate() {
            if let Some(regime) = visit.regime {
                regimes.entry(regime).or_default().push(place);
            }
        }
        let regimes = regimes.into_iter().map(|(regime, visits)| {
            let name = canonical.names.get(regime).cloned().unwrap_or_default();
            Regime { name, visits }
        });
        let regimes = regimes.collect();
        let encounters = visits.into_par_iter().map(|visit| {
            let rewards = finite(run, visit.rows);
            let span = Span::new(run, visit.rows, &rewards, window);
            let span_w = span.w;
            Encounter {
                regime: visit.regime.and_then(|regime| canonical.names.get(regime)).cloned(),
                labels: visit.labels.into_iter().filter_map(|label| name(run, label)).cloned().collect(),
                span,
                swings: Swings::of(&rewards, span_w),
                rewards,
                adjoins: selected.gaps.get(&visit.rows.0) != Some(&Gap::Foreign),
            }
        });
        let encounters: Vec<Encounter<'_>> = encounters.collect();
        // Most segments are encounters.
        let span_of = |rows: (usize, usize)| {
            let place = encounters.partition_point(|visit| visit.span.rows.0 < rows.0);
            let same = encounters.get(place).map(|visit| &visit.span).filter(|span| span.rows == rows);
            same.cloned().unwrap_or_else(|| Span::new(run, rows, &finite(run, rows), window))
        };
        let segments = stretches.par_iter().map(|(rows, label)| Segment {
            label: name(run, *label).cloned(),
            regime: canonical.name(*label).cloned(),
            span: span_of(*rows),
        });
        let segments = segments.collect();
        Self {
            run,
            settings,
            segments,
            encounters,
            regimes,
            residuals: OnceLock::new(),
            frozen: None,
            warnings: canonical.warnings,
        }
    }

    /// The changes from one encounter to the next, as the places of both.
    pub fn shifts(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let adjoining = self.encounters.iter().enumerate().skip(1).filter(|(_, after)| after.adjoins);
        adjoining.map(|(place, _)| (place - 1, place))
    }

    /// The encounters with `regime`, in order.
    pub fn visits<'b>(&'b self, regime: &'b Regime) -> impl DoubleEndedIterator<Item = &'b Encounter<'a>> {
        regime.visits.iter().filter_map(|place| self.encounters.get(*place))
    }

    /// Every revisit of `regime` with the visit before it, in order.
    #[must_use]
    pub fn pairs_of(&self, regime: &Regime) -> Vec<Pair<'_>> {
        let mut best_exit: Option<f64> = None;
        let mut pairs = Vec::new();
        let Some(first) = regime.visits.first().and_then(|place| self.encounters.get(*place)) else { return pairs };
        for (before_place, after_place) in regime.visits.iter().zip(regime.visits.iter().skip(1)) {
            let places = (*before_place, *after_place);
            let visits = (self.encounters.get(places.0), self.encounters.get(places.1));
            let (Some(before), Some(after)) = visits else { continue };
            best_exit = best_exit.into_iter().chain(before.span.exit).reduce(f64::max);
            pairs.push(Pair { places, before, after, first, best_exit });
        }
        pairs
    }

    /// Every revisit with the visit before it, in order of the revisits.
    #[must_use]
    pub fn pairs(&self) -> Vec<Pair<'_>> {
        let mut pairs: Vec<Pair<'_>> = self.regimes.iter().flat_map(|regime| self.pairs_of(regime)).collect();
        pairs.sort_by_key(|pair| pair.places.1);
        pairs
    }
}

/// A row's label as text.
fn name(run: &RunColumns, label: u32) -> Option<&String> {
    run.labels.get(usize::try_from(label).ok()?)
}

/// The finite rewards of a stretch of rows.
fn finite(run: &RunColumns, (from, to): (usize, usize)) -> Cow<'_, [f64]> {
    let all = run.reward.get(from..to).unwrap_or_default();
    if all.iter().all(|reward| reward.is_finite()) {
        return Cow::Borrowed(all);
    }
    Cow::Owned(all.iter().copied().filter(|reward| reward.is_finite()).collect())
}

/// Maximal stretches of equal labels without a gap.
fn stretches(selected: &Selected) -> Vec<((usize, usize), u32)> {
    let mut found: Vec<((usize, usize), u32)> = Vec::new();
    for (row, label) in selected.run.regime.iter().enumerate() {
        match found.last_mut() {
            Some((rows, own)) if own == label && !selected.parted(row) => rows.1 = row + 1,
            _ => found.push(((row, row + 1), *label)),
        }
    }
    found
}

/// An encounter's rows, its canonical regime and the labels it goes under.
struct Visit {
    rows: (usize, usize),
    regime: Option<usize>,
    labels: IndexSet<u32>,
}

/// Stretches of labels, neighbours with one canonical regime taken together.
fn merged(stretches: &[((usize, usize), u32)], selected: &Selected, canonical: &Canonical) -> Vec<Visit> {
    let mut visits: Vec<Visit> = Vec::new();
    for (rows, label) in stretches.iter().copied() {
        let regime = canonical.regime(label);
        let before = visits.last_mut().filter(|_| regime.is_some() && !selected.parted(rows.0));
        match before.filter(|visit| visit.regime == regime) {
            Some(visit) => {
                visit.rows.1 = rows.1;
                visit.labels.insert(label);
            }
            None => {
                let labels = Some(label).filter(|label| *label != NO_REGIME).into_iter().collect();
                visits.push(Visit { rows, regime, labels });
            }
        }
    }
    visits
}
