//! The two manifests of a campaign: which rows there are of a split, and which shards they make.
//!
//! A source manifest is one JSON document, a shard manifest a line a shard; both have their keys
//! sorted, so that the same plan has the same bytes.

use std::fs;
use std::path::Path;

use super::error::ManifestError;
use super::index::Seen;
use crate::atomic::{self, AtomicError};
use crate::rollouts::{ShardEntry, ShardRow, canonical_shard_id, rows_hash};
use crate::text::json;
use crate::value::Value;

/// What `rollouts plan` calls the shard manifest in its directory.
pub(crate) const SHARD_MANIFEST: &str = "shard-manifest.jsonl";

/// The version of source manifests.
pub const SOURCE_MANIFEST_VERSION: &str = "rollout-source-manifest-v2";

/// The rows of one split of a source store, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceManifest {
    /// The split.
    pub split: String,
    /// The hash of the source store's manifest.
    pub source_manifest_hash: String,
    /// The source cache's version.
    pub source_cache_version: String,
    /// The source store's name, without a path.
    pub source_store_dir: String,
    /// The rows.
    pub rows: Vec<ShardRow>,
}

impl SourceManifest {
    /// The hash of the rows in their order.
    #[must_use]
    pub fn split_manifest_hash(&self) -> String {
        rows_hash(&self.source_manifest_hash, &self.split, &self.rows)
    }

    /// How many scenes the rows show.
    #[must_use]
    pub fn scenes(&self) -> usize {
        let mut scenes: Vec<&str> = self.rows.iter().map(|row| row.scene_id.as_str()).collect();
        scenes.sort_unstable();
        scenes.dedup();
        scenes.len()
    }

    /// The manifest's bytes.
    #[must_use]
    pub fn to_text(&self) -> String {
        let count = |count: usize| Value::Int(i64::try_from(count).unwrap_or(i64::MAX));
        let rows: Vec<Value> = self.rows.iter().map(ShardRow::to_value).collect();
        let entries: [(&str, Value); 9] = [
            ("manifest_version", SOURCE_MANIFEST_VERSION.into()),
            ("split", self.split.as_str().into()),
            ("num_rows", count(rows.len())),
            ("num_scenes", count(self.scenes())),
            ("source_manifest_hash", self.source_manifest_hash.as_str().into()),
            ("source_cache_version", self.source_cache_version.as_str().into()),
            ("split_manifest_hash", self.split_manifest_hash().into()),
            ("source_store_dir", self.source_store_dir.as_str().into()),
            ("rows", rows.into()),
        ];
        json::to_canonical(&Value::Map(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()))
            + "\n"
    }

    /// The manifest of its bytes, sound in itself.
    ///
    /// # Errors
    /// One line: what does not hold.
    pub fn from_text(text: &str) -> Result<Self, String> {
        let value = json::parse(text).map_err(|error| error.to_string())?;
        let map = value.as_map().ok_or_else(|| format!("it must be a map, got {}", value.kind()))?;
        let text = |key: &str| match map.get(key).and_then(Value::as_text) {
            Some(text) if !text.is_empty() => Ok(text.to_owned()),
            _ => Err(format!("`{key}` must be text that is not empty")),
        };
        let version = text("manifest_version")?;
        if version != SOURCE_MANIFEST_VERSION {
            return Err(format!("manifest_version is {version}, not {SOURCE_MANIFEST_VERSION}"));
        }
        let rows = map.get("rows").and_then(Value::as_list).filter(|rows| !rows.is_empty());
        let rows = rows.ok_or("`rows` must be a list that is not empty")?;
        let read = |(order, row)| ShardRow::from_value(row).map_err(|what| format!("row {order}: {what}"));
        let manifest = Self {
            split: text("split")?,
            source_manifest_hash: text("source_manifest_hash")?,
            source_cache_version: text("source_cache_version")?,
            source_store_dir: text("source_store_dir")?,
            rows: rows.iter().enumerate().map(read).collect::<Result<_, _>>()?,
        };
        let mut seen = Seen::default();
        for (order, row) in manifest.rows.iter().enumerate() {
            row.check(order, &manifest.split)?;
            seen.add(row, order).map_err(|what| format!("row {order} {}", what.replace("of line", "of row")))?;
        }
        for (key, count) in [("num_rows", manifest.rows.len()), ("num_scenes", manifest.scenes())] {
            if map.get(key).and_then(Value::as_int) != i64::try_from(count).ok() {
                return Err(format!("`{key}` is not {count}, which its rows give"));
            }
        }
        let (said, hash) = (text("split_manifest_hash")?, manifest.split_manifest_hash());
        if said != hash {
            return Err(format!("split_manifest_hash is {said}, but its rows give {hash}"));
        }
        Ok(manifest)
    }

    /// The manifest in a file.
    ///
    /// # Errors
    /// When it cannot be read, or is not sound.
    pub fn read(path: &Path) -> Result<Self, ManifestError> {
        let text = fs::read_to_string(path).map_err(ManifestError::file(path))?;
        Self::from_text(&text).map_err(|what| ManifestError::whole(path, what))
    }
}

/// How long a shard's id may be: file names have 255 bytes at most, and quarantined attempts add 88.
const LONGEST_ID: usize = 160;

/// A shard manifest's bytes.
#[must_use]
pub fn to_text(entries: &[ShardEntry]) -> String {
    entries.iter().map(|entry| json::to_sorted_line(&entry.to_value()) + "\n").collect()
}

/// Writes a shard manifest, complete or not at all.
///
/// # Errors
/// When the file cannot be written.
pub fn write(path: &Path, entries: &[ShardEntry]) -> Result<(), AtomicError> {
    atomic::write_file(path, to_text(entries).as_bytes())
}

/// The shards of a manifest, each sound, in their order.
///
/// # Errors
/// When the file cannot be read; the first line that is no sound shard, or repeats an id.
pub fn read(path: &Path) -> Result<Vec<ShardEntry>, ManifestError> {
    if path.is_dir() {
        let inside = path.join(SHARD_MANIFEST);
        let hint = if inside.is_file() { format!("; its manifest is {}", inside.display()) } else { String::new() };
        return Err(ManifestError::whole(path, format!("is a directory, not a shard manifest{hint}")));
    }
    let text = fs::read_to_string(path).map_err(ManifestError::file(path))?;
    let mut entries: Vec<(usize, ShardEntry)> = Vec::new();
    let mut lines = std::collections::HashMap::new();
    for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
        let refuse = |what: String| ManifestError::line(path, line, what);
        let value = json::parse(text).map_err(|error| refuse(format!("column {}: {}", error.column, error.message)))?;
        let mut entry = ShardEntry::from_value(&value).map_err(refuse)?;
        entry.shard_id = canonical_shard_id(&entry.shard_id);
        let length = entry.shard_id.len();
        if length > LONGEST_ID {
            return Err(refuse(format!(
                "a shard_id has at most {LONGEST_ID} bytes, for its attempts and markers have it in their names; this one has {length}"
            )));
        }
        entry.validate().map_err(|what| refuse(format!("{}: {what}", entry.shard_id)))?;
        if let Some(before) = lines.insert(entry.shard_id.clone(), line) {
            return Err(refuse(format!("{} stands in line {before} already", entry.shard_id)));
        }
        entries.push((line, entry));
    }
    if entries.is_empty() {
        return Err(ManifestError::whole(path, "it has no shards"));
    }
    Ok(entries.into_iter().map(|(_, entry)| entry).collect())
}

/// The shard of `entries` that is called `id`: `7` and `shard-7` will do for `shard-000007`.
///
/// # Errors
/// When there is none; `path` is where the entries come from.
pub(crate) fn find<'a>(path: &Path, entries: &'a [ShardEntry], id: &str) -> Result<&'a ShardEntry, ManifestError> {
    let wanted = canonical_shard_id(id);
    let id_of = |entry: Option<&ShardEntry>| entry.map(|entry| entry.shard_id.clone()).unwrap_or_default();
    entries.iter().find(|entry| entry.shard_id == wanted).ok_or_else(|| ManifestError::Unknown {
        path: path.display().to_string(),
        id: wanted,
        count: entries.len(),
        first: id_of(entries.first()),
        last: id_of(entries.last()),
    })
}
