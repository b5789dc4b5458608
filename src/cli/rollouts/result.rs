//! What writing a store came to, and how it was asked for.

use crate::cli::console::Terminal;
use crate::cli::findings;
use crate::rollouts::RolloutZarrWriteResult;
use crate::value::{Map, Value};

/// The result as data.
pub(super) fn data(result: &RolloutZarrWriteResult) -> Map {
    let count = |count: usize| Value::Int(i64::try_from(count).unwrap_or(i64::MAX));
    let entries = [
        ("store_dir", result.store_dir.display().to_string().into()),
        ("num_rollouts", count(result.num_rollouts)),
        ("num_steps", count(result.num_steps)),
        ("num_candidates", count(result.num_candidates)),
        ("manifest_path", result.manifest_path.display().to_string().into()),
        ("manifest_sha256", result.manifest_sha256.as_str().into()),
    ];
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// Prints the result as JSON, or as a line for people.
pub(super) fn print(result: &RolloutZarrWriteResult, as_json: bool, terminal: &Terminal) {
    if as_json {
        terminal.print_json(data(result));
    } else {
        terminal.print(&format!(
            "{}: {} rollouts, {} steps, {} candidates, manifest {}\n",
            findings::name(&result.store_dir.display().to_string()),
            result.num_rollouts,
            result.num_steps,
            result.num_candidates,
            result.manifest_sha256
        ));
    }
}

/// The sidecar's account of a command.
pub(super) fn invocation(argv: Vec<Value>) -> Value {
    let entries = [
        ("mode", Value::from("cli")),
        ("argv", Value::List(argv)),
        ("config_path", Value::Null),
        ("raw_toml_sha256", Value::Null),
        ("raw_toml_text", Value::Null),
    ];
    Value::Map(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}
