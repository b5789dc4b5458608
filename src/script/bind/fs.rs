//! `skyfall.fs`: whole files, within the script's permissions.

use mlua::{LuaString, Value};

use super::{Fault, Module, allowed, readable};
use crate::atomic;
use crate::script::convert;

pub(super) fn module(module: Module<'_>) -> mlua::Result<Module<'_>> {
    module
        .function("read", |lua, host, path: Value| {
            let path = convert::text(&path, "path")?;
            let bytes = std::fs::read(readable(host, &path)?)
                .map_err(|error| Fault::Line(format!("cannot read {path}: {error}")))?;
            Ok(lua.create_string(bytes)?)
        })?
        .function("write", |_, host, (path, content): (Value, LuaString)| {
            let path = convert::text(&path, "path")?;
            atomic::write_file(&allowed(host, &path)?, &content.as_bytes())
                .map_err(|error| Fault::Line(error.to_string()))
        })?
        .function("exists", |_, host, path: Value| {
            let path = convert::text(&path, "path")?;
            Ok(readable(host, &path)?.exists())
        })
}
