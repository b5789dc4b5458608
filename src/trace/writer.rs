//! Writing a trace: whole rows, in order, one writer a file.
//!
//! Rows gather in a block of 64 KiB and go to the system in whole rows when it is full, at
//! [`Writer::flush`], every so many rows if asked for, and at [`Writer::close`]. A process that
//! is killed therefore loses at most the rows since the last of these, and never leaves half a
//! row between whole ones. One that is ended by a limit or by Ctrl-C loses none
//! ([`crate::closing`]). What the system has is safe from the end of the process, not from a
//! power failure.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use crate::closing::{Close, Kept};
use crate::trace::error::TraceError;
use crate::trace::format::RowFormat;
use crate::trace::repair::repair;
use crate::trace::row::{Row, STEP_FIELDS};
use crate::trace::sink::{Compression, Sink, open_locked};
use crate::value::Map;

/// The size from which a block is handed to the system.
const BLOCK: usize = 64 * 1024;

/// How a trace is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriterOptions {
    /// Write numbers that are not finite as `null`, as strict JSON demands, instead of Python's
    /// `NaN`, `Infinity`, `-Infinity`.
    pub strict_json: bool,
    /// Flush after every so many rows, for files that are watched or must survive a kill.
    pub flush_every: Option<NonZeroU64>,
}

/// What a writer wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Rows written.
    pub rows: u64,
    /// Rows whose reward was not a finite number.
    pub non_finite: u64,
    /// The step of the first such row.
    pub first_non_finite_step: Option<i64>,
    /// Bytes of a torn last row that were cut off when the file was opened for append.
    pub repaired_bytes: u64,
}

/// Writes one run's rows to a file, compressed where its name ends in `.gz` or `.zst`.
///
/// Metadata stands first in every row: the identity keys in their order, then the other keys
/// sorted; then the fields of [`Row`] in their order. Dropped without [`Writer::close`], it
/// still writes what it holds, but cannot tell of a failure.
///
/// ```
/// use skyfall::trace::{Row, Writer, WriterOptions};
/// use skyfall::value::{Map, Value};
/// # let directory = tempfile::tempdir().unwrap();
/// # let path = directory.path().join("traces.jsonl");
/// let meta = Map::from_iter([("run_id".to_owned(), Value::from("example"))]);
/// let mut writer = Writer::create(&path, &meta, WriterOptions::default())?;
/// writer.write(&Row { step: 0, reward: 0.5, ..Row::default() })?;
/// assert_eq!(writer.close()?.rows, 1);
/// # assert!(std::fs::read_to_string(&path).unwrap().starts_with(r#"{"run_id": "example", "step": 0, "#));
/// # Ok::<(), skyfall::trace::TraceError>(())
/// ```
pub struct Writer {
    path: PathBuf,
    open: Kept<Open>,
    format: RowFormat,
    meta_keys: Vec<String>,
    unflushed: u64,
    options: WriterOptions,
    summary: Summary,
}

/// The file and the rows that it is still to get.
struct Open {
    /// `None` once closed, or after a failure.
    sink: Option<Sink>,
    block: Vec<u8>,
}

impl Open {
    fn hand_over(&mut self, flush: bool) -> io::Result<()> {
        let Some(sink) = &mut self.sink else { return Ok(()) };
        let mut written = if self.block.is_empty() { Ok(()) } else { sink.write_rows(&self.block) };
        self.block.clear();
        if flush && written.is_ok() {
            written = sink.flush();
        }
        if written.is_err() {
            self.sink = None;
        }
        written
    }

    fn close(&mut self) -> io::Result<()> {
        self.hand_over(false)?;
        self.sink.take().map_or(Ok(()), Sink::finish)
    }
}

impl Close for Open {
    fn close_now(&mut self) {
        let _ = self.close();
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Writer").field("path", &self.path).field("summary", &self.summary).finish_non_exhaustive()
    }
}

impl Writer {
    /// Starts a trace at `path`, in place of what is there; parent directories are made.
    ///
    /// # Errors
    /// When the file cannot be made, another writer has it, or `meta` has a key that is a step
    /// field; what is at `path` is then untouched.
    pub fn create(path: impl AsRef<Path>, meta: &Map, options: WriterOptions) -> Result<Self, TraceError> {
        let path = path.as_ref();
        refuse_taken_keys(path, meta)?;
        let mut file = open_locked(path)?;
        let empty = || {
            if file.metadata()?.is_file() {
                file.set_len(0)?;
                file.rewind()?;
            }
            Sink::new(Compression::of_name(path), file)
        };
        let sink = empty().map_err(TraceError::write(path))?;
        Ok(Self::with_sink(path, sink, meta, options))
    }

    /// Continues the trace at `path`, or starts it where there is none. A torn last row, which a
    /// killed writer may have left, is cut off first ([`Summary::repaired_bytes`]); a whole last
    /// row without its newline gets it.
    ///
    /// # Errors
    /// As for [`Writer::create`]; and when a compressed file is damaged otherwise than by
    /// being cut off, or the file's name does not say how it is compressed.
    pub fn append(path: impl AsRef<Path>, meta: &Map, options: WriterOptions) -> Result<Self, TraceError> {
        let path = path.as_ref();
        refuse_taken_keys(path, meta)?;
        let (file, repaired) = repair(path, open_locked(path)?)?;
        let sink = Sink::new(Compression::of_name(path), file).map_err(TraceError::write(path))?;
        let mut writer = Self::with_sink(path, sink, meta, options);
        writer.summary.repaired_bytes = repaired;
        Ok(writer)
    }

    /// Continues the plain trace at `path` after its first `length` bytes, which end with a whole
    /// row; what follows them is cut off. `written` is what those rows amount to.
    ///
    /// # Errors
    /// As for [`Writer::create`]; and when the trace is compressed or shorter.
    pub fn resume(
        path: impl AsRef<Path>,
        meta: &Map,
        options: WriterOptions,
        (length, written): (u64, Summary),
    ) -> Result<Self, TraceError> {
        let path = path.as_ref();
        refuse_taken_keys(path, meta)?;
        let damaged = |cause: &str| TraceError::Damaged { path: path.display().to_string(), cause: cause.to_owned() };
        if Compression::of_name(path) != Compression::Plain {
            return Err(damaged("it is compressed"));
        }
        let file = open_locked(path)?;
        if !ends_row(&file, length).map_err(TraceError::write(path))? {
            return Err(damaged(&format!("it does not hold the {length} bytes it had")));
        }
        let cut = || {
            file.set_len(length)?;
            Sink::new(Compression::Plain, file)
        };
        let sink = cut().map_err(TraceError::write(path))?;
        let mut writer = Self::with_sink(path, sink, meta, options);
        writer.summary = written;
        Ok(writer)
    }

    /// What was written so far.
    #[must_use]
    pub fn summary(&self) -> Summary {
        self.summary
    }

    fn with_sink(path: &Path, sink: Sink, meta: &Map, options: WriterOptions) -> Self {
        Self {
            path: path.to_owned(),
            open: Kept::new(Open { sink: Some(sink), block: Vec::with_capacity(BLOCK + 4096) }),
            format: RowFormat::new(meta, options.strict_json),
            meta_keys: meta.keys().cloned().collect(),
            unflushed: 0,
            options,
            summary: Summary::default(),
        }
    }

    /// Where the trace is written.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes one row. It reaches the file with its block, see the [module](self).
    ///
    /// # Errors
    /// When the writer is closed, an extra key is a step field or a metadata key (nothing is
    /// written then), or the system refuses a block (the writer is closed then).
    pub fn write(&mut self, row: &Row) -> Result<(), TraceError> {
        let mut open = self.open.lock();
        if open.sink.is_none() {
            return Err(self.closed());
        }
        for key in row.extra.keys() {
            if STEP_FIELDS.contains(&key.as_str()) || self.meta_keys.contains(key) {
                return Err(taken_key(&self.path, "extra", key));
            }
        }
        self.format.write(&mut open.block, row);
        self.summary.rows += 1;
        if !row.reward.is_finite() {
            self.summary.non_finite += 1;
            self.summary.first_non_finite_step.get_or_insert(row.step);
        }
        self.unflushed += 1;
        let flush = self.options.flush_every.is_some_and(|rows| self.unflushed >= rows.get());
        if flush {
            self.unflushed = 0;
        }
        if flush || open.block.len() >= BLOCK {
            return open.hand_over(flush).map_err(TraceError::write(&self.path));
        }
        Ok(())
    }

    /// Hands every row to the system: a reader sees them, and they survive a kill.
    ///
    /// # Errors
    /// When the system refuses, or the writer is closed.
    pub fn flush(&mut self) -> Result<(), TraceError> {
        let mut open = self.open.lock();
        if open.sink.is_none() {
            return Err(self.closed());
        }
        self.unflushed = 0;
        open.hand_over(true).map_err(TraceError::write(&self.path))
    }

    /// Writes what is left, ends the file and lets others write it. Closing again does nothing
    /// and returns the same summary.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn close(&mut self) -> Result<Summary, TraceError> {
        self.open.lock().close().map_err(TraceError::write(&self.path))?;
        Ok(self.summary)
    }

    fn closed(&self) -> TraceError {
        TraceError::Closed { path: self.path.display().to_string() }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.close();
    }
}

/// Whether the first `length` bytes of `file` are there and end with a row.
fn ends_row(mut file: &File, length: u64) -> io::Result<bool> {
    let whole = file.metadata()?.is_file() && file.metadata()?.len() >= length;
    let Some(last) = length.checked_sub(1).filter(|_| whole) else { return Ok(whole) };
    let mut byte = [0];
    file.seek(SeekFrom::Start(last))?;
    file.read_exact(&mut byte)?;
    Ok(byte == *b"\n")
}

fn refuse_taken_keys(path: &Path, meta: &Map) -> Result<(), TraceError> {
    match meta.keys().find(|key| STEP_FIELDS.contains(&key.as_str())) {
        Some(key) => Err(taken_key(path, "metadata", key)),
        None => Ok(()),
    }
}

fn taken_key(path: &Path, place: &'static str, key: &str) -> TraceError {
    TraceError::TakenKey { path: path.display().to_string(), place, key: key.to_owned() }
}
