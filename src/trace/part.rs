//! The rows of one run within a stretch of one file, as columns that can be joined.
//!
//! Joining parts gives what reading their rows in one go would have given, to the last count:
//! whatever needs the whole (which component columns to keep, whether a key ever changes) is
//! decided at the end.

use indexmap::IndexMap;

use crate::trace::about::{About, Oddity};
use crate::trace::cells::Cells;
use crate::trace::columns::{NO_REGIME, RunColumns};
use crate::trace::field::unescape;
use crate::trace::scanner::RowScanner;
use crate::trace::sparse::Sparse;
use crate::trace::times::Times;

/// Rows of one run, in order. `T` stands for texts, as in [`About`].
#[derive(Debug)]
pub(super) struct Part<T = String> {
    pub(super) step: Vec<i64>,
    pub(super) reward: Vec<f64>,
    /// Places among the labels.
    pub(super) regime: Vec<u32>,
    pub(super) invalid_action: Vec<bool>,
    pub(super) effective_rank: Vec<f64>,
    pub(super) components: IndexMap<T, Sparse<f64>>,
    pub(super) observed_at: Times,
    pub(super) about: About<T>,
}

impl<T> Default for Part<T> {
    fn default() -> Self {
        Self {
            step: Vec::new(),
            reward: Vec::new(),
            regime: Vec::new(),
            invalid_action: Vec::new(),
            effective_rank: Vec::new(),
            components: IndexMap::new(),
            observed_at: Times::default(),
            about: About::default(),
        }
    }
}

/// The rows of one run in one chunk.
#[derive(Debug, Default)]
pub(super) struct PartBuilder {
    part: Part<u32>,
    /// The place among the part's labels of each of the scanner's numbers.
    places: Vec<u32>,
}

impl PartBuilder {
    /// Adds a row; tells whether it names an origin without a label.
    pub(super) fn push(&mut self, cells: &Cells<'_>, line: usize) -> bool {
        let place = self.label_place(cells.regime);
        let part = &mut self.part;
        let row = part.step.len();
        part.step.push(cells.step);
        part.reward.push(cells.reward);
        part.invalid_action.push(cells.invalid_action);
        part.effective_rank.push(cells.effective_rank);
        part.regime.push(place);
        if cells.origin != NO_REGIME && place != NO_REGIME {
            part.about.note_origin(place, cells.origin, line, cells.step);
        }
        for (position, (number, value)) in cells.components.iter().enumerate() {
            // The same names in the same order as ever, most likely.
            match part.components.get_index_mut(position) {
                Some((known, column)) if known == number => column.push(row, *value),
                _ => part.components.entry(*number).or_default().push(row, *value),
            }
        }
        if let Some(text) = cells.observed_at {
            part.observed_at.push(row, &unescape(text));
        }
        part.about.note_others(&cells.others);
        cells.origin != NO_REGIME && place == NO_REGIME
    }

    #[inline]
    fn label_place(&mut self, label: u32) -> u32 {
        if label == NO_REGIME {
            return NO_REGIME;
        }
        let at = label as usize;
        if self.places.len() <= at {
            self.places.resize(at + 1, NO_REGIME);
        }
        match self.places.get_mut(at) {
            Some(place) => {
                if *place == NO_REGIME {
                    *place = u32::try_from(self.part.about.labels.len()).unwrap_or(NO_REGIME);
                    self.part.about.labels.push(label);
                }
                *place
            }
            None => NO_REGIME,
        }
    }

    /// The part with its texts, as lines of file number `file` that come after `lines` others.
    pub(super) fn finish(self, scanner: &RowScanner, file: usize, lines: usize) -> Part {
        let Part { step, reward, regime, invalid_action, effective_rank, observed_at, .. } = self.part;
        Part {
            step,
            reward,
            regime,
            invalid_action,
            effective_rank,
            components: self
                .part
                .components
                .into_iter()
                .map(|(number, column)| (scanner.components.text(number).to_owned(), column))
                .collect(),
            observed_at,
            about: self.part.about.named(scanner, file, lines),
        }
    }
}

impl Part {
    pub(super) fn rows(&self) -> usize {
        self.step.len()
    }

    /// Adds the rows of the same run that follow.
    pub(super) fn append(&mut self, later: Self) {
        let rows = self.rows();
        if rows == 0 {
            *self = later;
            return;
        }
        let places = self.about.append(later.about);
        let place_of = |place: u32| places.get(place as usize).copied().unwrap_or(NO_REGIME);
        self.regime.extend(later.regime.iter().map(|place| place_of(*place)));
        self.step.extend(later.step);
        self.reward.extend(later.reward);
        self.invalid_action.extend(later.invalid_action);
        self.effective_rank.extend(later.effective_rank);
        for (name, column) in later.components {
            self.components.entry(name).or_default().append(column, rows);
        }
        self.observed_at.append(later.observed_at, rows);
    }

    /// Keeps the rows that `keep` has `true` for.
    pub(super) fn retain(&mut self, keep: &[bool]) {
        fn filter<T>(column: &mut Vec<T>, keep: &[bool]) {
            let mut flags = keep.iter();
            column.retain(|_| flags.next().copied().unwrap_or(true));
        }
        filter(&mut self.step, keep);
        filter(&mut self.reward, keep);
        filter(&mut self.regime, keep);
        filter(&mut self.invalid_action, keep);
        filter(&mut self.effective_rank, keep);
        self.observed_at.retain(keep);
        self.components.values_mut().for_each(|column| column.retain(keep));
        self.about.keep_rows(keep.len() as u64, self.step.len() as u64);
    }

    /// The finished columns, and what of them is odd.
    pub(super) fn finish(mut self) -> (RunColumns, Vec<Oddity>) {
        let rows = self.rows();
        let (origins, mut oddities) = self.about.origins();
        let mut components = self.components;
        let surplus = components.split_off(components.len().min(MOST_COMPONENTS));
        if let Some((name, column)) = surplus.first() {
            let step = column.first_row().and_then(|row| self.step.get(row).copied()).unwrap_or_default();
            oddities.push(surplus_components(name, step, surplus.values().map(|column| column.len() as u64).sum()));
        }
        let (meta, per_step) = self.about.split_others(rows as u64);
        let columns = RunColumns {
            meta,
            per_step,
            step: self.step,
            reward: self.reward,
            regime: self.regime,
            labels: self.about.labels,
            origins,
            invalid_action: self.invalid_action,
            effective_rank: self.effective_rank,
            components: components.into_iter().map(|(name, column)| (name, column.dense(rows, &f64::NAN))).collect(),
            observed_at: self.observed_at.dense(rows),
            ..RunColumns::default()
        };
        (columns, oddities)
    }
}

/// More components than this in one run are a mistake (names made from data), and columns for
/// them would take memory out of proportion to the file.
pub(super) const MOST_COMPONENTS: usize = 256;

/// The oddity of a run with more components than [`MOST_COMPONENTS`].
pub(super) fn surplus_components(name: &str, step: i64, count: u64) -> Oddity {
    Oddity {
        code: "too_many_components",
        message: format!(
            "more than {MOST_COMPONENTS} reward components in one run; `{name}` and later ones are left out"
        ),
        file: None,
        step,
        count,
    }
}
