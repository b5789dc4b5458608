//! Observations and actions across the border.

use mlua::{IntoLua, Lua, Value as LuaValue};

use super::array::LuaArray;
use crate::array::Array;
use crate::script::convert;
use crate::space::{Element, Space};

/// `element` as a Lua value: an integer, a native array, text, or a table of these.
pub(super) fn to_lua(lua: &Lua, element: &Element) -> mlua::Result<LuaValue> {
    match element {
        Element::Discrete(value) => Ok(LuaValue::Integer(*value)),
        Element::Array(array) => LuaArray::new(array.clone()).into_lua(lua),
        Element::Text(text) => text.as_str().into_lua(lua),
        Element::Tuple(items) => {
            let table = lua.create_table_with_capacity(items.len(), 0)?;
            for (index, item) in items.iter().enumerate() {
                table.raw_set(index + 1, to_lua(lua, item)?)?;
            }
            Ok(LuaValue::Table(table))
        }
        Element::Dict(items) => {
            let table = lua.create_table_with_capacity(0, items.len())?;
            for (name, item) in items {
                table.raw_set(name.as_str(), to_lua(lua, item)?)?;
            }
            Ok(LuaValue::Table(table))
        }
    }
}

/// A Lua value as an element of `space`; whether it lies within the bounds is for the space to say.
///
/// # Errors
/// One line naming the field that is of the wrong kind.
pub(super) fn from_lua(value: &LuaValue, space: &Space, path: &str) -> Result<Element, String> {
    match (space, value) {
        (Space::Discrete { .. }, value) => convert::integer(value, path).map(Element::Discrete),
        (Space::Box(space), LuaValue::Table(table)) if table.raw_len() > 0 => {
            super::array::array_from_table(table, space.dtype(), path).map(Element::Array)
        }
        (Space::Box(space), LuaValue::UserData(data))
            if data.borrow::<LuaArray>().is_ok_and(|array| array.0.dtype() == space.dtype()) =>
        {
            let array = data.borrow::<LuaArray>().map(|array| array.0.clone());
            array.map(Element::Array).map_err(|_| format!("`{path}` is in use"))
        }
        (Space::Box(_), other) if !matches!(other, LuaValue::Table(_) | LuaValue::UserData(_)) => {
            Err(format!("`{path}` must be a list of numbers or an array, got {}", convert::describe(other)))
        }
        (space, value) => space.element(&convert::read(value, path)?, path),
    }
}

/// Reads a Lua value into `element`, without allocating where a table of numbers meets a float32
/// vector of its length.
///
/// # Errors
/// As [`from_lua`].
pub(super) fn read_into(value: &LuaValue, space: &Space, path: &str, element: &mut Element) -> Result<(), String> {
    if let (LuaValue::Table(table), Space::Box(space), Element::Array(Array::F32(array))) =
        (value, space, &mut *element)
        && let ([length], [present]) = (space.shape(), array.shape())
        && (length, *length) == (present, table.raw_len())
    {
        let mut whole = true;
        for (index, slot) in array.iter_mut().enumerate() {
            #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "rounded to the dtype")]
            match table.raw_get::<LuaValue>(index + 1) {
                Ok(LuaValue::Number(number)) => *slot = number as f32,
                Ok(LuaValue::Integer(number)) => *slot = number as f32,
                _ => whole = false,
            }
        }
        if whole {
            return Ok(());
        }
    }
    *element = from_lua(value, space, path)?;
    Ok(())
}

/// Checks that `element` lies within `space`.
///
/// # Errors
/// One line that names the number at fault, or the shape.
pub(super) fn within(space: &Space, element: &Element, path: &str) -> Result<(), String> {
    space.fault(element, path).map_or(Ok(()), Err)
}
