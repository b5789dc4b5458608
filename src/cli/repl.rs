//! `skyfall repl`: Lua line by line, with history and completion.

use std::path::PathBuf;
use std::rc::Rc;

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::Validator;
use rustyline::{Context, Editor, Helper};

use crate::diagnostic::{Diagnostic, Exit};
use crate::script::{Console, Reply, Script, ScriptError, ScriptHost};

use super::args::ReplArguments;
use super::console::Terminal;

/// What is run before the first line: the library, all of it, so that its names complete.
const START: &str = "skyfall = require 'skyfall' for _ in pairs(skyfall) do end";

/// Reads, runs and prints until the input ends.
pub(super) fn repl(arguments: &ReplArguments, terminal: &Rc<Terminal>) -> Result<u8, Box<Diagnostic>> {
    let mut settings = super::script::settings(&arguments.permissions)?;
    settings.limits = arguments.limits.limits();
    settings.interactive = true;
    terminal.bound(settings.limits);
    let script = Script::Text { name: "repl".to_owned(), code: START.to_owned() };
    let host = Rc::new(ScriptHost::new(script, settings, Rc::clone(terminal) as Rc<dyn Console>)?);
    let begun = host.run().map_err(|_| Diagnostic::new("repl/setup", "the library could not be loaded", Exit::Bug));
    begun?;
    let broken = |error: ReadlineError| Box::new(Diagnostic::new("repl/input", error.to_string(), Exit::Input));
    let mut editor: Editor<Names, FileHistory> = Editor::new().map_err(broken)?;
    editor.set_helper(Some(Names(Rc::clone(&host))));
    let history = history_file();
    if let Some(path) = &history {
        // There is none before the first session.
        let _ = editor.load_history(path);
    }
    terminal.info("Lua 5.4 with skyfall; names that are not local stay; Ctrl-D ends");
    let ending = converse(&host, &mut editor, terminal);
    if let Some(path) = &history {
        let _ = path.parent().map(std::fs::create_dir_all);
        let _ = editor.save_history(path);
    }
    ending
}

/// Line by line, until the input ends or a line asks to exit: the exit code.
fn converse(
    host: &ScriptHost,
    editor: &mut Editor<Names, FileHistory>,
    terminal: &Terminal,
) -> Result<u8, Box<Diagnostic>> {
    let (mut code, mut number) = (String::new(), 1);
    loop {
        let line = match editor.readline(if code.is_empty() { "> " } else { ">> " }) {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => {
                code.clear();
                continue;
            }
            Err(ReadlineError::Eof) => return Ok(Exit::Success.code()),
            Err(error) => return Err(Box::new(Diagnostic::new("repl/input", error.to_string(), Exit::Input))),
        };
        code.push_str(&line);
        if code.trim().is_empty() {
            code.clear();
            continue;
        }
        match host.interpret(number, &code) {
            Ok(Reply::More) => {
                code.push('\n');
                continue;
            }
            Ok(Reply::Values(Some(text))) => terminal.print(&format!("{text}\n")),
            Ok(Reply::Values(None)) => {}
            Err(ScriptError::Exit(code)) => return Ok(code),
            Err(ScriptError::Raised(diagnostic)) => terminal.report(&diagnostic),
        }
        terminal.go_on();
        // One that cannot be kept is no reason to stop.
        let _ = editor.add_history_entry(code.as_str());
        code.clear();
        number += 1;
    }
}

/// Where lines are kept between sessions: below the user's state directory.
fn history_file() -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let state = state.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/state")))?;
    Some(state.join("skyfall/history"))
}

/// Completes names: globals, and the fields of tables they lead to.
struct Names(Rc<ScriptHost>);

impl Completer for Names {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let before = line.get(..at).unwrap_or_default();
        let word = |character: char| character.is_alphanumeric() || character == '_' || character == '.';
        let begin = before.rfind(|character| !word(character)).map_or(0, |found| found + 1);
        let path: Vec<&str> = before.get(begin..).unwrap_or_default().split('.').collect();
        let Some((last, outer)) = path.split_last() else { return Ok((at, Vec::new())) };
        let mut names = self.0.names_in(outer);
        names.retain(|name| name.starts_with(last));
        Ok((at - last.len(), names))
    }
}

impl Hinter for Names {
    type Hint = String;
}

impl Highlighter for Names {}

impl Validator for Names {}

impl Helper for Names {}
