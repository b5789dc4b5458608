//! `skyfall.trace`: writing, loading, streaming and checking traces.

mod columns;
mod row;

use std::cell::RefCell;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use mlua::{Lua, MetaMethod, MultiValue, Table, UserData, UserDataMethods, Value as LuaValue};

use self::columns::Columns;
use self::row::{LuaRow, LuaSteps, read_row};
use super::{Module, allowed, line};
use crate::script::convert;
use crate::script::error::fail;
use crate::trace::columns::{Identity, Warning};
use crate::trace::{self, Entry, ReadOptions, Row, Writer, WriterOptions};
use crate::value::{Map, Value};

/// A trace being written, until it is closed.
struct LuaWriter {
    writer: Option<Writer>,
    row: Row,
    columns: Columns,
}

struct Options {
    append: bool,
    writer: WriterOptions,
    columns: Columns,
}

fn read_options(options: &Map) -> Result<Options, String> {
    let mut read = Options { append: false, writer: WriterOptions::default(), columns: Columns::default() };
    let wrong =
        |key: &str, expected: &str, value: &Value| format!("`options.{key}` must be {expected}, got {}", value.kind());
    for (key, value) in options {
        let flag = || value.as_bool().ok_or_else(|| wrong(key, "a boolean", value));
        match key.as_str() {
            "append" => read.append = flag()?,
            "strict_json" => read.writer.strict_json = flag()?,
            "flush_every" => {
                let rows = value.as_int().and_then(|rows| u64::try_from(rows).ok()).and_then(NonZeroU64::new);
                read.writer.flush_every = Some(rows.ok_or_else(|| wrong(key, "a number of rows", value))?);
            }
            "columns" => {
                let name = |name: &Value| name.as_text().map(str::to_owned);
                let names: Option<Vec<String>> = value.as_list().and_then(|list| list.iter().map(name).collect());
                read.columns = Columns::new(&names.ok_or_else(|| wrong(key, "a list of names", value))?)?;
            }
            _ => {
                let known = ["append", "columns", "flush_every", "strict_json"];
                return Err(format!("trace.writer: unknown option `{key}`; it takes {}", known.join(", ")));
            }
        }
    }
    Ok(read)
}

pub(super) fn module(module: Module<'_>) -> mlua::Result<Module<'_>> {
    module
        .function("writer", |_, host, (path, meta, options): (LuaValue, LuaValue, LuaValue)| {
            let path = allowed(host, &convert::text(&path, "path")?)?;
            let meta = convert::read_map(&meta, "meta")?;
            let options = read_options(&convert::read_map(&options, "options")?)?;
            let open = if options.append { Writer::append } else { Writer::create };
            let writer = open(&path, &meta, options.writer).map_err(line)?;
            Ok(LuaWriter { writer: Some(writer), row: Row::default(), columns: options.columns })
        })?
        .function("load", |lua, host, path: LuaValue| {
            let path = allowed(host, &convert::text(&path, "path")?)?;
            let runs = trace::load(&[path]).map_err(line)?;
            let table = lua.create_table_with_capacity(runs.len(), 0)?;
            for (index, run) in runs.into_iter().enumerate() {
                let own = identity_table(lua, &run.identity)?;
                own.raw_set("meta", convert::write_map(lua, &run.meta)?)?;
                own.raw_set("steps", LuaSteps(Rc::new(run)))?;
                table.raw_set(index + 1, own)?;
            }
            Ok(table)
        })?
        .function("rows", |lua, host, path: LuaValue| {
            let path = allowed(host, &convert::text(&path, "path")?)?;
            let rows = RefCell::new((trace::rows(&path).map_err(line)?, LastRun::default()));
            Ok(lua.create_function(move |lua, ()| {
                let (rows, last) = &mut *rows.borrow_mut();
                match rows.next() {
                    None => Ok((None, None)),
                    Some(Err(error)) => Err(fail(lua, error)),
                    Some(Ok(entry)) => {
                        let meta = last.table(lua, &entry)?;
                        Ok((Some(LuaRow::One(Box::new(entry.row))), Some(meta)))
                    }
                }
            })?)
        })?
        .function("check", |lua, host, path: LuaValue| {
            let path: PathBuf = allowed(host, &convert::text(&path, "path")?)?;
            let options = ReadOptions { digest: false, every_fault: true, ..ReadOptions::default() };
            let stats = trace::stats(&[path], &options).map_err(line)?;
            let faults = stats.warnings.iter().map(|warning| warning_table(lua, warning));
            let faults = faults.collect::<mlua::Result<Vec<_>>>()?;
            Ok(lua.create_sequence_from(faults)?)
        })
}

/// The last row's run, and the table that scripts see of it: the same for all rows of a run.
#[derive(Default)]
struct LastRun {
    identity: Arc<Identity>,
    meta: Arc<Map>,
    table: Option<Table>,
}

impl LastRun {
    fn table(&mut self, lua: &Lua, entry: &Entry) -> mlua::Result<Table> {
        let same = Arc::ptr_eq(&self.identity, &entry.identity) && Arc::ptr_eq(&self.meta, &entry.meta);
        if let Some(table) = &self.table
            && same
        {
            return Ok(table.clone());
        }
        let table = identity_table(lua, &entry.identity)?;
        for (key, value) in entry.meta.iter() {
            table.raw_set(key.as_str(), convert::write(lua, value)?)?;
        }
        (self.identity, self.meta) = (Arc::clone(&entry.identity), Arc::clone(&entry.meta));
        self.table = Some(table.clone());
        Ok(table)
    }
}

fn identity_table(lua: &Lua, identity: &Identity) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    for (key, value) in identity.as_written() {
        table.raw_set(key, convert::write(lua, value)?)?;
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

impl LuaWriter {
    fn open(&mut self, lua: &Lua) -> mlua::Result<(&mut Writer, &mut Row, &mut Columns)> {
        match &mut self.writer {
            Some(writer) => Ok((writer, &mut self.row, &mut self.columns)),
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
        crate::script::bind::named(methods, "skyfall.TraceWriter");
        methods.add_method_mut("write", |lua, this, row: LuaValue| {
            let (writer, buffer, _) = this.open(lua)?;
            match &row {
                LuaValue::Table(table) => read_row(table, buffer).map_err(|line| fail(lua, line))?,
                LuaValue::UserData(data) if data.is::<LuaRow>() => {
                    data.borrow::<LuaRow>()?.with(|row| buffer.clone_from(row));
                }
                other => {
                    return Err(fail(lua, format!("a row must be a table, got {}", convert::describe(other))));
                }
            }
            writer.write(buffer).map_err(|error| fail(lua, error))
        });
        methods.add_method_mut("push", |lua, this, values: MultiValue| {
            let (writer, _, columns) = this.open(lua)?;
            columns.push(writer, &values).map_err(|line| fail(lua, line))
        });
        methods.add_method_mut("extend", |lua, this, table: LuaValue| {
            let LuaValue::Table(table) = table else {
                return Err(fail(
                    lua,
                    format!("extend: expected a table of columns, got {}", convert::describe(&table)),
                ));
            };
            let (writer, _, columns) = this.open(lua)?;
            columns.extend(writer, &table).map_err(|line| fail(lua, line))
        });
        methods.add_method_mut("flush", |lua, this, ()| {
            let (writer, ..) = this.open(lua)?;
            writer.flush().map_err(|error| fail(lua, error))
        });
        methods.add_method_mut("close", |lua, this, ()| this.close(lua));
        methods.add_meta_method_mut(MetaMethod::Close, |lua, this, _: LuaValue| this.close(lua));
    }
}
