//! `skyfall trace rescore`.

use std::path::PathBuf;
use std::rc::Rc;

use crate::cli::Ending;
use crate::cli::args::TraceRescoreArguments;
use crate::cli::console::Terminal;
use crate::diagnostic::{Diagnostic, Exit};
use crate::reward::Composition;
use crate::script::{Console, Script, ScriptError, ScriptHost};
use crate::trace;

/// Scores recorded rows anew.
pub(super) fn rescore(arguments: &TraceRescoreArguments, terminal: &Terminal) -> Ending {
    let (file, name) = script_and_name(&arguments.reward);
    let voice = terminal.voice();
    // Each worker has a machine of its own: nothing of Lua crosses threads.
    let make = || {
        let settings = crate::cli::script::settings(&arguments.permissions)?;
        let console: Rc<dyn Console> = Rc::new(Terminal::with(voice.clone()));
        let host = ScriptHost::new(Script::File(file.clone()), settings, console)?;
        host.composition(name.as_deref()).map_err(|error| match error {
            ScriptError::Raised(diagnostic) => *diagnostic,
            ScriptError::Exit(code) => {
                Diagnostic::new("script/exit", format!("{} ended with exit code {code}", file.display()), Exit::Failure)
            }
        })
    };
    let make = || -> Result<Composition, Box<Diagnostic>> { make().map_err(Box::new) };
    let working = terminal.working("scoring rows");
    let rescored = trace::rescore(&arguments.path, &arguments.output, make).map_err(|error| match error {
        trace::RescoreError::Composition(diagnostic) => diagnostic,
        other => Box::new(Diagnostic::from(other)),
    })?;
    drop(working);
    for file in &rescored {
        for warning in &file.warnings {
            terminal.warn(&crate::cli::eval::warning_line(warning));
        }
        let (rows, changed) = (file.rows, file.changed);
        terminal.info(&format!("{}: {rows} row(s), {changed} with another reward", file.output.display()));
    }
    Ok(Exit::Success)
}

/// `FILE.lua:NAME` taken apart; a colon that follows no `.lua` belongs to the file's name.
fn script_and_name(given: &str) -> (PathBuf, Option<String>) {
    match given.rsplit_once(':') {
        Some((file, name)) if file.ends_with(".lua") && !name.is_empty() => {
            (PathBuf::from(file), Some(name.to_owned()))
        }
        _ => (PathBuf::from(given), None),
    }
}
