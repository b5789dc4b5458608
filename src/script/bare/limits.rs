//! Library functions that run without an end, or for ages, inside one instruction: in the bare
//! sandbox, and where instructions are limited, they refuse what would take so long.

use mlua::{Function, Lua, MultiValue, Table, Value};

use crate::script::error::{fail, message};

/// More elements than the machine's memory holds.
const MOST_ELEMENTS: i64 = 1 << 24;
/// The steps that matching a pattern may take.
const MOST_STEPS: f64 = 1e8;

/// Puts the bounded functions in place.
pub(in crate::script) fn install(lua: &Lua) -> mlua::Result<()> {
    let table: Table = lua.globals().raw_get("table")?;
    guard(lua, &table, "move", |arguments| match (arguments.get(1), arguments.get(2)) {
        (Some(first), Some(last)) => span(first, last),
        _ => Ok(()),
    })?;
    for name in ["insert", "remove", "concat", "unpack", "sort"] {
        guard(lua, &table, name, |arguments| match arguments.front() {
            Some(Value::Table(table)) => span(&Value::Integer(1), &Value::Integer(table.len()?)),
            _ => Ok(()),
        })?;
    }
    let string: Table = lua.globals().raw_get("string")?;
    for name in ["find", "match", "gmatch", "gsub"] {
        guard(lua, &string, name, move |arguments| {
            // A plain search takes no pattern.
            let plain = name == "find" && matches!(arguments.get(3), Some(Value::Boolean(true)));
            match (arguments.front(), arguments.get(1)) {
                (Some(Value::String(text)), Some(Value::String(pattern))) if !plain => {
                    cost(text.as_bytes().len(), &pattern.as_bytes())
                }
                _ => Ok(()),
            }
        })?;
    }
    // Finalisers run where no instruction is counted.
    guard(lua, &lua.globals(), "setmetatable", |arguments| match arguments.get(1) {
        Some(Value::Table(metatable)) if !metatable.raw_get::<Value>("__gc")?.is_nil() => {
            Err(mlua::Error::RuntimeError("limited code has no finalisers (`__gc`)".to_owned()))
        }
        _ => Ok(()),
    })?;
    Ok(())
}

/// Puts `check` before the function `name` of `module`.
fn guard(
    lua: &Lua,
    module: &Table,
    name: &'static str,
    check: impl Fn(&MultiValue) -> mlua::Result<()> + 'static,
) -> mlua::Result<()> {
    let stock: Function = module.raw_get(name)?;
    let guarded = lua.create_function(move |lua, arguments: MultiValue| {
        check(&arguments).map_err(|error| fail(lua, format!("{name}: {}", message(&error))))?;
        stock.call::<MultiValue>(arguments)
    })?;
    module.raw_set(name, guarded)
}

fn span(first: &Value, last: &Value) -> mlua::Result<()> {
    let (Some(first), Some(last)) = (first.as_integer(), last.as_integer()) else { return Ok(()) };
    if last.saturating_sub(first) < MOST_ELEMENTS {
        return Ok(());
    }
    Err(mlua::Error::RuntimeError(format!("limited code may not go through {MOST_ELEMENTS} elements at once")))
}

/// Refuses a pattern whose repetitions could be tried in too many ways on a text of `length`.
fn cost(length: usize, pattern: &[u8]) -> mlua::Result<()> {
    let repetitions = pattern.iter().filter(|byte| b"*+-?".contains(byte)).count();
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let base = length.max(2) as f64;
    let exponent = i32::try_from(repetitions).unwrap_or(i32::MAX).saturating_add(1);
    if repetitions == 0 || base.powi(exponent) <= MOST_STEPS {
        return Ok(());
    }
    Err(mlua::Error::RuntimeError(format!(
        "a pattern with {repetitions} repetitions on {length} bytes is too much for limited code"
    )))
}
