//! Traces as a flat table, for tools that read CSV.
//!
//! A column is a scalar: of the identity, of another key, of a field, or of something inside a
//! field that is a mapping (`reward_components.upright`, `action.index`). Lists are JSON text.
//! The files are read twice: once for the columns, once for the rows.

use std::path::PathBuf;

use indexmap::IndexSet;

use crate::trace::columns::{Identity, Warning};
use crate::trace::error::TraceError;
use crate::trace::input;
use crate::trace::parse::ParsedLine;
use crate::trace::row::STEP_FIELDS;
use crate::trace::select::{Filter, each_row};
use crate::value::{Map, Value};

/// Where a column stands among the others: the identity first, then other keys, then the fields.
type Group = usize;

const IDENTITY: Group = 0;
const OTHERS: Group = 1;
const FIELDS: Group = 2;

/// Hands the wanted rows of `paths` to `take` as lines of CSV (RFC 4180, but with `\n` at the ends
/// of lines), the names of the columns first, until it answers `false`.
///
/// # Errors
/// When a file is missing, unreadable, not UTF-8, or standard input, which is there only once.
pub fn csv(
    paths: &[PathBuf],
    filter: &Filter,
    mut take: impl FnMut(&[u8]) -> bool,
) -> Result<Vec<Warning>, TraceError> {
    let (inputs, _) = input::expand(paths)?;
    if let Some(stream) = inputs.iter().find(|input| input.is_stream()) {
        return Err(TraceError::OnlyOnce { path: stream.name.clone() });
    }
    let mut groups: Vec<IndexSet<String>> = vec![IndexSet::new(); FIELDS + STEP_FIELDS.len()];
    each_row(&inputs, filter, |row| {
        flatten(&row.parsed, &mut |group, name, _| {
            if let Some(names) = groups.get_mut(group)
                && !names.contains(name)
            {
                names.insert(name.to_owned());
            }
        });
        true
    })?;
    let columns: IndexSet<String> = groups.into_iter().flatten().collect();
    let mut line = Vec::new();
    for (place, name) in columns.iter().enumerate() {
        write_cell(&mut line, place, &Value::from(name.as_str()));
    }
    line.push(b'\n');
    let mut going = take(&line);
    let mut cells: Vec<Value> = Vec::new();
    each_row(&inputs, filter, |row| {
        cells.clear();
        cells.resize(columns.len(), Value::Null);
        flatten(&row.parsed, &mut |_, name, value| {
            if let Some(cell) = columns.get_index_of(name).and_then(|place| cells.get_mut(place)) {
                *cell = value;
            }
        });
        line.clear();
        for (place, cell) in cells.iter().enumerate() {
            write_cell(&mut line, place, cell);
        }
        line.push(b'\n');
        going = going && take(&line);
        going
    })
}

/// Hands each scalar of a row to `put`, with its group and its name.
fn flatten(line: &ParsedLine<'_>, put: &mut impl FnMut(Group, &str, Value)) {
    for (key, value) in Identity::from_json(line.identity).fields {
        put(IDENTITY, key, value);
    }
    for (key, value) in line.meta.iter().chain(&line.row.extra) {
        flatten_value(OTHERS, key, value, put);
    }
    let row = &line.row;
    let map = |map: &Map| Value::Map(map.clone());
    let components = row.reward_components.iter().map(|(name, value)| (name.clone(), Value::Float(*value)));
    let values: [Value; STEP_FIELDS.len()] = [
        row.step.into(),
        row.regime_id.clone().into(),
        row.regime_origin.clone().into(),
        row.observed_at.clone().into(),
        row.action.clone().into(),
        row.reward.into(),
        Value::Map(components.collect()),
        map(&row.reward_detail),
        row.invalid_action.into(),
        row.effective_rank.into(),
        map(&row.ticket_snapshot),
        map(&row.verifier_snapshot),
    ];
    for (place, (name, value)) in STEP_FIELDS.iter().zip(&values).enumerate() {
        flatten_value(FIELDS + place, name, value, put);
    }
}

/// Null is no cell of its own: a column of nothing else would tell nothing.
fn flatten_value(group: Group, name: &str, value: &Value, put: &mut impl FnMut(Group, &str, Value)) {
    match value {
        Value::Null => {}
        Value::Map(map) => {
            for (key, value) in map {
                flatten_value(group, &format!("{name}.{key}"), value, put);
            }
        }
        Value::List(_) => put(group, name, Value::Text(crate::text::json::to_string(value))),
        scalar => put(group, name, scalar.clone()),
    }
}

/// Appends the cell at `place`, in quotes where it must be.
fn write_cell(out: &mut Vec<u8>, place: usize, value: &Value) {
    if place > 0 {
        out.push(b',');
    }
    match value {
        Value::Null => {}
        Value::Text(text) if text.is_empty() || text.contains([',', '"', '\n', '\r']) => {
            out.push(b'"');
            out.extend_from_slice(text.replace('"', "\"\"").as_bytes());
            out.push(b'"');
        }
        Value::Text(text) => out.extend_from_slice(text.as_bytes()),
        other => crate::text::json::write(out, other),
    }
}
