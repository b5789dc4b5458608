//! Stores open for reading, and checks of them. Rows count from 1 here, as arrays do in Lua.

use std::ops::Range;
use std::path::PathBuf;

use mlua::{Lua, Table, UserData, UserDataFields, UserDataMethods, Value as LuaValue};

use crate::array::Array;
use crate::rollouts::{self, CodecTables, Columns, Groups, InfoSections, Profile, Store};
use crate::script::bind::array::LuaArray;
use crate::script::bind::{Module, line, readable};
use crate::script::convert;
use crate::script::error::fail;
use crate::value::{Map, Value};

/// A store open for reading.
struct LuaStore(Store);

/// Rows of a table by an id.
struct LuaGroups(Groups);

pub(super) fn module(module: Module<'_>) -> mlua::Result<Module<'_>> {
    module
        .function("open", |_, host, path: LuaValue| {
            let path: PathBuf = readable(host, &convert::text(&path, "store_dir")?)?;
            Ok(LuaStore(Store::open(&path).map_err(line)?))
        })?
        .function("validate", |lua, host, path: LuaValue| {
            let path: PathBuf = readable(host, &convert::text(&path, "store_dir")?)?;
            let validation = rollouts::validate(&path).map_err(line)?;
            Ok(convert::write(lua, &rollouts::validation(&validation))?)
        })
}

/// Columns as a table of arrays.
pub(super) fn columns_table(lua: &Lua, columns: Columns) -> mlua::Result<Table> {
    let table = lua.create_table_with_capacity(0, columns.len())?;
    for (name, array) in columns {
        table.raw_set(name.as_str(), LuaArray::new(array))?;
    }
    Ok(table)
}

/// Rows `first` to `last`, both counted from 1 and both included, as a range from 0.
fn range(first: Option<i64>, last: Option<i64>) -> Result<Range<usize>, String> {
    let start = match first.unwrap_or(1) {
        first @ 1.. => usize::try_from(first - 1).unwrap_or(usize::MAX),
        first => return Err(format!("rows count from 1, got {first}")),
    };
    let end = match last {
        None => usize::MAX,
        Some(last @ 0..) => usize::try_from(last).unwrap_or(usize::MAX),
        Some(last) => return Err(format!("rows count from 1, got {last}")),
    };
    Ok(start..end.max(start))
}

/// The options of a method, all of which must be known.
pub(super) fn options(value: &LuaValue, method: &str, known: &[&str]) -> Result<Map, String> {
    let options = convert::read_map(value, "options")?;
    match options.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(format!("{method}: unknown option `{key}`; it takes {}", known.join(", "))),
        None => Ok(options),
    }
}

/// An option that is an integer.
pub(super) fn integer(options: &Map, key: &str) -> Result<Option<i64>, String> {
    match options.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value.as_int().map(Some).ok_or_else(|| format!("`{key}` must be an integer")),
    }
}

impl UserData for LuaGroups {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("keys", |lua, this| numbers(lua, this.0.keys().iter().copied()));
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        crate::script::bind::named(methods, "skyfall.RolloutsGroups");
        methods.add_method("rows", |lua, this, key: i64| {
            numbers(lua, this.0.rows(key).iter().map(|row| i64::try_from(*row).map_or(0, |row| row + 1)))
        });
    }
}

/// A vector of `i64`.
fn numbers(lua: &Lua, numbers: impl Iterator<Item = i64>) -> mlua::Result<LuaArray> {
    let numbers: Vec<i64> = numbers.collect();
    let array = Array::from_vec(&[numbers.len()], numbers);
    array.map(LuaArray::new).map_err(|error| fail(lua, error.to_string()))
}

impl UserData for LuaStore {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("attributes", |lua, this| convert::write_map(lua, &this.0.attributes()));
        fields.add_field_method_get("manifest", |lua, this| {
            let manifest = this.0.manifest().map_err(|problem| fail(lua, problem))?;
            convert::write(lua, &manifest)
        });
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        crate::script::bind::named(methods, "skyfall.RolloutsStore");
        methods.add_method("array", |lua, this, (path, first, last): (LuaValue, Option<i64>, Option<i64>)| {
            let path = convert::text(&path, "path").map_err(|line| fail(lua, line))?;
            let rows = range(first, last).map_err(|line| fail(lua, line))?;
            this.0.rows(&path, rows).map(LuaArray::new).map_err(|problem| fail(lua, problem))
        });
        methods.add_method("columns", |_, this, group: String| Ok(this.0.columns(&group)));
        methods.add_method("dictionary", |lua, this, name: String| {
            this.0.dictionary(&name).map_err(|problem| fail(lua, problem))
        });
        methods.add_method("table", |lua, this, (group, given): (LuaValue, LuaValue)| {
            let read = || -> Result<(String, Vec<String>, Range<usize>), String> {
                let group = convert::text(&group, "group")?;
                let options = options(&given, "table", &["columns", "first", "last"])?;
                let names = options.get("columns").and_then(Value::as_list).unwrap_or_default();
                let names = names.iter().map(|name| name.as_text().map(str::to_owned));
                let names = names.collect::<Option<_>>().ok_or("`columns` must be a list of names")?;
                Ok((group, names, range(integer(&options, "first")?, integer(&options, "last")?)?))
            };
            let (group, names, rows) = read().map_err(|line| fail(lua, line))?;
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            columns_table(lua, this.0.table(&group, &names, rows).map_err(|problem| fail(lua, problem))?)
        });
        methods.add_method("candidate_shell_index", |lua, this, ()| {
            this.0.candidate_shell_index().map(LuaGroups).map_err(|problem| fail(lua, problem))
        });
        methods.add_method("candidate_codec_tables", |lua, this, ()| {
            match this.0.candidate_codec_tables().map_err(|problem| fail(lua, problem))? {
                Some(codec) => codec_table(lua, codec).map(LuaValue::Table),
                None => Ok(LuaValue::Nil),
            }
        });
        methods.add_method("q_h_view", |lua, this, given: LuaValue| {
            let options = options(&given, "q_h_view", &["discount_gamma"]).map_err(|line| fail(lua, line))?;
            let gamma = match options.get("discount_gamma") {
                None | Some(Value::Null) => None,
                Some(value) => Some(value.as_float().ok_or_else(|| fail(lua, "`discount_gamma` must be a number"))?),
            };
            columns_table(lua, this.0.q_h_view(gamma).map_err(|problem| fail(lua, problem))?)
        });
        methods.add_method("info", |lua, this, given: LuaValue| {
            let options =
                options(&given, "info", &["validate", "stats", "preflight"]).map_err(|line| fail(lua, line))?;
            let flag = |key: &str| options.get(key) == Some(&Value::Bool(true));
            let preflight = match options.get("preflight").and_then(Value::as_text) {
                None => None,
                Some("smoke") => Some(Profile::Smoke),
                Some("production") => Some(Profile::Production),
                Some(other) => return Err(fail(lua, format!("preflight is `smoke` or `production`, got `{other}`"))),
            };
            let sections = InfoSections { validate: flag("validate"), stats: flag("stats"), preflight };
            let info = rollouts::info(&this.0, sections).map_err(|problem| fail(lua, problem))?;
            convert::write(lua, &info.tree)
        });
        methods.add_method("random_index", |lua, this, given: LuaValue| {
            let options = options(&given, "random_index", &["min_horizon", "seed"]).map_err(|line| fail(lua, line))?;
            let int = |key: &str| integer(&options, key).map_err(|line| fail(lua, line));
            let drawn = rollouts::random_index(&this.0, int("min_horizon")?.unwrap_or(2), int("seed")?.unwrap_or(0));
            convert::write_map(lua, &drawn.map_err(|problem| fail(lua, problem))?)
        });
    }
}

fn codec_table(lua: &Lua, codec: CodecTables) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    for (name, columns) in [
        ("step_candidate_facts", codec.step_candidate_facts),
        ("candidate_semantics", codec.candidate_semantics),
        ("candidate_criteria", codec.candidate_criteria),
        ("candidate_actions", codec.candidate_actions),
        ("candidate_valids", codec.candidate_valids),
    ] {
        table.raw_set(name, columns_table(lua, columns)?)?;
    }
    for (name, groups) in [
        ("facts_by_step", codec.facts_by_step),
        ("semantics_by_candidate", codec.semantics_by_candidate),
        ("criteria_by_candidate", codec.criteria_by_candidate),
        ("actions_by_step", codec.actions_by_step),
        ("valids_by_step", codec.valids_by_step),
    ] {
        table.raw_set(name, LuaGroups(groups))?;
    }
    table.raw_set("texts", codec.texts)?;
    Ok(table)
}
