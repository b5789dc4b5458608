//! Configurations from files: `.yaml`, `.yml` and `.json`.

use std::fs;
use std::io;
use std::path::Path;

use super::{ConfigErrors, ExperimentConfig};
use crate::diagnostic::{Diagnostic, Exit, Location, Problem};
use crate::text::{json, yaml};
use crate::value::Value;

/// Why a configuration file could not be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file could not be read.
    #[error("cannot read {file}: {source}")]
    Unreadable {
        /// The file, as it was named.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// The file's name ends in nothing that is known.
    #[error("{file} is neither a .yaml, .yml nor a .json file")]
    UnknownFormat {
        /// The file, as it was named.
        file: String,
    },
    /// The file is not YAML or JSON.
    #[error("{file}:{}: {message} (column {column})", location.line)]
    Malformed {
        /// The file, as it was named.
        file: String,
        /// The line at fault.
        location: Location,
        /// The column, from 1.
        column: usize,
        /// What is wrong there.
        message: String,
    },
    /// The file holds something else than a configuration.
    #[error("{file}: {errors}")]
    Invalid {
        /// The file, as it was named.
        file: String,
        /// Every mistake.
        errors: ConfigErrors,
    },
}

impl Problem for LoadError {
    fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "config/unreadable",
            Self::UnknownFormat { .. } => "config/format",
            Self::Malformed { .. } => "config/malformed",
            Self::Invalid { errors, .. } => errors.code(),
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Invalid { errors, .. } => errors.exit(),
            _ => Exit::Input,
        }
    }
}

impl LoadError {
    /// The finding with the line at fault, where there is one.
    #[must_use]
    pub fn into_diagnostic(self) -> Diagnostic {
        let location = match &self {
            Self::Malformed { location, .. } => Some(location.clone()),
            _ => None,
        };
        Diagnostic { location, ..Diagnostic::from(self) }
    }
}

/// The configuration in the file at `path`.
///
/// # Errors
/// When the file cannot be read, is malformed (with its line), or holds mistakes (all of them).
pub fn load(path: &Path) -> Result<ExperimentConfig, LoadError> {
    let value = document(path)?;
    let invalid = |errors| LoadError::Invalid { file: path.display().to_string(), errors };
    ExperimentConfig::from_value(&value).map_err(invalid)
}

/// The plain data in the file at `path`, unchecked, so that [`super::set`] can change it first.
///
/// # Errors
/// When the file cannot be read or is malformed (with its line).
pub(crate) fn document(path: &Path) -> Result<Value, LoadError> {
    let file = path.display().to_string();
    let is_json = match path.extension().and_then(|extension| extension.to_str()) {
        Some(extension) if extension.eq_ignore_ascii_case("json") => true,
        Some(extension) if extension.eq_ignore_ascii_case("yaml") || extension.eq_ignore_ascii_case("yml") => false,
        _ => return Err(LoadError::UnknownFormat { file }),
    };
    let bytes = fs::read(path).map_err(|source| LoadError::Unreadable { file: file.clone(), source })?;
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let valid =
                String::from_utf8_lossy(error.as_bytes().get(..error.utf8_error().valid_up_to()).unwrap_or(&[]));
            let line = 1 + valid.matches('\n').count();
            let column = 1 + valid.chars().rev().take_while(|character| *character != '\n').count();
            return Err(malformed(file, "", line, column, "this is not UTF-8 text".to_owned()));
        }
    };
    let parsed = if is_json {
        json::parse(&text).map_err(|error| (error.line, error.column, error.message))
    } else {
        yaml::parse(&text).map_err(|error| (error.line, error.column, error.message))
    };
    parsed.map_err(|(line, column, message)| malformed(file, &text, line, column, message))
}

fn malformed(file: String, text: &str, line: usize, column: usize, message: String) -> LoadError {
    let source = text.lines().nth(line.saturating_sub(1)).map(str::to_owned);
    let location = Location { file: file.clone(), line, source, mark: None };
    LoadError::Malformed { file, location, column, message }
}
