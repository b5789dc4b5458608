//! The trace room: bytes of the writer, rules of the readers.

mod arbitrary;
mod columns;
mod commands;
mod edges;
mod grouping;
mod parquet;
mod rescoring;
mod rows;
mod scripts;
mod streams;
mod writer;

use std::path::PathBuf;

use skyfall::trace::columns::{TraceColumns, Warning};
use skyfall::trace::{ReadOptions, TraceError, read_columns};

/// A directory with these files.
pub(crate) fn directory<'a>(files: impl IntoIterator<Item = (&'a str, Vec<u8>)>) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let path = directory.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    directory
}

/// Reads the whole directory; file names in the result are relative to it.
pub(crate) fn read_all(directory: &tempfile::TempDir, options: &ReadOptions) -> Result<TraceColumns, TraceError> {
    let mut columns = read_columns(&[directory.path().to_owned()], options)?;
    let relative = |name: &mut String| *name = name.replace(&format!("{}/", directory.path().display()), "");
    columns.inputs.iter_mut().for_each(|input| relative(&mut input.path));
    for warning in &mut columns.warnings {
        warning.file.iter_mut().for_each(relative);
        relative(&mut warning.message);
    }
    for run in &mut columns.runs {
        run.files.iter_mut().for_each(relative);
        run.identity.file.iter_mut().for_each(relative);
    }
    Ok(columns)
}

/// Reads one file of these bytes.
pub(crate) fn read(bytes: impl AsRef<[u8]>) -> TraceColumns {
    read_all(&directory([("t.jsonl", bytes.as_ref().to_vec())]), &ReadOptions::default()).unwrap()
}

/// Each warning as `code line count`.
pub(crate) fn told(columns: &TraceColumns) -> Vec<String> {
    columns.warnings.iter().map(tell).collect()
}

fn tell(warning: &Warning) -> String {
    let line = warning.line.map_or_else(|| "-".to_owned(), |line| line.to_string());
    format!("{} {line} {}", warning.code, warning.count)
}

/// Path of a file in `tests/data/trace`.
pub(crate) fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/trace").join(name)
}
