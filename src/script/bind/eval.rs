//! `skyfall.eval`.

use std::path::PathBuf;

use mlua::Value as LuaValue;

use super::{Fault, Module, allowed, line};
use crate::eval::{self, Settings, Window};
use crate::script::convert;
use crate::trace::{self, ReadOptions};
use crate::value::Value;

pub(super) fn module(module: Module<'_>) -> mlua::Result<Module<'_>> {
    module.function("traces", |lua, host, (paths, options): (LuaValue, LuaValue)| {
        let paths: Vec<PathBuf> = match convert::read(&paths, "paths")? {
            Value::Text(path) => vec![allowed(host, &path)?],
            Value::List(items) => items
                .iter()
                .map(|item| match item.as_text() {
                    Some(path) => allowed(host, path),
                    None => Err(Fault::Line(format!("`paths` must hold paths, got {}", item.kind()))),
                })
                .collect::<Result<_, _>>()?,
            other => {
                return Err(Fault::Line(format!("`paths` must be a path or a list of paths, got {}", other.kind())));
            }
        };
        let mut settings = Settings::default();
        for (key, value) in convert::read_map(&options, "options")? {
            match (key.as_str(), &value) {
                ("window", Value::Int(rows)) => settings.window = window(&rows.to_string())?,
                ("window", Value::Text(text)) => settings.window = window(text)?,
                ("window", other) => {
                    return Err(Fault::Line(format!(
                        "`window` must be rows or a share such as \"10%\", got {}",
                        other.kind()
                    )));
                }
                ("threshold", value) => match value.as_float() {
                    Some(threshold) => settings.threshold = Some(threshold),
                    None => return Err(Fault::Line(format!("`threshold` must be a number, got {}", value.kind()))),
                },
                _ => {
                    return Err(Fault::Line(format!(
                        "eval.traces: unknown option `{key}`; it takes window, threshold"
                    )));
                }
            }
        }
        settings.check().map_err(line)?;
        let columns = trace::read_columns(&paths, &ReadOptions::default()).map_err(line)?;
        let report = eval::evaluate(columns, &settings).map_err(line)?;
        Ok(convert::write(lua, &report.to_value())?)
    })
}

fn window(text: &str) -> Result<Window, Fault> {
    text.parse().map_err(line)
}
