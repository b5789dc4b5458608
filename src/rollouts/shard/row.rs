//! A row of a source store, as a shard lists it.

use crate::value::{Map, Value};

/// One row of a source store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardRow {
    /// Its place in its shard, from 0.
    pub order: i64,
    /// Its number in the source's split.
    pub sample_index: i64,
    /// Its key.
    pub sample_key: String,
    /// The scene it shows.
    pub scene_id: String,
    /// The part of the scene.
    pub snippet_id: String,
    /// Its split.
    pub split: String,
    /// The source store's shard that holds it.
    pub source_shard_id: String,
    /// Its row there, from 0.
    pub source_shard_row: i64,
    /// The split that a campaign gives it.
    pub campaign_split: Option<String>,
}

impl ShardRow {
    /// The keys of a row, in the order they are hashed.
    pub const KEYS: [&'static str; 9] = [
        "order",
        "sample_index",
        "sample_key",
        "scene_id",
        "snippet_id",
        "split",
        "source_shard_id",
        "source_shard_row",
        "campaign_split",
    ];

    /// The row as plain data.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let entries: [Value; 9] = [
            self.order.into(),
            self.sample_index.into(),
            self.sample_key.as_str().into(),
            self.scene_id.as_str().into(),
            self.snippet_id.as_str().into(),
            self.split.as_str().into(),
            self.source_shard_id.as_str().into(),
            self.source_shard_row.into(),
            self.campaign_split.clone().into(),
        ];
        Value::Map(Self::KEYS.iter().zip(entries).map(|(key, value)| ((*key).to_owned(), value)).collect())
    }

    /// The row of plain data.
    ///
    /// # Errors
    /// One line: which key is missing, unknown, or of the wrong kind.
    pub fn from_value(value: &Value) -> Result<Self, String> {
        let map = value.as_map().ok_or_else(|| format!("must be a map, got {}", value.kind()))?;
        if let Some(key) = map.keys().find(|key| !Self::KEYS.contains(&key.as_str())) {
            return Err(format!("`{key}` is no key of a row"));
        }
        Ok(Self {
            order: integer(map, "order")?,
            sample_index: integer(map, "sample_index")?,
            sample_key: text(map, "sample_key")?,
            scene_id: text(map, "scene_id")?,
            snippet_id: text(map, "snippet_id")?,
            split: text(map, "split")?,
            source_shard_id: text(map, "source_shard_id")?,
            source_shard_row: integer(map, "source_shard_row")?,
            campaign_split: optional(map, "campaign_split")?,
        })
    }

    /// What is hashed of the row: a campaign's split only where there is one.
    pub(super) fn hashed(&self) -> Value {
        match self.to_value() {
            Value::Map(mut row) if self.campaign_split.is_none() => {
                row.shift_remove("campaign_split");
                Value::Map(row)
            }
            row => row,
        }
    }

    /// Checks the row, which stands at `order` among those of `split`.
    ///
    /// # Errors
    /// One line: what does not hold.
    pub fn check(&self, order: usize, split: &str) -> Result<(), String> {
        if usize::try_from(self.order) != Ok(order) {
            return Err(format!("row {order} is not in order"));
        }
        if self.split != split {
            return Err(format!("row {order} is of another split"));
        }
        if self.source_shard_id.is_empty() || self.source_shard_row < 0 {
            return Err(format!("row {order} is placed in no shard"));
        }
        Ok(())
    }
}

/// The text under `key`.
pub(super) fn text(map: &Map, key: &str) -> Result<String, String> {
    let value = map.get(key).ok_or_else(|| format!("`{key}` is missing"))?;
    value.as_text().map(str::to_owned).ok_or_else(|| format!("`{key}` must be text, got {}", value.kind()))
}

/// The text under `key`, where there is one.
pub(super) fn optional(map: &Map, key: &str) -> Result<Option<String>, String> {
    match map.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(_) => text(map, key).map(Some),
    }
}

/// The integer under `key`; `1.0` and `true` are none.
pub(super) fn integer(map: &Map, key: &str) -> Result<i64, String> {
    match map.get(key) {
        Some(Value::Int(number)) => Ok(*number),
        Some(Value::BigInt(number)) => Err(format!("`{key}` is out of range: {number} has more than 64 bits")),
        Some(other) => Err(format!("`{key}` must be an integer, got {}", other.kind())),
        None => Err(format!("`{key}` is missing")),
    }
}
