//! `skyfall rollouts write`.

use std::time::{SystemTime, UNIX_EPOCH};

use super::result;
use crate::cli::Ending;
use crate::cli::args::RolloutsWriteArguments;
use crate::cli::console::Terminal;
use crate::config::{self, LoadError};
use crate::diagnostic::{Diagnostic, Exit};
use crate::rollouts::{RecordsFile, RolloutZarrStoreConfig, WriteError, Writer};
use crate::text::json;
use crate::text::time::rfc3339_seconds;
use crate::value::{Map, Value};

/// Writes a store from a file of records.
pub(super) fn write(arguments: &RolloutsWriteArguments, terminal: &Terminal) -> Ending {
    let config = configuration(arguments)?;
    let mut records = RecordsFile::open(&arguments.records).map_err(Diagnostic::from)?;
    let mut writer = Writer::new(config).map_err(Diagnostic::from)?;
    loop {
        let some = records.next_records().map_err(Diagnostic::from)?;
        if some.is_empty() {
            break;
        }
        for (line, record) in some {
            writer.add(&record).map_err(|error| match error {
                WriteError::Record(error) => Diagnostic::from(records.refuse(line, error.to_string())),
                other => Diagnostic::from(other),
            })?;
        }
        if let (done, Some(size)) = records.progress() {
            terminal.bytes(&format!("{} steps", writer.steps()), done, size);
        }
    }
    terminal.bytes("completing the store", 0, 1);
    let result = writer.finish().map_err(Diagnostic::from)?;
    terminal.bytes("", 1, 1);
    result::print(&result, arguments.json, terminal);
    Ok(Exit::Success)
}

/// The writer's options: those of the file, then those of the command line.
fn configuration(arguments: &RolloutsWriteArguments) -> Result<RolloutZarrStoreConfig, Box<Diagnostic>> {
    let usage = |line: String| Box::new(Diagnostic::new("rollouts/options", line, Exit::Usage));
    let mut options = match &arguments.options {
        None => Map::new(),
        Some(path) => match config::document(path).map_err(LoadError::into_diagnostic)? {
            Value::Map(options) => options,
            other => {
                let line = format!("{} must hold a map of options, got {}", path.display(), other.kind());
                return Err(Box::new(Diagnostic::new("rollouts/options", line, Exit::Input)));
            }
        },
    };
    for assignment in &arguments.overrides {
        let Some((name, text)) = assignment.split_once('=') else {
            return Err(usage(format!("`--set {assignment}` is not of the form NAME=VALUE")));
        };
        if name.trim() == "store_dir" {
            return Err(usage("the store's directory is told by --store".to_owned()));
        }
        options.insert(name.trim().to_owned(), json::parse(text).unwrap_or_else(|_| Value::from(text)));
    }
    options.insert("store_dir".to_owned(), arguments.store.display().to_string().into());
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let epoch = crate::cli::source_date_epoch()?.unwrap_or_else(now);
    let mut config = RolloutZarrStoreConfig::from_options(&options, rfc3339_seconds(epoch))
        .map_err(|error| usage(error.to_string()))?;
    if config.manifest_context.invocation.is_null() {
        config.manifest_context.invocation = invocation(arguments);
    }
    Ok(config)
}

/// How the store was asked for, without the paths that differ from place to place.
fn invocation(arguments: &RolloutsWriteArguments) -> Value {
    // How much memory there was does not show in a store.
    let told = arguments.overrides.iter().filter(|assignment| !assignment.starts_with("memory_bytes="));
    let options = told.flat_map(|assignment| ["--set", assignment.as_str()]);
    let words = ["skyfall", "rollouts", "write"].into_iter().chain(options).map(Value::from).collect();
    result::invocation(words)
}
