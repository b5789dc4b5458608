//! `skyfall.fs`: whole files, within the script's permissions.

use std::fs::File;
use std::io::Read;

use mlua::Value;

use super::{Fault, Module, allowed, readable};
use crate::atomic;
use crate::script::convert;

pub(super) fn module(module: Module<'_>) -> mlua::Result<Module<'_>> {
    module
        .function("read", |lua, host, path: Value| {
            let path = convert::text(&path, "path")?;
            let most = host.memory.unwrap_or(usize::MAX);
            let unreadable = |error: std::io::Error| Fault::Line(format!("cannot read {path}: {error}"));
            let file = File::open(readable(host, &path)?).map_err(unreadable)?;
            let mut bytes = Vec::new();
            file.take((most as u64).saturating_add(1)).read_to_end(&mut bytes).map_err(unreadable)?;
            if bytes.len() > most {
                return Err(Fault::Line(format!("{path} is larger than the memory limit")));
            }
            Ok(lua.create_string(bytes)?)
        })?
        .function("write", |_, host, (path, content): (Value, Value)| {
            let path = convert::text(&path, "path")?;
            // Any bytes will do, but a number is none.
            let Value::String(content) = content else {
                return Err(Fault::Line(format!("`content` must be text, got {}", convert::describe(&content))));
            };
            atomic::write_file(&allowed(host, &path)?, &content.as_bytes())
                .map_err(|error| Fault::Line(error.to_string()))
        })?
        .function("exists", |_, host, path: Value| {
            let path = convert::text(&path, "path")?;
            Ok(readable(host, &path)?.exists())
        })
}
