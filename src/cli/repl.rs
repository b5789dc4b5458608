//! `skyfall repl`: Lua line by line, with history and completion.

use std::path::PathBuf;
use std::rc::Rc;

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::{FileHistory, History};
use rustyline::validate::Validator;
use rustyline::{Config, Context, Editor, Helper};

use crate::diagnostic::{Diagnostic, Exit};
use crate::script::{Console, Reply, Script, ScriptError, ScriptHost};

use super::args::ReplArguments;
use super::console::Terminal;

/// What is run before the first line: the library, all of it, so that its names complete.
const START: &str = "skyfall = require 'skyfall' for _ in pairs(skyfall) do end";

/// What is typed by who wants to leave.
const LEAVING: [&str; 4] = ["exit", "exit()", "quit", "quit()"];

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
    let mut history = FileHistory::new();
    let file = history_file();
    if let Some(path) = &file {
        // There is none before the first session.
        let _ = history.load(path);
    }
    terminal.info("Lua 5.4 with skyfall; names stay from line to line; Ctrl-D ends");
    let ending = converse(&host, &mut history, terminal);
    if let Some(path) = &file {
        let _ = path.parent().map(std::fs::create_dir_all);
        let _ = history.save(path);
    }
    ending
}

/// Reads one line. The editor takes Ctrl-C for itself as long as there is one, so there is none
/// while a line runs.
fn line_after(prompt: &str, host: &Rc<ScriptHost>, history: &mut FileHistory) -> Result<String, ReadlineError> {
    let mut editor = Editor::with_history(Config::default(), std::mem::take(history))?;
    editor.set_helper(Some(Names(Rc::clone(host))));
    let line = editor.readline(prompt);
    *history = std::mem::take(editor.history_mut());
    line
}

/// Line by line, until the input ends or a line asks to exit: the exit code.
fn converse(host: &Rc<ScriptHost>, history: &mut FileHistory, terminal: &Terminal) -> Result<u8, Box<Diagnostic>> {
    let (mut code, mut number) = (String::new(), 1);
    loop {
        let line = match line_after(if code.is_empty() { "> " } else { ">> " }, host, history) {
            Ok(line) => line,
            Err(ReadlineError::Interrupted | ReadlineError::Signal(_)) => {
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
        if LEAVING.contains(&code.trim()) && !host.names_in(&[]).iter().any(|name| code.trim().starts_with(name)) {
            let line = format!("nothing here is called `{}`", code.trim());
            terminal.report(&Diagnostic::new("repl/exit", line, Exit::Usage).with_hint("Ctrl-D ends"));
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
        let _ = history.add(&code);
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
