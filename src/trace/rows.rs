//! A file's rows, one after another, whole.

use std::path::Path;
use std::sync::Arc;

use crate::trace::columns::{Identity, Warning};
use crate::trace::error::TraceError;
use crate::trace::input::InputFile;
use crate::trace::lines::Lines;
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
    lines: Lines,
    name: String,
    last: LastRun,
    failed: bool,
}

/// The last row's run, and how its identity was spelled.
type LastRun = (Vec<u8>, Arc<Identity>, Arc<Map>);

impl std::fmt::Debug for Rows {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Rows").field("name", &self.name).field("line", &self.lines.line()).finish_non_exhaustive()
    }
}

impl Rows {
    pub(super) fn open(input: &InputFile, options: &ReadOptions) -> Result<Self, TraceError> {
        let lines = Lines::open(input, options)?;
        Ok(Self { lines, name: input.name.clone(), last: LastRun::default(), failed: false })
    }

    /// What was odd about the lines read so far; complete once the iterator has ended.
    pub fn warnings(&self) -> Vec<Warning> {
        self.lines.warnings()
    }

    /// Rows read so far.
    #[must_use]
    pub fn read_so_far(&self) -> u64 {
        self.lines.rows()
    }

    pub(super) fn text_bytes(&self) -> u64 {
        self.lines.text_bytes()
    }
}

/// Shares identity and metadata with the row before where they are the same.
fn run_of(last: &mut LastRun, identity: [&[u8]; 5], meta: Map) -> (Arc<Identity>, Arc<Map>) {
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
        if self.failed {
            return None;
        }
        let last = &mut self.last;
        let next = self.lines.next_with(|row| {
            let (identity, meta) = run_of(last, row.parsed.identity, row.parsed.meta);
            Entry { identity, meta, row: row.parsed.row, line: row.line }
        });
        self.failed = next.is_err();
        next.transpose()
    }
}
