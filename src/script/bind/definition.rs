//! What a script defines under a name: a table of functions and plain data, read once, and its
//! form by value.

use mlua::{Function, Lua, Table, Value as LuaValue};

use super::Fault;
use super::reward::{lua_record, recorded_source};
use crate::script::budget;
use crate::script::convert;
use crate::script::error::message;
use crate::script::host::Host;
use crate::script::source;
use crate::suggest;
use crate::value::{Map, Value};

/// A definition's table under reading: every fault names the function and the field.
pub(super) struct Definition<'a> {
    /// The library function that was called, such as `env.define`.
    function: &'static str,
    table: &'a Table,
}

impl<'a> Definition<'a> {
    /// The definition in `value`, whose keys are all among `known`.
    ///
    /// # Errors
    /// When it is no table, or has another key.
    pub(super) fn new(function: &'static str, value: &'a LuaValue, known: &[&str]) -> Result<Self, Fault> {
        let LuaValue::Table(table) = value else {
            let got = convert::describe(value);
            return Err(Fault::Line(format!("{function}: the definition must be a table, got {got}")));
        };
        for (key, _) in convert::entries(table, "definition")? {
            let key = convert::key_text(&key);
            if !known.contains(&key.as_str()) {
                let hint = suggest::hint(&key, "it takes", known.iter().copied());
                return Err(Fault::Line(format!("{function}: unknown key `{key}`; {hint}")));
            }
        }
        Ok(Self { function, table })
    }

    /// The field `name` as it is.
    pub(super) fn value(&self, name: &str) -> Result<LuaValue, Fault> {
        Ok(self.table.raw_get(name)?)
    }

    /// The field `name`, which must be text and not empty.
    pub(super) fn name(&self, name: &str) -> Result<String, Fault> {
        let text = convert::text(&self.value(name)?, name).map_err(|line| self.fault(line))?;
        if text.is_empty() { Err(self.fault(format!("`{name}` must not be empty"))) } else { Ok(text) }
    }

    /// The function in field `name`, if there is one.
    pub(super) fn optional(&self, name: &str) -> Result<Option<Function>, Fault> {
        match self.value(name)? {
            LuaValue::Nil => Ok(None),
            LuaValue::Function(function) => Ok(Some(function)),
            other => Err(self.fault(format!("`{name}` must be a function, got {}", convert::describe(&other)))),
        }
    }

    /// The function in field `name`.
    pub(super) fn function(&self, name: &str) -> Result<Function, Fault> {
        self.optional(name)?.ok_or_else(|| self.fault(format!("`{name}` is missing; it must be a function")))
    }

    /// The named defaults in field `name`; `None` where it is absent.
    pub(super) fn defaults(&self, name: &str) -> Result<Option<Map>, Fault> {
        let value = self.value(name)?;
        let read = (!value.is_nil()).then(|| convert::read_map(&value, name)).transpose();
        read.map_err(|line| self.fault(line))
    }

    /// A fault of this definition.
    pub(super) fn fault(&self, line: impl std::fmt::Display) -> Fault {
        Fault::Line(format!("{}: {line}", self.function))
    }
}

/// `given` over `defaults`: a value that is given must be of its default's kind.
///
/// # Errors
/// One line that names the argument at fault.
pub(super) fn over_defaults(defaults: &Map, given: &Map) -> Result<Map, String> {
    let mut merged = defaults.clone();
    for (name, value) in given {
        let Some(default) = merged.get_mut(name) else {
            let hint = suggest::hint(name, "it takes", defaults.keys().map(String::as_str));
            return Err(format!("takes no argument `{name}`; {hint}"));
        };
        *default = like(default, value).map_err(|kind| format!("`{name}` must be {kind}, got {}", value.kind()))?;
    }
    merged.sort_keys();
    Ok(merged)
}

/// `value` as a value of the kind of `default`: a float takes an integer.
///
/// # Errors
/// The kind.
fn like(default: &Value, value: &Value) -> Result<Value, &'static str> {
    match (default, value) {
        (Value::Float(_), value) => value.as_float().map(Value::Float).ok_or("a number"),
        (Value::Int(_), value) => match value.as_int() {
            Some(whole) => Ok(Value::Int(whole)),
            // A default such as 10 stands for "a number" as often as for "a whole one".
            None => value.as_float().map(Value::Float).ok_or("a number"),
        },
        (default, value) if std::mem::discriminant(default) == std::mem::discriminant(value) => Ok(value.clone()),
        (default, _) => Err(default.kind()),
    }
}

/// The table that a recorded definition stands for, its code run in `lua`.
///
/// # Errors
/// One line when the record was changed, does not compile, or raises.
pub(super) fn table_from_source(lua: &Lua, name: &str, code: &Value) -> Result<Table, String> {
    let source = recorded_source(code)?;
    budget::recorded(lua, name, source).map_err(|error| message(&error))
}

/// What a fault says, without a position.
pub(super) fn text(fault: Fault) -> String {
    match fault {
        Fault::Line(line) => line,
        Fault::Lua(error) => message(&error),
    }
}

/// `file:line: ` where `function` stands.
pub(super) fn place(function: &Function) -> String {
    let info = function.info();
    match (info.short_src, info.line_defined) {
        (Some(file), Some(line)) => format!("{file}:{line}: "),
        _ => String::new(),
    }
}

/// The definition in `value` by value, as the manifest keeps it.
///
/// # Errors
/// One line naming what cannot be recorded.
pub(super) fn record(host: &Host, value: &LuaValue) -> Result<Value, String> {
    source::record(host, value).map(|source| lua_record(&source))
}
