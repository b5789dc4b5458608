//! What traces hold, counted: runs, rows, regimes, segments, components, spans.
//!
//! Nothing of a row is kept once it is counted, so that a file of any size is summed up in the
//! same memory: a few blocks of it, and one entry a segment.

mod value;

use std::path::PathBuf;

use indexmap::IndexMap;

use crate::trace::about::{About, Oddity};
use crate::trace::columns::{Identity, Input, NO_REGIME, Warning};
use crate::trace::error::TraceError;
use crate::trace::fault::Faults;
use crate::trace::gather::Gather;
use crate::trace::group::{Span, Whole};
use crate::trace::order::{Restart, StepWatch};
use crate::trace::part::{MOST_COMPONENTS, Part, surplus_components};
use crate::trace::read::{ReadOptions, read_runs};
use crate::trace::regimes::Regimes;
use crate::trace::tally::Tally;
use crate::value::Map;

/// What is in traces.
#[derive(Clone, Debug, Default)]
pub struct TraceStats {
    /// The files, in reading order.
    pub inputs: Vec<Input>,
    /// The runs, in order of first appearance.
    pub runs: Vec<RunStats>,
    /// What was odd.
    pub warnings: Vec<Warning>,
}

/// What is in one run.
#[derive(Clone, Debug, Default)]
pub struct RunStats {
    /// Which run this is.
    pub identity: Identity,
    /// The files its rows came from, in order.
    pub files: Vec<String>,
    /// Other keys whose value is the same in every row.
    pub meta: Map,
    /// Other keys that some rows lack or that change from row to row.
    pub per_step: Vec<String>,
    /// Rows.
    pub rows: u64,
    /// The least and the greatest step.
    pub steps: (i64, i64),
    /// Rewards; those that are not finite are left out.
    pub reward: Tally,
    /// Rows whose action the environment refused.
    pub invalid_actions: u64,
    /// Effective ranks, where measured.
    pub effective_rank: Tally,
    /// Rows with an `observed_at`.
    pub observed: u64,
    /// The first and the last `observed_at`.
    pub observed_at: Option<(String, String)>,
    /// Reward components by name in order of first appearance.
    pub components: IndexMap<String, Tally>,
    /// Regimes in order of first appearance; the unlabelled rows, if any, are the last.
    pub regimes: Vec<RegimeStats>,
    /// Stretches of rows of one label, in order: the first [`MOST_SEGMENTS`] of them.
    pub segments: Vec<Segment>,
    /// How many stretches there are.
    pub n_segments: u64,
}

/// A longer list of segments is not kept: labels that change all the time tell of no regimes.
pub const MOST_SEGMENTS: usize = 100_000;

/// The rows of one label.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RegimeStats {
    /// The label; `None` for rows without one.
    pub label: Option<String>,
    /// What the label repeats.
    pub origin: Option<String>,
    /// How many stretches of rows have it.
    pub segments: u64,
    /// Rows.
    pub rows: u64,
    /// Their rewards.
    pub reward: Tally,
}

/// Rows of one label, one after another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// The place among [`RunStats::regimes`].
    pub regime: usize,
    /// The first row's step and the last's.
    pub steps: (i64, i64),
    /// Rows.
    pub rows: u64,
    /// Their rewards.
    pub reward: Tally,
}

/// Sums up `paths` (files, directories, `-` for standard input), with the same runs and the same
/// warnings as [`read_columns`](crate::trace::read_columns); rows are counted as
/// [`Restart::Keep`] keeps them.
///
/// # Errors
/// As for [`read_columns`](crate::trace::read_columns).
pub fn stats(paths: &[PathBuf], options: &ReadOptions) -> Result<TraceStats, TraceError> {
    let options = ReadOptions { on_restart: Restart::Keep, ..*options };
    let read = read_runs(paths, &options, |whole: Whole<Count>| {
        let (run, oddities) = whole.gathered.finish();
        (RunStats { identity: whole.identity, files: whole.files, ..run }, oddities)
    })?;
    Ok(TraceStats { inputs: read.inputs, runs: read.runs, warnings: read.warnings })
}

/// The counts of one run so far. Labels are places in `about`.
#[derive(Debug)]
struct Count {
    about: About,
    rows: u64,
    span: Span,
    invalid_actions: u64,
    effective_rank: Tally,
    observed: u64,
    observed_at: Option<(String, String)>,
    components: IndexMap<String, Tally>,
    /// The first component beyond [`MOST_COMPONENTS`], the step of its row, and how many values
    /// were left out.
    surplus: Option<(String, i64, u64)>,
    regimes: Regimes,
    watch: StepWatch,
    faults: Faults,
}

impl Gather for Count {
    fn new(options: &ReadOptions) -> Self {
        Self {
            about: About::default(),
            rows: 0,
            span: Span::of(std::iter::empty()),
            invalid_actions: 0,
            effective_rank: Tally::default(),
            observed: 0,
            observed_at: None,
            components: IndexMap::new(),
            surplus: None,
            regimes: Regimes::default(),
            watch: StepWatch::default(),
            faults: Faults::new(options.every_fault),
        }
    }

    fn add(&mut self, part: Part) {
        self.add_components(&part);
        let places = self.about.append(part.about);
        self.rows += part.step.len() as u64;
        for step in &part.step {
            self.watch.see(*step, Restart::Keep, &mut self.faults);
        }
        self.span = self.span.join(Span::of(part.step.iter().copied()));
        self.invalid_actions += part.invalid_action.iter().filter(|invalid| **invalid).count() as u64;
        part.effective_rank.iter().for_each(|rank| self.effective_rank.add(*rank));
        self.observed += part.observed_at.len() as u64;
        self.note_times(part.observed_at.ends());
        let place_of = |place: u32| places.get(place as usize).copied().unwrap_or(NO_REGIME);
        for ((place, step), reward) in part.regime.iter().zip(&part.step).zip(&part.reward) {
            self.regimes.add(place_of(*place), *step, *reward);
        }
    }

    fn end_file(&mut self, _options: &ReadOptions, faults: &mut Faults) {
        self.watch = StepWatch::default();
        faults.append(std::mem::take(&mut self.faults), 0);
    }

    fn span(&self) -> Span {
        self.span
    }

    fn append(&mut self, later: Self) {
        let places = self.about.append(later.about);
        self.rows += later.rows;
        self.span = self.span.join(later.span);
        self.invalid_actions += later.invalid_actions;
        self.effective_rank.join(&later.effective_rank);
        self.observed += later.observed;
        self.note_times(later.observed_at.as_ref().map(|(first, last)| (first, last)));
        for (name, tally) in &later.components {
            if let Some(known) = self.component(name, tally.count(), 0) {
                known.join(tally);
            }
        }
        if let Some((name, step, count)) = later.surplus {
            self.leave_out(&name, step, count);
        }
        self.regimes.append(later.regimes, |place| places.get(place as usize).copied().unwrap_or(NO_REGIME));
    }
}

impl Count {
    fn add_components(&mut self, part: &Part) {
        for (name, column) in &part.components {
            let step = column.first_row().and_then(|row| part.step.get(row).copied()).unwrap_or_default();
            if let Some(tally) = self.component(name, column.len() as u64, step) {
                column.values().iter().for_each(|value| tally.add(*value));
            }
        }
    }

    /// The tally of a component, which `count` values from a row with `step` on are to be added
    /// to; `None` if there are too many components.
    fn component(&mut self, name: &str, count: u64, step: i64) -> Option<&mut Tally> {
        if !self.components.contains_key(name) {
            if self.components.len() >= MOST_COMPONENTS {
                self.leave_out(name, step, count);
                return None;
            }
            self.components.insert(name.to_owned(), Tally::default());
        }
        self.components.get_mut(name)
    }

    fn leave_out(&mut self, name: &str, step: i64, count: u64) {
        self.surplus.get_or_insert_with(|| (name.to_owned(), step, 0)).2 += count;
    }

    fn note_times(&mut self, ends: Option<(&String, &String)>) {
        if let Some((first, last)) = ends {
            self.observed_at.get_or_insert_with(|| (first.clone(), String::new())).1.clone_from(last);
        }
    }

    fn finish(mut self) -> (RunStats, Vec<Oddity>) {
        let (origins, mut oddities) = self.about.origins();
        if let Some((name, step, count)) = &self.surplus {
            oddities.push(surplus_components(name, *step, *count));
        }
        let (meta, per_step) = self.about.split_others(self.rows);
        let (regimes, segments, n_segments) = self.regimes.finish(self.about.labels, origins);
        let mut reward = Tally::default();
        regimes.iter().for_each(|regime| reward.join(&regime.reward));
        let run = RunStats {
            meta,
            per_step,
            rows: self.rows,
            steps: (self.span.least, self.span.greatest),
            reward,
            invalid_actions: self.invalid_actions,
            effective_rank: self.effective_rank,
            observed: self.observed,
            observed_at: self.observed_at,
            components: self.components,
            regimes,
            segments,
            n_segments,
            ..RunStats::default()
        };
        (run, oddities)
    }
}
