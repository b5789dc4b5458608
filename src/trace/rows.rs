//! A file's rows, one after another, whole.

use std::path::Path;
use std::sync::Arc;

use crate::trace::account::{Account, Refused};
use crate::trace::columns::{Identity, Warning};
use crate::trace::error::TraceError;
use crate::trace::input::{InputFile, Source};
use crate::trace::parse::parse_line;
use crate::trace::read::ReadOptions;
use crate::trace::row::Row;
use crate::value::Map;

/// A row and the run that it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The run's identity.
    pub identity: Arc<Identity>,
    /// The run's other metadata: the keys before the row's first field.
    pub meta: Arc<Map>,
    /// The row; keys that are neither are in [`Row::extra`].
    pub row: Row,
    /// Its line in the file, from 1.
    pub line: usize,
}

/// Reads the rows of `path` (`-` for standard input) in file order, a block of the file in
/// memory at a time.
///
/// Lines that are no rows are skipped and told by [`Rows::warnings`]. No rule that needs the
/// whole file is applied: rows of several runs come as they stand.
///
/// # Errors
/// When the file cannot be opened; while iterating, when it cannot be read or is not UTF-8.
pub fn rows(path: impl AsRef<Path>) -> Result<Rows, TraceError> {
    Rows::open(&InputFile::named(path.as_ref()), &ReadOptions::default())
}

/// An iterator over the rows of a file, see [`rows`].
pub struct Rows {
    source: Source,
    name: String,
    block: Vec<u8>,
    at: usize,
    account: Account,
    pub(super) text_bytes: u64,
    /// The last row's run, and how its identity was spelled.
    run: (Vec<u8>, Arc<Identity>, Arc<Map>),
    done: bool,
}

impl std::fmt::Debug for Rows {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Rows").field("name", &self.name).field("line", &self.account.lines).finish_non_exhaustive()
    }
}

impl Rows {
    pub(super) fn open(input: &InputFile, options: &ReadOptions) -> Result<Self, TraceError> {
        Ok(Self {
            source: Source::open(input, options.block_bytes, false)?,
            name: input.name.clone(),
            block: Vec::new(),
            at: 0,
            account: Account::new(options.every_fault),
            text_bytes: 0,
            run: Default::default(),
            done: false,
        })
    }

    /// What was odd about the lines read so far; complete once the iterator has ended.
    pub fn warnings(&self) -> Vec<Warning> {
        self.account.faults.clone().into_warnings(&self.name).collect()
    }

    /// Rows read so far.
    #[must_use]
    pub fn read_so_far(&self) -> u64 {
        self.account.rows
    }

    /// Fetches the next block; `false` at the end.
    fn next_block(&mut self) -> Result<bool, TraceError> {
        match self.source.next_block()? {
            Some(block) => {
                self.text_bytes += block.len() as u64;
                (self.block, self.at) = (block, 0);
                Ok(true)
            }
            None => {
                self.account.end(&self.source);
                Ok(false)
            }
        }
    }

    /// The next row of the block at hand.
    fn next_in_block(&mut self) -> Option<Entry> {
        loop {
            let rest = self.block.get(self.at..).filter(|rest| !rest.is_empty())?;
            let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |newline| newline + 1);
            let text = rest.get(..end).unwrap_or_default();
            self.at += end;
            self.account.lines += 1;
            let trimmed = text.trim_ascii();
            if trimmed.is_empty() {
                continue;
            }
            self.account.go_on();
            let line = self.account.lines;
            match parse_line(trimmed) {
                Ok(parsed) => {
                    self.account.rows += 1;
                    let (identity, meta) = run_of(&mut self.run, parsed.identity, parsed.meta);
                    return Some(Entry { identity, meta, row: parsed.row, line });
                }
                Err(fault) => {
                    self.account.skipped += 1;
                    self.account.refused = Some(Refused::new(fault, trimmed, line, text.ends_with(b"\n")));
                }
            }
        }
    }
}

/// Shares identity and metadata with the row before where they are the same.
fn run_of(last: &mut (Vec<u8>, Arc<Identity>, Arc<Map>), identity: [&[u8]; 5], meta: Map) -> (Arc<Identity>, Arc<Map>) {
    let spelling = identity.join(&b'\n');
    if last.0 != spelling {
        last.1 = Arc::new(Identity::from_json(identity));
        last.0 = spelling;
    }
    if *last.2 != meta {
        last.2 = Arc::new(meta);
    }
    (Arc::clone(&last.1), Arc::clone(&last.2))
}

impl Iterator for Rows {
    type Item = Result<Entry, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.done {
            if let Some(entry) = self.next_in_block() {
                return Some(Ok(entry));
            }
            match self.next_block() {
                Ok(more) => self.done = !more,
                Err(error) => {
                    self.done = true;
                    return Some(Err(error));
                }
            }
        }
        None
    }
}
