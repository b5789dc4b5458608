//! `skyfall script`.

mod determinism;
mod touched;
mod watch;

use std::io::Read;
use std::path::Path;
use std::rc::Rc;

use crate::diagnostic::{Diagnostic, Exit};
use crate::script::{Console, Outcome, Permissions, RunOptions, Script, ScriptError, ScriptHost, Settings};
use crate::sweep::Directory;

use super::args::{PermissionArguments, ScriptArguments};
use super::console::Terminal;
use super::sweep::Order;
use super::{Ending, Process};

/// What a script on standard input is called.
pub(super) const STDIN: &str = "stdin";

/// Runs a script; an experiment it returns is run, too. Whatever else went wrong after the user
/// asked to stop, the exit code says that they did.
pub(super) fn script(arguments: ScriptArguments, own: &Process, terminal: &Rc<Terminal>) -> u8 {
    let other = match &arguments.file {
        _ if arguments.check => Some(check(&arguments, terminal)),
        Some(path) if path == Path::new("-") && (arguments.check_determinism || arguments.watch) => {
            let line = "standard input is read once only; name a file";
            Some(Err(Box::new(Diagnostic::new("script/stdin", line, Exit::Usage))))
        }
        _ if arguments.check_determinism => Some(determinism::check(terminal)),
        Some(file) if arguments.watch => Some(watch::watch(file, terminal)),
        _ => None,
    };
    match other {
        None => run(arguments, own, terminal),
        Some(Ok(exit)) => exit.code(),
        Some(Err(diagnostic)) => failed(&diagnostic, terminal),
    }
}

/// Says what is wrong with the script, as far as that is seen without running it.
fn check(arguments: &ScriptArguments, terminal: &Rc<Terminal>) -> Ending {
    let settings = settings(&arguments.permissions)?;
    let host = ScriptHost::new(source(arguments)?, settings, Rc::clone(terminal) as Rc<dyn Console>)?;
    let found = host.check()?;
    for diagnostic in &found {
        terminal.report(diagnostic);
    }
    Ok(if found.is_empty() { Exit::Success } else { Exit::Failure })
}

fn run(arguments: ScriptArguments, own: &Process, terminal: &Rc<Terminal>) -> u8 {
    let ending = source(&arguments).and_then(|script| {
        let mut settings = settings(&arguments.permissions)?;
        settings.limits = arguments.limits.limits();
        terminal.bound(settings.limits);
        settings.arguments.clone_from(&arguments.arguments);
        settings.overrides.clone_from(&arguments.overrides);
        settings.checkpoints = arguments.checkpoints.checkpoints();
        settings.dry_run = arguments.dry_run;
        ScriptHost::new(script, settings, Rc::clone(terminal) as Rc<dyn Console>)
    });
    let outcome = match &ending {
        Ok(host) => host.run(),
        Err(diagnostic) => Err(ScriptError::Raised(Box::new(diagnostic.clone()))),
    };
    let out = match &outcome {
        Ok(Outcome::Experiment(experiment)) if !arguments.dry_run => {
            arguments.out.clone().map_or_else(|| experiment.directory(), Ok).map(Some)
        }
        _ => Ok(None),
    };
    let out = match out {
        Ok(out) => out,
        Err(diagnostic) => return failed(&diagnostic, terminal),
    };
    let note = |host: &ScriptHost, note: &Path| {
        let mut touched = host.touched();
        touched.written.extend(out.clone());
        touched::write(note, &touched)
    };
    let noted = match (&ending, &arguments.touched) {
        (Ok(host), Some(path)) => note(host, path),
        _ => Ok(()),
    };
    if let Err(diagnostic) = noted {
        return failed(&diagnostic, terminal);
    }
    match outcome {
        Ok(Outcome::Done) if terminal.was_stopped() => Exit::Interrupted.code(),
        Ok(Outcome::Done) if terminal.limit().is_some_and(|limit| failed(&limit, terminal) != 0) => Exit::Input.code(),
        Ok(Outcome::Done) => {
            if arguments.out.is_some() {
                terminal.warn("--out had no part in this: the script returned no experiment, and names its own files");
            }
            Exit::Success.code()
        }
        Ok(Outcome::Sweep(sweep)) => {
            let order = Order {
                file: arguments.file,
                out: arguments.out,
                resume: arguments.checkpoints.resume,
                dry_run: arguments.dry_run,
                json: false,
                pool: arguments.pool,
                launcher: None,
            };
            match super::sweep::drive(*sweep, &order, own, terminal) {
                Ok(exit) => exit.code(),
                Err(diagnostic) => failed(&diagnostic, terminal),
            }
        }
        Ok(Outcome::Experiment(experiment)) if arguments.dry_run => {
            match super::run::dry_run(&experiment, false, terminal) {
                Ok(exit) => exit.code(),
                Err(diagnostic) => failed(&diagnostic, terminal),
            }
        }
        Ok(Outcome::Experiment(experiment)) => {
            let out = out.unwrap_or_default();
            if Directory::new(&out).holds_sweep() {
                let line =
                    format!("{} holds a sweep; a run's results would be counted among its trials'", out.display());
                let hint = "--out names another directory";
                return failed(&Diagnostic::new("run/sweep-there", line, Exit::Usage).with_hint(hint), terminal);
            }
            let options = RunOptions {
                checkpoints: Some(arguments.checkpoints.checkpoints()),
                tells_replaced: true,
                ..RunOptions::new(Some(out.join("traces.jsonl")), Some(out.join("bundle")))
            };
            match experiment.run(&options) {
                Ok(result) => super::run::told(&result, &options, false, terminal).code(),
                Err(diagnostic) => failed(&diagnostic, terminal),
            }
        }
        Err(ScriptError::Raised(diagnostic)) => failed(&diagnostic, terminal),
        Err(ScriptError::Exit(code)) => code,
    }
}

/// Reports `diagnostic`; the exit code.
fn failed(diagnostic: &Diagnostic, terminal: &Terminal) -> u8 {
    terminal.report(diagnostic);
    if terminal.was_stopped() { Exit::Interrupted.code() } else { diagnostic.exit.code() }
}

/// The script's text and name.
fn source(arguments: &ScriptArguments) -> Result<Script, Diagnostic> {
    match (&arguments.code, &arguments.file) {
        (Some(code), _) => Ok(Script::Text { name: "-e".to_owned(), code: code.clone() }),
        (None, Some(path)) if is_configuration(path) => {
            let path = path.display();
            let line = format!("{path} is a configuration, not a script");
            Err(Diagnostic::new("script/configuration", line, Exit::Usage).with_hint(format!("skyfall run {path}")))
        }
        (None, Some(path)) => named(path),
        (None, None) => Err(Diagnostic::new("script/none", "no script was named", Exit::Usage)),
    }
}

/// Whether `path` has an ending of those that configurations have.
fn is_configuration(path: &Path) -> bool {
    path.extension()
        .is_some_and(|ending| ["yaml", "yml", "json"].iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

/// The script in a file, or on standard input.
pub(super) fn named(path: &Path) -> Result<Script, Diagnostic> {
    if path != Path::new("-") {
        return Ok(Script::File(path.to_owned()));
    }
    let mut code = String::new();
    std::io::stdin().read_to_string(&mut code).map_err(|cause| {
        Diagnostic::new("script/unreadable", format!("cannot read standard input: {cause}"), Exit::Input)
    })?;
    Ok(Script::Text { name: STDIN.to_owned(), code })
}

/// What the flags let a script touch; the environment's clock for stores.
pub(super) fn settings(arguments: &PermissionArguments) -> Result<Settings, Diagnostic> {
    let mut permissions = Permissions::default();
    permissions.all_paths = arguments.allow_all;
    permissions.environment = arguments.allow_all || arguments.allow_env;
    permissions.processes = arguments.allow_all || arguments.allow_run;
    for directory in &arguments.allow_path {
        permissions.allow(directory).map_err(|cause| {
            Diagnostic::new("script/allow-path", format!("--allow-path {}: {cause}", directory.display()), Exit::Usage)
        })?;
    }
    let source_date_epoch = super::source_date_epoch()?;
    Ok(Settings { permissions, source_date_epoch, ..Settings::default() })
}
