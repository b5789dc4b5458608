//! `skyfall script --check-determinism`: the script twice, in two processes, whose Lua tables have
//! different orders; what they print and write must be the same.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::cli::Ending;
use crate::cli::console::Terminal;
use crate::diagnostic::{Diagnostic, Exit};
use crate::digest::sha256_hex;
use crate::text::json;
use crate::value::Value;

use super::touched;

/// The variable that fixes the clock of stores.
const SOURCE_DATE_EPOCH: &str = "SOURCE_DATE_EPOCH";
/// How many differing files of one directory are named.
const MOST_SHOWN: usize = 5;

/// What one run left.
struct Left {
    stdout: Vec<u8>,
    /// What it wrote: each path, and the files there by their names below it.
    written: BTreeMap<PathBuf, BTreeMap<PathBuf, Content>>,
}

/// What is in a file.
#[derive(PartialEq)]
enum Content {
    /// Text, whose lines can be compared.
    Text(Vec<u8>),
    /// The digest of anything else: a store's chunks may be larger than memory.
    Digest(String),
}

impl Content {
    fn digest(&self) -> String {
        match self {
            Self::Text(bytes) => sha256_hex(bytes),
            Self::Digest(digest) => digest.clone(),
        }
    }
}

/// Runs the command of this process twice without the flag, and compares.
pub(super) fn check(terminal: &Terminal) -> Ending {
    let (first, second) = (run()?, run()?);
    let mut differences = Vec::new();
    if let Some(place) = difference(&first.stdout, &second.stdout) {
        differences.push(format!("what it prints {place}"));
    }
    for path in first.written.keys().chain(second.written.keys()).collect::<BTreeSet<_>>() {
        match (first.written.get(path), second.written.get(path)) {
            (Some(one), Some(other)) => differences.extend(differing(path, one, other)),
            _ => differences.push(format!("{} was written by one of two runs", path.display())),
        }
    }
    if differences.is_empty() {
        let line = |(path, files): (&PathBuf, &BTreeMap<PathBuf, Content>)| match files.get(Path::new("")) {
            Some(file) => format!("{} {}\n", path.display(), file.digest()),
            None => format!("{} {} ({} files)\n", path.display(), digest(files), files.len()),
        };
        let lines: String = first.written.iter().map(line).collect();
        let count: usize = first.written.values().map(BTreeMap::len).sum();
        terminal.print(&format!("the same twice: what it prints, and {count} file(s)\n{lines}"));
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
        // What a store says of when it was written is not for the clock to change.
        .env(SOURCE_DATE_EPOCH, std::env::var_os(SOURCE_DATE_EPOCH).unwrap_or_else(|| "0".into()))
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| problem(error.to_string()))?;
    let written = touched::read(&note).written;
    let _ = std::fs::remove_file(&note);
    if !output.status.success() {
        return Err(problem(format!("the script failed ({})", output.status)));
    }
    let gathered = written.into_iter().map(|path| {
        let mut files = BTreeMap::new();
        gather(&path, Path::new(""), &mut files);
        (path, files)
    });
    Ok(Left { stdout: output.stdout, written: gathered.collect() })
}

/// The contents at and below `path`, which is called `name`; a trace without the times of its steps.
fn gather(path: &Path, name: &Path, files: &mut BTreeMap<PathBuf, Content>) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
            gather(&entry.path(), &name.join(entry.file_name()), files);
        }
    } else if let Ok(bytes) = std::fs::read(path) {
        let trace = path.extension().is_some_and(|extension| extension == "jsonl");
        let content = match std::str::from_utf8(&bytes) {
            Ok(text) if trace => Content::Text(without_times(text)),
            Ok(_) => Content::Text(bytes),
            Err(_) => Content::Digest(sha256_hex(&bytes)),
        };
        files.insert(name.to_owned(), content);
    }
}

/// One digest of a directory: of the sorted names and the digests of its files.
fn digest(files: &BTreeMap<PathBuf, Content>) -> String {
    let line = |(name, content): (&PathBuf, &Content)| format!("{} {}\n", name.display(), content.digest());
    sha256_hex(files.iter().map(line).collect::<String>().as_bytes())
}

/// Where what two runs left at `path` differs: the first few places.
fn differing(path: &Path, one: &BTreeMap<PathBuf, Content>, other: &BTreeMap<PathBuf, Content>) -> Vec<String> {
    let names: BTreeSet<&PathBuf> = one.keys().chain(other.keys()).collect();
    let place = |name: &PathBuf| match (one.get(name), other.get(name)) {
        (Some(Content::Text(one)), Some(Content::Text(other))) => difference(one, other),
        (Some(one), Some(other)) if one == other => None,
        (Some(_), Some(_)) => Some("differs".to_owned()),
        _ => Some("is there after one of two runs".to_owned()),
    };
    let shown = |name: &PathBuf| if name.as_os_str().is_empty() { path.to_owned() } else { path.join(name) };
    let found = names.into_iter().filter_map(|name| Some(format!("{} {}", shown(name).display(), place(name)?)));
    found.take(MOST_SHOWN).collect()
}

fn without_times(text: &str) -> Vec<u8> {
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
