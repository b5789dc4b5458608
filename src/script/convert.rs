//! Values across the border, with the path of every field.
//!
//! Inbound, a table is a list or a map, never both: mixed, sparse and cyclic tables are refused
//! by name, `nil` is absence, integers and floats stay apart. Outbound, maps and lists become
//! tables, `null` becomes `nil`, integers beyond 64 bits become text.

use std::cmp::Ordering;
use std::fmt;

use mlua::{IntoLua, Lua, Table, Value as LuaValue};

use crate::value::{Map, Value};

/// Deeper than this, a table is taken for one that contains itself.
const DEPTH: usize = 64;

/// `value` as plain data; `path` is how errors call it.
///
/// # Errors
/// One line naming the field that is not plain data.
pub(super) fn read(value: &LuaValue, path: &str) -> Result<Value, String> {
    read_at(value, &Path::Root(path), 0, &mut usize::MAX.clone())
}

/// As [`read_map`], for what stands in one row: no more than `most` bytes or so.
///
/// # Errors
/// Also when there is more.
pub(super) fn read_small_map(value: &LuaValue, path: &str, most: usize) -> Result<Map, String> {
    as_map(read_at(value, &Path::Root(path), 0, &mut most.clone())?, path)
}

/// Where a value stands; text only once there is something to say of it.
enum Path<'a> {
    Root(&'a str),
    Field(&'a Path<'a>, &'a str),
    Item(&'a Path<'a>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root(name) => f.write_str(name),
            Self::Field(outer, name) => write!(f, "{outer}.{name}"),
            Self::Item(outer, index) => write!(f, "{outer}[{index}]"),
        }
    }
}

/// `room` is how much more may be read, in bytes or so.
fn read_at(value: &LuaValue, path: &Path<'_>, depth: usize, room: &mut usize) -> Result<Value, String> {
    if depth > DEPTH {
        return Err(format!("`{path}` is nested deeper than {DEPTH} levels; does it contain itself?"));
    }
    let size = if let LuaValue::String(text) = value { text.as_bytes().len() } else { 8 };
    *room = room.checked_sub(size).ok_or_else(|| format!("`{path}`: there is too much in it"))?;
    Ok(match value {
        LuaValue::Nil => Value::Null,
        LuaValue::Boolean(value) => Value::Bool(*value),
        LuaValue::Integer(value) => Value::Int(*value),
        LuaValue::Number(value) => Value::Float(*value),
        LuaValue::String(text) => match text.to_str() {
            Ok(text) => Value::Text(text.to_owned()),
            Err(_) => return Err(format!("`{path}` is not UTF-8 text")),
        },
        LuaValue::Table(table) => return read_table(table, path, depth, room),
        LuaValue::UserData(data) => match data.borrow::<super::bind::array::LuaArray>() {
            Ok(array) => array.to_value(),
            Err(_) => return Err(format!("`{path}` must be plain data, got an object")),
        },
        other => return Err(format!("`{path}` must be plain data, got a {}", other.type_name())),
    })
}

fn read_table(table: &Table, path: &Path<'_>, depth: usize, room: &mut usize) -> Result<Value, String> {
    if let Some(length) = (table.raw_len() > *room / 8).then_some(table.raw_len()) {
        return Err(format!("`{path}`: there is too much in it ({length} items)"));
    }
    let entries = sorted_entries(table, path)?;
    if entries.is_empty() {
        // What it has, it has behind its metatable: `s` of a reward term, or an object.
        return match table.metatable() {
            Some(_) => Err(format!("`{path}` must be plain data, got an object")),
            None => Ok(Value::Map(Map::new())),
        };
    }
    if entries.iter().all(|(key, _)| matches!(key, LuaValue::Integer(_))) {
        if let Some(gap) = first_gap(&entries) {
            return Err(format!("`{path}` is a list with a hole at [{gap}]"));
        }
        let mut items = Vec::with_capacity(entries.len());
        for (index, (_, value)) in entries.iter().enumerate() {
            items.push(read_at(value, &Path::Item(path, index + 1), depth + 1, room)?);
        }
        return Ok(Value::List(items));
    }
    let mut map = Map::with_capacity(entries.len());
    for (key, value) in &entries {
        let LuaValue::String(key) = key else {
            return Err(format!("`{path}` mixes a list with named fields: key [{}]", key_text(key)));
        };
        let Ok(key) = key.to_str() else {
            return Err(format!("`{path}` has a key that is not UTF-8 text"));
        };
        let value = read_at(value, &Path::Field(path, &key), depth + 1, room)?;
        map.insert(key.to_owned(), value);
    }
    Ok(Value::Map(map))
}

/// A table's entries, integers first in order, then other keys sorted: Lua's own order differs
/// from run to run.
///
/// # Errors
/// One line, when the machine cannot go through them.
pub(super) fn entries(table: &Table, path: &str) -> Result<Vec<(LuaValue, LuaValue)>, String> {
    sorted_entries(table, &Path::Root(path))
}

fn sorted_entries(table: &Table, path: &Path<'_>) -> Result<Vec<(LuaValue, LuaValue)>, String> {
    let mut entries = Vec::new();
    for pair in table.pairs::<LuaValue, LuaValue>() {
        entries.push(pair.map_err(|error| format!("`{path}`: {}", super::error::message(&error)))?);
    }
    entries.sort_by(|(a, _), (b, _)| match (a, b) {
        (LuaValue::Integer(a), LuaValue::Integer(b)) => a.cmp(b),
        (LuaValue::Integer(_), _) => Ordering::Less,
        (_, LuaValue::Integer(_)) => Ordering::Greater,
        (LuaValue::String(a), LuaValue::String(b)) => a.as_bytes().as_ref().cmp(b.as_bytes().as_ref()),
        (a, b) => key_text(a).cmp(&key_text(b)),
    });
    Ok(entries)
}

/// The first index from 1 that integer-keyed `entries`, in order, leave out.
fn first_gap(entries: &[(LuaValue, LuaValue)]) -> Option<i64> {
    let gap = |(expected, (key, _)): &(i64, &(LuaValue, LuaValue))| !matches!(key, LuaValue::Integer(index) if index == expected);
    (1..).zip(entries).find(gap).map(|(expected, _)| expected)
}

/// A key as messages show it.
pub(super) fn key_text(key: &LuaValue) -> String {
    match key {
        LuaValue::String(text) => text.to_string_lossy(),
        LuaValue::Integer(value) => value.to_string(),
        LuaValue::Number(value) => crate::text::number::float_text(*value),
        LuaValue::Boolean(value) => value.to_string(),
        other => format!("a {}", other.type_name()),
    }
}

/// `value` as a map of plain data; `nil` is an empty one.
///
/// # Errors
/// One line naming the field that is not plain data, or that this is no map.
pub(super) fn read_map(value: &LuaValue, path: &str) -> Result<Map, String> {
    as_map(read(value, path)?, path)
}

fn as_map(value: Value, path: &str) -> Result<Map, String> {
    match value {
        Value::Null => Ok(Map::new()),
        Value::Map(map) => Ok(map),
        other => Err(format!("`{path}` must be a table of named fields, got {}", other.kind())),
    }
}

/// `value` as text.
///
/// # Errors
/// One line saying what was expected and what came.
pub(super) fn text(value: &LuaValue, path: &str) -> Result<String, String> {
    match value {
        LuaValue::String(text) => Ok(text.to_str().map_err(|_| format!("`{path}` is not UTF-8 text"))?.to_owned()),
        other => Err(format!("`{path}` must be text, got {}", describe(other))),
    }
}

/// `value` as a finite or infinite number.
///
/// # Errors
/// One line saying what was expected and what came.
pub(super) fn number(value: &LuaValue, path: &str) -> Result<f64, String> {
    match value {
        #[expect(clippy::cast_precision_loss, reason = "Lua's own conversion of an integer to a float")]
        LuaValue::Integer(value) => Ok(*value as f64),
        LuaValue::Number(value) => Ok(*value),
        other => Err(format!("`{path}` must be a number, got {}", describe(other))),
    }
}

/// `value` as an integer; an integral float counts.
///
/// # Errors
/// One line saying what was expected and what came.
pub(super) fn integer(value: &LuaValue, path: &str) -> Result<i64, String> {
    let found = match value {
        LuaValue::Integer(value) => Some(*value),
        LuaValue::Number(value) => Value::Float(*value).as_int(),
        _ => None,
    };
    found.ok_or_else(|| format!("`{path}` must be an integer, got {}", describe(value)))
}

/// What a Lua value is, in the words of an error message.
pub(super) fn describe(value: &LuaValue) -> String {
    match value {
        LuaValue::Nil => "nothing".to_owned(),
        LuaValue::Boolean(value) => value.to_string(),
        LuaValue::Integer(value) => format!("the integer {value}"),
        LuaValue::Number(value) => format!("the number {}", crate::text::number::float_text(*value)),
        LuaValue::String(text) => {
            format!("the text \"{}\"", text.to_string_lossy().chars().take(40).collect::<String>())
        }
        LuaValue::Table(_) => "a table".to_owned(),
        LuaValue::Function(_) => "a function".to_owned(),
        _ => "an object".to_owned(),
    }
}

/// Plain data as a Lua value.
pub(super) fn write(lua: &Lua, value: &Value) -> mlua::Result<LuaValue> {
    match value {
        Value::Null => Ok(LuaValue::Nil),
        Value::Bool(value) => Ok(LuaValue::Boolean(*value)),
        Value::Int(value) => Ok(LuaValue::Integer(*value)),
        Value::Float(value) => Ok(LuaValue::Number(*value)),
        Value::BigInt(text) | Value::Text(text) => text.as_str().into_lua(lua),
        Value::List(items) => {
            let table = lua.create_table_with_capacity(items.len(), 0)?;
            for (index, item) in items.iter().enumerate() {
                table.raw_set(index + 1, write(lua, item)?)?;
            }
            Ok(LuaValue::Table(table))
        }
        Value::Map(map) => Ok(LuaValue::Table(write_map(lua, map)?)),
    }
}

/// A map of plain data as a Lua table.
pub(super) fn write_map(lua: &Lua, map: &Map) -> mlua::Result<Table> {
    let table = lua.create_table_with_capacity(0, map.len())?;
    for (key, value) in map {
        table.raw_set(key.as_str(), write(lua, value)?)?;
    }
    Ok(table)
}
