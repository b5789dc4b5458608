//! Traces as a flat table, for tools that read CSV or Parquet.
//!
//! A column is a scalar: of the identity, of another key, of a field, or of something inside a
//! field that is a mapping (`reward_components.upright`, `action.index`). Lists are JSON text.
//! The files are read twice: once for the columns, once for the rows.

mod csv;
mod parquet;
mod thrift;

use std::io::{self, Write};
use std::path::PathBuf;

use indexmap::IndexMap;

use self::parquet::ParquetWriter;
use crate::trace::columns::{Identity, Warning};
use crate::trace::error::TraceError;
use crate::trace::input::{self, InputFile};
use crate::trace::parse::ParsedLine;
use crate::trace::row::STEP_FIELDS;
use crate::trace::select::{Filter, each_row};
use crate::value::{Map, Value};

/// Where a column stands among the others: the identity first, then other keys, then the fields.
type Group = usize;

const IDENTITY: Group = 0;
const OTHERS: Group = 1;
const FIELDS: Group = 2;

/// What all values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ColumnKind {
    Bool,
    Int,
    Float,
    /// Text, or values of several kinds as JSON text.
    Text,
}

impl ColumnKind {
    fn of(value: &Value) -> Self {
        match value {
            Value::Bool(_) => Self::Bool,
            Value::Int(_) => Self::Int,
            Value::Float(_) => Self::Float,
            _ => Self::Text,
        }
    }

    /// What holds values of both kinds.
    fn with(self, other: Self) -> Self {
        match (self, other) {
            (one, other) if one == other => one,
            (Self::Int | Self::Float, Self::Int | Self::Float) => Self::Float,
            _ => Self::Text,
        }
    }
}

#[derive(Clone, Debug)]
struct Column {
    name: String,
    kind: ColumnKind,
}

/// The wanted rows of some files, and the columns that they fill.
struct Table<'a> {
    inputs: Vec<InputFile>,
    filter: &'a Filter,
    columns: IndexMap<String, ColumnKind>,
}

impl<'a> Table<'a> {
    fn new(paths: &[PathBuf], filter: &'a Filter) -> Result<Self, TraceError> {
        let (inputs, _) = input::expand(paths)?;
        if let Some(stream) = inputs.iter().find(|input| input.is_stream()) {
            return Err(TraceError::OnlyOnce { path: stream.name.clone() });
        }
        let mut groups: Vec<IndexMap<String, ColumnKind>> = vec![IndexMap::new(); FIELDS + STEP_FIELDS.len()];
        each_row(&inputs, filter, |row| {
            flatten(&row.parsed, &mut |group, name, value| {
                let Some(columns) = groups.get_mut(group) else { return };
                let kind = ColumnKind::of(&value);
                match columns.get_mut(name) {
                    Some(known) => *known = known.with(kind),
                    None => drop(columns.insert(name.to_owned(), kind)),
                }
            });
            true
        })?;
        // A key with a point in its name may be spelled like a field's: they are one column.
        let mut columns: IndexMap<String, ColumnKind> = IndexMap::new();
        for (name, kind) in groups.into_iter().flatten() {
            columns.entry(name).and_modify(|known| *known = known.with(kind)).or_insert(kind);
        }
        if columns.is_empty() {
            // Of no rows at all; readers of Parquet refuse a table without columns.
            let always =
                [("step", ColumnKind::Int), ("reward", ColumnKind::Float), ("invalid_action", ColumnKind::Bool)];
            columns.extend(always.map(|(name, kind)| (name.to_owned(), kind)));
        }
        Ok(Self { inputs, filter, columns })
    }

    /// Hands the cells of each row to `take`, one for each column, until it answers `false`.
    fn each_row(&self, mut take: impl FnMut(&[Value]) -> bool) -> Result<Vec<Warning>, TraceError> {
        let mut cells: Vec<Value> = Vec::new();
        each_row(&self.inputs, self.filter, |row| {
            cells.clear();
            cells.resize(self.columns.len(), Value::Null);
            flatten(&row.parsed, &mut |_, name, value| {
                if let Some(cell) = self.columns.get_index_of(name).and_then(|place| cells.get_mut(place)) {
                    *cell = value;
                }
            });
            take(&cells)
        })
    }
}

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
    let table = Table::new(paths, filter)?;
    let mut line = Vec::new();
    let names: Vec<Value> = table.columns.keys().map(|name| Value::from(name.as_str())).collect();
    csv::write_line(&mut line, &names);
    let mut going = take(&line);
    table.each_row(|cells| {
        csv::write_line(&mut line, cells);
        going = going && take(&line);
        going
    })
}

/// Writes the wanted rows of `paths` to `out` as a Parquet file: one nullable column a scalar, of
/// integers (64 bits), floats, booleans or text. Whether `out` took it all is told apart.
///
/// # Errors
/// As for [`csv`].
pub fn parquet(
    paths: &[PathBuf],
    filter: &Filter,
    out: &mut dyn Write,
) -> Result<(Vec<Warning>, io::Result<()>), TraceError> {
    let table = Table::new(paths, filter)?;
    let columns = table.columns.iter().map(|(name, kind)| Column { name: name.clone(), kind: *kind }).collect();
    let mut writer = match ParquetWriter::new(out, columns) {
        Ok(writer) => writer,
        Err(error) => return Ok((Vec::new(), Err(error))),
    };
    let mut written = Ok(());
    let warnings = table.each_row(|cells| {
        written = writer.push(cells);
        written.is_ok()
    })?;
    Ok((warnings, written.and_then(|()| writer.finish())))
}

/// The rows of a table in memory as CSV, as [`csv`] writes them; each has a cell for each name.
#[must_use]
pub(crate) fn csv_of(names: &[String], rows: &[Vec<Value>]) -> Vec<u8> {
    let (mut text, mut line) = (Vec::new(), Vec::new());
    let head: Vec<Value> = names.iter().map(|name| name.as_str().into()).collect();
    for cells in std::iter::once(&head).chain(rows) {
        csv::write_line(&mut line, cells);
        text.append(&mut line);
    }
    text
}

/// The rows of a table in memory as a Parquet file, as [`parquet`] writes it.
///
/// # Errors
/// When a part is larger than the format allows.
pub(crate) fn parquet_of(names: &[String], rows: &[Vec<Value>]) -> io::Result<Vec<u8>> {
    let kind = |place: usize| {
        let cells = rows.iter().filter_map(|row| row.get(place)).filter(|cell| !cell.is_null());
        cells.map(ColumnKind::of).reduce(ColumnKind::with).unwrap_or(ColumnKind::Text)
    };
    let columns = names.iter().enumerate().map(|(place, name)| Column { name: name.clone(), kind: kind(place) });
    let mut file = Vec::new();
    let mut writer = ParquetWriter::new(&mut file, columns.collect())?;
    rows.iter().try_for_each(|row| writer.push(row))?;
    writer.finish()?;
    Ok(file)
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
