//! `skyfall.eval`.

use std::path::PathBuf;

use mlua::Value as LuaValue;

use super::{Fault, Module, allowed, line};
use crate::eval::{self, Material, Paths, Settings};
use crate::script::convert;
use crate::script::host::Host;
use crate::text::json;
use crate::value::Value;

pub(super) fn module(module: Module<'_>) -> mlua::Result<Module<'_>> {
    module.function("traces", |lua, host, (traces, options): (LuaValue, LuaValue)| {
        let (paths, settings) = asked(host, &traces, &options)?;
        let material = Material::read(&paths, &settings).map_err(line)?;
        let report = eval::evaluate(material, &settings).map_err(line)?;
        Ok(convert::write(lua, &report.to_value())?)
    })
}

/// The traces and what is asked of them: the long flags of `skyfall eval`, `_` for `-`.
fn asked(host: &Host, traces: &LuaValue, options: &LuaValue) -> Result<(Paths, Settings), Fault> {
    let mut paths = Paths { traces: files(host, &convert::read(traces, "paths")?, "paths")?, ..Paths::default() };
    let mut settings = Settings::default();
    for (key, value) in convert::read_map(options, "options")? {
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
    Ok((paths, settings))
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
