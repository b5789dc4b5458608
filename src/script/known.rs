//! What recorded code may name instead of carrying it: the standard library and the modules that
//! the bare sandbox offers.
//!
//! A function that captured `math.abs`, `skyfall.space` or `string` is recorded with that very
//! expression in place of the value.

use std::collections::BTreeMap;

use mlua::{Lua, Table, Value};

/// The library modules that code by value may use: computation, and files only where the host
/// opened a directory for it.
pub(super) const BARE_MODULES: [&str; 9] = ["array", "fs", "json", "log", "random", "space", "stats", "tables", "yaml"];

/// The standard tables and functions that a bare sandbox has.
pub(super) const TABLES: [&str; 4] = ["math", "string", "table", "utf8"];
pub(super) const FUNCTIONS: [&str; 15] = [
    "assert",
    "error",
    "getmetatable",
    "ipairs",
    "next",
    "pairs",
    "pcall",
    "rawequal",
    "rawget",
    "rawlen",
    "rawset",
    "select",
    "setmetatable",
    "tonumber",
    "tostring",
];

/// Expressions by the address of the value they name.
#[derive(Debug, Default)]
pub(super) struct Known {
    expressions: BTreeMap<usize, Name>,
}

#[derive(Debug)]
enum Name {
    /// An expression that means the same in the bare sandbox.
    Expression(String),
    /// Part of the library that code by value does not have.
    Unavailable(String),
}

impl Known {
    /// Adds the standard library, as `lua` has it now.
    pub(super) fn add_standard(&mut self, lua: &Lua) -> mlua::Result<()> {
        let globals = lua.globals();
        for name in FUNCTIONS {
            self.add(&globals.raw_get(name)?, Name::Expression(name.to_owned()));
        }
        for name in TABLES {
            let table: Table = globals.raw_get(name)?;
            for pair in table.pairs::<String, Value>() {
                let (field, value) = pair?;
                self.add(&value, Name::Expression(format!("{name}.{field}")));
            }
            self.add(&Value::Table(table), Name::Expression(name.to_owned()));
        }
        Ok(())
    }

    /// Adds the library module `module` (such as `skyfall.space`), just loaded and `locked`.
    pub(super) fn add_module(&mut self, module: &str, value: &Value, locked: &Value) {
        let short = module.strip_prefix("skyfall.").unwrap_or(module);
        let bare = short == "skyfall" || BARE_MODULES.contains(&short);
        let name = |text: String| if bare { Name::Expression(text) } else { Name::Unavailable(module.to_owned()) };
        if let Value::Table(table) = value {
            for pair in table.pairs::<Value, Value>() {
                if let Ok((Value::String(field), function @ Value::Function(_))) = pair {
                    let field = field.to_string_lossy();
                    // The root's own functions run experiments.
                    let text = format!("require(\"{module}\").{field}");
                    let named =
                        if short == "skyfall" { Name::Unavailable(format!("{module}.{field}")) } else { name(text) };
                    self.add(&function, named);
                }
            }
        }
        self.add(locked, name(format!("require(\"{module}\")")));
    }

    /// Adds the standard table `name`, as scripts see it.
    pub(super) fn add_table(&mut self, name: &str, table: &Table) {
        if TABLES.contains(&name) {
            self.add(&Value::Table(table.clone()), Name::Expression(name.to_owned()));
        }
    }

    fn add(&mut self, value: &Value, name: Name) {
        if matches!(value, Value::Table(_) | Value::Function(_)) {
            self.expressions.entry(value.to_pointer() as usize).or_insert(name);
        }
    }

    /// The expression that names `value`, if it is known.
    ///
    /// # Errors
    /// The module's name, when it is one that code by value does not have.
    pub(super) fn expression(&self, value: &Value) -> Result<Option<&str>, &str> {
        match self.expressions.get(&(value.to_pointer() as usize)) {
            None => Ok(None),
            Some(Name::Expression(text)) => Ok(Some(text)),
            Some(Name::Unavailable(module)) => Err(module),
        }
    }
}
