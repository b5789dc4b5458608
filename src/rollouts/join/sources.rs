//! Which source rows the parts' sources become.
//!
//! Source rows are named by whoever wrote the records: they are kept where the parts do not use
//! one name for two sources, and counted anew from 0 where they do. A sample is one source in
//! whatever part it stands, for learners tell them apart by it.

use std::collections::{BTreeMap, HashMap, HashSet};

use indexmap::IndexMap;

use super::JoinError;
use super::part::Part;
use crate::rollouts::record::Source;
use crate::rollouts::split_hash::split_hash;
use crate::rollouts::tables::{effective_source_row, id};

/// The sources of a store to be made.
pub(super) struct Numbering {
    /// Each with its row's id, in the order of rows.
    pub(super) sources: Vec<(i64, Source)>,
    /// Of each part, the id here by the id there.
    pub(super) rows: Vec<HashMap<i64, i64>>,
    /// Whether ids are other than they were.
    pub(super) renumbered: bool,
}

impl Numbering {
    /// Numbers the parts' sources; of a single part, those that are `needed`.
    pub(super) fn of(parts: &[Part], needed: Option<&HashSet<i64>>) -> Result<Self, JoinError> {
        samples(parts)?;
        let own = parts.iter().map(|part| {
            let rows = part.sources.iter().map(|source| (effective_source_row(source), source));
            rows.filter(|(row, _)| needed.is_none_or(|needed| needed.contains(row))).collect()
        });
        let own: Vec<Vec<(i64, &Source)>> = own.collect();
        let mut kept: IndexMap<i64, &Source> = IndexMap::new();
        let mut renumbered = false;
        for (row, source) in own.iter().flatten() {
            renumbered |= *kept.entry(*row).or_insert(source) != *source;
        }
        if !renumbered {
            let rows = own.iter().map(|own| own.iter().map(|(row, _)| (*row, *row)).collect()).collect();
            let sources = kept.into_iter().map(|(row, source)| (row, source.clone())).collect();
            return Ok(Self { sources, rows, renumbered });
        }
        let mut fresh: Vec<(i64, Source)> = Vec::new();
        let mut known: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
        let mut rows = Vec::with_capacity(own.len());
        for own in &own {
            let mut renamed = HashMap::with_capacity(own.len());
            for (row, source) in own {
                // The same but for its row's name.
                let sample = source.source_sample_index.unwrap_or(*row);
                let same =
                    |place: &&usize| fresh.get(**place).is_some_and(|(row, known)| *known == numbered(source, *row));
                let places = known.entry(sample).or_default();
                let place = places.iter().find(same).copied().unwrap_or(fresh.len());
                if place == fresh.len() {
                    places.push(place);
                    fresh.push((id(place), numbered(source, id(place))));
                }
                renamed.insert(*row, id(place));
            }
            rows.push(renamed);
        }
        Ok(Self { sources: fresh, rows, renumbered })
    }

    /// The split hash of a store of these sources: that of the parts, unless it binds their rows.
    pub(super) fn split_hash(&self, parts: &[Part]) -> String {
        let stored = |part: &Part| {
            let hash = part.store.attribute("split_manifest_hash").and_then(crate::value::Value::as_text);
            hash.unwrap_or_default().to_owned()
        };
        let bound = |part: &Part| {
            part.sources.iter().any(|source| source.campaign().is_some())
                || split_hash(part.sources.iter()) == stored(part)
        };
        match parts.split_first() {
            Some((first, others))
                if !parts.iter().any(bound) && others.iter().all(|one| stored(one) == stored(first)) =>
            {
                stored(first)
            }
            _ => split_hash(self.sources.iter().map(|(_, source)| source)),
        }
    }
}

/// The source as that of row `row`.
fn numbered(source: &Source, row: i64) -> Source {
    Source { source_row_id: Some(row), ..source.clone() }
}

/// Refuses parts that take one sample for two sources.
fn samples(parts: &[Part]) -> Result<(), JoinError> {
    let mut known: HashMap<i64, (usize, Source)> = HashMap::new();
    for (number, part) in parts.iter().enumerate() {
        for source in &part.sources {
            let sample = source.source_sample_index.unwrap_or_default();
            let own = numbered(source, 0);
            let (first, before) = known.entry(sample).or_insert_with(|| (number, own.clone()));
            if *first != number && *before != own {
                let Some(first) = parts.get(*first) else { continue };
                let what = format!("its sample {sample} is {}, not {}", told(&own), told(before));
                return Err(JoinError::Disagree { path: part.path.clone(), first: first.path.clone(), what });
            }
        }
    }
    Ok(())
}

/// A source in a few words.
fn told(source: &Source) -> String {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    format!(
        "`{}` of scene `{}`, shard `{}` row {}, manifest `{}`, cache `{}`",
        text(&source.source_sample_key),
        text(&source.scene_id),
        text(&source.source_shard_id),
        source.source_shard_row.unwrap_or(-1),
        text(&source.source_offline_store_manifest_hash),
        text(&source.source_cache_version)
    )
}
