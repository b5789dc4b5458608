//! What all runs of an evaluation are judged against together.

use std::collections::BTreeMap;

use super::encounter::Analysis;
use super::series::{count, mean};
use super::settings::{RegretReference, Settings};
use crate::sum::Sum;

/// What is known from all runs of an evaluation together, and from what was given beside them.
#[derive(Clone, Debug, Default)]
pub struct Reference {
    /// The level of each regime that regret is measured against; `None` where each run is its own
    /// reference.
    pub(super) regret: Option<BTreeMap<String, f64>>,
    /// The range of rewards of each regime: as given, else the least and greatest over all runs.
    pub(super) ranges: BTreeMap<String, (f64, f64)>,
    /// The learning curve from scratch of each regime, if baseline runs were given.
    pub(super) baseline: Option<BTreeMap<String, Curve>>,
    /// The greatest absolute frozen performance under each regime over all runs and checkpoints.
    pub(super) scale: BTreeMap<String, f64>,
}

/// How a regime is learned from scratch: the mean over baseline runs of their first encounters.
#[derive(Clone, Debug, Default)]
pub(super) struct Curve {
    /// The mean reward of each row, as far as the shortest encounter goes.
    pub(super) rewards: Vec<f64>,
    /// The mean entry level.
    pub(super) entry: f64,
}

impl Reference {
    /// The reference of a set of runs and of the baseline runs beside them.
    pub(super) fn new(runs: &[Analysis<'_>], baseline: Option<&[Analysis<'_>]>, settings: &Settings) -> Self {
        let mut ranges = BTreeMap::new();
        for visit in runs.iter().flat_map(|run| &run.encounters) {
            if let (Some(regime), Some(min), Some(max)) = (&visit.regime, visit.span.min, visit.span.max) {
                let range: &mut (f64, f64) = ranges.entry(regime.clone()).or_insert((min, max));
                *range = (range.0.min(min), range.1.max(max));
            }
        }
        for (regime, bounds) in &settings.bounds {
            let seen = ranges.get(regime).copied();
            let min = bounds.min.or(seen.map(|range| range.0));
            let max = bounds.max.or(seen.map(|range| range.1));
            if let (Some(min), Some(max)) = (min, max) {
                ranges.insert(regime.clone(), (min, max));
            }
        }
        let regret = match &settings.regret_ref {
            RegretReference::Run => None,
            RegretReference::Set => Some(best_exits(runs)),
            RegretReference::Levels(levels) => {
                Some(levels.iter().map(|(name, level)| (name.clone(), *level)).collect())
            }
        };
        Self { regret, ranges, baseline: baseline.map(|runs| curves(runs.iter())), scale: scales(runs) }
    }
}

/// The best exit level of each regime.
pub(super) fn best_exits(runs: &[Analysis<'_>]) -> BTreeMap<String, f64> {
    let mut best: BTreeMap<String, f64> = BTreeMap::new();
    for visit in runs.iter().flat_map(|run| &run.encounters) {
        if let (Some(regime), Some(exit)) = (&visit.regime, visit.span.exit) {
            let level = best.entry(regime.clone()).or_insert(exit);
            *level = level.max(exit);
        }
    }
    best
}

/// The curve of each regime over the baseline runs' first encounters with it.
pub(super) fn curves<'a>(baseline: impl Iterator<Item = &'a Analysis<'a>>) -> BTreeMap<String, Curve> {
    let mut firsts: BTreeMap<&String, Vec<(&[f64], f64)>> = BTreeMap::new();
    for run in baseline {
        for regime in &run.regimes {
            let first = run.visits(regime).find_map(|visit| Some((&*visit.rewards, visit.span.entry?)));
            if let Some(first) = first {
                firsts.entry(&regime.name).or_default().push(first);
            }
        }
    }
    let curve = |visits: Vec<(&[f64], f64)>| {
        let length = visits.iter().map(|(rewards, _)| rewards.len()).min().unwrap_or(0);
        let at = |row: usize| {
            let mut sum = Sum::default();
            visits.iter().filter_map(|(rewards, _)| rewards.get(row)).for_each(|reward| sum.add(*reward));
            sum.value() / count(visits.len())
        };
        let entries: Vec<f64> = visits.iter().map(|(_, entry)| *entry).collect();
        Curve { rewards: (0..length).map(at).collect(), entry: mean(&entries).unwrap_or_default() }
    };
    firsts.into_iter().map(|(regime, visits)| (regime.clone(), curve(visits))).collect()
}

fn scales(runs: &[Analysis<'_>]) -> BTreeMap<String, f64> {
    let mut scales: BTreeMap<String, f64> = BTreeMap::new();
    for frozen in runs.iter().filter_map(|run| run.frozen.as_ref()) {
        for row in &frozen.performance {
            for (regime, value) in frozen.regimes.iter().zip(row) {
                let scale = scales.entry(regime.clone()).or_default();
                *scale = scale.max(value.unwrap_or_default().abs());
            }
        }
    }
    scales
}
