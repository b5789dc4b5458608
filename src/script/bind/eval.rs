//! `skyfall.eval`.

mod custom;

use std::path::{Path, PathBuf};

use mlua::{Lua, Value as LuaValue};

use super::{Fault, Module, allowed, line};
use crate::eval::output::{self, Format};
use crate::eval::{self, Material, Paths, Report, Settings};
use crate::script::convert;
use crate::script::host::Host;
use crate::text::json;
use crate::value::{Map, Value};

pub(super) fn module(module: Module<'_>) -> mlua::Result<Module<'_>> {
    module
        .function("traces", |lua, host, (traces, options): (LuaValue, LuaValue)| {
            let (options, own) = custom::split(lua, &options)?;
            let report = report(lua, host, &traces, options, &own)?;
            Ok(convert::write(lua, &report.to_value())?)
        })?
        .function("report", |lua, host, (traces, file, options): (LuaValue, LuaValue, LuaValue)| {
            let file = convert::text(&file, "file")?;
            let path = allowed(host, &file)?;
            let (mut options, own) = custom::split(lua, &options)?;
            let format = format(options.shift_remove("format"), &path)?;
            let report = report(lua, host, &traces, options, &own)?;
            output::write(&report, format, &path).map_err(|error| Fault::Line(error.to_string()))
        })
}

/// The format asked for, else the one that the file's ending names.
fn format(asked: Option<Value>, path: &Path) -> Result<Format, Fault> {
    let format = match &asked {
        None => Format::of_file(path),
        Some(name) => Format::ALL.into_iter().find(|format| name.as_text() == Some(format.name())),
    };
    format.ok_or_else(|| {
        let names = Format::ALL.map(Format::name).join(", ");
        Fault::Line(format!("`format`, or else the ending of `file`, must be one of {names}"))
    })
}

/// The evaluation asked for: options are the long flags of `skyfall eval`, `_` for `-`.
fn report(
    lua: &Lua,
    host: &Host,
    traces: &LuaValue,
    options: Map,
    own: &[custom::Definition],
) -> Result<Report, Fault> {
    let mut paths = Paths { traces: files(host, &convert::read(traces, "paths")?, "paths")?, ..Paths::default() };
    let mut settings = Settings::default();
    for (key, value) in options {
        match (key.as_str(), &value) {
            ("frozen", _) => paths.frozen = files(host, &value, "frozen")?,
            ("baseline", _) => paths.baseline = files(host, &value, "baseline")?,
            ("bounds", Value::Text(file)) => settings.set(&key, &read_json(host, file)?).map_err(line)?,
            ("regret_ref", Value::Text(file)) if file != "run" && file != "set" => {
                settings.set(&key, &read_json(host, file)?).map_err(line)?;
            }
            _ => settings.set(&key, &value).map_err(line)?,
        }
    }
    let material = Material::read(&paths, &settings).map_err(line)?;
    let customs: Vec<_> = own.iter().map(|definition| definition.custom(lua)).collect();
    eval::evaluate_with(material, &settings, &customs).map_err(line)
}

/// A path or a list of paths.
fn files(host: &Host, value: &Value, name: &str) -> Result<Vec<PathBuf>, Fault> {
    let one = |item: &Value| match item.as_text() {
        Some(path) => allowed(host, path),
        None => Err(Fault::Line(format!("`{name}` must be a path or a list of paths, got {}", item.kind()))),
    };
    match value {
        Value::List(items) => items.iter().map(one).collect(),
        item => Ok(vec![one(item)?]),
    }
}

/// A JSON file as plain data.
fn read_json(host: &Host, file: &str) -> Result<Value, Fault> {
    let refuse = |error: String| Fault::Line(format!("{file}: {error}"));
    let text = std::fs::read_to_string(allowed(host, file)?).map_err(|error| refuse(error.to_string()))?;
    json::parse(&text).map_err(|error| refuse(error.to_string()))
}
