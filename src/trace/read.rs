//! Traces as columns: what evaluation reads.

use std::path::PathBuf;

use rayon::prelude::*;

use crate::trace::columns::{TraceColumns, Warning};
use crate::trace::error::TraceError;
use crate::trace::fault::is_loss;
use crate::trace::file::{FileRuns, read_file};
use crate::trace::group;
use crate::trace::input::{self, InputFile, Source};
use crate::trace::order::Resume;

/// How traces are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// Stop with an error where rows or values would be lost.
    pub strict: bool,
    /// What a step that goes back means.
    pub resume: Resume,
    /// Compute each file's SHA-256 ([`Input::sha256`](crate::trace::columns::Input::sha256)).
    pub digest: bool,
    /// Tell of each occurrence of a fault, not of each kind.
    pub every_fault: bool,
    /// The size of the pieces that are read and parsed at a time; it changes no result.
    pub block_bytes: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { strict: false, resume: Resume::Keep, digest: true, every_fault: false, block_bytes: 1 << 20 }
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
    let (inputs, again) = input::expand(paths)?;
    let read: Vec<_> = inputs.par_iter().enumerate().map(|(number, input)| read_file(number, input, options)).collect();
    let mut files = read.into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut warnings: Vec<Warning> = again.into_iter().map(|name| duplicate(name, "it was reached before")).collect();
    drop_copies(&mut files, &inputs, options.block_bytes, &mut warnings)?;
    warnings.splice(0..0, files.iter_mut().flat_map(|file| std::mem::take(&mut file.warnings)));
    if options.strict {
        refuse_losses(&warnings)?;
    }
    let mut columns = group::group(files);
    warnings.append(&mut columns.warnings);
    if options.strict {
        refuse_losses(&warnings)?;
    }
    Ok(TraceColumns { warnings, ..columns })
}

fn refuse_losses(warnings: &[Warning]) -> Result<(), TraceError> {
    let Some(loss) = warnings.iter().find(|warning| is_loss(warning.code)) else { return Ok(()) };
    let place = match (&loss.file, loss.line) {
        (Some(file), Some(line)) => format!("{file}:{line}: "),
        (Some(file), None) => format!("{file}: "),
        _ => String::new(),
    };
    Err(TraceError::Strict { code: loss.code, message: format!("{place}{}", loss.message) })
}

fn duplicate(name: String, why: &str) -> Warning {
    Warning {
        code: "duplicate_file",
        message: format!("read once only: {why}"),
        file: Some(name),
        line: None,
        step: None,
        count: 1,
    }
}

/// Empties files that have the same text as an earlier one (G4: `x.jsonl` beside `x.jsonl.gz`).
fn drop_copies(
    files: &mut Vec<FileRuns>,
    inputs: &[InputFile],
    block: usize,
    warnings: &mut Vec<Warning>,
) -> Result<(), TraceError> {
    let mut copies = Vec::new();
    for (later, file) in files.iter().enumerate() {
        for (earlier, known) in files.iter().enumerate().take(later) {
            let alike = file.text_bytes == known.text_bytes && file.input.rows == known.input.rows;
            let (Some(one), Some(other)) = (inputs.get(later), inputs.get(earlier)) else { continue };
            if alike && file.input.rows > 0 && same_text(one, other, block)? {
                warnings.push(duplicate(one.name.clone(), &format!("it has the same rows as {}", other.name)));
                copies.push(later);
                break;
            }
        }
    }
    let mut number = 0..;
    files.retain(|_| number.next().is_none_or(|number| !copies.contains(&number)));
    Ok(())
}

fn same_text(one: &InputFile, other: &InputFile, block: usize) -> Result<bool, TraceError> {
    if one.is_stream() || other.is_stream() {
        return Ok(false);
    }
    let mut sources = (Source::open(one, block, false)?, Source::open(other, block, false)?);
    let (mut left, mut right) = (Vec::new(), Vec::new());
    loop {
        if left.is_empty() {
            left = sources.0.next_block()?.unwrap_or_default();
        }
        if right.is_empty() {
            right = sources.1.next_block()?.unwrap_or_default();
        }
        let both = left.len().min(right.len());
        if both == 0 {
            return Ok(left.is_empty() && right.is_empty());
        }
        if left.get(..both) != right.get(..both) {
            return Ok(false);
        }
        left.drain(..both);
        right.drain(..both);
    }
}
