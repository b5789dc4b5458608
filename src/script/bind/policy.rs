//! `skyfall.policy`: policies written in Lua, and the names of all.

use mlua::Value as LuaValue;

use super::definition::record;
use super::scripted_policy::PolicyDefinition;
use super::{Fault, Module};
use crate::policy::registry;

pub(super) fn module(module: Module<'_>) -> mlua::Result<Module<'_>> {
    module
        .function("define", |lua, host, given: LuaValue| {
            let definition = PolicyDefinition::read(&given)?;
            let id = definition.id.clone();
            if registry::IDS.contains(&id.as_str()) {
                return Err(Fault::Line(format!("policy.define: `{id}` is a native policy; choose another id")));
            }
            let code = record(host, &given);
            host.catalog.borrow_mut().define_policy(id, definition.maker(lua.weak(), code.clone()), code);
            Ok(())
        })?
        .function("list", |lua, host, ()| {
            let catalog = host.catalog.borrow();
            let mut ids: Vec<&str> = catalog.policy_ids().collect();
            ids.sort_unstable();
            Ok(lua.create_sequence_from(ids)?)
        })
}
