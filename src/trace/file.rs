//! One file read whole: blocks parsed on every core, joined in order.
//!
//! A bounded number of blocks is in memory at a time; the next ones are read, and those before
//! taken up, while these are parsed. How the file is cut into blocks and who parses which changes nothing in the result:
//! the rows are taken up strictly in the order of the file.

use indexmap::IndexMap;
use rayon::prelude::*;

use crate::trace::account::Account;
use crate::trace::chunk::{Chunk, EdgeRow, note_repeated_row};
use crate::trace::columns::{Identity, Input, Warning};
use crate::trace::error::TraceError;
use crate::trace::gather::Gather;
use crate::trace::input::{InputFile, Source};
use crate::trace::read::ReadOptions;

/// A file's runs and its account.
#[derive(Debug)]
pub(super) struct FileRuns<G> {
    /// Its place among the inputs.
    pub(super) number: usize,
    pub(super) input: Input,
    /// The size of its text, uncompressed.
    pub(super) text_bytes: u64,
    pub(super) runs: Vec<(Identity, G)>,
    pub(super) warnings: Vec<Warning>,
}

/// Reads `input`, the `number`th file.
pub(super) fn read_file<G: Gather>(
    number: usize,
    input: &InputFile,
    options: &ReadOptions,
) -> Result<FileRuns<G>, TraceError> {
    let mut source = Source::open(input, options.block_bytes, options.digest)?;
    let mut join = Joined::<G>::new(number, *options);
    let mut text_bytes = 0;
    let mut batch = next_batch(&mut source)?;
    let mut parsed = Vec::new();
    while !batch.is_empty() {
        text_bytes += batch.iter().map(|block| block.len() as u64).sum::<u64>();
        let (next, chunks) = rayon::join(
            || {
                parsed.into_iter().for_each(|chunk| join.add(chunk));
                next_batch(&mut source)
            },
            || batch.par_iter().map(|block| Chunk::read(block, options.every_fault)).collect(),
        );
        parsed = chunks;
        batch.into_iter().for_each(|block| source.recycle(block));
        batch = next?;
    }
    parsed.into_iter().for_each(|chunk| join.add(chunk));
    let Joined { runs, mut account, .. } = join;
    account.end(&source);
    let (bytes, sha256) = source.finish()?;
    let mut runs: Vec<_> = runs.into_values().collect();
    for (_, part) in &mut runs {
        part.end_file(options, &mut account.faults);
    }
    Ok(FileRuns {
        number,
        input: Input { path: input.name.clone(), bytes, sha256, rows: account.rows, skipped: account.skipped },
        text_bytes,
        runs,
        warnings: account.faults.into_warnings(&input.name).collect(),
    })
}

/// Blocks to parse at once: so many that all cores are done at about the same time, but no more
/// than a small memory holds however many cores there are.
fn next_batch(source: &mut Source) -> Result<Vec<Vec<u8>>, TraceError> {
    const MOST: usize = 64;
    let blocks = (4 * rayon::current_num_threads()).min(MOST);
    let mut batch = Vec::with_capacity(blocks);
    while batch.len() < blocks {
        match source.next_block()? {
            Some(block) => batch.push(block),
            None => break,
        }
    }
    Ok(batch)
}

/// Chunks joined so far.
struct Joined<G> {
    file: usize,
    options: ReadOptions,
    runs: IndexMap<String, (Identity, G)>,
    account: Account,
    last_row: Option<EdgeRow>,
}

impl<G: Gather> Joined<G> {
    fn new(file: usize, options: ReadOptions) -> Self {
        let account = Account::new(options.every_fault);
        Self { file, options, runs: IndexMap::new(), account, last_row: None }
    }

    fn add(&mut self, chunk: Chunk) {
        let account = &mut self.account;
        if chunk.rows > 0 || chunk.skipped > 0 {
            account.go_on();
        }
        let lines = account.lines;
        if let (Some(last), Some(first)) = (&self.last_row, &chunk.first_row)
            && last.text == first.text
        {
            note_repeated_row(&mut account.faults, lines + first.line, first.step);
        }
        account.faults.append(chunk.faults, lines);
        for (key, (identity, part)) in chunk.runs {
            let part = part.finish(&chunk.scanner, self.file, lines);
            let options = &self.options;
            self.runs.entry(key).or_insert_with(|| (identity, G::new(options))).1.add(part);
        }
        if let Some(refused) = chunk.refused {
            account.refused = Some(refused.after(lines));
        }
        self.last_row = chunk.last_row.or(self.last_row.take());
        account.lines += chunk.lines;
        account.rows += chunk.rows;
        account.skipped += chunk.skipped;
    }
}
