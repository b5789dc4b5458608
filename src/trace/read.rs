//! Traces as columns: what evaluation reads.

use std::path::PathBuf;

use rayon::prelude::*;

use crate::trace::about::Oddity;
use crate::trace::columns::{RunColumns, TraceColumns, Warning};
use crate::trace::copies::{copies, reached_again};
use crate::trace::error::TraceError;
use crate::trace::fault::is_loss;
use crate::trace::file::read_file;
use crate::trace::gather::Gather;
use crate::trace::group::{Grouped, Whole, group};
use crate::trace::input;
use crate::trace::order::Restart;
use crate::trace::part::Part;

/// How traces are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// Stop with an error where rows or values would be lost.
    pub strict: bool,
    /// What a step that goes back means.
    pub on_restart: Restart,
    /// Compute each file's SHA-256 ([`Input::sha256`](crate::trace::columns::Input::sha256)).
    pub digest: bool,
    /// Tell of each occurrence of a fault, not of each kind.
    pub every_fault: bool,
    /// The size of the pieces that are read and parsed at a time; it changes no result.
    pub block_bytes: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { strict: false, on_restart: Restart::Keep, digest: true, every_fault: false, block_bytes: 1 << 18 }
    }
}

/// Reads `paths` (files, directories, `-` for standard input) as columns, one set a run.
///
/// A file is taken as it is: compressed or not, with or without a byte-order mark, torn at its
/// end. What is odd costs at most its own row and is told in [`TraceColumns::warnings`]. The
/// result depends neither on the number of threads nor on `block_bytes`.
///
/// # Errors
/// When a file is missing, unreadable or not UTF-8; with [`ReadOptions::strict`], when rows or
/// values would be lost.
pub fn read_columns(paths: &[PathBuf], options: &ReadOptions) -> Result<TraceColumns, TraceError> {
    let read = read_runs(paths, options, |whole: Whole<Part>| {
        let (columns, oddities) = whole.gathered.finish();
        (RunColumns { identity: whole.identity, files: whole.files, ..columns }, oddities)
    })?;
    Ok(TraceColumns { inputs: read.inputs, runs: read.runs, warnings: read.warnings })
}

/// Reads `paths` and makes of each run what `finish` says.
pub(super) fn read_runs<G: Gather, R>(
    paths: &[PathBuf],
    options: &ReadOptions,
    finish: impl Fn(Whole<G>) -> (R, Vec<Oddity>),
) -> Result<Grouped<R>, TraceError> {
    let (inputs, again) = input::expand(paths)?;
    let read: Vec<_> =
        inputs.par_iter().enumerate().map(|(number, input)| read_file::<G>(number, input, options)).collect();
    let mut files = read.into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut warnings: Vec<Warning> = again.into_iter().map(reached_again).collect();
    let sizes: Vec<_> = files.iter().map(|file| (file.text_bytes, file.input.rows)).collect();
    let copies = copies(&sizes, &inputs, options.block_bytes)?;
    files.retain(|file| !copies.iter().any(|copy| copy.later == file.number));
    warnings.extend(copies.into_iter().map(|copy| copy.warning));
    warnings.splice(0..0, files.iter_mut().flat_map(|file| std::mem::take(&mut file.warnings)));
    if options.strict {
        refuse_losses(&warnings)?;
    }
    let mut grouped = group(files, finish);
    warnings.append(&mut grouped.warnings);
    if options.strict {
        refuse_losses(&warnings)?;
    }
    Ok(Grouped { warnings, ..grouped })
}

pub(super) fn refuse_losses(warnings: &[Warning]) -> Result<(), TraceError> {
    let Some(loss) = warnings.iter().find(|warning| is_loss(warning.code)) else { return Ok(()) };
    let place = match (&loss.file, loss.line) {
        (Some(file), Some(line)) => format!("{file}:{line}: "),
        (Some(file), None) => format!("{file}: "),
        _ => String::new(),
    };
    Err(TraceError::Strict { code: loss.code, message: format!("{place}{}", loss.message) })
}
