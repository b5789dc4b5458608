//! `skyfall.yaml`.

use mlua::Value;

use super::{Fault, Module};
use crate::script::convert;
use crate::text::yaml;

pub(super) fn module(module: Module<'_>) -> mlua::Result<Module<'_>> {
    module.function("encode", |_, _, value: Value| Ok(yaml::to_string(&convert::read(&value, "value")?)))?.function(
        "decode",
        |lua, _, text: Value| {
            let text = convert::text(&text, "text")?;
            let value = yaml::parse(&text).map_err(|error| Fault::Line(format!("yaml.decode: {error}")))?;
            Ok(convert::write(lua, &value)?)
        },
    )
}
