//! `skyfall test`: files of tests in Lua, each in a machine of its own.

mod junit;

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::diagnostic::{Diagnostic, Exit};
use crate::script::{Console, Limits, Script, ScriptError, ScriptHost};
use crate::value::{self, Value};

use super::Ending;
use super::args::TestArguments;
use super::console::Terminal;
use super::findings;

/// How one test went.
struct Outcome {
    name: String,
    time: Duration,
    failure: Option<Diagnostic>,
}

impl Outcome {
    fn to_value(&self, file: &str) -> Value {
        Value::map([
            ("file", file.into()),
            ("name", self.name.as_str().into()),
            ("elapsed_s", self.time.as_secs_f64().into()),
            ("failure", self.failure.as_ref().map(findings::object).unwrap_or_default()),
        ])
    }
}

/// Runs the tests and says how they went.
pub(super) fn test(arguments: &TestArguments, terminal: &Rc<Terminal>) -> Ending {
    let limits = arguments.limits.limits();
    terminal.bound(limits);
    let mut files = Vec::new();
    for path in &arguments.paths {
        collect(path, true, &mut files)?;
    }
    let mut results = Vec::new();
    for file in &files {
        let directory = std::env::temp_dir().join(format!("skyfall-test-{}-{}", std::process::id(), results.len()));
        let outcomes = run_file(file, &directory, arguments, limits, terminal);
        let _ = std::fs::remove_dir_all(&directory);
        results.push((file.display().to_string(), outcomes?));
    }
    if let Some(path) = &arguments.junit {
        super::reference::write(path, &junit::document(&results))?;
    }
    let count = |failed: bool| {
        results.iter().flat_map(|(_, outcomes)| outcomes).filter(|outcome| outcome.failure.is_some() == failed).count()
    };
    let (passed, failed) = (count(false), count(true));
    if arguments.json {
        let tests = results.iter().flat_map(|(file, outcomes)| outcomes.iter().map(|outcome| outcome.to_value(file)));
        let entries: [(&str, Value); 3] = [
            ("passed", (passed as u64).into()),
            ("failed", (failed as u64).into()),
            ("tests", tests.collect::<Vec<_>>().into()),
        ];
        terminal.print_json(value::map(entries));
    } else {
        terminal.print(&format!("{passed} passed, {failed} failed\n"));
    }
    if passed + failed == 0 {
        let line = match &arguments.filter {
            Some(words) => format!("no test's name has `{words}` in it"),
            None => "there are no tests: files are called test_*.lua or *_test.lua, and register them with \
                     `skyfall.test.it`"
                .to_owned(),
        };
        return Err(Box::new(Diagnostic::new("test/none", line, Exit::Failure)));
    }
    // A limit that stopped the work has a code of its own.
    let ended =
        |outcome: &Outcome| outcome.failure.as_ref().filter(|why| why.code.starts_with("limit/")).map(|why| why.exit);
    let ended = results.iter().flat_map(|(_, outcomes)| outcomes).find_map(ended);
    Ok(ended.unwrap_or(if failed == 0 { Exit::Success } else { Exit::Failure }))
}

fn run_file(
    file: &Path,
    directory: &Path,
    arguments: &TestArguments,
    limits: Limits,
    terminal: &Rc<Terminal>,
) -> Result<Vec<Outcome>, Box<Diagnostic>> {
    let made = std::fs::create_dir_all(directory);
    made.map_err(|error| {
        Diagnostic::new("test/directory", format!("{}: {error}", directory.display()), Exit::Failure)
    })?;
    let mut settings = super::script::settings(&arguments.permissions)?;
    settings.limits = limits;
    settings.tests = Some((directory.to_owned(), arguments.seed));
    let allowed = settings.permissions.allow(directory);
    allowed.map_err(|error| {
        Diagnostic::new("test/directory", format!("{}: {error}", directory.display()), Exit::Failure)
    })?;
    let host = ScriptHost::new(Script::File(file.to_owned()), settings, Rc::clone(terminal) as Rc<dyn Console>)?;
    let mut outcomes = Vec::new();
    let mut told = |name: String, began: Instant, result: Result<(), ScriptError>| {
        let failure = result.err().map(failure);
        let word = if failure.is_some() { "FAIL" } else { "ok  " };
        if !arguments.json {
            terminal.print(&findings::harmless(&format!("{word} {}: {name}\n", file.display())));
        }
        if let Some(failure) = &failure {
            terminal.report(failure);
        }
        outcomes.push(Outcome { name, time: began.elapsed(), failure });
    };
    let began = Instant::now();
    match host.cases() {
        Err(error) => told("the file itself".to_owned(), began, Err(error)),
        Ok(names) => {
            for (index, name) in names.into_iter().enumerate() {
                if arguments.filter.as_ref().is_none_or(|text| name.contains(text)) {
                    let began = Instant::now();
                    let result = host.run_case(index);
                    told(name, began, result);
                }
            }
        }
    }
    Ok(outcomes)
}

fn failure(error: ScriptError) -> Diagnostic {
    match error {
        ScriptError::Raised(diagnostic) => *diagnostic,
        ScriptError::Exit(code) => {
            Diagnostic::new("test/exit", format!("the test ended the script with code {code}"), Exit::Failure)
        }
    }
}

/// The test files at `path`: itself if it was `named`, those in and below a directory, sorted.
fn collect(path: &Path, named: bool, files: &mut Vec<PathBuf>) -> Result<(), Box<Diagnostic>> {
    let unreadable = |error: std::io::Error| {
        Box::new(Diagnostic::new("test/unreadable", format!("cannot read {}: {error}", path.display()), Exit::Input))
    };
    if !path.is_dir() {
        std::fs::metadata(path).map_err(unreadable)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if named || (name.ends_with(".lua") && (name.starts_with("test_") || name.ends_with("_test.lua"))) {
            files.push(path.to_owned());
        }
        return Ok(());
    }
    let entries: std::io::Result<Vec<PathBuf>> =
        std::fs::read_dir(path).map_err(unreadable)?.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut entries = entries.map_err(unreadable)?;
    entries.sort();
    for entry in entries {
        let hidden = entry.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if !hidden && !entry.is_symlink() {
            collect(&entry, false, files)?;
        }
    }
    Ok(())
}
