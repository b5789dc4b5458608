//! `skyfall.trace`: writing, loading, streaming and checking traces.

use std::cell::RefCell;
use std::path::PathBuf;

use mlua::{Lua, MetaMethod, Table, UserData, UserDataMethods, Value as LuaValue};

use super::{Fault, Module, allowed, line};
use crate::script::convert;
use crate::script::error::fail;
use crate::trace::columns::{Identity, Warning};
use crate::trace::{self, ReadOptions, Row, Writer, WriterOptions};
use crate::value::Value;

/// A trace being written, until it is closed.
struct LuaWriter {
    writer: Option<Writer>,
    row: Row,
}

pub(super) fn module(module: Module<'_>) -> mlua::Result<Module<'_>> {
    module
        .function("writer", |_, host, (path, meta, options): (LuaValue, LuaValue, LuaValue)| {
            let path = allowed(host, &convert::text(&path, "path")?)?;
            let meta = convert::read_map(&meta, "meta")?;
            let mut writer_options = WriterOptions::default();
            let mut append = false;
            for (key, value) in convert::read_map(&options, "options")? {
                match (key.as_str(), &value) {
                    ("append", Value::Bool(value)) => append = *value,
                    ("strict_json", Value::Bool(value)) => writer_options.strict_json = *value,
                    ("append" | "strict_json", other) => {
                        return Err(Fault::Line(format!("`options.{key}` must be a boolean, got {}", other.kind())));
                    }
                    _ => {
                        return Err(Fault::Line(format!(
                            "trace.writer: unknown option `{key}`; it takes append, strict_json"
                        )));
                    }
                }
            }
            let open = if append { Writer::append } else { Writer::create };
            let writer = open(&path, &meta, writer_options).map_err(line)?;
            Ok(LuaWriter { writer: Some(writer), row: Row::default() })
        })?
        .function("load", |lua, host, path: LuaValue| {
            let path = allowed(host, &convert::text(&path, "path")?)?;
            let runs = trace::load(&[path]).map_err(line)?;
            let table = lua.create_table_with_capacity(runs.len(), 0)?;
            for (index, run) in runs.iter().enumerate() {
                let own = identity_table(lua, &run.identity)?;
                own.raw_set("meta", convert::write_map(lua, &run.meta)?)?;
                let steps = lua.create_table_with_capacity(run.steps.len(), 0)?;
                for (step, row) in run.steps.iter().enumerate() {
                    steps.raw_set(step + 1, row_table(lua, row)?)?;
                }
                own.raw_set("steps", steps)?;
                table.raw_set(index + 1, own)?;
            }
            Ok(table)
        })?
        .function("rows", |lua, host, path: LuaValue| {
            let path = allowed(host, &convert::text(&path, "path")?)?;
            let rows = RefCell::new(trace::rows(&path).map_err(line)?);
            Ok(lua.create_function(move |lua, ()| match rows.borrow_mut().next() {
                None => Ok((LuaValue::Nil, LuaValue::Nil)),
                Some(Err(error)) => Err(fail(lua, error)),
                Some(Ok(entry)) => {
                    let meta = identity_table(lua, &entry.identity)?;
                    for (key, value) in entry.meta.iter() {
                        meta.raw_set(key.as_str(), convert::write(lua, value)?)?;
                    }
                    Ok((LuaValue::Table(row_table(lua, &entry.row)?), LuaValue::Table(meta)))
                }
            })?)
        })?
        .function("check", |lua, host, path: LuaValue| {
            let path: PathBuf = allowed(host, &convert::text(&path, "path")?)?;
            let options = ReadOptions { digest: false, every_fault: true, ..ReadOptions::default() };
            let columns = trace::read_columns(&[path], &options).map_err(line)?;
            let faults = columns.warnings.iter().map(|warning| warning_table(lua, warning));
            let faults = faults.collect::<mlua::Result<Vec<_>>>()?;
            Ok(lua.create_sequence_from(faults)?)
        })
}

fn identity_table(lua: &Lua, identity: &Identity) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    for (key, value) in &identity.fields {
        table.raw_set(*key, convert::write(lua, value)?)?;
    }
    Ok(table)
}

fn warning_table(lua: &Lua, warning: &Warning) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    table.raw_set("code", warning.code)?;
    table.raw_set("message", warning.message.as_str())?;
    table.raw_set("file", warning.file.as_deref())?;
    table.raw_set("line", warning.line)?;
    table.raw_set("step", warning.step)?;
    table.raw_set("count", warning.count)?;
    Ok(table)
}

/// A row as a table; null fields are absent.
fn row_table(lua: &Lua, row: &Row) -> mlua::Result<Table> {
    let table = convert::write_map(lua, &row.extra)?;
    table.raw_set("step", row.step)?;
    table.raw_set("regime_id", row.regime_id.as_deref())?;
    table.raw_set("regime_origin", row.regime_origin.as_deref())?;
    table.raw_set("observed_at", row.observed_at.as_deref())?;
    table.raw_set("action", convert::write(lua, row.action.as_ref().unwrap_or(&Value::Null))?)?;
    table.raw_set("reward", row.reward)?;
    let components = lua.create_table_with_capacity(0, row.reward_components.len())?;
    for (name, value) in &row.reward_components {
        components.raw_set(name.as_str(), *value)?;
    }
    table.raw_set("reward_components", components)?;
    table.raw_set("reward_detail", convert::write_map(lua, &row.reward_detail)?)?;
    table.raw_set("invalid_action", row.invalid_action)?;
    table.raw_set("effective_rank", row.effective_rank)?;
    table.raw_set("ticket_snapshot", convert::write_map(lua, &row.ticket_snapshot)?)?;
    table.raw_set("verifier_snapshot", convert::write_map(lua, &row.verifier_snapshot)?)?;
    Ok(table)
}

/// Reads a row from a table into `row`, whose buffers are kept. Maps are written in sorted order,
/// for a table has none; unknown keys become further keys of the row.
fn read_row(table: &Table, row: &mut Row) -> Result<(), String> {
    let get = |name: &str| table.raw_get::<LuaValue>(name).map_err(|error| error.to_string());
    let text = |name: &str| match get(name)? {
        LuaValue::Nil => Ok(None),
        value => convert::text(&value, name).map(Some),
    };
    row.step = match get("step")? {
        LuaValue::Nil => return Err("the row has no `step`".to_owned()),
        value => convert::integer(&value, "step")?,
    };
    row.reward = match get("reward")? {
        LuaValue::Nil => return Err("the row has no `reward`".to_owned()),
        value => convert::number(&value, "reward")?,
    };
    row.regime_id = text("regime_id")?;
    row.regime_origin = text("regime_origin")?;
    row.observed_at = text("observed_at")?;
    row.action = match convert::read(&get("action")?, "action")? {
        Value::Null => None,
        action @ Value::Map(_) => Some(action),
        other => return Err(format!("`action` must be a table of named fields, got {}", other.kind())),
    };
    row.reward_components.clear();
    for (name, value) in convert::read_map(&get("reward_components")?, "reward_components")? {
        let number = value.as_float();
        let number =
            number.ok_or_else(|| format!("`reward_components.{name}` must be a number, got {}", value.kind()))?;
        row.reward_components.insert(name, number);
    }
    row.reward_detail = convert::read_map(&get("reward_detail")?, "reward_detail")?;
    row.invalid_action = match get("invalid_action")? {
        LuaValue::Nil => false,
        LuaValue::Boolean(value) => value,
        other => return Err(format!("`invalid_action` must be a boolean, got {}", convert::describe(&other))),
    };
    row.effective_rank = match get("effective_rank")? {
        LuaValue::Nil => None,
        value => Some(convert::number(&value, "effective_rank")?),
    };
    row.ticket_snapshot = convert::read_map(&get("ticket_snapshot")?, "ticket_snapshot")?;
    row.verifier_snapshot = convert::read_map(&get("verifier_snapshot")?, "verifier_snapshot")?;
    row.extra.clear();
    for (key, value) in convert::entries(table, "row")? {
        let name = convert::key_text(&key);
        if !trace::row::STEP_FIELDS.contains(&name.as_str()) {
            row.extra.insert(name.clone(), convert::read(&value, &name)?);
        }
    }
    Ok(())
}

impl LuaWriter {
    fn open(&mut self, lua: &Lua) -> mlua::Result<(&mut Writer, &mut Row)> {
        match &mut self.writer {
            Some(writer) => Ok((writer, &mut self.row)),
            None => Err(fail(lua, "this trace is closed")),
        }
    }

    fn close(&mut self, lua: &Lua) -> mlua::Result<()> {
        match self.writer.take() {
            Some(mut writer) => writer.close().map(drop).map_err(|error| fail(lua, error)),
            None => Ok(()),
        }
    }
}

impl UserData for LuaWriter {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method_mut("write", |lua, this, row: LuaValue| {
            let LuaValue::Table(table) = row else {
                return Err(fail(lua, format!("a row must be a table, got {}", convert::describe(&row))));
            };
            let (writer, buffer) = this.open(lua)?;
            read_row(&table, buffer).map_err(|line| fail(lua, line))?;
            writer.write(buffer).map_err(|error| fail(lua, error))
        });
        methods.add_method_mut("flush", |lua, this, ()| {
            let (writer, _) = this.open(lua)?;
            writer.flush().map_err(|error| fail(lua, error))
        });
        methods.add_method_mut("close", |lua, this, ()| this.close(lua));
        methods.add_meta_method_mut(MetaMethod::Close, |lua, this, _: LuaValue| this.close(lua));
    }
}
