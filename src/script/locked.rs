//! Tables that a script may read and not change: the globals, the standard library, the modules of
//! skyfall's own. A name that silently came to mean something else would do so for every module of
//! the script, and for every term of a bundle.
//!
//! A locked table is an empty one in front of the real one: reading falls through, and since no
//! field is ever there, every assignment is seen. The real one is handed to no script.

use mlua::{Function, Lua, Table, Value};

use crate::script::convert;
use crate::script::error::{LIBRARY_CHUNK, fail};

/// The registry name of what makes a lock's metatable.
const MAKE: &str = "skyfall.locked";
/// Where a lock's metatable has what is behind it.
const BEHIND: &str = "__library";

/// Puts in place what [`lock`] needs; before any table is locked.
pub(super) fn install(lua: &Lua) -> mlua::Result<()> {
    let refuse = lua.create_function(|lua, (owner, key): (String, Value)| {
        let key = convert::key_text(&key);
        let whole = if owner.is_empty() { key.clone() } else { format!("{owner}.{key}") };
        Err::<(), _>(fail(
            lua,
            format!("`{whole}` is not a script's to change; give your own a name with `local {key}`"),
        ))
    })?;
    let code = r#"
        local refuse = ...
        local next, rawequal, rawget = next, rawequal, rawget
        return function(owner, real, locked, free)
          local function step(_, key) return next(real, key) end
          return {
            __index = real,
            __newindex = function(_, key, value)
              local known = rawget(real, key)
              -- To set what is there anyway is to change nothing.
              if known ~= nil and rawequal(known, value) then return end
              if known == nil and free then return free(locked, key, value) end
              return refuse(owner, key)
            end,
            __pairs = function() return step, locked, nil end,
            __metatable = "locked",
            __library = real,
          }
        end
    "#;
    let make: Function = lua.load(code).set_name(format!("={LIBRARY_CHUNK}")).call(refuse)?;
    lua.set_named_registry_value(MAKE, make)?;
    guard_raw_access(lua)
}

/// A table that reads as `real` and cannot be written; `owner` is how messages call it.
pub(super) fn lock(lua: &Lua, owner: &str, real: &Table) -> mlua::Result<Table> {
    let locked = lua.create_table()?;
    let metatable = put(lua, owner, real, &locked, None)?;
    // What can be called, or knows how to go through all it has, does so behind the lock as well.
    if let Some(own) = real.metatable() {
        for event in ["__call", "__pairs"] {
            if let handler @ Value::Function(_) = own.raw_get(event)? {
                metatable.raw_set(event, handler)?;
            }
        }
    }
    Ok(locked)
}

/// A table that reads as `real`, whose every assignment is a call of `set` with the table, the key
/// and the value.
pub(super) fn watch(lua: &Lua, owner: &str, real: &Table, set: Function) -> mlua::Result<Table> {
    let locked = lua.create_table()?;
    put(lua, owner, real, &locked, None)?.raw_set("__newindex", set)?;
    Ok(locked)
}

/// Locks the globals: `new` is called with the table, a name and a value to define a name that is
/// not there yet. Answers the table that is behind them.
pub(super) fn lock_globals(lua: &Lua, new: Function) -> mlua::Result<Table> {
    let (globals, real) = (lua.globals(), lua.create_table()?);
    let entries = globals.pairs::<Value, Value>().collect::<mlua::Result<Vec<_>>>()?;
    for (name, value) in entries {
        globals.raw_set(&name, Value::Nil)?;
        real.raw_set(name, value)?;
    }
    put(lua, "", &real, &globals, Some(new))?;
    Ok(real)
}

fn put(lua: &Lua, owner: &str, real: &Table, locked: &Table, new: Option<Function>) -> mlua::Result<Table> {
    let make: Function = lua.named_registry_value(MAKE)?;
    let metatable: Table = make.call((owner, real, locked, new))?;
    locked.set_metatable(Some(metatable.clone()))?;
    Ok(metatable)
}

/// The table behind `table`, if it is locked; else itself.
pub(super) fn behind(table: Table) -> Table {
    table.metatable().and_then(|metatable| metatable.raw_get(BEHIND).ok()).unwrap_or(table)
}

/// `rawset` passes metatables by, but no lock; `rawget` looks behind one.
fn guard_raw_access(lua: &Lua) -> mlua::Result<()> {
    let globals = lua.globals();
    let (set, get): (Function, Function) = (globals.raw_get("rawset")?, globals.raw_get("rawget")?);
    let guarded = lua.create_function(move |lua, (table, name, value): (Value, Value, Value)| {
        let locked = |table: &Table| table.metatable()?.raw_get::<mlua::LuaString>("__metatable").ok();
        if let Value::Table(table) = &table
            && locked(table).is_some_and(|word| word.as_bytes() == b"locked")
        {
            return Err(fail(
                lua,
                format!("rawset: the table is locked; `{}` cannot be set in it", convert::key_text(&name)),
            ));
        }
        set.call::<Value>((table, name, value))
    })?;
    globals.raw_set("rawset", guarded)?;
    let looking = lua.create_function(move |_, (table, name): (Value, Value)| match table {
        Value::Table(table) => get.call::<Value>((behind(table), name)),
        other => get.call::<Value>((other, name)),
    })?;
    globals.raw_set("rawget", looking)
}
