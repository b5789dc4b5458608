//! The writer's options as they are typed: a file's, and single ones over them.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::config::{self, LoadError};
use crate::diagnostic::{Diagnostic, Exit};
use crate::text::json;
use crate::text::time::rfc3339_seconds;
use crate::value::{Map, Value};

/// The options of `file`, then those of `overrides`, over `options`.
pub(super) fn over(mut options: Map, file: Option<&Path>, overrides: &[String]) -> Result<Map, Box<Diagnostic>> {
    if let Some(path) = file {
        match config::document(path).map_err(LoadError::into_diagnostic)? {
            Value::Map(own) => options.extend(own),
            other => {
                let line = format!("{} must hold a map of options, got {}", path.display(), other.kind());
                return Err(Box::new(Diagnostic::new("rollouts/options", line, Exit::Input)));
            }
        }
    }
    for assignment in overrides {
        let Some((name, text)) = assignment.split_once('=') else {
            return Err(usage(format!("`--set {assignment}` is not of the form NAME=VALUE")));
        };
        options.insert(name.trim().to_owned(), json::parse(text).unwrap_or_else(|_| Value::from(text)));
    }
    Ok(options)
}

/// A mistake in the options.
pub(super) fn usage(line: String) -> Box<Diagnostic> {
    Box::new(Diagnostic::new("rollouts/options", line, Exit::Usage))
}

/// Now, since the epoch.
pub(super) fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// When a store is made: `SOURCE_DATE_EPOCH`, or now.
pub(super) fn created_at_utc() -> Result<String, Diagnostic> {
    Ok(rfc3339_seconds(crate::cli::source_date_epoch()?.unwrap_or_else(|| now().as_secs())))
}

/// How stores were asked for, without the paths that differ from place to place.
pub(super) fn invocation(command: &str, overrides: &[String]) -> Value {
    // How much memory there was does not show in a store.
    let told = overrides.iter().filter(|assignment| !assignment.starts_with("memory_bytes="));
    let options = told.flat_map(|assignment| ["--set", assignment.as_str()]);
    let words = ["skyfall", "rollouts", command].into_iter().chain(options).map(Value::from).collect();
    super::result::invocation(words)
}
