//! `skyfall script --check-determinism`: the script twice, in two processes, whose Lua tables have
//! different orders; what they print and write must be the same.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::cli::Ending;
use crate::cli::console::Terminal;
use crate::diagnostic::{Diagnostic, Exit};
use crate::digest::sha256_hex;
use crate::text::json;
use crate::value::Value;

use super::touched;

/// What one run left.
struct Left {
    stdout: Vec<u8>,
    /// The content of each file, by path.
    files: BTreeMap<PathBuf, Vec<u8>>,
}

/// Runs the command of this process twice without the flag, and compares.
pub(super) fn check(terminal: &Terminal) -> Ending {
    let (first, second) = (run()?, run()?);
    let mut differences = Vec::new();
    if let Some(place) = difference(&first.stdout, &second.stdout) {
        differences.push(format!("what it prints {place}"));
    }
    let paths: Vec<&PathBuf> = first.files.keys().chain(second.files.keys()).collect();
    for path in std::collections::BTreeSet::from_iter(paths) {
        let place = match (first.files.get(path), second.files.get(path)) {
            (Some(one), Some(other)) => difference(one, other),
            _ => Some("was written by one of two runs".to_owned()),
        };
        differences.extend(place.map(|place| format!("{} {place}", path.display())));
    }
    if differences.is_empty() {
        let digest: String =
            first.files.iter().map(|(path, bytes)| format!("{} {}\n", path.display(), sha256_hex(bytes))).collect();
        terminal.print(&format!("the same twice: what it prints, and {} file(s)\n{digest}", first.files.len()));
        return Ok(Exit::Success);
    }
    let mut finding = Diagnostic::new("script/not-deterministic", differences.join("; "), Exit::Failure);
    finding.hints.push(
        "tables have no order: go through them with `skyfall.tables.sorted`, and draw from `skyfall.random`".to_owned(),
    );
    Err(Box::new(finding))
}

fn run() -> Result<Left, Box<Diagnostic>> {
    let problem = |what: String| Box::new(Diagnostic::new("script/process", what, Exit::Failure));
    let note = touched::note();
    let program = std::env::current_exe().map_err(|error| problem(error.to_string()))?;
    let output = Command::new(program)
        .args(touched::arguments("--check-determinism", &note))
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| problem(error.to_string()))?;
    let written = touched::read(&note).written;
    let _ = std::fs::remove_file(&note);
    if !output.status.success() {
        return Err(problem(format!("the script failed ({})", output.status)));
    }
    let mut files = BTreeMap::new();
    for path in written {
        gather(&path, &mut files);
    }
    Ok(Left { stdout: output.stdout, files })
}

/// The contents at and below `path`; a trace without the times of its steps.
fn gather(path: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
            gather(&entry.path(), files);
        }
    } else if let Ok(bytes) = std::fs::read(path) {
        let trace = path.extension().is_some_and(|extension| extension == "jsonl");
        files.insert(path.to_owned(), if trace { without_times(&bytes) } else { bytes });
    }
}

fn without_times(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    let line = |line: &str| match json::parse(line) {
        Ok(Value::Map(mut row)) => {
            row.shift_remove("observed_at");
            json::to_string(&Value::Map(row))
        }
        _ => line.to_owned(),
    };
    text.lines().map(|text| line(text) + "\n").collect::<String>().into_bytes()
}

/// Where two contents differ, if they do.
fn difference(one: &[u8], other: &[u8]) -> Option<String> {
    if one == other {
        return None;
    }
    let lines = |bytes: &[u8]| -> Vec<String> { String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect() };
    let (one, other) = (lines(one), lines(other));
    let line = one.iter().zip(&other).position(|(one, other)| one != other).unwrap_or(one.len().min(other.len()));
    Some(format!("differs from line {} on", line + 1))
}
