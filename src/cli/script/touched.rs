//! What a script's process tells the process that watches it: the files it had to do with.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::atomic;
use crate::diagnostic::{Diagnostic, Exit};
use crate::script::Touched;
use crate::text::json;
use crate::value::{Map, Value};

/// A file for one process to leave its note in.
pub(super) fn note() -> PathBuf {
    static NOTES: AtomicU32 = AtomicU32::new(0);
    let number = NOTES.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("skyfall-{}-{number}.json", std::process::id()))
}

/// This process's arguments without `flag`, and with the wish for a note.
pub(super) fn arguments(flag: &str, note: &Path) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let own = arguments.iter().position(|word| word == "--").unwrap_or(arguments.len());
    if let Some(at) = arguments.iter().take(own).position(|word| word == flag) {
        arguments.remove(at);
    }
    let verb = arguments.iter().position(|word| word == "script").map_or(0, |at| at + 1);
    arguments.splice(verb..verb, [OsString::from("--touched"), note.into()]);
    arguments
}

/// Leaves a note.
pub(super) fn write(note: &Path, touched: &Touched) -> Result<(), Diagnostic> {
    let list = |paths: &[PathBuf]| Value::List(paths.iter().map(|path| path.display().to_string().into()).collect());
    let map: Map = [("sources", list(&touched.sources)), ("written", list(&touched.written))]
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect();
    atomic::write_file(note, json::to_string(&Value::Map(map)).as_bytes())
        .map_err(|error| Diagnostic::new("script/touched", error.to_string(), Exit::Failure))
}

/// What a note says; nothing of one that was not left.
pub(super) fn read(note: &Path) -> Touched {
    let text = std::fs::read_to_string(note).unwrap_or_default();
    let Ok(Value::Map(map)) = json::parse(&text) else { return Touched::default() };
    let list = |key: &str| match map.get(key) {
        Some(Value::List(items)) => items.iter().filter_map(|item| item.as_text().map(PathBuf::from)).collect(),
        _ => Vec::new(),
    };
    Touched { sources: list("sources"), written: list("written") }
}
