//! One file read whole: blocks parsed on every core, joined in order.
//!
//! A bounded number of blocks is in memory at a time; the next ones are read while these are
//! parsed. How the file is cut into blocks and who parses which changes nothing in the result.

use indexmap::IndexMap;
use rayon::prelude::*;

use crate::trace::chunk::{Chunk, EdgeRow, Refused, note_repeated_row};
use crate::trace::columns::{Identity, Input, Warning};
use crate::trace::error::TraceError;
use crate::trace::fault::Faults;
use crate::trace::input::{Ending, InputFile, Source};
use crate::trace::order;
use crate::trace::part::Part;
use crate::trace::read::ReadOptions;

/// A file's runs and its account.
#[derive(Debug)]
pub(super) struct FileRuns {
    /// Its place among the inputs.
    pub(super) number: usize,
    pub(super) input: Input,
    /// The size of its text, uncompressed.
    pub(super) text_bytes: u64,
    pub(super) runs: Vec<(Identity, Part)>,
    pub(super) warnings: Vec<Warning>,
}

/// Reads `input`, the `number`th file.
pub(super) fn read_file(number: usize, input: &InputFile, options: &ReadOptions) -> Result<FileRuns, TraceError> {
    let mut source = Source::open(input, options.block_bytes, options.digest)?;
    let mut join = Joined::new(number, options.every_fault);
    let mut text_bytes = 0;
    let mut batch = next_batch(&mut source)?;
    while !batch.is_empty() {
        text_bytes += batch.iter().map(|block| block.len() as u64).sum::<u64>();
        let (next, chunks) = rayon::join(
            || next_batch(&mut source),
            || batch.par_iter().map(|block| Chunk::read(block, options.every_fault)).collect::<Vec<_>>(),
        );
        for chunk in chunks {
            join.add(chunk);
        }
        batch = next?;
    }
    let compression = source.compression;
    let ending = source.ending.take();
    let (bytes, sha256) = source.finish()?;
    join.end(compression, ending.as_ref());
    let mut runs: Vec<_> = join.runs.into_values().collect();
    for (_, part) in &mut runs {
        order::check(part, options.resume, &mut join.faults);
    }
    Ok(FileRuns {
        number,
        input: Input { path: input.name.clone(), bytes, sha256, rows: join.rows, skipped: join.skipped },
        text_bytes,
        runs,
        warnings: join.faults.into_warnings(&input.name).collect(),
    })
}

/// Blocks to parse at once: enough for every core.
fn next_batch(source: &mut Source) -> Result<Vec<Vec<u8>>, TraceError> {
    let mut batch = Vec::new();
    while batch.len() < rayon::current_num_threads() {
        match source.next_block()? {
            Some(block) => batch.push(block),
            None => break,
        }
    }
    Ok(batch)
}

/// Chunks joined so far.
struct Joined {
    file: usize,
    runs: IndexMap<String, (Identity, Part)>,
    faults: Faults,
    lines: usize,
    rows: u64,
    skipped: u64,
    refused: Option<Refused>,
    last_row: Option<EdgeRow>,
}

impl Joined {
    fn new(file: usize, every: bool) -> Self {
        Self {
            file,
            runs: IndexMap::new(),
            faults: Faults::new(every),
            lines: 0,
            rows: 0,
            skipped: 0,
            refused: None,
            last_row: None,
        }
    }

    fn add(&mut self, chunk: Chunk) {
        if (chunk.rows > 0 || chunk.skipped > 0)
            && let Some(refused) = self.refused.take()
        {
            refused.note(&mut self.faults);
        }
        if let (Some(last), Some(first)) = (&self.last_row, &chunk.first_row)
            && last.text == first.text
        {
            note_repeated_row(&mut self.faults, self.lines + first.line, first.step);
        }
        self.faults.append(chunk.faults, self.lines);
        for (key, (identity, part)) in chunk.runs {
            let part = part.finish(&chunk.scanner, self.file, self.lines);
            self.runs.entry(key).or_insert_with(|| (identity, Part::default())).1.append(part);
        }
        if let Some(refused) = chunk.refused {
            self.refused = Some(refused.after(self.lines));
        }
        self.last_row = chunk.last_row.or(self.last_row.take());
        self.lines += chunk.lines;
        self.rows += chunk.rows;
        self.skipped += chunk.skipped;
    }

    /// Judges the last line, and the file as a whole.
    fn end(&mut self, compression: Option<&str>, ending: Option<&Ending>) {
        match self.refused.take() {
            // The end of the compressed stream tells of it already.
            Some(refused) if ending == Some(&Ending::Truncated) && !refused.terminated => {}
            Some(refused) if refused.torn || !refused.terminated => {
                self.faults.note("truncated_tail", "", Some(refused.line), None, || {
                    "the last row is cut off; everything before it counts".to_owned()
                });
            }
            Some(refused) => refused.note(&mut self.faults),
            None => {}
        }
        if self.rows == 0 {
            self.faults.forget("bad_line");
            self.faults.forget("truncated_tail");
            let skipped = self.skipped;
            if skipped > 0 {
                self.faults.note("not_a_trace", "", None, None, || {
                    format!("not a trace: none of {skipped} lines is an object with `step` and `reward`")
                });
            } else {
                self.faults.note("empty", "", None, None, || "the file holds no rows".to_owned());
            }
        }
        let gzip = compression == Some("gzip");
        match ending {
            Some(Ending::Truncated) => {
                let code = if gzip { "truncated_gzip" } else { "truncated_zstd" };
                self.faults
                    .note(code, "", None, None, || "the compressed file is cut off; its whole rows count".to_owned());
            }
            Some(Ending::Corrupt(cause)) => {
                let code = if gzip { "corrupt_gzip" } else { "corrupt_zstd" };
                let message = || format!("the compressed file is damaged ({cause}); the rows before the damage count");
                self.faults.note(code, "", None, None, message);
            }
            Some(Ending::Garbage) => self.faults.note("trailing_garbage", "", None, None, || {
                "bytes after the end of the compressed data are ignored".to_owned()
            }),
            None => {}
        }
    }
}
