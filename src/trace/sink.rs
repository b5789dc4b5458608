//! Where a writer's bytes go: a locked file, plain or compressed by its name.
//!
//! A file has at most one writer: the lock is taken before anything in it is touched, and goes
//! with the process however that ends.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use flate2::write::GzEncoder;
use rustix::fs::{FlockOperation, flock};

use crate::trace::error::TraceError;

/// How a trace file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    Plain,
    Gzip,
    Zstd,
}

impl Compression {
    /// What the end of a file's name asks for.
    pub(super) fn of_name(path: &Path) -> Self {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("gz") => Self::Gzip,
            Some("zst") => Self::Zstd,
            _ => Self::Plain,
        }
    }
}

/// An open trace file.
pub(super) enum Sink {
    Plain {
        file: File,
        /// The length up to which the file holds whole rows; `None` where lengths mean nothing (a pipe).
        whole: Option<u64>,
    },
    Gzip(GzEncoder<File>),
    Zstd(zstd::Encoder<'static, File>),
}

impl Sink {
    pub(super) fn new(path: &Path, mut file: File) -> io::Result<Self> {
        Ok(match Compression::of_name(path) {
            Compression::Plain => {
                let regular = file.metadata()?.is_file();
                let whole = if regular { Some(file.seek(SeekFrom::End(0))?) } else { None };
                Self::Plain { file, whole }
            }
            Compression::Gzip => {
                file.seek(SeekFrom::End(0))?;
                Self::Gzip(GzEncoder::new(file, flate2::Compression::default()))
            }
            Compression::Zstd => {
                file.seek(SeekFrom::End(0))?;
                Self::Zstd(zstd::Encoder::new(file, zstd::DEFAULT_COMPRESSION_LEVEL)?)
            }
        })
    }

    /// Hands over whole rows. When the system takes only a part (a full disk), a plain file is
    /// cut back to whole rows.
    pub(super) fn write_rows(&mut self, rows: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain { file, whole } => {
                let written = file.write_all(rows);
                if let Some(length) = whole {
                    match written {
                        Ok(()) => *length += rows.len() as u64,
                        Err(_) => file.set_len(*length)?,
                    }
                }
                written
            }
            Self::Gzip(encoder) => encoder.write_all(rows),
            Self::Zstd(encoder) => encoder.write_all(rows),
        }
    }

    /// Makes every row handed over so far readable in the file.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain { .. } => Ok(()),
            Self::Gzip(encoder) => encoder.flush(),
            Self::Zstd(encoder) => encoder.flush(),
        }
    }

    /// Ends the file.
    pub(super) fn finish(self) -> io::Result<()> {
        match self {
            Self::Plain { .. } => Ok(()),
            Self::Gzip(encoder) => encoder.finish().map(drop),
            Self::Zstd(encoder) => encoder.finish().map(drop),
        }
    }
}

/// Opens `path` for reading and writing, makes it and its directories where missing, and locks it.
pub(super) fn open_locked(path: &Path) -> Result<File, TraceError> {
    let open = || -> io::Result<File> {
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            std::fs::create_dir_all(parent).map_err(|error| match error.kind() {
                // "File exists" would be true of the parent, and of no help.
                io::ErrorKind::AlreadyExists => rustix::io::Errno::NOTDIR.into(),
                _ => error,
            })?;
        }
        match OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path) {
            // A pipe or a device may be writable only.
            Err(_) if std::fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir()) => {
                OpenOptions::new().write(true).open(path)
            }
            opened => opened,
        }
    };
    let file = open().map_err(TraceError::write(path))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(rustix::io::Errno::WOULDBLOCK) => Err(TraceError::Locked { path: path.display().to_string() }),
        // Some network file systems have no locks; a trace there is worth more than the guard.
        Err(rustix::io::Errno::NOTSUP | rustix::io::Errno::NOLCK | rustix::io::Errno::NOSYS) => Ok(file),
        Err(error) => Err(TraceError::write(path)(error.into())),
    }
}

/// Mends the end of a plain trace: a whole last row gets its newline, a torn one is cut off.
///
/// Returns how many bytes were cut.
pub(super) fn repair_tail(file: &mut File) -> io::Result<u64> {
    const BLOCK: u64 = 64 * 1024;
    let length = file.seek(SeekFrom::End(0))?;
    let mut tail: Vec<u8> = Vec::new();
    let mut start = length;
    let mut row_start = 0;
    while start > 0 {
        let step = BLOCK.min(start);
        start -= step;
        file.seek(SeekFrom::Start(start))?;
        let mut block = Vec::with_capacity(tail.len() + BLOCK as usize);
        Read::by_ref(file).take(step).read_to_end(&mut block)?;
        let newline = memchr::memrchr(b'\n', &block);
        block.append(&mut tail);
        tail = block;
        if let Some(at) = newline {
            tail.drain(..=at);
            row_start = start + at as u64 + 1;
            break;
        }
    }
    if tail.is_empty() {
        return Ok(0);
    }
    file.seek(SeekFrom::End(0))?;
    let whole = std::str::from_utf8(&tail)
        .is_ok_and(|text| crate::text::json::parse(text).is_ok_and(|value| value.as_map().is_some()));
    if whole {
        file.write_all(b"\n")?;
        return Ok(0);
    }
    file.set_len(row_start)?;
    file.seek(SeekFrom::End(0))?;
    Ok(length - row_start)
}
