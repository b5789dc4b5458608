//! Rows written from scalars: one row's in the order of declared columns, or whole columns at
//! once. A row made so costs a call and its text, but no table.

use mlua::{MultiValue, Table, Value as LuaValue};

use crate::array::Array;
use crate::script::bind::array::LuaArray;
use crate::script::convert;
use crate::trace::{Row, Scalar, Slot, Writer};
use crate::value::Value;

/// The places of the scalars that are pushed, and the row they are put in.
#[derive(Default)]
pub(super) struct Columns {
    slots: Vec<(String, Slot)>,
    row: Row,
}

impl Columns {
    /// The columns with these names.
    pub(super) fn new(names: &[String]) -> Result<Self, String> {
        let mut slots: Vec<(String, Slot)> = Vec::with_capacity(names.len());
        for name in names {
            let slot = Slot::parse(name).map_err(|line| format!("options.columns: {line}"))?;
            if slots.iter().any(|(_, known)| *known == slot) {
                return Err(format!("options.columns: `{name}` stands there twice"));
            }
            slots.push((name.clone(), slot));
        }
        for needed in ["step", "reward"] {
            if !slots.is_empty() && !slots.iter().any(|(name, _)| name == needed) {
                return Err(format!("options.columns: a row needs `{needed}`"));
            }
        }
        Ok(Self { slots, row: Row::default() })
    }

    /// Writes a row of `values`, one for each column.
    pub(super) fn push(&mut self, writer: &mut Writer, values: &MultiValue) -> Result<(), String> {
        if self.slots.is_empty() {
            return Err("push: declare the columns first: trace.writer(path, meta, { columns = { .. } })".to_owned());
        }
        if values.len() > self.slots.len() {
            return Err(format!("push: {} values for {} columns", values.len(), self.slots.len()));
        }
        for (place, (name, slot)) in self.slots.iter().enumerate() {
            put(&mut self.row, name, slot, values.get(place).unwrap_or(&LuaValue::Nil))
                .map_err(|line| format!("push: {line}"))?;
        }
        writer.write(&self.row).map_err(|error| error.to_string())
    }

    /// Writes as many rows as the lists in `table` are long; what is no list is the same in each row.
    pub(super) fn extend(&self, writer: &mut Writer, table: &Table) -> Result<u64, String> {
        let mut columns = Vec::new();
        for (key, value) in convert::entries(table, "columns")? {
            let name = convert::key_text(&key);
            let slot = Slot::parse(&name).map_err(|line| format!("extend: {line}"))?;
            let declared = self.slots.iter().position(|(known, _)| *known == name).unwrap_or(usize::MAX);
            columns.push((declared, name, slot, value));
        }
        // A table has no order: the declared columns come first, in theirs, the others by name.
        columns.sort_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
        let mut rows = None;
        for (_, name, _, value) in &columns {
            let Some(length) = length(value)? else { continue };
            match rows {
                None => rows = Some((length, name)),
                Some((rows, first)) if rows != length => {
                    return Err(format!("extend: `{name}` has {length} entries and `{first}` {rows}"));
                }
                Some(_) => {}
            }
        }
        let (rows, _) = rows.ok_or("extend: at least one column must be a list or an array")?;
        for needed in ["step", "reward"] {
            if !columns.iter().any(|(_, name, ..)| name == needed) {
                return Err(format!("extend: a row needs `{needed}`"));
            }
        }
        let mut row = Row::default();
        for at in 0..rows {
            for (_, name, slot, value) in &columns {
                let put = match value {
                    LuaValue::Table(list) => {
                        let item = list.raw_get::<LuaValue>(at + 1).map_err(|error| error.to_string())?;
                        put(&mut row, name, slot, &item)
                    }
                    LuaValue::UserData(data) => match data.borrow::<LuaArray>() {
                        Ok(array) => put_scalar(&mut row, name, slot, item(&array.0, at)),
                        Err(_) => Err(format!("`{name}` must be a list or an array")),
                    },
                    scalar => put(&mut row, name, slot, scalar),
                };
                put.map_err(|line| format!("extend: row {}: {line}", at + 1))?;
            }
            writer.write(&row).map_err(|error| error.to_string())?;
        }
        Ok(rows as u64)
    }
}

/// How many entries a column has; `None` for a scalar.
fn length(value: &LuaValue) -> Result<Option<usize>, String> {
    Ok(match value {
        LuaValue::Table(list) => Some(list.raw_len()),
        LuaValue::UserData(data) => match data.borrow::<LuaArray>() {
            Ok(array) if array.0.shape().len() == 1 => array.0.shape().first().copied(),
            Ok(array) => return Err(format!("extend: a column is a flat array, got shape {:?}", array.0.shape())),
            Err(_) => None,
        },
        _ => None,
    })
}

fn item(array: &Array, at: usize) -> Scalar<'static> {
    match array.get(at) {
        Some(Value::Bool(value)) => Scalar::Bool(value),
        Some(Value::Int(value)) => Scalar::Int(value),
        Some(Value::Float(value)) => Scalar::Float(value),
        _ => Scalar::Null,
    }
}

fn put(row: &mut Row, name: &str, slot: &Slot, value: &LuaValue) -> Result<(), String> {
    let scalar = match value {
        LuaValue::Nil => Scalar::Null,
        LuaValue::Boolean(value) => Scalar::Bool(*value),
        LuaValue::Integer(value) => Scalar::Int(*value),
        LuaValue::Number(value) => Scalar::Float(*value),
        LuaValue::String(text) => {
            let text = text.to_str().map_err(|_| format!("`{name}` must be UTF-8 text"))?;
            return put_scalar(row, name, slot, Scalar::Text(&text));
        }
        other => return Err(format!("`{name}` must be a scalar, got {}", convert::describe(other))),
    };
    slot.put(row, scalar).map_err(|expected| format!("`{name}` must be {expected}, got {}", convert::describe(value)))
}

fn put_scalar(row: &mut Row, name: &str, slot: &Slot, scalar: Scalar<'_>) -> Result<(), String> {
    slot.put(row, scalar).map_err(|expected| format!("`{name}` must be {expected}"))
}
