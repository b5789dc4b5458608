//! One file given twice is read once (G4): reached again by another path, or under another name
//! with the same text (`x.jsonl` beside `x.jsonl.gz`).

use crate::trace::columns::Warning;
use crate::trace::error::TraceError;
use crate::trace::input::{InputFile, Source};

/// The warning about a path that leads to a file reached before.
pub(super) fn reached_again(name: String) -> Warning {
    duplicate(name, "it was reached before")
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

/// A file with the text of an earlier one.
pub(super) struct Copy {
    /// Its place among the inputs.
    pub(super) later: usize,
    pub(super) warning: Warning,
}

/// Finds copies among files with these sizes of text and numbers of rows. Texts are compared
/// only where both agree.
pub(super) fn copies(sizes: &[(u64, u64)], inputs: &[InputFile], block: usize) -> Result<Vec<Copy>, TraceError> {
    let mut alike: std::collections::HashMap<(u64, u64), Vec<&InputFile>> = std::collections::HashMap::new();
    let mut copies = Vec::new();
    for (later, (size, input)) in sizes.iter().zip(inputs).enumerate() {
        if size.1 == 0 || input.is_stream() {
            continue;
        }
        let earlier = alike.entry(*size).or_default();
        let mut original = None;
        for known in earlier.iter() {
            if same_text(known, input, block)? {
                original = Some(*known);
                break;
            }
        }
        match original {
            Some(original) => {
                let why = format!("it has the same rows as {}", original.name);
                copies.push(Copy { later, warning: duplicate(input.name.clone(), &why) });
            }
            None => earlier.push(input),
        }
    }
    Ok(copies)
}

fn same_text(one: &InputFile, other: &InputFile, block: usize) -> Result<bool, TraceError> {
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
