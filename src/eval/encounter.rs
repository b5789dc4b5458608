//! A run cut into segments (one label) and encounters (one canonical regime).
//!
//! A label's canonical regime is what its origins lead to; adjacent relabels of one regime are
//! one encounter, since nothing was left in between. Windows never cross an encounter's edge.

use super::Window;
use super::series::{deviation, mean};
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
pub struct Encounter {
    /// The canonical regime; `None` for unlabelled rows.
    pub regime: Option<String>,
    /// The labels it went under, in order.
    pub labels: Vec<String>,
    /// Its level.
    pub span: Span,
    /// Its finite rewards, in order.
    pub rewards: Vec<f64>,
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
        let w = window.rows(rewards.len());
        Self {
            rows,
            steps: (step(rows.0), step(rows.1.saturating_sub(1))),
            n: rewards.len(),
            w,
            entry: mean(rewards.get(..w).unwrap_or(rewards)),
            exit: mean(rewards.get(rewards.len().saturating_sub(w)..).unwrap_or(rewards)),
            mean: mean(rewards),
            sd: deviation(rewards),
            min: rewards.iter().copied().reduce(f64::min),
            max: rewards.iter().copied().reduce(f64::max),
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
    /// The visit before.
    pub before: &'a Encounter,
    /// The revisit.
    pub after: &'a Encounter,
    /// The regime's first encounter.
    pub first: &'a Encounter,
    /// The best exit of all visits before the revisit.
    pub best_exit: Option<f64>,
}

/// A run with its segments and encounters.
#[derive(Debug)]
pub struct Analysis<'a> {
    /// The rows.
    pub run: &'a RunColumns,
    /// The segments, in order.
    pub segments: Vec<Segment>,
    /// The encounters, in order.
    pub encounters: Vec<Encounter>,
    /// What is odd about the labels.
    pub warnings: Vec<Warning>,
}

impl<'a> Analysis<'a> {
    /// Cuts `run` up.
    #[must_use]
    pub fn new(run: &'a RunColumns, window: Window) -> Self {
        let canonical = canonical_labels(run);
        let name = |label: u32| usize::try_from(label).ok().and_then(|label| run.labels.get(label)).cloned();
        let regime_of = |label: u32| usize::try_from(label).ok().and_then(|label| canonical.get(label)).cloned();
        let segments = stretches(&run.regime, |a, b| a == b)
            .map(|(rows, label)| {
                let rewards = finite(run, rows);
                Segment { label: name(label), regime: regime_of(label), span: Span::new(run, rows, &rewards, window) }
            })
            .collect();
        let encounters =
            stretches(&run.regime, |a, b| a == b || (a != NO_REGIME && b != NO_REGIME && regime_of(a) == regime_of(b)))
                .map(|(rows, label)| {
                    let mut labels: Vec<String> = Vec::new();
                    for label in run.regime.get(rows.0..rows.1).unwrap_or_default() {
                        if let Some(label) = name(*label).filter(|label| !labels.contains(label)) {
                            labels.push(label);
                        }
                    }
                    let rewards = finite(run, rows);
                    let span = Span::new(run, rows, &rewards, window);
                    Encounter { regime: regime_of(label), labels, span, rewards }
                })
                .collect();
        Self { run, segments, encounters, warnings: Vec::new() }
    }

    /// The canonical regimes, in order of first encounter.
    #[must_use]
    pub fn regimes(&self) -> Vec<&str> {
        let mut regimes: Vec<&str> = Vec::new();
        for regime in self.encounters.iter().filter_map(|encounter| encounter.regime.as_deref()) {
            if !regimes.contains(&regime) {
                regimes.push(regime);
            }
        }
        regimes
    }

    /// The encounters with `regime`, in order.
    pub fn visits<'b>(&'b self, regime: &'b str) -> impl Iterator<Item = &'b Encounter> {
        self.encounters.iter().filter(move |encounter| encounter.regime.as_deref() == Some(regime))
    }

    /// Every revisit with the visit before it, in order of the revisits.
    #[must_use]
    pub fn pairs(&self) -> Vec<Pair<'_>> {
        let mut pairs = Vec::new();
        for (index, after) in self.encounters.iter().enumerate() {
            let Some(regime) = after.regime.as_deref() else { continue };
            let earlier = self.encounters.iter().take(index);
            let earlier: Vec<&Encounter> = earlier.filter(|other| other.regime.as_deref() == Some(regime)).collect();
            if let (Some(first), Some(before)) = (earlier.first(), earlier.last()) {
                let best_exit = earlier.iter().filter_map(|visit| visit.span.exit).reduce(f64::max);
                pairs.push(Pair { before, after, first, best_exit });
            }
        }
        pairs
    }
}

/// The finite rewards of a stretch of rows.
fn finite(run: &RunColumns, (from, to): (usize, usize)) -> Vec<f64> {
    run.reward.get(from..to).unwrap_or_default().iter().copied().filter(|reward| reward.is_finite()).collect()
}

/// Maximal stretches of alike neighbours, each with its first label.
fn stretches(labels: &[u32], alike: impl Fn(u32, u32) -> bool) -> impl Iterator<Item = ((usize, usize), u32)> {
    let mut found: Vec<((usize, usize), u32)> = Vec::new();
    for (row, label) in labels.iter().enumerate() {
        match found.last_mut() {
            Some((rows, first)) if alike(*first, *label) => rows.1 = row + 1,
            _ => found.push(((row, row + 1), *label)),
        }
    }
    found.into_iter()
}

/// For each label, the regime its origins lead to; a circle ends where it began.
fn canonical_labels(run: &RunColumns) -> Vec<String> {
    let origin_of = |name: &str| {
        let index = run.labels.iter().position(|label| label == name)?;
        run.origins.get(index)?.clone()
    };
    run.labels
        .iter()
        .map(|label| {
            let mut seen = vec![label.clone()];
            let mut present = label.clone();
            while let Some(origin) = origin_of(&present).filter(|origin| !seen.contains(origin)) {
                seen.push(origin.clone());
                present = origin;
            }
            present
        })
        .collect()
}
