//! What the command line's tools ask of a script beside running it: is it sound, what are its
//! tests, what does one typed line say, which files had a part in it.

use std::path::PathBuf;

use mlua::{MultiValue, Table, Value};

use super::bind;
use super::bind::test::Tests;
use super::check;
use super::error::LIBRARY_CHUNK;
use super::host::{Raised, ScriptHost};
use super::limits::Stop;
use super::reference::reference;
use super::source::required;
use super::{ScriptError, loader, locked};
use crate::diagnostic::{Diagnostic, Exit};

/// How many numbers of an array are shown.
const SHOWN: usize = 64;

/// What one typed line came to.
#[derive(Debug)]
pub(crate) enum Reply {
    /// It is not a whole statement yet.
    More,
    /// What it returned, as text; nothing if it returned nothing.
    Values(Option<String>),
}

/// The files that a script had to do with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Touched {
    /// Its own text and that of its modules.
    pub sources: Vec<PathBuf>,
    /// What it was let write.
    pub written: Vec<PathBuf>,
}

impl ScriptHost {
    /// What is wrong with the script and its own modules, as far as that is seen without running it.
    ///
    /// # Errors
    /// When the script cannot be read.
    pub(crate) fn check(&self) -> Result<Vec<Diagnostic>, Diagnostic> {
        let (name, text) = self.text()?;
        let modules = reference();
        let globals = self.names_in(&[]);
        let mut found = Vec::new();
        let mut seen: Vec<String> = Vec::new();
        let mut queue = vec![(name, text)];
        while let Some((name, text)) = queue.pop() {
            let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
            let mut own = check::check(&self.lua, &globals, &modules, &name, &text);
            for (module, line) in required(&text) {
                if seen.iter().any(|known| *known == module) {
                    continue;
                }
                match loader::own_module(&self.host, module) {
                    Ok(Some(source)) => queue.push(source),
                    Ok(None) if loader::is_library(module) => {}
                    Ok(None) => own.push(check::missing_module(&name, line, module, &text)),
                    Err(message) => own.push(Diagnostic::new("check/unreadable", message, Exit::Failure)),
                }
                seen.push(module.to_owned());
            }
            own.sort_by_key(|diagnostic| diagnostic.location.as_ref().map_or(0, |location| location.line));
            found.extend(own);
        }
        Ok(found)
    }

    /// Runs the script to its end, for the tests that it registers: their names.
    ///
    /// # Errors
    /// As for [`ScriptHost::run`].
    pub(crate) fn cases(&self) -> Result<Vec<String>, ScriptError> {
        self.run()?;
        // Even a good end in the midst of the file leaves tests unseen.
        if let Some(Stop::Exit(code)) = self.host.stop.get() {
            return Err(ScriptError::Exit(code));
        }
        let tests = self.host.tests.as_ref();
        Ok(tests.map_or_else(Vec::new, |tests| tests.cases.borrow().iter().map(|(name, _)| name.clone()).collect()))
    }

    /// Runs one of its tests, from 0.
    ///
    /// # Errors
    /// Why it failed.
    pub(crate) fn run_case(&self, index: usize) -> Result<(), ScriptError> {
        // What ended the one before, unless it is still due.
        self.host.stop.set(None);
        let case = |tests: &Tests| tests.cases.borrow().get(index).cloned();
        let Some((name, body)) = self.host.tests.as_ref().and_then(case) else { return Ok(()) };
        if let Some(tests) = &self.host.tests {
            *tests.present.borrow_mut() = name;
        }
        let raised = Raised::default();
        let seeded = self.lua.globals().get::<Table>("math").and_then(|math| {
            let seed: mlua::Function = math.get("randomseed")?;
            seed.call::<()>(self.host.tests.as_ref().map_or(0, |tests| tests.seed.cast_signed()))
        });
        let result = seeded.and_then(|()| self.guarded(body, Vec::new(), &raised));
        self.settled(result.map(drop), &raised)
    }

    /// Runs one typed piece of Lua, the `number`th, and shows what it returns.
    ///
    /// # Errors
    /// What it raised.
    pub(crate) fn interpret(&self, number: usize, code: &str) -> Result<Reply, ScriptError> {
        self.host.stop.set(None);
        let name = format!("input-{number}");
        let compiled = |code: &str| loader::compile(&self.lua, &self.host.sources, &name, code);
        let whole = |result: &mlua::Result<mlua::Function>| {
            !matches!(result, Err(mlua::Error::SyntaxError { incomplete_input: false, .. }))
        };
        // What is an expression is shown; a local would be gone with its line.
        let lasting = code.trim_start().strip_prefix("local ").map(compiled).filter(whole);
        let function = match compiled(&format!("return {code}")).or_else(|_| lasting.unwrap_or_else(|| compiled(code)))
        {
            Err(mlua::Error::SyntaxError { incomplete_input: true, .. }) => return Ok(Reply::More),
            other => other,
        };
        let raised = Raised::default();
        let result = function.and_then(|function| self.guarded(function, Vec::new(), &raised));
        let shown = self.settled(result.and_then(|values| self.shown(values)), &raised)?;
        Ok(Reply::Values(shown))
    }

    fn shown(&self, values: MultiValue) -> mlua::Result<Option<String>> {
        if values.is_empty() {
            return Ok(None);
        }
        let require: mlua::Function = self.lua.globals().get("require")?;
        let pretty: Table = require.call("skyfall.pretty")?;
        let format: mlua::Function = pretty.get("format")?;
        let show = |value: Value| {
            let held = value.as_userdata().and_then(|data| bind::array::beginning(data, SHOWN));
            let Some((numbers, more)) = held else { return format.call::<String>(value) };
            let numbers = format.call::<String>(super::convert::write(&self.lua, &numbers)?)?;
            let more = if more { " and so on" } else { "" };
            Ok(format!("{} {numbers}{more}", value.to_string()?))
        };
        Ok(Some(values.into_iter().map(show).collect::<mlua::Result<Vec<_>>>()?.join("\t")))
    }

    /// The names of the fields of what is called `path` (`skyfall.array`), for completion; nothing
    /// is run to find them.
    #[must_use]
    pub(crate) fn names_in(&self, path: &[&str]) -> Vec<String> {
        // A table in front and what is behind it, if it is locked.
        let both = |table: Table| [table.clone(), locked::behind(table)];
        let mut tables = both(self.lua.globals());
        for name in path {
            let field = |table: &Table| table.raw_get::<Value>(*name).ok();
            match tables.iter().filter_map(field).find(|value| !value.is_nil()) {
                Some(Value::Table(inner)) => tables = both(inner),
                _ => return Vec::new(),
            }
        }
        let names = |table: &Table| -> Vec<String> {
            let name = |pair: mlua::Result<(Value, Value)>| Some(pair.ok()?.0.as_string()?.to_string_lossy());
            table.pairs::<Value, Value>().filter_map(name).collect()
        };
        let mut names: Vec<String> = tables.iter().flat_map(names).collect();
        names.sort();
        names.dedup();
        names
    }

    /// The files that the script had to do with so far.
    #[must_use]
    pub(crate) fn touched(&self) -> Touched {
        let own = |name: &String| !name.starts_with(LIBRARY_CHUNK);
        Touched {
            sources: self.host.sources.names().into_iter().filter(own).map(PathBuf::from).collect(),
            written: self.host.written.borrow().iter().cloned().collect(),
        }
    }
}
