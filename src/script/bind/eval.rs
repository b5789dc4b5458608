//! `skyfall.eval`.

mod custom;

use std::path::{Path, PathBuf};

use mlua::{Lua, Value as LuaValue};

use super::{Fault, Module, allowed, line};
use crate::diagnostic::{Diagnostic, Exit};
use crate::eval::output::{self, Format};
use crate::eval::{self, Material, Paths, Report, Settings};
use crate::script::convert;
use crate::script::error::message;
use crate::script::host::Host;
use crate::sweep::evaluation;
use crate::text::json;
use crate::value::{Map, Value};

pub(super) fn module(module: Module<'_>) -> mlua::Result<Module<'_>> {
    module
        .function("traces", |lua, host, (traces, options): (LuaValue, LuaValue)| {
            let (options, own) = custom::split(lua, &options)?;
            let report = report(lua, host, &traces, options, (&own, false))?;
            Ok(convert::write(lua, &report.to_value())?)
        })?
        .function("report", |lua, host, (traces, file, options): (LuaValue, LuaValue, LuaValue)| {
            let file = convert::text(&file, "file")?;
            let path = allowed(host, &file)?;
            let (mut options, own) = custom::split(lua, &options)?;
            let format = format(options.shift_remove("format"), &path)?;
            let plots = options.shift_remove("plots").map(|value| files(host, &value, "plots")).transpose()?;
            let without = options.shift_remove("no_plots").map_or(Ok(false), |value| match value {
                Value::Bool(without) => Ok(without),
                other => Err(Fault::Line(format!("`no_plots` must be true or false, got {}", other.kind()))),
            })?;
            let pictured = plots.is_some() || (format == Format::Html && !without);
            let report = report(lua, host, &traces, options, (&own, pictured))?;
            for directory in plots.into_iter().flatten() {
                output::write_plots(&report, &directory).map_err(|error| Fault::Line(error.to_string()))?;
            }
            output::write(&report, format, &path).map_err(|error| Fault::Line(error.to_string()))
        })
}

/// Evaluates `material` also by the metrics that a script returned, in a list.
///
/// # Errors
/// When they are none; as for [`eval::evaluate_with`].
pub(in crate::script) fn by_metrics_of(
    lua: &Lua,
    returned: &LuaValue,
    material: Material,
    settings: &Settings,
) -> Result<Report, Diagnostic> {
    let own = custom::Definition::list(returned, "return").map_err(|fault| {
        let told = match fault {
            Fault::Line(line) => line,
            Fault::Lua(error) => message(&error),
        };
        Diagnostic::new("eval/metrics", told, Exit::Input)
            .with_hint("end the file with `return { eval.metric(name, function(run) ... end) }`")
    })?;
    let customs: Vec<_> = own.iter().map(|definition| definition.custom(lua)).collect();
    eval::evaluate_with(material, settings, &customs).map_err(Diagnostic::from)
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
    (own, plots): (&[custom::Definition], bool),
) -> Result<Report, Fault> {
    let mut paths = Paths { traces: files(host, &convert::read(traces, "paths")?, "paths")?, ..Paths::default() };
    let mut settings = Settings { plots, ..Settings::default() };
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
    let settings = evaluation::grouped_by_axes(settings, &paths.traces).map_err(line)?;
    let mut material = Material::read(&paths, &settings).map_err(line)?;
    evaluation::without_collisions_of_trials(&mut material);
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
