//! `skyfall.bundle`: opening, reading and checking bundles.

use std::path::PathBuf;

use mlua::{UserData, UserDataFields, UserDataMethods, Value as LuaValue};

use super::{Fault, Module, allowed, element, line};
use crate::bundle::{self, Bundle};
use crate::diagnostic::Problem;
use crate::experiment::Catalog;
use crate::policy::Policy;
use crate::script::bare::BareScripts;
use crate::script::convert;
use crate::script::error::fail;
use crate::space::{Element, Space};

/// A bundle in a script's hands.
struct LuaBundle(Bundle);

/// A restored policy in a script's hands.
struct LuaPolicy {
    policy: Box<dyn Policy>,
    observation_space: Space,
    action_space: Space,
    action: Element,
}

fn catalog() -> Result<Catalog, Fault> {
    let scripts = BareScripts::new().map_err(|problem| Fault::Line(problem.message))?;
    Ok(Catalog::native().with_scripts(scripts))
}

pub(super) fn module(module: Module<'_>) -> mlua::Result<Module<'_>> {
    module
        .function("load", |_, host, dir: LuaValue| {
            let dir: PathBuf = allowed(host, &convert::text(&dir, "dir")?)?;
            Ok(LuaBundle(Bundle::open(dir).map_err(line)?))
        })?
        .function("manifest", |lua, host, dir: LuaValue| {
            let dir: PathBuf = allowed(host, &convert::text(&dir, "dir")?)?;
            let bundle = Bundle::open(dir).map_err(line)?;
            Ok(convert::write(lua, &bundle.manifest().to_value())?)
        })?
        .function("check", |lua, host, dir: LuaValue| {
            let dir: PathBuf = allowed(host, &convert::text(&dir, "dir")?)?;
            let errors = match bundle::check(dir, &catalog()?) {
                Ok(_) => Vec::new(),
                Err(problem) => {
                    let hint = problem.hint().map(|hint| format!(" ({hint})")).unwrap_or_default();
                    vec![format!("{problem}{hint}")]
                }
            };
            let table = lua.create_table()?;
            table.raw_set("ok", errors.is_empty())?;
            table.raw_set("errors", errors)?;
            Ok(table)
        })
}

impl UserData for LuaBundle {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("manifest", |lua, this| convert::write(lua, &this.0.manifest().to_value()));
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        crate::script::bind::named(methods, "skyfall.Bundle");
        methods.add_method("policy", |lua, this, ()| {
            let restore = || -> Result<LuaPolicy, Fault> {
                let catalog = catalog()?;
                let [observation_space, action_space] = this.0.spaces(&catalog).map_err(line)?;
                let policy = this.0.policy(&catalog).map_err(line)?;
                let action = action_space.blank();
                Ok(LuaPolicy { policy, observation_space, action_space, action })
            };
            restore().map_err(|fault| fault.raise(lua))
        });
    }
}

impl UserData for LuaPolicy {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        crate::script::bind::named(methods, "skyfall.Policy");
        methods.add_method_mut("act", |lua, this, observation: LuaValue| {
            let observation = element::from_lua(&observation, &this.observation_space, "observation")
                .map_err(|line| fail(lua, line))?;
            this.policy.act(&observation, &mut this.action).map_err(|problem| fail(lua, problem))?;
            if !this.action_space.contains(&this.action) {
                return Err(fail(lua, "the policy's action lies outside the action space"));
            }
            element::to_lua(lua, &this.action)
        });
    }
}
