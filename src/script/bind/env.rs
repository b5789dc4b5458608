//! `skyfall.env`: environments stepped by hand.

use mlua::{IntoLuaMulti, MetaMethod, MultiValue, Table, UserData, UserDataFields, UserDataMethods, Value as LuaValue};

use super::definition::record;
use super::scripted_env::EnvDefinition;
use super::space::LuaSpace;
use super::vector::LuaVector;
use super::{Fault, Module, element, line};
use crate::env::wrapper::{self, WrapperRecord};
use crate::env::{Env, Info, registry};
use crate::script::convert;
use crate::script::error::fail;
use crate::space::Element;
use crate::text::decode::decode;
use crate::value::{Map, Value};

/// An environment in a script's hands.
struct LuaEnv {
    env: Box<dyn Env>,
    observation: Element,
}

pub(super) fn module(module: Module<'_>) -> mlua::Result<Module<'_>> {
    module
        .function("make", |_, host, (id, kwargs, options): (LuaValue, LuaValue, LuaValue)| {
            let id = convert::text(&id, "id")?;
            let kwargs = convert::read_map(&kwargs, "kwargs")?;
            let wrappers = read_wrappers(&options)?;
            let env = host.catalog.borrow().wrapped_env(&id, &kwargs, &wrappers).map_err(line)?;
            let observation = env.observation_space().blank();
            Ok(LuaEnv { env, observation })
        })?
        .function("vector", |_, _, (id, n, kwargs): (LuaValue, LuaValue, LuaValue)| LuaVector::new(&id, &n, &kwargs))?
        .function("define", |lua, host, given: LuaValue| {
            let definition = EnvDefinition::read(&given)?;
            let id = definition.id.clone();
            if registry::IDS.contains(&id.as_str()) {
                return Err(Fault::Line(format!("env.define: `{id}` is a native environment; choose another id")));
            }
            let code = record(host, &given);
            host.catalog.borrow_mut().define_env(id, definition.maker(lua.weak()), code);
            Ok(())
        })?
        .function("list", |lua, host, ()| {
            let catalog = host.catalog.borrow();
            let mut ids: Vec<&str> = catalog.env_ids().collect();
            ids.sort_unstable();
            Ok(lua.create_sequence_from(ids)?)
        })?
        .function("wrappers", |lua, _, ()| Ok(lua.create_sequence_from(wrapper::registry::NAMES)?))
}

/// The wrappers among the options of `make`.
fn read_wrappers(options: &LuaValue) -> Result<Vec<WrapperRecord>, Fault> {
    let options = convert::read_map(options, "options")?;
    if let Some(key) = options.keys().find(|key| *key != "wrappers") {
        return Err(Fault::Line(format!("make: unknown option `{key}`; it takes `wrappers`")));
    }
    decode(&Value::Map(options), |options| {
        options.get("wrappers").map_or_else(|| Some(Vec::new()), |list| WrapperRecord::read_checked_list(&list))
    })
    .map_err(line)
}

/// What a script gave to `reset`: a seed, and the environment's own options.
pub(super) fn reset_options(given: &LuaValue) -> Result<(Option<u64>, Map), String> {
    let (mut seed, mut options) = (None, Map::new());
    for (key, value) in convert::read_map(given, "options")? {
        match (key.as_str(), value) {
            ("seed", value) => {
                let number = value.as_int().and_then(|seed| u64::try_from(seed).ok());
                seed = Some(number.ok_or("reset: `seed` must be an integer that is not negative")?);
            }
            ("options", Value::Map(map)) => options = map,
            ("options", other) => {
                return Err(format!("reset: `options` must be a table by name, got {}", other.kind()));
            }
            _ => return Err(format!("reset: unknown option `{key}`; it takes `seed` and `options`")),
        }
    }
    Ok((seed, options))
}

/// `info` as a table.
fn info_table(lua: &mlua::Lua, info: &Info) -> mlua::Result<Table> {
    let table = match &info.entries {
        Some(entries) => convert::write_map(lua, entries)?,
        None => lua.create_table()?,
    };
    if info.invalid_action {
        table.raw_set("invalid_action", true)?;
    }
    Ok(table)
}

impl UserData for LuaEnv {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("id", |_, this| Ok(this.env.id().to_owned()));
        fields.add_field_method_get("observation_space", |_, this| Ok(LuaSpace(this.env.observation_space().clone())));
        fields.add_field_method_get("action_space", |_, this| Ok(LuaSpace(this.env.action_space().clone())));
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::ToString, |_, this, ()| Ok(format!("env({})", this.env.id())));
        methods.add_method_mut("reset", |lua, this, options: LuaValue| {
            let (seed, options) = reset_options(&options).map_err(|line| fail(lua, line))?;
            let info = this.env.reset_with(seed, &options, &mut this.observation);
            let info = info.map_err(|problem| fail(lua, problem))?;
            (element::to_lua(lua, &this.observation)?, info_table(lua, &info)?).into_lua_multi(lua)
        });
        methods.add_method_mut("step", |lua, this, action: LuaValue| -> mlua::Result<MultiValue> {
            let action =
                element::from_lua(&action, this.env.action_space(), "action").map_err(|line| fail(lua, line))?;
            let step = this.env.step(&action, &mut this.observation).map_err(|problem| fail(lua, problem))?;
            let observation = element::to_lua(lua, &this.observation)?;
            let info = info_table(lua, &step.info)?;
            (observation, step.reward, step.terminated, step.truncated, info).into_lua_multi(lua)
        });
        methods.add_method("parameters", |lua, this, ()| convert::write_map(lua, &this.env.parameters()));
        methods.add_method_mut("set_parameter", |lua, this, (name, value): (LuaValue, LuaValue)| {
            let name = convert::text(&name, "name").map_err(|line| fail(lua, line))?;
            let value: Value = convert::read(&value, "value").map_err(|line| fail(lua, line))?;
            this.env.set_parameter(&name, &value).map_err(|problem| fail(lua, problem))
        });
    }
}
