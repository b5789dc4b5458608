//! Which files to read, and their bytes: directories walked, compression undone, block by block.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::GzDecoder;
use sha2::{Digest, Sha256};

use crate::trace::error::TraceError;

/// One input, named as the user did.
#[derive(Clone, Debug)]
pub(super) struct InputFile {
    pub(super) name: String,
    /// `None` is standard input.
    path: Option<PathBuf>,
}

impl InputFile {
    /// The input that `path` names; `-` is standard input.
    pub(super) fn named(path: &Path) -> Self {
        let stdin = path.as_os_str() == "-";
        Self { name: path.display().to_string(), path: (!stdin).then(|| path.to_owned()) }
    }

    /// The file at `path`, whatever its name.
    pub(super) fn file(path: &Path) -> Self {
        Self { name: path.display().to_string(), path: Some(path.to_owned()) }
    }

    /// Whether it can be read only once.
    pub(super) fn is_stream(&self) -> bool {
        !self.path.as_ref().is_some_and(|path| path.is_file())
    }
}

/// The traces that `paths` name, in order: a directory stands for the `*.jsonl`, `*.jsonl.gz`
/// and `*.jsonl.zst` below it, sorted, names beginning with `.` left out; `-` is standard input.
/// A file that is reached again is returned apart.
pub(super) fn expand(paths: &[PathBuf]) -> Result<(Vec<InputFile>, Vec<String>), TraceError> {
    let mut walk = Walk::default();
    for path in paths {
        if path.as_os_str() == "-" {
            if walk.seen.insert(PathBuf::from("-")) {
                walk.found.push(InputFile { name: "-".to_owned(), path: None });
            }
            continue;
        }
        let about = std::fs::metadata(path).map_err(|source| read_error(path, source))?;
        if about.is_dir() {
            let before = walk.found.len() + walk.again.len();
            walk.directory(path)?;
            if walk.found.len() + walk.again.len() == before {
                return Err(TraceError::EmptyDirectory { path: path.display().to_string() });
            }
        } else {
            walk.file(path)?;
        }
    }
    Ok((walk.found, walk.again))
}

fn read_error(path: &Path, source: io::Error) -> TraceError {
    TraceError::Read { path: path.display().to_string(), source }
}

#[derive(Default)]
struct Walk {
    seen: HashSet<PathBuf>,
    found: Vec<InputFile>,
    again: Vec<String>,
}

impl Walk {
    fn file(&mut self, path: &Path) -> Result<(), TraceError> {
        let real = path.canonicalize().map_err(|source| read_error(path, source))?;
        let name = path.display().to_string();
        if self.seen.insert(real) {
            self.found.push(InputFile { name, path: Some(path.to_owned()) });
        } else {
            self.again.push(name);
        }
        Ok(())
    }

    fn directory(&mut self, path: &Path) -> Result<(), TraceError> {
        // A link back to a directory above must not lead round in circles.
        let real = path.canonicalize().map_err(|source| read_error(path, source))?;
        if !self.seen.insert(real) {
            return Ok(());
        }
        let list = || std::fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>();
        let mut entries = list().map_err(|source| read_error(path, source))?;
        entries.sort();
        for entry in entries {
            let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.starts_with('.') {
                continue;
            }
            let is_trace = [".jsonl", ".jsonl.gz", ".jsonl.zst"].iter().any(|end| name.ends_with(end));
            match std::fs::metadata(&entry) {
                Ok(about) if about.is_dir() => self.directory(&entry)?,
                Ok(about) if about.is_file() && is_trace => self.file(&entry)?,
                Err(source) if is_trace => return Err(read_error(&entry, source)),
                _ => {}
            }
        }
        Ok(())
    }
}

/// A longer line than this is not held in memory to be looked at.
const LONGEST_LINE: usize = 256 << 20;

/// How a compressed stream ended, if not well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Truncated,
    Corrupt(String),
    /// Bytes after the last member that belong to none.
    Garbage,
}

/// Bytes as stored, counted and digested on the way.
struct Stored {
    inner: Box<dyn Read + Send>,
    /// Bytes read before, which come first again.
    returned: Vec<u8>,
    bytes: u64,
    digest: Option<Sha256>,
}

impl Stored {
    /// Appends at most `room` bytes to `block`, without a buffer in between.
    fn append(&mut self, block: &mut Vec<u8>, room: usize) -> io::Result<usize> {
        let before = block.len();
        let returned = self.returned.len().min(room);
        block.extend(self.returned.drain(..returned));
        let read = (&mut self.inner).take((room - returned) as u64).read_to_end(block)?;
        self.note(block.get(before + returned..).unwrap_or_default());
        Ok(returned + read)
    }

    /// Counts and digests bytes that were read.
    fn note(&mut self, read: &[u8]) {
        self.bytes += read.len() as u64;
        if let Some(digest) = &mut self.digest {
            digest.update(read);
        }
    }
}

impl Read for Stored {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.returned.is_empty() {
            let count = self.returned.as_slice().read(buffer)?;
            self.returned.drain(..count);
            return Ok(count);
        }
        let count = self.inner.read(buffer)?;
        self.note(buffer.get(..count).unwrap_or_default());
        Ok(count)
    }
}

type Raw = BufReader<Stored>;

enum Layer {
    Plain(Raw),
    Gzip(GzDecoder<Raw>),
    Zstd(zstd::Decoder<'static, Raw>),
    Ended(Raw),
}

/// Enough of what comes next to know a compressed stream by, or all there is. What is buffered
/// may be less: a member may begin at the end of a buffer, a pipe may hand out single bytes.
fn first_bytes(raw: &mut Raw) -> io::Result<&[u8]> {
    const ENOUGH: usize = 4;
    let mut start = raw.fill_buf()?.to_vec();
    if start.len() < ENOUGH {
        raw.consume(start.len());
        let missing = (ENOUGH - start.len()) as u64;
        raw.get_mut().take(missing).read_to_end(&mut start)?;
        raw.get_mut().returned = start;
    }
    raw.fill_buf()
}

/// What the first bytes say that a stream is.
fn layer_of(mut raw: Raw) -> io::Result<Result<Layer, Raw>> {
    Ok(match first_bytes(&mut raw)? {
        [0x1f, 0x8b, ..] => Ok(Layer::Gzip(GzDecoder::new(raw))),
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
            Ok(Layer::Zstd(zstd::Decoder::with_buffer(raw)?.single_frame()))
        }
        _ => Err(raw),
    })
}

/// A trace's text, uncompressed, in blocks that end at a newline.
pub(super) struct Source {
    layer: Option<Layer>,
    /// `gzip` or `zstd`, if compressed.
    pub(super) compression: Option<&'static str>,
    pub(super) ending: Option<Ending>,
    /// What came after the last block's last newline.
    carry: Vec<u8>,
    /// Blocks that were read and done with, to be filled again.
    spare: Vec<Vec<u8>>,
    started: bool,
    block: usize,
    name: String,
}

impl Source {
    pub(super) fn open(input: &InputFile, block: usize, digest: bool) -> Result<Self, TraceError> {
        let open = || -> io::Result<(Option<&'static str>, Layer)> {
            let inner: Box<dyn Read + Send> = match &input.path {
                Some(path) => Box::new(File::open(path)?),
                None => Box::new(io::stdin()),
            };
            let stored = Stored { inner, returned: Vec::new(), bytes: 0, digest: digest.then(Sha256::new) };
            Ok(match layer_of(BufReader::with_capacity(32 * 1024, stored))? {
                Ok(layer @ Layer::Gzip(_)) => (Some("gzip"), layer),
                Ok(layer) => (Some("zstd"), layer),
                Err(raw) => (None, Layer::Plain(raw)),
            })
        };
        let (compression, layer) = open().map_err(|source| TraceError::Read { path: input.name.clone(), source })?;
        Ok(Self {
            layer: Some(layer),
            compression,
            ending: None,
            carry: Vec::new(),
            spare: Vec::new(),
            started: false,
            block: block.max(1),
            name: input.name.clone(),
        })
    }

    /// The next block: whole lines, except that the last one of all may lack its newline.
    /// `None` after the end.
    pub(super) fn next_block(&mut self) -> Result<Option<Vec<u8>>, TraceError> {
        let mut block = self.spare.pop().unwrap_or_default();
        block.clear();
        block.append(&mut self.carry);
        // A line may be longer than any block: look for its end only in what is new.
        let mut searched = block.len();
        loop {
            let more =
                self.read_more(&mut block).map_err(|source| TraceError::Read { path: self.name.clone(), source })?;
            if !self.started {
                self.strip_mark(&mut block, more)?;
                if !self.started {
                    continue;
                }
                searched = 0;
            }
            if !more {
                return Ok((!block.is_empty()).then_some(block));
            }
            if let Some(newline) = memchr::memrchr(b'\n', block.get(searched..).unwrap_or_default()) {
                let end = searched + newline + 1;
                self.carry.extend_from_slice(block.get(end..).unwrap_or_default());
                block.truncate(end);
                return Ok(Some(block));
            }
            searched = block.len();
        }
    }

    /// Takes back a block that is done with.
    pub(super) fn recycle(&mut self, block: Vec<u8>) {
        self.spare.push(block);
    }

    /// Looks at the file's first bytes for a byte-order mark.
    fn strip_mark(&mut self, block: &mut Vec<u8>, more: bool) -> Result<(), TraceError> {
        if block.len() < 4 && more {
            return Ok(());
        }
        self.started = true;
        let encoding = match block.as_slice() {
            [0xff, 0xfe, 0, 0, ..] => "UTF-32LE",
            [0, 0, 0xfe, 0xff, ..] => "UTF-32BE",
            [0xff, 0xfe, ..] => "UTF-16LE",
            [0xfe, 0xff, ..] => "UTF-16BE",
            [0xef, 0xbb, 0xbf, ..] => {
                block.drain(..3);
                return Ok(());
            }
            _ => return Ok(()),
        };
        Err(TraceError::Encoding { path: self.name.clone(), encoding })
    }

    /// Appends about a block's worth of bytes; `false` at the end.
    fn read_more(&mut self, block: &mut Vec<u8>) -> io::Result<bool> {
        if block.len() > LONGEST_LINE {
            let line = format!("a line is longer than {} MiB: is this a trace?", LONGEST_LINE >> 20);
            return Err(io::Error::new(io::ErrorKind::InvalidData, line));
        }
        let wanted = block.len() + self.block;
        block.reserve(self.block);
        while block.len() < wanted {
            let room = wanted - block.len();
            let (read, plain) = match &mut self.layer {
                Some(Layer::Plain(raw)) => (read_plain(raw, block, room), true),
                Some(Layer::Gzip(decoder)) => (decoder.by_ref().take(room as u64).read_to_end(block), false),
                Some(Layer::Zstd(decoder)) => (decoder.by_ref().take(room as u64).read_to_end(block), false),
                Some(Layer::Ended(_)) | None => return Ok(false),
            };
            match read {
                Ok(0) => self.end_member()?,
                Ok(_) => {}
                Err(error) if plain => return Err(error),
                Err(error) => {
                    let truncated = error.kind() == io::ErrorKind::UnexpectedEof;
                    self.ending = Some(if truncated { Ending::Truncated } else { Ending::Corrupt(error.to_string()) });
                    self.layer = self.layer.take().map(Layer::end);
                }
            }
        }
        Ok(true)
    }

    /// Goes on to the next member of a compressed file, if there is one.
    fn end_member(&mut self) -> io::Result<()> {
        let Some(layer) = self.layer.take() else { return Ok(()) };
        if let Layer::Plain(raw) = layer {
            self.layer = Some(Layer::Ended(raw));
            return Ok(());
        }
        self.layer = Some(match layer_of(layer.into_raw())? {
            Ok(layer) => layer,
            Err(mut raw) => {
                match raw.fill_buf()?.first() {
                    None => Layer::Ended(raw),
                    // Rows that a producer appended without compressing them.
                    Some(b'{') => Layer::Plain(raw),
                    Some(_) => {
                        self.ending = Some(Ending::Garbage);
                        Layer::Ended(raw)
                    }
                }
            }
        });
        Ok(())
    }

    /// Reads what is left and returns the stored size and digest.
    pub(super) fn finish(mut self) -> Result<(u64, String), TraceError> {
        let Some(layer) = self.layer.take() else { return Ok((0, String::new())) };
        let mut raw = layer.into_raw();
        io::copy(&mut raw, &mut io::sink()).map_err(|source| TraceError::Read { path: self.name, source })?;
        let stored = raw.into_inner();
        Ok((stored.bytes, stored.digest.map_or_else(String::new, |digest| crate::digest::hex(&digest.finalize()))))
    }
}

/// Appends at most `room` bytes: what is buffered first, then past the buffer.
fn read_plain(raw: &mut Raw, block: &mut Vec<u8>, room: usize) -> io::Result<usize> {
    let buffered = raw.buffer();
    if buffered.is_empty() {
        return raw.get_mut().append(block, room);
    }
    let count = buffered.len().min(room);
    block.extend_from_slice(buffered.get(..count).unwrap_or_default());
    raw.consume(count);
    Ok(count)
}

impl Layer {
    fn into_raw(self) -> Raw {
        match self {
            Self::Plain(raw) | Self::Ended(raw) => raw,
            Self::Gzip(decoder) => decoder.into_inner(),
            Self::Zstd(decoder) => decoder.finish(),
        }
    }

    fn end(self) -> Self {
        Self::Ended(self.into_raw())
    }
}
