//! Source indices: the rows of a source store, in order, as JSON lines or CSV.
//!
//! A row has the keys of [`ShardRow`]; `campaign_split` may be left out, and so may `order`, which
//! is the row's place. Errors name the line.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use super::csv;
use super::error::ManifestError;
use crate::rollouts::ShardRow;
use crate::suggest;
use crate::text::json;
use crate::value::{Map, Value};

/// The rows of the index at `path`, numbered from 0: CSV if its name ends so, else JSON lines. No
/// row stands there twice.
///
/// # Errors
/// When the file cannot be read; the first line that is no row, or repeats one.
pub fn read(path: &Path) -> Result<Vec<ShardRow>, ManifestError> {
    let bytes = fs::read(path).map_err(ManifestError::file(path))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        ManifestError::whole(path, format!("byte {} is not UTF-8", error.utf8_error().valid_up_to() + 1))
    })?;
    let is_csv = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"));
    let maps = if is_csv { of_csv(path, &text)? } else { of_lines(path, &text)? };
    let mut rows = Vec::with_capacity(maps.len());
    let mut seen = Seen::default();
    for (order, (line, map)) in (0..).zip(maps) {
        let row = row(map, order).map_err(|what| ManifestError::line(path, line, what))?;
        seen.add(&row, line).map_err(|what| ManifestError::line(path, line, what))?;
        rows.push(row);
    }
    if rows.is_empty() {
        return Err(ManifestError::whole(path, "it has no rows"));
    }
    Ok(rows)
}

/// Each line that is not blank as a map.
fn of_lines(path: &Path, text: &str) -> Result<Vec<(usize, Map)>, ManifestError> {
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let read = |(number, line): (usize, &str)| match json::parse(line) {
        Ok(Value::Map(map)) => Ok((number, map)),
        Ok(other) => Err(ManifestError::line(path, number, format!("a row is a map, got {}", other.kind()))),
        Err(error) => Err(ManifestError::line(path, number, format!("column {}: {}", error.column, error.message))),
    };
    lines.map(read).collect()
}

/// Each record under the names of the first; an empty field is none.
fn of_csv(path: &Path, text: &str) -> Result<Vec<(usize, Map)>, ManifestError> {
    let records = csv::records(text).map_err(|(line, what)| ManifestError::line(path, line, what))?;
    let mut records = records.into_iter();
    let Some((_, names)) = records.next() else { return Ok(Vec::new()) };
    let read = |(line, fields): (usize, Vec<String>)| {
        if fields.len() != names.len() {
            let what = format!("has {} fields, but the header names {}", fields.len(), names.len());
            return Err(ManifestError::line(path, line, what));
        }
        let typed = |(name, field): (&String, String)| {
            let is_number = ["order", "sample_index", "source_shard_row"].contains(&name.as_str());
            let value = match field.trim().parse::<i64>() {
                Ok(number) if is_number => Value::Int(number),
                _ if field.is_empty() => Value::Null,
                _ => Value::Text(field),
            };
            (name.trim().to_owned(), value)
        };
        Ok((line, names.iter().zip(fields).map(typed).collect()))
    };
    records.map(read).collect()
}

/// The row of a map at the place `order` of the index.
fn row(mut map: Map, order: i64) -> Result<ShardRow, String> {
    if let Some(key) = map.keys().find(|key| !ShardRow::KEYS.contains(&key.as_str())) {
        return Err(format!("`{key}` is no key of a row; {}", suggest::hint(key, "they are", ShardRow::KEYS)));
    }
    let own = map.entry("order".to_owned()).or_insert(Value::Null);
    match own {
        Value::Null => *own = order.into(),
        own if own.as_int() == Some(order) => {}
        own => return Err(format!("`order` is {}, but the row's place is {order}", json::to_string(own))),
    }
    let row = ShardRow::from_value(&Value::Map(map))?;
    for (key, text) in
        [("sample_key", &row.sample_key), ("split", &row.split), ("source_shard_id", &row.source_shard_id)]
    {
        if text.is_empty() {
            return Err(format!("`{key}` is empty"));
        }
    }
    for (key, number) in [("sample_index", row.sample_index), ("source_shard_row", row.source_shard_row)] {
        if number < 0 {
            return Err(format!("`{key}` is {number}; it counts from 0"));
        }
    }
    Ok(row)
}

/// What tells rows apart, and the line of the row that has it.
#[derive(Debug, Default)]
pub(super) struct Seen(HashMap<(&'static str, String), usize>);

impl Seen {
    /// Notes a row.
    ///
    /// # Errors
    /// Which earlier line is the same row, and by what.
    pub(super) fn add(&mut self, row: &ShardRow, line: usize) -> Result<(), String> {
        let pair = |one: &str, other: &str| json::to_compact(&Value::List(vec![one.into(), other.into()]));
        // Source stores number each split's rows and shards for themselves.
        let marks = [
            ("sample_key", row.sample_key.clone()),
            ("scene_id and snippet_id", pair(&row.scene_id, &row.snippet_id)),
            ("sample_index", pair(&row.split, &row.sample_index.to_string())),
            (
                "source_shard_id and source_shard_row",
                pair(&row.split, &pair(&row.source_shard_id, &row.source_shard_row.to_string())),
            ),
        ];
        for (what, mark) in marks {
            if let Some(before) = self.0.insert((what, mark), line) {
                return Err(format!("has the {what} of line {before}: a row stands in an index once"));
            }
        }
        Ok(())
    }
}
