//! `skyfall.algorithm`: algorithms written in Lua, and the names of all.

use mlua::Value as LuaValue;

use super::scripted_algorithm::AlgorithmDefinition;
use super::{Fault, Module};
use crate::algorithm::registry;

pub(super) fn module(module: Module<'_>) -> mlua::Result<Module<'_>> {
    module
        .function("define", |lua, host, given: LuaValue| {
            let definition = AlgorithmDefinition::read(&given)?;
            let name = definition.name.clone();
            if registry::NAMES.contains(&name.as_str()) {
                return Err(Fault::Line(format!(
                    "algorithm.define: `{name}` is a native algorithm; choose another name"
                )));
            }
            host.catalog.borrow_mut().define_algorithm(name, definition.maker(lua.weak()));
            Ok(())
        })?
        .function("list", |lua, host, ()| {
            let catalog = host.catalog.borrow();
            let mut names: Vec<&str> = catalog.algorithm_names().collect();
            names.sort_unstable();
            Ok(lua.create_sequence_from(names)?)
        })
}
