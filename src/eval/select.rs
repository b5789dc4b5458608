//! Which of a run's rows count.
//!
//! Rows with a repeated step first, then a stretch of the run, then regimes. A regime that is left
//! out leaves a gap: the encounters on either side stay apart and there is no shift between them.
//! Skipped unlabelled rows keep encounters apart too, but leave the shift across them.

use std::collections::HashMap;

use super::canonical::Canonical;
use super::error::{EvalError, nearest_or_all};
use super::report::run_label;
use crate::trace::columns::{NO_REGIME, RunColumns};

/// Which rows count.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// The first step.
    pub from_step: Option<i64>,
    /// One past the last step.
    pub until_step: Option<i64>,
    /// The share of the run's rows that is passed over at its start.
    pub from_frac: Option<f64>,
    /// The share of the run's rows at which it ends.
    pub until_frac: Option<f64>,
    /// The regimes, as labels or canonical names; all when empty.
    pub regimes: Vec<String>,
    /// Whether unlabelled rows are left out.
    pub skip_null: bool,
    /// What several rows of one step mean.
    pub duplicates: Duplicates,
}

/// What several rows of one step of one run mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// As many observations, as vector environments write them.
    #[default]
    All,
    /// The last one counts.
    Last,
    /// The first one counts.
    First,
    /// A mistake.
    Error,
}

impl Duplicates {
    /// Every way, in the order help shows them.
    pub const ALL: [Self; 4] = [Self::All, Self::Last, Self::First, Self::Error];

    /// The name options and reports have for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Last => "last",
            Self::First => "first",
            Self::Error => "error",
        }
    }
}

/// Rows left out just before a row that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gap {
    /// Unlabelled ones only.
    Silent,
    /// Rows of a regime among them.
    Foreign,
}

/// A run's rows that count, and before which of them rows were left out.
#[derive(Debug, Default)]
pub(super) struct Selected {
    pub(super) run: RunColumns,
    pub(super) gaps: HashMap<usize, Gap>,
}

impl Selected {
    /// Whether rows were left out just before `row`.
    pub(super) fn parted(&self, row: usize) -> bool {
        !self.gaps.is_empty() && self.gaps.contains_key(&row)
    }
}

impl Selection {
    /// The rows of `run` that count.
    ///
    /// # Errors
    /// When a step is repeated and that was to be an error.
    pub(super) fn of(&self, mut run: RunColumns) -> Result<Selected, EvalError> {
        if self.duplicates != Duplicates::All {
            let keep = self.distinct_steps(&run)?;
            retain(&mut run, &keep);
        }
        let (from, until) = self.stretch(run.step.len());
        if (from, until) != (0, run.step.len()) || self.from_step.is_some() || self.until_step.is_some() {
            let within = |(row, step): (usize, &i64)| {
                (from..until).contains(&row)
                    && self.from_step.is_none_or(|first| *step >= first)
                    && self.until_step.is_none_or(|end| *step < end)
            };
            let keep: Vec<bool> = run.step.iter().enumerate().map(within).collect();
            retain(&mut run, &keep);
        }
        let mut gaps = HashMap::new();
        if self.skip_null || !self.regimes.is_empty() {
            let keep = self.under_regimes(&run);
            gaps = gaps_of(&run.regime, &keep);
            retain(&mut run, &keep);
        }
        Ok(Selected { run, gaps })
    }

    /// Checks that some run has each of the regimes.
    ///
    /// # Errors
    /// When none has.
    pub(super) fn check(&self, runs: &[RunColumns]) -> Result<(), EvalError> {
        if self.regimes.is_empty() {
            return Ok(());
        }
        let mut known: Vec<String> = runs.iter().flat_map(|run| Canonical::of(run).names).collect();
        known.sort_unstable();
        known.dedup();
        match self.regimes.iter().find(|name| !known.contains(name)) {
            None => Ok(()),
            Some(name) => Err(EvalError::UnknownRegime {
                name: name.clone(),
                known: nearest_or_all(name, known.iter().map(String::as_str)),
            }),
        }
    }

    /// The rows of the stretch asked for, of `n`. Two runs cut at one fraction share no row.
    fn stretch(&self, n: usize) -> (usize, usize) {
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a fraction of a row count, between 0 and the count"
        )]
        let row = |fraction: f64| ((n as f64 * fraction).ceil() as usize).min(n);
        (self.from_frac.map_or(0, row), self.until_frac.map_or(n, row))
    }

    fn distinct_steps(&self, run: &RunColumns) -> Result<Vec<bool>, EvalError> {
        let mut keep = vec![true; run.step.len()];
        let mut seen: HashMap<i64, usize> = HashMap::new();
        for (row, step) in run.step.iter().enumerate() {
            let Some(earlier) = seen.insert(*step, row) else { continue };
            let dropped = match self.duplicates {
                Duplicates::All => continue,
                Duplicates::Last => earlier,
                Duplicates::First => row,
                Duplicates::Error => {
                    return Err(EvalError::Duplicate { run: run_label(&run.identity), step: *step });
                }
            };
            if let Some(flag) = keep.get_mut(dropped) {
                *flag = false;
            }
        }
        Ok(keep)
    }

    fn under_regimes(&self, run: &RunColumns) -> Vec<bool> {
        let canonical = Canonical::of(run);
        let asked = |name: Option<&String>| name.is_some_and(|name| self.regimes.contains(name));
        let label = |label: u32| usize::try_from(label).ok().and_then(|label| run.labels.get(label));
        let of_label: Vec<bool> = (0..run.labels.len())
            .filter_map(|place| u32::try_from(place).ok())
            .map(|place| self.regimes.is_empty() || asked(canonical.name(place)) || asked(label(place)))
            .collect();
        let kept = |regime: u32| match usize::try_from(regime).ok().and_then(|label| of_label.get(label)) {
            Some(kept) => *kept,
            None => !self.skip_null && self.regimes.is_empty(),
        };
        run.regime.iter().map(|regime| kept(*regime)).collect()
    }
}

/// Where, among the rows kept, rows between two of them were left out.
fn gaps_of(regimes: &[u32], keep: &[bool]) -> HashMap<usize, Gap> {
    let mut gaps = HashMap::new();
    let mut kept = 0;
    let mut left_out: Option<Gap> = None;
    for (regime, keep) in regimes.iter().zip(keep) {
        if !keep {
            let foreign = *regime != NO_REGIME || left_out == Some(Gap::Foreign);
            left_out = Some(if foreign { Gap::Foreign } else { Gap::Silent });
            continue;
        }
        if let Some(gap) = left_out.take().filter(|_| kept > 0) {
            gaps.insert(kept, gap);
        }
        kept += 1;
    }
    gaps
}

/// Drops the rows not to keep from every column.
fn retain(run: &mut RunColumns, keep: &[bool]) {
    fn column<T>(column: &mut Vec<T>, keep: &[bool]) {
        let mut flags = keep.iter();
        column.retain(|_| flags.next().copied().unwrap_or(true));
    }
    column(&mut run.step, keep);
    column(&mut run.reward, keep);
    column(&mut run.regime, keep);
    column(&mut run.invalid_action, keep);
    column(&mut run.effective_rank, keep);
    column(&mut run.observed_at, keep);
    for values in run.components.values_mut() {
        column(values, keep);
    }
}
