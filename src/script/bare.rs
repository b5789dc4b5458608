//! The bare sandbox: where Lua that arrives inside a bundle runs. Computation only - no files,
//! no processes, no library, a bounded memory.

use std::rc::Rc;

use mlua::{Lua, LuaOptions, StdLib, Value};

use crate::diagnostic::{Diagnostic, Exit};
use crate::experiment::Scripts;
use crate::regime::{Provider, RegimeError, RegimeRecord};
use crate::reward::{Term, TermError, TermRecord};
use crate::script::bind;
use crate::script::error::message;

/// What a bundle's Lua may hold at once.
const MEMORY: usize = 256 << 20;

/// Rebuilds terms and providers from their records, in one bare machine.
pub struct BareScripts {
    lua: Lua,
}

impl BareScripts {
    /// A bare machine.
    ///
    /// # Errors
    /// When the machine cannot be set up (out of memory).
    pub fn new() -> Result<Rc<Self>, Diagnostic> {
        let build = || -> mlua::Result<Lua> {
            let libraries = StdLib::TABLE | StdLib::STRING | StdLib::MATH | StdLib::UTF8;
            let lua = Lua::new_with(libraries, LuaOptions::new().catch_rust_panics(false))?;
            let globals = lua.globals();
            for name in ["dofile", "loadfile", "load", "collectgarbage", "print", "require"] {
                globals.raw_set(name, Value::Nil)?;
            }
            globals.get::<mlua::Table>("string")?.raw_set("dump", Value::Nil)?;
            globals.get::<mlua::Table>("math")?.get::<mlua::Function>("randomseed")?.call::<()>(0)?;
            if let Some(strings) = lua.type_metatable::<mlua::LuaString>() {
                strings.raw_set("__metatable", "locked")?;
            }
            lua.set_memory_limit(MEMORY)?;
            Ok(lua)
        };
        let lua = build().map_err(|error| Diagnostic::new("script/setup", message(&error), Exit::Bug))?;
        Ok(Rc::new(Self { lua }))
    }
}

impl Scripts for BareScripts {
    fn term(&self, record: &TermRecord) -> Result<Box<dyn Term>, TermError> {
        bind::term_from_source(&self.lua, record)
    }

    fn provider(&self, record: &RegimeRecord, seed: u64) -> Result<Box<dyn Provider>, RegimeError> {
        bind::provider_from_source(&self.lua, record, seed)
    }
}
