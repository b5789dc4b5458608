//! Planning: the rows of each split, in order, cut into shards.
//!
//! The same rows in the same order give the same plan; another order gives other hashes. Splits
//! come in the order they are first seen, shards are numbered through all of them.

use std::num::NonZeroUsize;

use super::manifest::SourceManifest;
use crate::digest::sha256_hex;
use crate::rollouts::{ShardEntry, ShardRow, rows_hash};
use crate::text::json;
use crate::value::{Map, Value};

/// Where the rows come from, and what will be made of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Provenance {
    /// The hash of the source store's manifest; that of the rows unless it is known.
    pub source_manifest_hash: Option<String>,
    /// The source cache's version.
    pub source_cache_version: String,
    /// The source store's name, without a path.
    pub source_store_dir: String,
    /// The hash of everything that decides what is written of the rows.
    pub writer_config_hash: String,
    /// What a campaign binds the shards to.
    pub campaign_binding: Option<Map>,
}

/// What is planned.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The rows of each split.
    pub sources: Vec<SourceManifest>,
    /// The shards.
    pub shards: Vec<ShardEntry>,
}

/// The plan of `rows` with at most `rows_per_shard` rows a shard. All rows of a shard are of one
/// split, and of one split of a campaign.
#[must_use]
pub fn plan(rows: &[ShardRow], provenance: &Provenance, rows_per_shard: NonZeroUsize) -> Plan {
    let source_manifest_hash = provenance.source_manifest_hash.clone().unwrap_or_else(|| hash_of(rows));
    let binding = provenance.campaign_binding.as_ref();
    let revision = binding.and_then(|binding| binding.get("generation_revision_hash")?.as_text()).unwrap_or_default();
    let sources = groups(rows, |row| row.split.as_str()).into_iter().map(|rows| SourceManifest {
        split: rows.first().map(|row| row.split.clone()).unwrap_or_default(),
        source_manifest_hash: source_manifest_hash.clone(),
        source_cache_version: provenance.source_cache_version.clone(),
        source_store_dir: provenance.source_store_dir.clone(),
        rows: numbered(&rows),
    });
    let groups = groups(rows, |row| (row.split.as_str(), row.campaign_split.as_deref()));
    let parts = groups.iter().flat_map(|rows| rows.chunks(rows_per_shard.get())).enumerate();
    let shards = parts.filter_map(|(number, part)| {
        let first = part.first()?;
        let rows = numbered(part);
        Some(ShardEntry {
            shard_id: format!("shard-{number:06}"),
            split: first.split.clone(),
            writer_config_hash: provenance.writer_config_hash.clone(),
            source_manifest_hash: source_manifest_hash.clone(),
            source_cache_version: provenance.source_cache_version.clone(),
            split_manifest_hash: rows_hash(&source_manifest_hash, &first.split, &rows),
            source_store_dir: provenance.source_store_dir.clone(),
            campaign_binding: provenance.campaign_binding.clone(),
            campaign_split: first.campaign_split.clone(),
            generation_revision_hash: revision.to_owned(),
            rows,
        })
    });
    Plan { sources: sources.collect(), shards: shards.collect() }
}

/// The rows by `key`, in the order that keys are first seen.
fn groups<'a, K: PartialEq>(rows: &'a [ShardRow], key: impl Fn(&'a ShardRow) -> K) -> Vec<Vec<&'a ShardRow>> {
    let mut groups: Vec<(K, Vec<&ShardRow>)> = Vec::new();
    for row in rows {
        let own = key(row);
        match groups.iter_mut().find(|(other, _)| *other == own) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((own, vec![row])),
        }
    }
    groups.into_iter().map(|(_, rows)| rows).collect()
}

/// The hash of rows whose store has no manifest: 16 digits of their SHA-256 in compact JSON.
fn hash_of(rows: &[ShardRow]) -> String {
    let rows: Vec<Value> = rows.iter().map(ShardRow::to_value).collect();
    let mut hash = sha256_hex(json::to_msgspec(&rows.into()).as_bytes());
    hash.truncate(16);
    hash
}

/// The rows, numbered from 0.
fn numbered(rows: &[&ShardRow]) -> Vec<ShardRow> {
    (0..).zip(rows).map(|(order, row)| ShardRow { order, ..(*row).clone() }).collect()
}
