//! A shard: the rows of one split that one store is made of, and what binds the store to them.
//!
//! A [`ShardEntry`] is a line of a shard manifest and, word for word, what the store's sidecar
//! and its owner's marker hold. It is read strictly, for it is compared by its canonical bytes.

mod row;

pub use row::ShardRow;

use super::target::short_hash;
use crate::value::{Map, Value};

/// The version of shard manifests.
const SHARD_MANIFEST_VERSION: &str = "rollout-shard-manifest-v2";

/// What a campaign's binding holds; the last may be left out.
const BINDING: [&str; 7] = [
    "campaign_id",
    "plan_hash",
    "work_unit_hash",
    "target_id",
    "profile_hash",
    "explicit_target_hash",
    "generation_revision_hash",
];

/// One shard of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct ShardEntry {
    /// Its name, `shard-000007`.
    pub shard_id: String,
    /// The split that all its rows are of.
    pub split: String,
    /// The hash of everything that decides what is written of the rows.
    pub writer_config_hash: String,
    /// The hash of the source store's manifest.
    pub source_manifest_hash: String,
    /// The source cache's version.
    pub source_cache_version: String,
    /// The hash of the rows in their order.
    pub split_manifest_hash: String,
    /// The source store's name, without a path.
    pub source_store_dir: String,
    /// The rows.
    pub rows: Vec<ShardRow>,
    /// What a campaign binds the shard to: texts.
    pub campaign_binding: Option<Map>,
    /// The campaign's split.
    pub campaign_split: Option<String>,
    /// The revision of what generates records, or nothing.
    pub generation_revision_hash: String,
}

impl ShardEntry {
    /// The entry as plain data.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let rows: Vec<Value> = self.rows.iter().map(ShardRow::to_value).collect();
        let entries: [(&str, Value); 13] = [
            ("manifest_version", SHARD_MANIFEST_VERSION.into()),
            ("shard_id", self.shard_id.as_str().into()),
            ("split", self.split.as_str().into()),
            ("num_rows", i64::try_from(rows.len()).unwrap_or(i64::MAX).into()),
            ("writer_config_hash", self.writer_config_hash.as_str().into()),
            ("source_manifest_hash", self.source_manifest_hash.as_str().into()),
            ("source_cache_version", self.source_cache_version.as_str().into()),
            ("split_manifest_hash", self.split_manifest_hash.as_str().into()),
            ("source_store_dir", self.source_store_dir.as_str().into()),
            ("rows", rows.into()),
            ("campaign_binding", self.campaign_binding.clone().into()),
            ("campaign_split", self.campaign_split.clone().into()),
            ("generation_revision_hash", self.generation_revision_hash.as_str().into()),
        ];
        Value::Map(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    /// The entry of plain data, sound or not.
    ///
    /// # Errors
    /// One line: which key is missing, unknown, or of the wrong kind.
    pub fn from_value(value: &Value) -> Result<Self, String> {
        let map = value.as_map().ok_or_else(|| format!("a shard must be a map, got {}", value.kind()))?;
        const KNOWN: [&str; 13] = [
            "manifest_version",
            "shard_id",
            "split",
            "num_rows",
            "writer_config_hash",
            "source_manifest_hash",
            "source_cache_version",
            "split_manifest_hash",
            "source_store_dir",
            "rows",
            "campaign_binding",
            "campaign_split",
            "generation_revision_hash",
        ];
        if let Some(key) = map.keys().find(|key| !KNOWN.contains(&key.as_str())) {
            return Err(format!("`{key}` is no key of a shard"));
        }
        let text = |key: &str| row::text(map, key);
        let version = text("manifest_version")?;
        if version != SHARD_MANIFEST_VERSION {
            return Err(format!("manifest_version is {version}, not {SHARD_MANIFEST_VERSION}"));
        }
        let rows = map.get("rows").and_then(Value::as_list).ok_or("`rows` must be a list")?;
        let number = |(order, row)| ShardRow::from_value(row).map_err(|what| format!("row {order}: {what}"));
        let rows: Vec<ShardRow> = rows.iter().enumerate().map(number).collect::<Result<_, _>>()?;
        if rows.is_empty() || row::integer(map, "num_rows")? != i64::try_from(rows.len()).unwrap_or(i64::MAX) {
            return Err("num_rows is not the number of its rows, or there are none".to_owned());
        }
        Ok(Self {
            shard_id: text("shard_id")?,
            split: text("split")?,
            writer_config_hash: text("writer_config_hash")?,
            source_manifest_hash: text("source_manifest_hash")?,
            source_cache_version: text("source_cache_version")?,
            split_manifest_hash: text("split_manifest_hash")?,
            source_store_dir: text("source_store_dir")?,
            rows,
            campaign_binding: map.get("campaign_binding").map_or(Ok(None), binding)?,
            campaign_split: row::optional(map, "campaign_split")?,
            generation_revision_hash: row::optional(map, "generation_revision_hash")?.unwrap_or_default(),
        })
    }

    /// Checks what the entry says of itself: rows numbered from 0, of one split, each placed in a
    /// shard of the source store, and hashed.
    ///
    /// # Errors
    /// One line: what does not hold.
    pub fn validate(&self) -> Result<(), String> {
        if self.rows.is_empty() {
            return Err("it has no rows".to_owned());
        }
        if self.shard_id.is_empty() || self.shard_id.starts_with('.') || self.shard_id.contains(['/', '\0']) {
            return Err(format!("shard_id `{}` does not do as a directory's name", self.shard_id));
        }
        let declared = self.campaign_split.as_deref();
        for (order, row) in self.rows.iter().enumerate() {
            row.check(order, &self.split)?;
            if row.campaign_split.is_some() && row.campaign_split.as_deref() != declared {
                return Err(format!("row {order} is of another campaign split"));
            }
        }
        let hash = rows_hash(&self.source_manifest_hash, &self.split, &self.rows);
        if self.split_manifest_hash != hash {
            return Err(format!("split_manifest_hash is {}, but its rows give {hash}", self.split_manifest_hash));
        }
        Ok(())
    }
}

/// The split hash of `rows` in their order: 16 hexadecimal digits.
#[must_use]
pub fn rows_hash(source_manifest_hash: &str, split: &str, rows: &[ShardRow]) -> String {
    let records: Vec<Value> = rows.iter().map(ShardRow::hashed).collect();
    let entries: [(&str, Value); 3] =
        [("source_manifest_hash", source_manifest_hash.into()), ("split", split.into()), ("records", records.into())];
    short_hash(&Value::Map(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()))
}

/// A shard's name in full: `7` and `shard-7` are `shard-000007`, other text is left as it is.
#[must_use]
pub fn canonical_shard_id(id: &str) -> String {
    let digits = id.strip_prefix("shard-").unwrap_or(id);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match digits.parse::<u64>() {
        Ok(number) if is_number => format!("shard-{number:06}"),
        _ => id.to_owned(),
    }
}

/// A campaign's binding: texts by known names.
fn binding(value: &Value) -> Result<Option<Map>, String> {
    let map = match value {
        Value::Null => return Ok(None),
        Value::Map(map) => map,
        other => return Err(format!("`campaign_binding` must be a map, got {}", other.kind())),
    };
    if let Some(key) = map.keys().find(|key| !BINDING.contains(&key.as_str())) {
        return Err(format!("`{key}` is no key of a campaign_binding"));
    }
    for key in BINDING.iter().filter(|key| **key != "generation_revision_hash" || map.contains_key(**key)) {
        row::text(map, key).map_err(|what| format!("campaign_binding: {what}"))?;
    }
    Ok(Some(map.clone()))
}
