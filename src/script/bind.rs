//! The library's native half: a module a file, each a table of functions that the embedded Lua
//! module of the same name (`stdlib/skyfall`) documents and hands out.

mod algorithm;
pub(super) mod array;
mod bundle;
mod definition;
mod element;
mod env;
mod eval;
pub(super) mod experiment;
pub(super) mod factory;
mod fs;
mod json;
mod log;
mod policy;
mod random;
mod regime;
mod reward;
pub(super) mod rollouts;
mod scripted_algorithm;
mod scripted_env;
mod scripted_policy;
mod space;
mod step;
pub(super) mod sweep;
pub(super) mod test;
mod trace;
mod vector;
mod yaml;

pub(super) use eval::by_metrics_of;
pub(super) use regime::provider_from_source;
pub(super) use reward::{composition_of, term_from_source};
pub(super) use scripted_env::env_from_source;
pub(super) use scripted_policy::policy_from_source;

use std::path::{Path, PathBuf};
use std::rc::Rc;

use mlua::{AnyUserData, FromLuaMulti, IntoLuaMulti, Lua, Table};

use crate::script::error::fail;
use crate::script::host::{Access, Host};
use crate::value::Value;

/// A module's functions under construction. Every function is handed the machine and the host;
/// its errors are plain lines, which get the calling script's position in front.
struct Module<'a> {
    lua: &'a Lua,
    host: &'a Rc<Host>,
    table: Table,
}

impl<'a> Module<'a> {
    fn new(lua: &'a Lua, host: &'a Rc<Host>) -> mlua::Result<Self> {
        Ok(Self { lua, host, table: lua.create_table()? })
    }

    /// Adds the function called `name`.
    fn function<A, R>(
        self,
        name: &str,
        function: impl Fn(&Lua, &Rc<Host>, A) -> Result<R, Fault> + 'static,
    ) -> mlua::Result<Self>
    where
        A: FromLuaMulti,
        R: IntoLuaMulti,
    {
        let host = Rc::clone(self.host);
        let bound = self.lua.create_function(move |lua, arguments: A| {
            function(lua, &host, arguments).map_err(|fault| fault.raise(lua))
        })?;
        self.table.raw_set(name, bound)?;
        Ok(self)
    }
}

/// Has objects of `class` be called so where they are made text: Lua itself would tell an address.
fn named<T: 'static>(methods: &mut impl mlua::UserDataMethods<T>, class: &'static str) {
    methods.add_meta_method(mlua::MetaMethod::ToString, move |_, _, ()| Ok(class));
}

/// Why a library function failed: a line of ours, or an error of Lua's on its way through.
enum Fault {
    Line(String),
    Lua(mlua::Error),
}

impl Fault {
    fn raise(self, lua: &Lua) -> mlua::Error {
        match self {
            Self::Line(line) => fail(lua, line),
            Self::Lua(error) => error,
        }
    }
}

impl From<mlua::Error> for Fault {
    fn from(error: mlua::Error) -> Self {
        Self::Lua(error)
    }
}

impl From<String> for Fault {
    fn from(line: String) -> Self {
        Self::Line(line)
    }
}

/// A domain error as a line: its message and its hint.
fn line<P: crate::diagnostic::Problem>(problem: P) -> Fault {
    match problem.hint() {
        Some(hint) => Fault::Line(format!("{problem} ({hint})")),
        None => Fault::Line(problem.to_string()),
    }
}

/// `path` as the script gave it, if the script may read and write it.
fn allowed(host: &Host, path: &str) -> Result<PathBuf, Fault> {
    Ok(host.check(Path::new(path), Access::Write)?)
}

/// `path` as the script gave it, if the script may read it.
fn readable(host: &Host, path: &str) -> Result<PathBuf, Fault> {
    Ok(host.check(Path::new(path), Access::Read)?)
}

/// The library call, and its arguments, that make an object of `data`'s value again.
pub(super) fn as_call(data: &AnyUserData) -> Option<(&'static str, Vec<Value>)> {
    if let Ok(space) = data.borrow::<space::LuaSpace>() {
        return Some(("require(\"skyfall.space\").decode", vec![space::encode(&space.0)]));
    }
    let array = data.borrow::<array::LuaArray>().ok()?;
    Some(("require(\"skyfall.array\").from", vec![array.to_value(), array.0.dtype().numpy_name().into()]))
}

/// The native functions of the library module `name`.
pub(super) fn native(lua: &Lua, host: &Rc<Host>, name: &str) -> mlua::Result<Table> {
    let module = Module::new(lua, host)?;
    let module = match name {
        "skyfall" => experiment::module(module)?,
        "algorithm" => algorithm::module(module)?,
        "array" => array::module(module)?,
        "bundle" => bundle::module(module)?,
        "env" => env::module(module)?,
        "eval" => eval::module(module)?,
        "fs" => fs::module(module)?,
        "json" => json::module(module)?,
        "log" => log::module(module)?,
        "policy" => policy::module(module)?,
        "random" => random::module(module)?,
        "regime" => regime::module(module)?,
        "reward" => reward::module(module)?,
        "rollouts" => rollouts::module(module)?,
        "space" => space::module(module)?,
        "sweep" => sweep::module(module)?,
        "test" => test::module(module)?,
        "trace" => trace::module(module)?,
        "yaml" => yaml::module(module)?,
        _ => module,
    };
    Ok(module.table)
}
