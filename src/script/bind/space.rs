//! `skyfall.space`.

use mlua::{UserData, UserDataMethods, Value as LuaValue};

use super::{Fault, Module, element};
use crate::script::convert;
use crate::space::{Space, SpaceError};
use crate::value::{Map, Value};

/// A space in a script's hands.
#[derive(Clone)]
pub(super) struct LuaSpace(pub(super) Space);

pub(super) fn module(module: Module<'_>) -> mlua::Result<Module<'_>> {
    let problem = |function: &str, problem: SpaceError| Fault::Line(format!("space.{function}: {problem}"));
    module
        .function("box", move |_, _, spec: LuaValue| {
            let mut data = convert::read_map(&spec, "spec")?;
            data.insert("type".to_owned(), "Box".into());
            checked_keys(&data, &["type", "low", "high", "shape", "dtype"], "box")?;
            Ok(LuaSpace(Space::decode(&Value::Map(data)).map_err(|error| problem("box", error))?))
        })?
        .function("discrete", move |_, _, (n, start): (LuaValue, LuaValue)| {
            let n = convert::integer(&n, "n")?;
            let start = if start.is_nil() { 0 } else { convert::integer(&start, "start")? };
            Ok(LuaSpace(Space::discrete(n, start).map_err(|error| problem("discrete", error))?))
        })?
        .function("encode", |lua, _, space: LuaValue| Ok(convert::write(lua, &space_of(&space)?.encode())?))?
        .function("decode", move |_, _, data: LuaValue| {
            let data = convert::read(&data, "data")?;
            Ok(LuaSpace(Space::decode(&data).map_err(|error| problem("decode", error))?))
        })
}

fn checked_keys(data: &Map, known: &[&str], function: &str) -> Result<(), Fault> {
    match data.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => {
            let near =
                crate::suggest::nearest(key, known.iter().copied()).map(|near| format!("; did you mean `{near}`?"));
            Err(Fault::Line(format!("space.{function}: unknown key `{key}`{}", near.unwrap_or_default())))
        }
    }
}

fn space_of(value: &LuaValue) -> Result<Space, Fault> {
    if let LuaValue::UserData(data) = value
        && let Ok(space) = data.borrow::<LuaSpace>()
    {
        return Ok(space.0.clone());
    }
    Err(Fault::Line(format!("`space` must be a space, got {}", convert::describe(value))))
}

impl UserData for LuaSpace {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("encode", |lua, this, ()| convert::write(lua, &this.0.encode()));
        methods.add_method("contains", |_, this, value: LuaValue| {
            Ok(element::from_lua(&value, &this.0, "element").is_ok_and(|element| this.0.contains(&element)))
        });
        methods.add_meta_method(mlua::MetaMethod::ToString, |_, this, ()| Ok(this.0.to_string()));
    }
}
