//! `skyfall.algorithm`: the names of all algorithms.

use super::Module;

pub(super) fn module(module: Module<'_>) -> mlua::Result<Module<'_>> {
    module.function("list", |lua, host, ()| {
        let catalog = host.catalog.borrow();
        let mut names: Vec<&str> = catalog.algorithm_names().collect();
        names.sort_unstable();
        Ok(lua.create_sequence_from(names)?)
    })
}
