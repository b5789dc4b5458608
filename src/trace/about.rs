//! What is known of a run beside its columns: the regime labels and their origins, and the keys
//! that are no fields.
//!
//! Like the columns it is gathered part by part, and joining parts gives what reading their rows
//! in one go would have given.

use std::collections::HashMap;

use indexmap::IndexMap;

use crate::trace::columns::NO_REGIME;
use crate::trace::scanner::RowScanner;
use crate::value::{Map, Value};

/// What is known so far. `T` stands for texts: numbers of the scanner while rows are read, the
/// texts themselves afterwards.
#[derive(Debug)]
pub(super) struct About<T = String> {
    /// Regime labels in order of first appearance.
    pub(super) labels: Vec<T>,
    /// By label place and origin.
    origins: IndexMap<(u32, T), OriginSeen>,
    others: IndexMap<T, Other>,
}

impl<T> Default for About<T> {
    fn default() -> Self {
        Self { labels: Vec::new(), origins: IndexMap::new(), others: IndexMap::new() }
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

impl About<u32> {
    /// Notes the origin that a row at `line` gives the label at `place`.
    pub(super) fn note_origin(&mut self, place: u32, origin: u32, line: usize, step: i64) {
        let seen = OriginSeen { rows: 0, file: 0, line, step };
        self.origins.entry((place, origin)).or_insert(seen).rows += 1;
    }

    /// Notes a row's other keys.
    pub(super) fn note_others(&mut self, others: &[(u32, &[u8])]) {
        for (number, json) in others {
            match self.others.get_mut(number) {
                Some(other) if other.varies => {}
                Some(other) if other.json == *json => other.rows += 1,
                Some(other) => other.join(json, 1),
                None => drop(self.others.insert(*number, Other::new(json))),
            }
        }
    }

    /// The same with its texts, of lines of file number `file` that come after `lines` others.
    pub(super) fn named(self, scanner: &RowScanner, file: usize, lines: usize) -> About {
        let label = |number: u32| scanner.labels.text(number).to_owned();
        About {
            labels: self.labels.into_iter().map(label).collect(),
            origins: self
                .origins
                .into_iter()
                .map(|((place, origin), seen)| {
                    ((place, label(origin)), OriginSeen { file, line: seen.line + lines, ..seen })
                })
                .collect(),
            others: self
                .others
                .into_iter()
                .map(|(number, other)| (scanner.others.text(number).to_owned(), other))
                .collect(),
        }
    }
}

impl About {
    /// Adds what is known of the rows that follow; returns the place here of each of their labels.
    pub(super) fn append(&mut self, later: Self) -> Vec<u32> {
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
        self.labels.extend(new_labels);
        for ((place, origin), seen) in later.origins {
            let place = places.get(place as usize).copied().unwrap_or(NO_REGIME);
            let entry = self.origins.entry((place, origin)).or_insert(OriginSeen { rows: 0, ..seen });
            entry.rows += seen.rows;
        }
        for (key, other) in later.others {
            if let Some(known) = self.others.get_mut(&key) {
                known.varies |= other.varies;
                known.join(&other.json, other.rows);
            } else {
                self.others.insert(key, other);
            }
        }
        places
    }

    /// Some of `before` rows were dropped, and `after` are left: a key that was in every row still is.
    pub(super) fn keep_rows(&mut self, before: u64, after: u64) {
        for other in self.others.values_mut() {
            other.varies |= other.rows != before;
            other.rows = after;
        }
    }

    /// Each label's origin, and what of the origins is odd.
    pub(super) fn origins(&mut self) -> (Vec<Option<String>>, Vec<Oddity>) {
        let mut oddities = Vec::new();
        let mut origins: Vec<Option<String>> = vec![None; self.labels.len()];
        for ((place, origin), seen) in std::mem::take(&mut self.origins) {
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
        (origins, oddities)
    }

    /// The other keys that have one value in all `rows`, and the names of the rest.
    pub(super) fn split_others(&mut self, rows: u64) -> (Map, Vec<String>) {
        let mut meta = Map::new();
        let mut per_step = Vec::new();
        for (key, other) in std::mem::take(&mut self.others) {
            if !other.varies && other.rows == rows {
                meta.insert(key, other.value);
            } else {
                per_step.push(key);
            }
        }
        (meta, per_step)
    }
}

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
