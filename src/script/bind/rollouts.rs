//! `skyfall.rollouts`: writing, opening and checking rollout stores.

mod chains;
mod join;
pub(in crate::script) mod oracle;
mod store;

use std::path::PathBuf;
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use indexmap::IndexMap;
use mlua::{Lua, MetaMethod, Table, UserData, UserDataMethods, Value as LuaValue};

use super::array::LuaArray;
use super::{Host, Module, line};
use crate::rollouts::{Datum, RolloutRecord, RolloutZarrStoreConfig, RolloutZarrWriteResult, Writer};
use crate::script::convert;
use crate::script::error::fail;
use crate::script::host::{Access, Console};
use crate::text::time::rfc3339_seconds;
use crate::value::Value;

/// A store being written, until it is finished.
struct LuaRolloutsWriter {
    writer: Option<Writer>,
    store_dir: PathBuf,
    console: Rc<dyn Console>,
}

impl LuaRolloutsWriter {
    /// Drops what was not finished, and says so where records were taken in for nothing.
    fn abandon(&mut self) {
        let Some(steps) = self.writer.take().map(|writer| writer.steps()).filter(|steps| *steps > 0) else { return };
        let store = self.store_dir.display();
        self.console.warn(&format!("{store} was not written: {steps} steps were added, but `finish` was not called"));
    }
}

impl Drop for LuaRolloutsWriter {
    fn drop(&mut self) {
        self.abandon();
    }
}

pub(super) fn module(module: Module<'_>) -> mlua::Result<Module<'_>> {
    let module = module.function("writer", |_, host, options: LuaValue| {
        let options = convert::read_map(&options, "options")?;
        let config = RolloutZarrStoreConfig::from_options(&options, now(host)).map_err(line)?;
        let store_dir = host.check(&config.destination(), Access::Write)?;
        let writer = Some(Writer::new(config).map_err(line)?);
        Ok(LuaRolloutsWriter { writer, store_dir, console: Rc::clone(&host.console) })
    })?;
    oracle::module(join::module(chains::module(store::module(module)?)?)?)
}

/// When a store is made: what `SOURCE_DATE_EPOCH` says, or now.
fn now(host: &Host) -> String {
    let clock = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    rfc3339_seconds(host.source_date_epoch.unwrap_or_else(clock))
}

impl UserData for LuaRolloutsWriter {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        crate::script::bind::named(methods, "skyfall.RolloutsWriter");
        methods.add_method_mut("add", |lua, this, record: LuaValue| {
            let datum = datum(&record, "record", 0).map_err(|line| fail(lua, line))?;
            let record = RolloutRecord::from_datum(&datum).map_err(|problem| fail(lua, problem))?;
            match &mut this.writer {
                Some(writer) => writer.add(&record).map_err(|problem| fail(lua, problem)),
                None => Err(fail(lua, "this store is finished")),
            }
        });
        // `local writer <close> = rollouts.writer{...}`: what was not finished goes, which needs no
        // word where an error is why.
        methods.add_meta_method_mut(MetaMethod::Close, |_, this, error: LuaValue| {
            if !error.is_nil() {
                this.writer = None;
            }
            this.abandon();
            Ok(())
        });
        methods.add_method_mut("finish", |lua, this, ()| match this.writer.take() {
            Some(writer) => {
                let result = writer.finish().map_err(|problem| fail(lua, problem))?;
                result_table(lua, &result)
            }
            None => Err(fail(lua, "this store is finished")),
        });
    }
}

fn result_table(lua: &Lua, result: &RolloutZarrWriteResult) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    table.raw_set("store_dir", result.store_dir.display().to_string())?;
    table.raw_set("num_rollouts", result.num_rollouts)?;
    table.raw_set("num_steps", result.num_steps)?;
    table.raw_set("num_candidates", result.num_candidates)?;
    table.raw_set("manifest_path", result.manifest_path.display().to_string())?;
    table.raw_set("manifest_sha256", result.manifest_sha256.as_str())?;
    Ok(table)
}

/// A record's table, native arrays among it taken as they are.
fn datum(value: &LuaValue, path: &str, depth: usize) -> Result<Datum, String> {
    const DEEPEST: usize = 16;
    if depth > DEEPEST {
        return Err(format!("`{path}` is nested too deeply; does it contain itself?"));
    }
    match value {
        LuaValue::UserData(data) => match data.borrow::<LuaArray>() {
            Ok(array) => Ok(Datum::Array(array.0.clone())),
            Err(_) => Err(format!("`{path}` must be plain data or an array, got an object")),
        },
        LuaValue::Table(table) => {
            let entries = convert::entries(table, path)?;
            let list = entries.iter().all(|(key, _)| matches!(key, LuaValue::Integer(_)));
            if list && entries.iter().all(|(_, item)| !matches!(item, LuaValue::Table(_) | LuaValue::UserData(_))) {
                // Scalars only: read in one go, with the checks of plain data.
                return Ok(match convert::read(value, path)? {
                    Value::Map(map) if map.is_empty() => Datum::Map(IndexMap::new()),
                    plain => Datum::Value(plain),
                });
            }
            if list {
                let mut items = Vec::with_capacity(entries.len());
                for (index, (key, item)) in entries.iter().enumerate() {
                    if !matches!(key, LuaValue::Integer(at) if usize::try_from(*at) == Ok(index + 1)) {
                        return Err(format!("`{path}` is a list with a hole at [{}]", index + 1));
                    }
                    items.push(datum(item, &format!("{path}[{}]", index + 1), depth + 1)?);
                }
                return Ok(Datum::List(items));
            }
            let mut map = IndexMap::with_capacity(entries.len());
            for (key, item) in &entries {
                let LuaValue::String(name) = key else {
                    return Err(format!("`{path}` mixes a list with named fields: key [{}]", convert::key_text(key)));
                };
                let name = name.to_string_lossy();
                map.insert(name.clone(), datum(item, &format!("{path}.{name}"), depth + 1)?);
            }
            Ok(Datum::Map(map))
        }
        plain => convert::read(plain, path).map(Datum::Value),
    }
}
