//! `skyfall.log`.

use mlua::Value;

use super::Module;
use crate::script::convert;

pub(super) fn module(module: Module<'_>) -> mlua::Result<Module<'_>> {
    module
        .function("info", |_, host, message: Value| {
            host.console.info(&convert::text(&message, "message")?);
            Ok(())
        })?
        .function("warn", |_, host, message: Value| {
            host.console.warn(&convert::text(&message, "message")?);
            Ok(())
        })
}
