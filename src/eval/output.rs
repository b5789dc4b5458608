//! How a report looks: each format a file, all of them made from the same [`Report`].
//!
//! Labels are user text, from scripts and from foreign files; every format makes them harmless in
//! its own way. The same report gives the same bytes.

mod cell;
mod text;

use std::path::Path;

use super::Report;
use crate::atomic::{self, AtomicError};
use crate::text::json;

/// A format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Tables for a terminal.
    Text,
    /// The whole tree.
    Json,
}

impl Format {
    /// Every format, in the order help shows them.
    pub const ALL: [Self; 2] = [Self::Text, Self::Json];

    /// The name options have for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
        }
    }
}

/// `report` in `format`; text is fitted to `width` columns.
#[must_use]
pub fn render(report: &Report, format: Format, width: usize) -> String {
    match format {
        Format::Text => text::render(report, width),
        Format::Json => json::to_string(&report.to_value()) + "\n",
    }
}

/// Writes `report` to `path`, complete or not at all.
///
/// # Errors
/// When the system refuses; what stood at `path` is then untouched.
pub fn write(report: &Report, format: Format, path: &Path) -> Result<(), AtomicError> {
    const WIDTH: usize = 100;
    atomic::write_file(path, render(report, format, WIDTH).as_bytes())
}
