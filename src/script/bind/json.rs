//! `skyfall.json`.

use mlua::Value;

use super::{Fault, Module};
use crate::script::convert;
use crate::text::json;

pub(super) fn module(module: Module<'_>) -> mlua::Result<Module<'_>> {
    module.function("encode", |_, _, value: Value| Ok(json::to_string(&convert::read(&value, "value")?)))?.function(
        "decode",
        |lua, _, text: Value| {
            let text = convert::text(&text, "text")?;
            let value = json::parse(&text).map_err(|error| Fault::Line(format!("json.decode: {error}")))?;
            Ok(convert::write(lua, &value)?)
        },
    )
}
