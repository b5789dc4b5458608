//! `RECORDS.jsonl`: records of any producer in any language, one JSON object a line.
//!
//! An array stands inline as nested lists, or as `{"npy": "x.npy"}` or
//! `{"npz": "x.npz", "key": "name"}`, relative to the records' file. Lines are parsed on every
//! core, a few at a time, so that memory does not grow with the file.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::datum::one_line;
use super::record::{Datum, RecordError, RolloutRecord};
use crate::array::{npy, npz};
use crate::diagnostic::{Exit, Problem};
use crate::text::json;
use crate::value::{Map, Value};

/// Text that is parsed at a time, in bytes.
const BLOCK: usize = 16 << 20;
/// The longest line, in bytes: a thousand steps with depth inline stay below it.
const LONGEST: usize = 1 << 30;
/// The largest array that a record may name, in bytes: a thousand rasters.
const LARGEST_ARRAY: usize = 256 << 20;
/// How deep a record's lists and maps may be nested.
const DEEPEST: usize = 16;

/// Why the records of a file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordsError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A line holds no record.
    #[error("{}:{line}: {}", path.display(), one_line(what))]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The record, chain, step and field, and what is wrong there.
        what: String,
    },
}

impl Problem for RecordsError {
    fn code(&self) -> &'static str {
        "rollouts/records"
    }

    fn exit(&self) -> Exit {
        Exit::Input
    }
}

/// The records of a file, in the order of its lines.
pub struct RecordsFile {
    path: PathBuf,
    input: BufReader<Box<dyn Read + Send>>,
    size: Option<u64>,
    done: u64,
    line: usize,
}

impl RecordsFile {
    /// Opens `path`; `-` is standard input, whose arrays are relative to the working directory.
    ///
    /// # Errors
    /// When there is no such file.
    pub fn open(path: &Path) -> Result<Self, RecordsError> {
        let failed = |source| RecordsError::File { path: path.to_owned(), source };
        let (input, size): (Box<dyn Read + Send>, _) = if path == Path::new("-") {
            (Box::new(io::stdin()), None)
        } else {
            let file = File::open(path).map_err(failed)?;
            let metadata = file.metadata().map_err(failed)?;
            if metadata.is_dir() {
                return Err(failed(io::Error::from(io::ErrorKind::IsADirectory)));
            }
            (Box::new(file), metadata.is_file().then_some(metadata.len()))
        };
        Ok(Self { path: path.to_owned(), input: BufReader::with_capacity(1 << 18, input), size, done: 0, line: 0 })
    }

    /// Bytes read so far, and of how many where that is known.
    #[must_use]
    pub fn progress(&self) -> (u64, Option<u64>) {
        (self.done, self.size)
    }

    /// The next few records, each with its line from 1; none at the end.
    ///
    /// # Errors
    /// The first line that is no record, and what is wrong with it.
    pub fn next_records(&mut self) -> Result<Vec<(usize, RolloutRecord)>, RecordsError> {
        let mut lines = Vec::new();
        let mut bytes = 0;
        while bytes < BLOCK {
            let Some(line) = self.next_line()? else { break };
            bytes += line.len();
            if !line.trim_ascii().is_empty() {
                lines.push((self.line, line));
            }
            if lines.is_empty() {
                bytes = 0;
            }
        }
        let base = self.path.parent().unwrap_or(Path::new("")).to_owned();
        let read = |(line, text): (usize, Vec<u8>)| (line, record(&text, &base));
        let read: Vec<_> = lines.into_par_iter().map(read).collect();
        let refuse = |(line, read): (usize, Result<_, String>)| match read {
            Ok(record) => Ok((line, record)),
            Err(what) => Err(self.refuse(line, what)),
        };
        read.into_iter().map(refuse).collect()
    }

    /// A line without its end, or none at the end of the file.
    fn next_line(&mut self) -> Result<Option<Vec<u8>>, RecordsError> {
        let mut line = Vec::new();
        let limit = LONGEST as u64 + 1;
        let read = Read::by_ref(&mut self.input).take(limit).read_until(b'\n', &mut line);
        let read = read.map_err(|source| RecordsError::File { path: self.path.clone(), source })?;
        if read == 0 {
            return Ok(None);
        }
        self.done += read as u64;
        self.line += 1;
        if line.len() > LONGEST {
            return Err(self.refuse(self.line, "the line is longer than 1 GiB; keep large arrays in .npy files"));
        }
        Ok(Some(line))
    }

    /// A mistake in a line of this file.
    pub fn refuse(&self, line: usize, what: impl Into<String>) -> RecordsError {
        RecordsError::Line { path: self.path.clone(), line, what: what.into() }
    }
}

fn record(line: &[u8], base: &Path) -> Result<RolloutRecord, String> {
    let text = std::str::from_utf8(line).map_err(|error| format!("byte {} is not UTF-8", error.valid_up_to() + 1))?;
    let value = json::parse_exact(text).map_err(|error| {
        // Only the last line of a file has no end.
        let cut = if text.ends_with('\n') { "" } else { "; the file may have been cut off here" };
        format!("column {}: {}{cut}", error.column, error.message)
    })?;
    let name = value.as_map().and_then(|record| record.get("rollout_id_prefix")?.as_text()).unwrap_or("record");
    let datum = datum(value.clone(), base, &format!("{name}: "), 0)?;
    RolloutRecord::from_datum(&datum).map_err(|error: RecordError| error.to_string())
}

/// Plain data with the arrays that it names in their places.
fn datum(value: Value, base: &Path, path: &str, depth: usize) -> Result<Datum, String> {
    let below = |key: &str| if path.ends_with(' ') { format!("{path}{key}") } else { format!("{path}.{key}") };
    if depth > DEEPEST {
        return Err(format!("{path}: is nested too deeply for a record"));
    }
    match value {
        Value::Map(map) if map.contains_key("npy") || map.contains_key("npz") => {
            array(&map, base).map(Datum::Array).map_err(|what| format!("{path}: {what}"))
        }
        Value::Map(map) => {
            let read = |(key, value): (String, Value)| {
                let datum = datum(value, base, &below(&key), depth + 1)?;
                Ok((key, datum))
            };
            Ok(Datum::Map(map.into_iter().map(read).collect::<Result<_, String>>()?))
        }
        Value::List(items) if items.iter().any(|item| holds_map(item, depth)) => {
            let read = |(index, item): (usize, Value)| datum(item, base, &format!("{path}[{index}]"), depth + 1);
            Ok(Datum::List(items.into_iter().enumerate().map(read).collect::<Result<_, String>>()?))
        }
        value => Ok(Datum::Value(value)),
    }
}

/// Whether a map is there at any depth that a record has.
fn holds_map(value: &Value, depth: usize) -> bool {
    match value {
        Value::Map(_) => true,
        Value::List(items) => depth <= DEEPEST && items.iter().any(|item| holds_map(item, depth + 1)),
        _ => false,
    }
}

/// The array that `{"npy": ..}` or `{"npz": .., "key": ..}` names.
fn array(reference: &Map, base: &Path) -> Result<crate::array::Array, String> {
    let text = |key: &str| match reference.get(key) {
        Some(Value::Text(text)) if !text.is_empty() => Ok(text.as_str()),
        _ => Err(format!("`{key}` must be text")),
    };
    if let Some(other) = reference.keys().find(|key| !matches!(key.as_str(), "npy" | "npz" | "key")) {
        return Err(format!("a reference to an array has `npy`, or `npz` and `key`, but no `{other}`"));
    }
    let read = if reference.contains_key("npy") {
        if reference.len() > 1 {
            return Err("`npy` stands alone in a reference to an array".to_owned());
        }
        npy::open_at_most(&file(base, text("npy")?)?, LARGEST_ARRAY)
    } else {
        npz::open_one_at_most(&file(base, text("npz")?)?, text("key")?, LARGEST_ARRAY)
    };
    read.map_err(|error| error.to_string())
}

/// The file that a reference names; opening a pipe would wait for its writer.
fn file(base: &Path, name: &str) -> Result<PathBuf, String> {
    let path = base.join(name);
    match path.metadata() {
        Ok(metadata) if metadata.is_file() => Ok(path),
        Ok(_) => Err(format!("{} is not a file", path.display())),
        Err(error) => Err(format!("cannot read {}: {error}", path.display())),
    }
}
