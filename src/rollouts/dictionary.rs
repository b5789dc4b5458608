//! Dictionaries: texts that columns hold as ids.
//!
//! Texts get provisional ids as they come; the final ids are known at the end, when each
//! dictionary is sorted by code point (`rollout` keeps its order instead).

use std::collections::HashMap;

use indexmap::IndexSet;

use crate::text::json;
use crate::value::Value;

/// Which dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dictionary {
    Scene,
    Snippet,
    Rollout,
    Target,
    SourceKey,
    SourceShard,
    TargetSource,
    Policy,
    ScoreSource,
    Split,
    Config,
    ClassName,
    TargetMatchStatus,
    DescriptorSource,
    DescriptorProvenance,
    DescriptorHash,
    ExplicitTargetHash,
    TerminationReason,
    /// Texts of the candidate codec; only in stores that have it.
    CandidateFact,
}

/// The dictionaries' names, by their number.
pub(super) const NAMES: [&str; 19] = [
    "scene",
    "snippet",
    "rollout",
    "target",
    "source_key",
    "source_shard",
    "target_source",
    "policy",
    "score_source",
    "split",
    "config",
    "class_name",
    "target_match_status",
    "descriptor_source",
    "descriptor_provenance",
    "descriptor_hash",
    "explicit_target_hash",
    "termination_reason",
    "candidate_fact",
];

/// A cell that holds a text of dictionary `D` by its provisional id, or none (-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Coded<const D: usize>(i32);

impl<const D: usize> Coded<D> {
    pub(super) const NONE: Self = Self(-1);

    /// The cell of a provisional id.
    pub(super) fn of_provisional(id: i32) -> Self {
        Self(id)
    }

    /// The id by which the cell waits for its final one.
    pub(super) fn provisional(self) -> i32 {
        self.0
    }
}

/// All dictionaries of a store under construction.
#[derive(Debug, Default)]
pub(super) struct Dictionaries {
    texts: [IndexSet<String>; NAMES.len()],
    /// The chains' names as they came, repeated ones included.
    rollouts: Vec<String>,
    /// Provisional id to final id, once sealed.
    finals: [Vec<i32>; NAMES.len()],
    lists: [Vec<String>; NAMES.len()],
}

impl Dictionaries {
    /// The cell for `text`, which is collected.
    pub(super) fn code<const D: usize>(&mut self, text: &str) -> Coded<D> {
        Coded(self.provisional(D, text))
    }

    /// The provisional id of `text` in a dictionary by its number, -1 for one that there is not.
    pub(super) fn provisional(&mut self, dictionary: usize, text: &str) -> i32 {
        let Some(texts) = self.texts.get_mut(dictionary) else { return -1 };
        let index = match texts.get_index_of(text) {
            Some(index) => index,
            None => texts.insert_full(text.to_owned()).0,
        };
        if dictionary == Dictionary::Rollout as usize {
            self.rollouts.push(text.to_owned());
        }
        i32::try_from(index).unwrap_or(-1)
    }

    /// The cell for `text`, or none where it is absent or empty.
    pub(super) fn code_if<const D: usize>(&mut self, text: Option<&str>) -> Coded<D> {
        match text {
            Some(text) if !text.is_empty() => self.code(text),
            _ => Coded::NONE,
        }
    }

    /// Sorts the dictionaries and settles every id.
    pub(super) fn seal(&mut self) {
        for (number, texts) in self.texts.iter().enumerate() {
            let list = if number == Dictionary::Rollout as usize {
                self.rollouts.clone()
            } else {
                let mut list: Vec<String> = texts.iter().cloned().collect();
                list.sort_unstable();
                list
            };
            let mut places = HashMap::with_capacity(list.len());
            for (place, text) in list.iter().enumerate() {
                places.entry(text.as_str()).or_insert(place);
            }
            let finals = texts.iter().map(|text| {
                let place = places.get(text.as_str()).copied();
                place.and_then(|place| i32::try_from(place).ok()).unwrap_or(-1)
            });
            if let Some(slot) = self.finals.get_mut(number) {
                *slot = finals.collect();
            }
            if let Some(slot) = self.lists.get_mut(number) {
                *slot = list;
            }
        }
    }

    /// The final ids of a column of provisional ones, little-endian both.
    pub(super) fn settle(&self, dictionary: usize, provisional: &[u8]) -> Vec<u8> {
        let finals = self.finals.get(dictionary).map_or(&[][..], Vec::as_slice);
        let cells = provisional.as_chunks().0.iter().map(|cell| i32::from_le_bytes(*cell));
        let settled = cells.map(|id| usize::try_from(id).ok().and_then(|id| finals.get(id)).copied().unwrap_or(-1));
        settled.flat_map(i32::to_le_bytes).collect()
    }

    /// The text of a cell.
    pub(super) fn text<const D: usize>(&self, cell: Coded<D>) -> Option<&str> {
        self.texts.get(D)?.get_index(usize::try_from(cell.0).ok()?).map(String::as_str)
    }

    /// The sealed list of a dictionary.
    pub(super) fn list(&self, dictionary: Dictionary) -> &[String] {
        self.lists.get(dictionary as usize).map_or(&[], Vec::as_slice)
    }

    /// Every sealed dictionary with its name; that of the codec only if the store has one.
    pub(super) fn lists(&self) -> impl Iterator<Item = (&'static str, &[String])> {
        let all = NAMES.iter().copied().zip(self.lists.iter().map(Vec::as_slice));
        all.enumerate()
            .filter(|(number, (_, list))| *number != Dictionary::CandidateFact as usize || !list.is_empty())
            .map(|(_, named)| named)
    }
}

/// A list of texts as the bytes on disk: JSON as Python prints it.
pub(super) fn encode(list: &[String]) -> Vec<u8> {
    let mut bytes = Vec::new();
    json::write(&mut bytes, &Value::List(list.iter().map(|text| text.as_str().into()).collect()));
    bytes
}
