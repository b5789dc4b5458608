//! Chains of several stores. Chains count from 1 here.

use std::path::PathBuf;
use std::rc::Rc;

use mlua::{Lua, MetaMethod, Table, UserData, UserDataFields, UserDataMethods, Value as LuaValue};

use super::store::{columns_table, integer, options};
use crate::rollouts::{Batches, Chain, ChainOptions, ChainReader};
use crate::script::bind::array::LuaArray;
use crate::script::bind::{Module, line, readable};
use crate::script::convert;
use crate::script::error::fail;
use crate::value::{Map, Value};

/// The chains of several stores.
struct LuaChains(Rc<ChainReader>);

pub(super) fn module(module: Module<'_>) -> mlua::Result<Module<'_>> {
    module.function("chains", |_, host, given: LuaValue| {
        let given = options(&given, "chains", &["stores", "campaign_split", "include_selected_depth"])?;
        let unlisted = || "`stores` must be a list of directories".to_owned();
        let stores = given.get("stores").and_then(Value::as_list).ok_or_else(unlisted)?;
        let mut directories: Vec<PathBuf> = Vec::with_capacity(stores.len());
        for store in stores {
            directories.push(readable(host, store.as_text().ok_or_else(unlisted)?)?);
        }
        let campaign_split = match given.get("campaign_split") {
            None | Some(Value::Null) => None,
            Some(split) => Some(split.as_text().ok_or_else(|| "`campaign_split` must be text".to_owned())?.to_owned()),
        };
        let include_selected_depth = given.get("include_selected_depth") == Some(&Value::Bool(true));
        let reader = ChainReader::open(&directories, ChainOptions { campaign_split, include_selected_depth });
        Ok(LuaChains(Rc::new(reader.map_err(line)?)))
    })
}

/// The size and seed of batches.
fn batch_options(given: &LuaValue, method: &str) -> Result<(usize, u64), String> {
    let given: Map = options(given, method, &["size", "seed"])?;
    let size = integer(&given, "size")?.and_then(|size| usize::try_from(size).ok()).filter(|size| *size > 0);
    let size = size.ok_or_else(|| format!("{method}: `size` must be a positive integer"))?;
    let seed = u64::try_from(integer(&given, "seed")?.unwrap_or(0));
    Ok((size, seed.map_err(|_| format!("{method}: `seed` must not be negative"))?))
}

impl UserData for LuaChains {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("contract", |lua, this| convert::write_map(lua, this.0.contract()));
        fields.add_field_method_get("provenance", |lua, this| {
            let list = lua.create_table()?;
            for (path, digest, states) in this.0.provenance() {
                let entry = lua.create_table()?;
                entry.raw_set("path", path.display().to_string())?;
                entry.raw_set("manifest_sha256", digest)?;
                entry.raw_set("states", states)?;
                list.raw_push(entry)?;
            }
            Ok(list)
        });
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        crate::script::bind::named(methods, "skyfall.RolloutsChains");
        methods.add_meta_method(MetaMethod::Len, |_, this, ()| Ok(this.0.len()));
        methods.add_method("chain", |lua, this, index: i64| {
            let place = index.checked_sub(1).and_then(|index| usize::try_from(index).ok());
            let place = place.filter(|place| *place < this.0.len());
            let missing = || fail(lua, format!("there is no chain {index}: there are {}", this.0.len()));
            let chain = this.0.chain(place.ok_or_else(missing)?).map_err(|problem| fail(lua, problem))?;
            chain_table(lua, chain)
        });
        methods.add_method("chain_batches", |lua, this, given: LuaValue| {
            let (size, seed) = batch_options(&given, "chain_batches").map_err(|line| fail(lua, line))?;
            let reader = Rc::clone(&this.0);
            batches(lua, this.0.chain_batches(size, seed), move |lua, positions| {
                let list = lua.create_table_with_capacity(positions.len(), 0)?;
                for position in positions {
                    let chain = reader.chain(*position).map_err(|problem| fail(lua, problem))?;
                    list.raw_push(chain_table(lua, chain)?)?;
                }
                Ok(list)
            })
        });
        methods.add_method("state_batches", |lua, this, given: LuaValue| {
            let (size, seed) = batch_options(&given, "state_batches").map_err(|line| fail(lua, line))?;
            let reader = Rc::clone(&this.0);
            batches(lua, this.0.state_batches(size, seed), move |lua, positions| {
                columns_table(lua, reader.state_batch(positions).map_err(|problem| fail(lua, problem))?)
            })
        });
    }
}

/// An iterator for `for`: what `make` makes of each batch's positions.
fn batches(
    lua: &Lua,
    mut batches: Batches,
    make: impl Fn(&Lua, &[usize]) -> mlua::Result<Table> + 'static,
) -> mlua::Result<mlua::Function> {
    lua.create_function_mut(move |lua, _: mlua::MultiValue| match batches.next() {
        Some(positions) => make(lua, &positions).map(Some),
        None => Ok(None),
    })
}

fn chain_table(lua: &Lua, chain: Chain) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    table.raw_set("store_index", chain.store_index + 1)?;
    table.raw_set("rollout_row_id", chain.rollout_row_id)?;
    table.raw_set("target_row_id", chain.target_row_id)?;
    table.raw_set("source_ref", convert::write_map(lua, &chain.source_ref)?)?;
    for (name, array) in [
        ("root_pose_world", chain.root_pose_world),
        ("target_extents", chain.target_extents),
        ("target_pose_world_object", chain.target_pose_world_object),
    ] {
        table.raw_set(name, LuaArray::new(array))?;
    }
    let states = lua.create_table_with_capacity(chain.states.len(), 0)?;
    for state in chain.states {
        let entry = lua.create_table()?;
        for (name, array) in [
            ("candidate_pose_relative_root", state.candidate_pose_relative_root),
            ("action_mask", state.action_mask),
            ("label_mask", state.label_mask),
            ("candidate_reward", state.candidate_reward),
            ("one_step_target_rri", state.one_step_target_rri),
        ] {
            entry.raw_set(name, LuaArray::new(array))?;
        }
        entry.raw_set("horizon_remaining", state.horizon_remaining)?;
        // A slot, counted from 1 as the arrays' elements are.
        entry.raw_set("selected_index", state.selected_index + 1)?;
        entry.raw_set("discount", state.discount)?;
        entry.raw_set("terminal", state.terminal)?;
        states.raw_push(entry)?;
    }
    table.raw_set("states", states)?;
    if let Some(depth) = chain.selected_depth {
        table.raw_set("selected_depth", columns_table(lua, depth)?)?;
    }
    Ok(table)
}
