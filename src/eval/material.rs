//! The traces an evaluation looks at: those it judges, and those it judges them against.

use std::path::PathBuf;

use super::settings::Settings;
use crate::trace::columns::TraceColumns;
use crate::trace::{self, ReadOptions, TraceError};

/// Where the traces are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paths {
    /// The runs to judge.
    pub traces: Vec<PathBuf>,
    /// Served traces of their bundles.
    pub frozen: Vec<PathBuf>,
    /// Runs that start from scratch.
    pub baseline: Vec<PathBuf>,
}

/// The traces, read.
#[derive(Clone, Debug, Default)]
pub struct Material {
    /// The runs to judge.
    pub traces: TraceColumns,
    /// Served traces of their bundles, if there are any.
    pub frozen: Option<TraceColumns>,
    /// Runs that start from scratch, if there are any.
    pub baseline: Option<TraceColumns>,
}

impl From<TraceColumns> for Material {
    fn from(traces: TraceColumns) -> Self {
        Self { traces, frozen: None, baseline: None }
    }
}

impl Material {
    /// Reads what `paths` name.
    ///
    /// # Errors
    /// When a file is missing, unreadable or not UTF-8; with [`ReadOptions::strict`], when rows or
    /// values would be lost.
    pub fn read(paths: &Paths, settings: &Settings) -> Result<Self, TraceError> {
        let options: &ReadOptions = &settings.reading;
        let some = |paths: &Vec<PathBuf>| {
            if paths.is_empty() { Ok(None) } else { trace::read_columns(paths, options).map(Some) }
        };
        let mut frozen = some(&paths.frozen)?;
        if let Some(frozen) = &mut frozen {
            // Served traces of several checkpoints repeat one identity; that is what they are for.
            frozen.warnings.retain(|warning| warning.code != "identity_collision");
        }
        Ok(Self { traces: trace::read_columns(&paths.traces, options)?, frozen, baseline: some(&paths.baseline)? })
    }
}
