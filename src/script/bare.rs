//! The bare sandbox: where Lua that arrives inside a bundle runs. Computation only - no
//! processes, no files but a policy's own checkpoint while it loads, a bounded memory and a
//! bounded number of instructions a call - with the few library modules that compute ([`BARE_MODULES`]).

pub(super) mod limits;

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::rc::Rc;

use mlua::{Lua, LuaOptions, StdLib, Table, Value};

use crate::diagnostic::{Diagnostic, Exit};
use crate::env::EnvError;
use crate::experiment::{Catalog, Checkpoints, EnvMaker, PolicyMaker, Scripts};
use crate::policy::PolicyError;
use crate::regime::{Provider, RegimeError, RegimeRecord};
use crate::reward::{Term, TermError, TermRecord};
use crate::script::bind;
use crate::script::budget;
use crate::script::error::{fail, message};
use crate::script::host::{Console, Host};
use crate::script::known::{BARE_MODULES, FUNCTIONS, TABLES};
use crate::script::loader;
use crate::script::locked;
use crate::script::output::Lost;
use crate::script::permissions::Permissions;

/// What a bundle's Lua may hold at once.
const MEMORY: usize = 256 << 20;

/// What the arrays of its Lua may hold at once.
const ARRAYS: usize = 64 << 20;

/// Rebuilds what a bundle recorded of scripts, in one bare machine.
pub struct BareScripts {
    lua: Lua,
}

impl BareScripts {
    /// A bare machine.
    ///
    /// # Errors
    /// When the machine cannot be set up (out of memory).
    pub fn new() -> Result<Rc<Self>, Diagnostic> {
        let lua = machine().map_err(|error| Diagnostic::new("script/setup", message(&error), Exit::Bug))?;
        Ok(Rc::new(Self { lua }))
    }
}

fn machine() -> mlua::Result<Lua> {
    let libraries = StdLib::TABLE | StdLib::STRING | StdLib::MATH | StdLib::UTF8;
    let lua = Lua::new_with(libraries, LuaOptions::new())?;
    let globals = lua.globals();
    for name in
        globals.pairs::<String, Value>().map(|pair| pair.map(|(name, _)| name)).collect::<mlua::Result<Vec<_>>>()?
    {
        if !FUNCTIONS.contains(&&*name) && !TABLES.contains(&&*name) {
            globals.raw_set(name, Value::Nil)?;
        }
    }
    globals.get::<Table>("string")?.raw_set("dump", Value::Nil)?;
    globals.get::<Table>("math")?.get::<mlua::Function>("randomseed")?.call::<()>(0)?;
    if let Some(strings) = lua.type_metatable::<mlua::LuaString>() {
        strings.raw_set("__metatable", "locked")?;
    }
    limits::install(&lua)?;
    locked::install(&lua)?;
    budget::install(&lua)?;
    lua.set_memory_limit(MEMORY)?;
    let host = Rc::new(Host {
        console: Rc::new(Unheard),
        permissions: Permissions::default(),
        script_directory: PathBuf::from("."),
        sources: Rc::default(),
        overrides: Vec::new(),
        checkpoints: Checkpoints::default(),
        dry_run: false,
        source_date_epoch: None,
        stop: Cell::new(None),
        deadline: None,
        memory: Some(MEMORY),
        upvalues: None,
        known: RefCell::default(),
        confinement: RefCell::default(),
        array_bytes: ARRAYS,
        catalog: RefCell::new(Catalog::native()),
        tests: None,
        failed: RefCell::default(),
        lost: Lost::default(),
        written: RefCell::default(),
    });
    lua.set_app_data(Rc::clone(&host));
    install_require(&lua, host)?;
    // State between calls has its places; a global is none, nor is a table that all code shares.
    for name in TABLES {
        globals.raw_set(name, locked::lock(&lua, name, &globals.raw_get(name)?)?)?;
    }
    let refuse = lua.create_function(|lua, (_, name): (Table, Value)| {
        let name = crate::script::convert::key_text(&name);
        Err::<(), _>(fail(lua, format!("`{name}` would be a new global; declare it with `local {name}`")))
    })?;
    locked::lock_globals(&lua, refuse)?;
    Ok(lua)
}

/// `require` for the modules that compute, and for `skyfall` with nothing but these.
fn install_require(lua: &Lua, host: Rc<Host>) -> mlua::Result<()> {
    let loaded = lua.create_table()?;
    let require = lua.create_function(move |lua, name: mlua::LuaString| {
        let name = name.to_string_lossy();
        match loaded.raw_get::<Value>(name.as_str())? {
            Value::Nil => {}
            found => return Ok(found),
        }
        let short = name.strip_prefix("skyfall.").filter(|short| BARE_MODULES.contains(short));
        let module = match short {
            Some(_) => loader::library_module(lua, &host, &name)?.unwrap_or(Value::Nil),
            None if name == "skyfall" => Value::Table(root(lua)?),
            None => return Err(fail(lua, missing(&name))),
        };
        loaded.raw_set(name, &module)?;
        Ok(module)
    })?;
    lua.globals().raw_set("require", require)
}

/// `skyfall` as code in a bundle sees it: its modules are loaded when they are first looked at.
fn root(lua: &Lua) -> mlua::Result<Table> {
    let (root, metatable) = (lua.create_table()?, lua.create_table()?);
    let index = lua.create_function(|lua, (root, name): (Table, String)| {
        if !BARE_MODULES.contains(&name.as_str()) {
            return Err(fail(lua, missing(&format!("skyfall.{name}"))));
        }
        let require: mlua::Function = lua.globals().get("require")?;
        let module: Value = require.call(format!("skyfall.{name}"))?;
        root.raw_set(name, &module)?;
        Ok(module)
    })?;
    metatable.raw_set("__index", index)?;
    root.set_metatable(Some(metatable))?;
    locked::lock(lua, "skyfall", &root)
}

fn missing(name: &str) -> String {
    format!("code in a bundle has no module `{name}`; it has skyfall.{}", BARE_MODULES.join(", skyfall."))
}

/// What code in a bundle says is heard by no one.
struct Unheard;

impl Console for Unheard {
    fn warn(&self, _message: &str) {}

    fn info(&self, _message: &str) {}

    fn progress(&self, _what: &str, _done: u64, _total: u64) {}
}

impl Scripts for BareScripts {
    fn begin(&self, seed: u64) {
        let seeded = || self.lua.globals().get::<Table>("math")?.get::<mlua::Function>("randomseed");
        // It is there, and takes any integer.
        let _ = seeded().and_then(|randomseed| randomseed.call::<()>(seed.cast_signed()));
    }

    fn term(&self, record: &TermRecord) -> Result<Box<dyn Term>, TermError> {
        bind::term_from_source(&self.lua, record)
    }

    fn provider(&self, record: &RegimeRecord, seed: u64) -> Result<Box<dyn Provider>, RegimeError> {
        bind::provider_from_source(&self.lua, record, seed)
    }

    fn env(&self, id: &str, code: &crate::value::Value) -> Result<EnvMaker, EnvError> {
        bind::env_from_source(&self.lua, id, code)
    }

    fn policy(&self, id: &str, code: &crate::value::Value) -> Result<PolicyMaker, PolicyError> {
        bind::policy_from_source(&self.lua, id, code)
    }
}
