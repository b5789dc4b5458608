//! How a report looks: each format a file, all of them made from the same [`Report`].
//!
//! Labels are user text, from scripts and from foreign files; every format makes them harmless in
//! its own way. The same report gives the same bytes.

pub(super) mod cell;
mod csv;
mod html;
mod markdown;
mod text;

use std::path::Path;

pub(crate) use html::{Block, document};

use super::Report;
use super::plot;
use crate::atomic::{self, AtomicError};
use crate::text::json;

/// The JSON Schema (2020-12) of the tree that [`Format::Json`] prints.
pub const JSON_SCHEMA: &str = include_str!("output/schema.json");

/// A format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Tables for a terminal.
    Text,
    /// The whole tree.
    Json,
    /// Tidy tables, a file each.
    Csv,
    /// The group table for a paper or a pull request.
    Markdown,
    /// One self-contained page.
    Html,
}

impl Format {
    /// Every format, in the order help shows them.
    pub const ALL: [Self; 5] = [Self::Text, Self::Json, Self::Csv, Self::Markdown, Self::Html];

    /// The name options have for it; the ending of its files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Csv => "csv",
            Self::Markdown => "md",
            Self::Html => "html",
        }
    }

    /// The format that a file's name asks for: by its ending; tables for a terminal in `.txt`.
    #[must_use]
    pub fn of_file(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?;
        Self::ALL.into_iter().find(|format| format.name() == ending || (*format == Self::Text && ending == "txt"))
    }
}

/// `report` in `format`; text is fitted to `width` columns. Of the CSV tables, that of the runs.
#[must_use]
pub fn render(report: &Report, format: Format, width: usize) -> String {
    match format {
        Format::Text => text::render(report, width),
        Format::Json => json::to_string(&report.to_value()) + "\n",
        Format::Csv => csv::runs(report),
        Format::Markdown => markdown::render(report),
        Format::Html => html::render(report),
    }
}

/// Writes `report` to `path`, complete or not at all. The CSV tables are files of the directory
/// `path`, unless it ends in `.csv`: then the table of the runs alone is written.
///
/// # Errors
/// When the system refuses; what stood at `path` is then untouched.
pub fn write(report: &Report, format: Format, path: &Path) -> Result<(), AtomicError> {
    const WIDTH: usize = 100;
    if format == Format::Csv && Format::of_file(path) != Some(Format::Csv) {
        let mut files = csv::files(report).into_iter();
        return files.try_for_each(|(name, table)| atomic::write_file(&path.join(name), table.as_bytes()));
    }
    atomic::write_file(path, render(report, format, WIDTH).as_bytes())
}

/// Writes every figure of `report` to `directory`, each file complete or not at all:
/// `run-01-reward.svg`, `run-01-reward.png` and so on. Figures are there if [`Settings::plots`](super::Settings::plots)
/// asked for them.
///
/// # Errors
/// When the system refuses, or a picture is too large.
pub fn write_plots(report: &Report, directory: &Path) -> Result<(), PlotError> {
    for (stem, figure) in plot::all(report) {
        let file = |ending: &str| directory.join(format!("{stem}.{ending}"));
        atomic::write_file(&file("svg"), figure.svg().as_bytes())?;
        let Some(png) = figure.png(plot::Theme::Light) else { return Err(PlotError::TooLarge(file("png"))) };
        atomic::write_file(&file("png"), &png)?;
    }
    Ok(())
}

/// Why a figure was not written.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    /// The system refused.
    #[error(transparent)]
    Write(#[from] AtomicError),
    /// A picture has no place in memory.
    #[error("{}: the picture is too large to be drawn", .0.display())]
    TooLarge(std::path::PathBuf),
}
