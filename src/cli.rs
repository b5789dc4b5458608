//! The command line: the only room that prints.
//!
//! Arguments are typed in [`args`]; each verb is a file with one function that returns how the
//! command ends. Data goes to stdout, everything else to stderr; a closed pipe is no error.

mod args;
mod bundle;
mod child;
mod cluster;
mod console;
mod eval;
mod findings;
mod new;
mod reference;
mod repl;
mod rollouts;
mod run;
mod script;
mod serve;
mod signals;
mod sweep;
mod test;
mod trace;

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;

use clap::Parser;

use crate::diagnostic::{Diagnostic, Exit};
use args::{Arguments, Command, ErrorFormat, RolloutsCommand};
use console::Terminal;

/// How a verb ends: a status, or a finding that says what went wrong.
type Ending = Result<Exit, Box<Diagnostic>>;

/// Runs the command line `arguments`, the program's name first, and says how it ended.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let typed: Vec<OsString> = arguments.into_iter().collect();
    let arguments = match Arguments::try_parse_from(&typed) {
        Ok(arguments) => arguments,
        Err(problem) => return ExitCode::from(usage(&problem, &typed).code()),
    };
    if let Some(parent) = arguments.child_of {
        child::end_with(parent);
    }
    let terminal = Rc::new(Terminal::new(arguments.quiet, arguments.error_format));
    let own = Process { words: typed.into_iter().skip(1).collect(), attempt: arguments.attempt };
    let code = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(arguments.command, &own, &terminal)));
    let code = code.unwrap_or_else(|_| {
        let line = "this is a bug in skyfall; please report it with the lines above";
        terminal.report(&Diagnostic::new("bug", line, Exit::Bug));
        Exit::Bug.code()
    });
    let lost = code == Exit::Success.code() && terminal.is_cut();
    ExitCode::from(if lost { Exit::Failure.code() } else { code })
}

/// Says what is wrong with what was `typed`. `--help` and `--version` arrive here too; they print
/// to stdout and end well.
fn usage(problem: &clap::Error, typed: &[OsString]) -> Exit {
    if !problem.use_stderr() {
        let _ = problem.print();
        return Exit::Success;
    }
    let asks = |pair: &[OsString]| matches!(pair, [flag, value] if flag == "--error-format" && value == "json");
    if typed.windows(2).any(asks) || typed.iter().any(|word| word == "--error-format=json") {
        let text = problem.to_string();
        let message = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
        let finding = Diagnostic::new("usage", message, Exit::Usage);
        let _ = writeln!(std::io::stderr(), "{}", findings::error(&finding, ErrorFormat::Json));
    } else {
        let _ = problem.print();
    }
    Exit::Usage
}

/// The time that stands for now in what is written, where the environment fixes it.
fn source_date_epoch() -> Result<Option<u64>, Diagnostic> {
    let Ok(text) = std::env::var("SOURCE_DATE_EPOCH") else { return Ok(None) };
    text.parse().map(Some).map_err(|_| {
        let line = format!("SOURCE_DATE_EPOCH must be seconds since 1970, got `{text}`");
        Diagnostic::new("environment", line, Exit::Usage)
    })
}

/// Refuses to write over what is read: `output` must be none of `inputs`, nor stand in a directory
/// among them in place of a file.
fn check_output(output: Option<&Path>, inputs: &[PathBuf]) -> Result<(), Box<Diagnostic>> {
    let Some((path, real)) = output.and_then(|path| Some((path, path.canonicalize().ok()?))) else { return Ok(()) };
    let read = |input: &PathBuf| input.canonicalize().is_ok_and(|input| real.is_file() && real.starts_with(input));
    if inputs.iter().any(read) {
        let line = format!("{} is among what is read; it is not written over", path.display());
        return Err(Box::new(Diagnostic::new("output/input", line, Exit::Usage)));
    }
    Ok(())
}

/// The format that was asked for: by `--json`, which is `json`, by name, or by what `--out` ends in.
fn chosen<F: Copy + PartialEq>(
    (as_json, json): (bool, F),
    named: Option<F>,
    ending: Option<F>,
) -> Result<Option<F>, Box<Diagnostic>> {
    match named {
        Some(named) if as_json && named != json => {
            let line = "--json and another --format were asked for; leave one out";
            Err(Box::new(Diagnostic::new("usage", line, Exit::Usage)))
        }
        _ if as_json => Ok(Some(json)),
        named => Ok(named.or(ending)),
    }
}

/// This process: what was typed after the program's name, and the trial it is, if it is one.
struct Process {
    words: Vec<OsString>,
    attempt: Option<PathBuf>,
}

fn run(command: Command, own: &Process, terminal: &Rc<Terminal>) -> u8 {
    let patient = match &command {
        Command::Rollouts(command) => matches!(**command, RolloutsCommand::Run(_)),
        command => matches!(
            command,
            Command::Script(_) | Command::Run(_) | Command::Serve(_) | Command::Repl(_) | Command::Sweep(_)
        ),
    };
    if patient {
        terminal.patient();
    }
    let ending = match command {
        Command::Script(arguments) => return script::script(arguments, own, terminal),
        Command::Run(arguments) => run::run(&arguments, terminal),
        Command::Eval(arguments) => eval::eval(&arguments, terminal),
        Command::Serve(arguments) => serve::serve(&arguments, terminal),
        Command::Trace(command) => trace::trace(&command, terminal),
        Command::Bundle(command) => bundle::bundle(&command, terminal),
        Command::Sweep(command) => sweep::sweep(&command, own, terminal),
        Command::Rollouts(command) => rollouts::rollouts(&command, own, terminal),
        Command::Test(arguments) => test::test(&arguments, terminal),
        Command::Repl(arguments) => match repl::repl(&arguments, terminal) {
            Ok(code) => return code,
            Err(diagnostic) => Err(diagnostic),
        },
        Command::New(arguments) => new::new(&arguments, terminal),
        Command::Types(arguments) => reference::types(&arguments, terminal),
        Command::Doc(arguments) => reference::doc(&arguments, terminal),
        Command::Completions(arguments) => reference::completions(&arguments, terminal),
    };
    match ending {
        Ok(exit) => exit.code(),
        Err(diagnostic) => {
            terminal.report(&diagnostic);
            diagnostic.exit.code()
        }
    }
}
