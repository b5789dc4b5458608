//! Where a writer's bytes go: a locked file, plain or compressed by its name.
//!
//! A file has at most one writer: the lock is taken before anything in it is touched, and goes
//! with the process however that ends.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

use flate2::write::GzEncoder;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::trace::error::TraceError;

/// How a trace file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    Plain,
    Gzip,
    Zstd,
}

impl Compression {
    /// The name that readers have for it.
    pub(super) fn name(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Gzip => Some("gzip"),
            Self::Zstd => Some("zstd"),
        }
    }

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
    pub(super) fn new(compression: Compression, mut file: File) -> io::Result<Self> {
        Ok(match compression {
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
    let file = open(path).map_err(TraceError::write(path))?;
    let locked = || Err(TraceError::Locked { path: path.display().to_string() });
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        // A writer that mends a compressed file puts another in its place: this one may be gone.
        Ok(()) if is_at(&file, path).map_err(TraceError::write(path))? => Ok(file),
        Ok(()) | Err(Errno::WOULDBLOCK) => locked(),
        // Some network file systems have no locks; a trace there is worth more than the guard.
        Err(Errno::NOTSUP | Errno::NOLCK | Errno::NOSYS) => Ok(file),
        Err(error) => Err(TraceError::write(path)(error.into())),
    }
}

fn open(path: &Path) -> io::Result<File> {
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        std::fs::create_dir_all(parent).map_err(|error| match error.kind() {
            // "File exists" would be true of the parent, and of no help.
            io::ErrorKind::AlreadyExists => Errno::NOTDIR.into(),
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
}

/// Whether `file` is still what stands at `path`.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let (open, there) = (rustix::fs::fstat(file)?, rustix::fs::stat(path)?);
    Ok((open.st_dev, open.st_ino) == (there.st_dev, there.st_ino))
}
