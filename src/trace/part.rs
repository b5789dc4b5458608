//! The rows of one run within a stretch of one file, as columns that can be joined.
//!
//! Joining parts gives what reading their rows in one go would have given, to the last count:
//! whatever needs the whole (which component columns to keep, whether a key ever changes) is
//! decided at the end.

use std::collections::HashMap;

use indexmap::IndexMap;

use crate::trace::cells::{Cells, RowScanner};
use crate::trace::columns::{NO_REGIME, RunColumns};
use crate::trace::field::unescape;
use crate::trace::sparse::Sparse;
use crate::value::{Map, Value};

/// Rows of one run, in order. `T` stands for texts: numbers of the scanner while rows are
/// pushed, the texts themselves afterwards.
#[derive(Debug)]
pub(super) struct Part<T = String> {
    pub(super) step: Vec<i64>,
    reward: Vec<f64>,
    regime: Vec<u32>,
    labels: Vec<T>,
    /// By label place and origin.
    origins: IndexMap<(u32, T), OriginSeen>,
    invalid_action: Vec<bool>,
    effective_rank: Vec<f64>,
    components: IndexMap<T, Sparse<f64>>,
    observed_at: Sparse<String>,
    others: IndexMap<T, Other>,
}

impl<T> Default for Part<T> {
    fn default() -> Self {
        Self {
            step: Vec::new(),
            reward: Vec::new(),
            regime: Vec::new(),
            labels: Vec::new(),
            origins: IndexMap::new(),
            invalid_action: Vec::new(),
            effective_rank: Vec::new(),
            components: IndexMap::new(),
            observed_at: Sparse::default(),
            others: IndexMap::new(),
        }
    }
}

/// Where an origin was first seen with a label, and how often.
#[derive(Clone, Copy, Debug)]
struct OriginSeen {
    rows: u64,
    file: usize,
    line: usize,
    step: i64,
}

/// A key that is no field: whether it is the same all along.
#[derive(Clone, Debug)]
struct Other {
    json: Vec<u8>,
    value: Value,
    rows: u64,
    varies: bool,
}

impl Other {
    fn new(json: &[u8]) -> Self {
        Self { json: json.to_vec(), value: parse(json), rows: 1, varies: false }
    }

    fn join(&mut self, json: &[u8], rows: u64) {
        self.rows += rows;
        // Spellings of one value may differ.
        self.varies = self.varies || (self.json != json && self.value != parse(json));
    }
}

/// The value that `json`, which was scanned before, spells.
pub(super) fn parse(json: &[u8]) -> Value {
    std::str::from_utf8(json).ok().and_then(|text| crate::text::json::parse(text).ok()).unwrap_or_default()
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
            let seen = OriginSeen { rows: 0, file: 0, line, step: cells.step };
            part.origins.entry((place, cells.origin)).or_insert(seen).rows += 1;
        }
        for (position, (number, value)) in cells.components.iter().enumerate() {
            // The same names in the same order as ever, most likely.
            match part.components.get_index_mut(position) {
                Some((known, column)) if known == number => column.push(row, *value),
                _ => part.components.entry(*number).or_default().push(row, *value),
            }
        }
        if let Some(text) = cells.observed_at {
            part.observed_at.push(row, unescape(text).into_owned());
        }
        for (number, json) in &cells.others {
            match part.others.get_mut(number) {
                Some(other) if other.varies => {}
                Some(other) if other.json == *json => other.rows += 1,
                Some(other) => other.join(json, 1),
                None => drop(part.others.insert(*number, Other::new(json))),
            }
        }
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
                    *place = u32::try_from(self.part.labels.len()).unwrap_or(NO_REGIME);
                    self.part.labels.push(label);
                }
                *place
            }
            None => NO_REGIME,
        }
    }

    /// The part with its texts, as lines of file number `file` that come after `lines` others.
    pub(super) fn finish(self, scanner: &RowScanner, file: usize, lines: usize) -> Part {
        let label = |number: u32| scanner.labels.text(number).to_owned();
        let Part { step, reward, regime, invalid_action, effective_rank, observed_at, .. } = self.part;
        Part {
            step,
            reward,
            regime,
            labels: self.part.labels.into_iter().map(label).collect(),
            origins: self
                .part
                .origins
                .into_iter()
                .map(|((place, origin), seen)| {
                    ((place, label(origin)), OriginSeen { file, line: seen.line + lines, ..seen })
                })
                .collect(),
            invalid_action,
            effective_rank,
            components: self
                .part
                .components
                .into_iter()
                .map(|(number, column)| (scanner.components.text(number).to_owned(), column))
                .collect(),
            observed_at,
            others: self
                .part
                .others
                .into_iter()
                .map(|(number, other)| (scanner.others.text(number).to_owned(), other))
                .collect(),
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
        let mut known: HashMap<&str, u32> =
            (0..).zip(&self.labels).map(|(place, label)| (label.as_str(), place)).collect();
        let mut places = Vec::with_capacity(later.labels.len());
        let mut new_labels = Vec::new();
        for label in &later.labels {
            let next = u32::try_from(self.labels.len() + new_labels.len()).unwrap_or(NO_REGIME);
            places.push(*known.entry(label).or_insert_with(|| {
                new_labels.push(label.clone());
                next
            }));
        }
        let place_of = |place: u32| places.get(place as usize).copied().unwrap_or(NO_REGIME);
        self.labels.extend(new_labels);
        self.regime.extend(later.regime.iter().map(|place| place_of(*place)));
        for ((place, origin), seen) in later.origins {
            let entry = self.origins.entry((place_of(place), origin)).or_insert(OriginSeen { rows: 0, ..seen });
            entry.rows += seen.rows;
        }
        self.step.extend(later.step);
        self.reward.extend(later.reward);
        self.invalid_action.extend(later.invalid_action);
        self.effective_rank.extend(later.effective_rank);
        for (name, column) in later.components {
            self.components.entry(name).or_default().append(column, rows);
        }
        self.observed_at.append(later.observed_at, rows);
        for (key, other) in later.others {
            if let Some(known) = self.others.get_mut(&key) {
                known.varies |= other.varies;
                known.join(&other.json, other.rows);
            } else {
                self.others.insert(key, other);
            }
        }
    }

    /// Keeps the rows that `keep` has `true` for.
    pub(super) fn retain(&mut self, keep: &[bool]) {
        fn filter<T>(column: &mut Vec<T>, keep: &[bool]) {
            let mut flags = keep.iter();
            column.retain(|_| flags.next().copied().unwrap_or(true));
        }
        let before = keep.len() as u64;
        filter(&mut self.step, keep);
        filter(&mut self.reward, keep);
        filter(&mut self.regime, keep);
        filter(&mut self.invalid_action, keep);
        filter(&mut self.effective_rank, keep);
        self.observed_at.retain(keep);
        self.components.values_mut().for_each(|column| column.retain(keep));
        // A key that was in every row still is.
        let after = self.rows() as u64;
        for other in self.others.values_mut() {
            other.varies |= other.rows != before;
            other.rows = after;
        }
    }

    /// The finished columns, and what of them is odd.
    pub(super) fn finish(self) -> (RunColumns, Vec<Oddity>) {
        let rows = self.rows();
        let mut oddities = Vec::new();
        let mut origins: Vec<Option<String>> = vec![None; self.labels.len()];
        for ((place, origin), seen) in self.origins {
            match origins.get_mut(place as usize) {
                Some(Some(first)) => {
                    let label = self.labels.get(place as usize).map_or("", String::as_str);
                    let message =
                        format!("regime `{label}` has two origins, `{first}` and `{origin}`; the first holds");
                    let OriginSeen { rows: count, file, line, step } = seen;
                    oddities.push(Oddity {
                        code: "conflicting_origin",
                        message,
                        file: Some((file, line)),
                        step,
                        count,
                    });
                }
                Some(none) => *none = Some(origin),
                None => {}
            }
        }
        let mut components = self.components;
        let surplus = components.split_off(components.len().min(MOST_COMPONENTS));
        if let Some((name, column)) = surplus.first() {
            oddities.push(Oddity {
                code: "too_many_components",
                message: format!(
                    "more than {MOST_COMPONENTS} reward components in one run; `{name}` and later ones are left out"
                ),
                file: None,
                step: column.first_row().and_then(|row| self.step.get(row).copied()).unwrap_or_default(),
                count: surplus.values().map(|column| column.len() as u64).sum(),
            });
        }
        let (meta, per_step) = split_others(self.others, rows as u64);
        let columns = RunColumns {
            meta,
            per_step,
            step: self.step,
            reward: self.reward,
            regime: self.regime,
            labels: self.labels,
            origins,
            invalid_action: self.invalid_action,
            effective_rank: self.effective_rank,
            components: components.into_iter().map(|(name, column)| (name, column.dense(rows, &f64::NAN))).collect(),
            observed_at: self.observed_at.dense_options(rows),
            ..RunColumns::default()
        };
        (columns, oddities)
    }
}

/// More components than this in one run are a mistake (names made from data), and columns for
/// them would take memory out of proportion to the file.
const MOST_COMPONENTS: usize = 256;

/// Something odd about a run as a whole.
#[derive(Debug)]
pub(super) struct Oddity {
    pub(super) code: &'static str,
    pub(super) message: String,
    /// The number of the file, and the line.
    pub(super) file: Option<(usize, usize)>,
    pub(super) step: i64,
    pub(super) count: u64,
}

/// The other keys that have one value in all `rows`, and the names of the rest.
fn split_others(others: IndexMap<String, Other>, rows: u64) -> (Map, Vec<String>) {
    let mut meta = Map::new();
    let mut per_step = Vec::new();
    for (key, other) in others {
        if !other.varies && other.rows == rows {
            meta.insert(key, other.value);
        } else {
            per_step.push(key);
        }
    }
    (meta, per_step)
}
