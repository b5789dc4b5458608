//! One file given twice is read once (G4): reached again by another path, or under another name
//! with the same text (`x.jsonl` beside `x.jsonl.gz`).

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rayon::prelude::*;
use sha2::{Digest, Sha256};

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

/// Finds copies among files with these sizes of text and numbers of rows. Only where both agree
/// are files read again, once each.
pub(super) fn copies(sizes: &[(u64, u64)], inputs: &[InputFile], block: usize) -> Result<Vec<Copy>, TraceError> {
    let mut alike: HashMap<(u64, u64), usize> = HashMap::new();
    for size in sizes {
        *alike.entry(*size).or_default() += 1;
    }
    let candidates: Vec<(usize, &InputFile)> = sizes
        .iter()
        .zip(inputs)
        .enumerate()
        .filter(|(_, (size, input))| {
            size.1 > 0 && !input.is_stream() && alike.get(*size).is_some_and(|count| *count > 1)
        })
        .map(|(number, (_, input))| (number, input))
        .collect();
    let digests: Vec<_> = candidates.par_iter().map(|(_, input)| text_digest(input, block)).collect();
    let mut originals: HashMap<_, &str> = HashMap::new();
    let mut copies = Vec::new();
    for ((later, input), digest) in candidates.into_iter().zip(digests) {
        match originals.entry(digest?) {
            Entry::Vacant(place) => drop(place.insert(&input.name)),
            Entry::Occupied(original) => {
                let why = format!("it has the same rows as {}", original.get());
                copies.push(Copy { later, warning: duplicate(input.name.clone(), &why) });
            }
        }
    }
    Ok(copies)
}

/// The SHA-256 of a file's text, uncompressed.
fn text_digest(input: &InputFile, block: usize) -> Result<[u8; 32], TraceError> {
    let mut source = Source::open(input, block, false)?;
    let mut digest = Sha256::new();
    while let Some(block) = source.next_block()? {
        digest.update(&block);
    }
    Ok(digest.finalize().into())
}
