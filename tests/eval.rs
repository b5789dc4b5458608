//! Evaluation: golden numbers, odd runs, groups, the report's tree and text.

mod asked;
mod beside;
mod chromium;
mod command;
mod documents;
mod figures;
mod golden;
mod lua;
mod odd;
mod outputs;
mod peer;
mod properties;
mod schema;
mod table;

use std::path::{Path, PathBuf};

use skyfall::eval::{Report, Settings, Window, evaluate};
use skyfall::trace::{ReadOptions, read_columns};
use skyfall::value::Value;

/// A test file of this room.
fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/eval").join(name)
}

fn window(rows: u64) -> Settings {
    Settings { window: Window::Rows(rows), ..Settings::default() }
}

/// The evaluation of trace files.
fn report_of(paths: &[PathBuf], settings: &Settings) -> Report {
    evaluate(read_columns(paths, &ReadOptions::default()).unwrap(), settings).unwrap()
}

/// What lies at `path` (keys and indices between dots) in a tree.
fn at<'a>(tree: &'a Value, path: &str) -> &'a Value {
    path.split('.').fold(tree, |place, key| match place {
        Value::Map(map) => map.get(key).unwrap_or_else(|| panic!("no `{key}` of `{path}`")),
        Value::List(items) => &items[key.parse::<usize>().unwrap()],
        other => panic!("`{key}` of `{path}` in {}", other.kind()),
    })
}

fn number(tree: &Value, path: &str) -> f64 {
    at(tree, path).as_float().unwrap_or_else(|| panic!("`{path}` is {:?}", at(tree, path)))
}

/// Equal within 1e-12, relative to values above 1.
fn assert_close(found: f64, expected: f64, what: &str) {
    let tolerance = 1e-12 * expected.abs().max(1.0);
    assert!((found - expected).abs() <= tolerance, "{what}: {found} is not {expected}");
}
