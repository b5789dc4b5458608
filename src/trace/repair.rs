//! Mending the end of a trace that a killed writer left, before rows are added.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::trace::error::TraceError;
use crate::trace::input::{Ending, InputFile, Source};
use crate::trace::sink::{Compression, Sink, open_locked};

/// How much of a compressed file is in memory at a time.
const BLOCK: usize = 1 << 20;

/// Mends the trace at `path`, which is open and locked as `file`. Returns the file to go on with,
/// and how many bytes of a torn last row were cut.
pub(super) fn repair(path: &Path, mut file: File) -> Result<(File, u64), TraceError> {
    let about = file.metadata().map_err(TraceError::write(path))?;
    if !about.is_file() || about.len() == 0 {
        return Ok((file, 0));
    }
    let compression = Compression::of_name(path);
    let input = InputFile::file(path);
    let found = Source::open(&input, BLOCK, false)?.compression;
    if found != compression.name() {
        // Cutting off its tail, or adding to it, would make it unreadable.
        return Err(damaged(path, &format!("it holds {}, which its name does not say", found.unwrap_or("plain text"))));
    }
    match compression {
        Compression::Plain => {
            let cut = repair_tail(&mut file).map_err(TraceError::write(path))?;
            Ok((file, cut))
        }
        Compression::Gzip | Compression::Zstd => repair_compressed(path, file, &input),
    }
}

/// A compressed trace that ends well goes on with another member. One that is cut off is
/// written anew beside it, up to its last whole row, and replaced by that.
fn repair_compressed(path: &Path, file: File, input: &InputFile) -> Result<(File, u64), TraceError> {
    let mut source = Source::open(input, BLOCK, false)?;
    let mut ends_with_newline = true;
    while let Some(block) = source.next_block()? {
        ends_with_newline = block.ends_with(b"\n");
    }
    match &source.ending {
        None if ends_with_newline => return Ok((file, 0)),
        None | Some(Ending::Truncated) => {}
        Some(Ending::Corrupt(cause)) => return Err(damaged(path, cause)),
        Some(Ending::Garbage) => return Err(damaged(path, "other bytes follow the compressed data")),
    }
    // The lock is held, so no one else mends this file: one name will do, and what a killed
    // process left there may be overwritten.
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let staged = path.with_file_name(format!(".{name}.mended"));
    let rewritten = rewrite_whole_rows(path, &staged, input);
    let renamed = rewritten.and_then(|cut| {
        std::fs::rename(&staged, path).map_err(TraceError::write(path))?;
        Ok(cut)
    });
    if renamed.is_err() {
        let _ = std::fs::remove_file(&staged);
    }
    let cut = renamed?;
    Ok((open_locked(path)?, cut))
}

fn rewrite_whole_rows(path: &Path, staged: &Path, input: &InputFile) -> Result<u64, TraceError> {
    let mut source = Source::open(input, BLOCK, false)?;
    let mut sink = File::create(staged)
        .and_then(|file| Sink::new(Compression::of_name(path), file))
        .map_err(TraceError::write(path))?;
    let mut cut = 0;
    while let Some(mut block) = source.next_block()? {
        if !block.ends_with(b"\n") {
            let row = memchr::memrchr(b'\n', &block).map_or(0, |newline| newline + 1);
            if is_object(block.get(row..).unwrap_or_default()) {
                block.push(b'\n');
            } else {
                cut = (block.len() - row) as u64;
                block.truncate(row);
            }
        }
        sink.write_rows(&block).map_err(TraceError::write(path))?;
    }
    sink.finish().map_err(TraceError::write(path))?;
    Ok(cut)
}

fn damaged(path: &Path, cause: &str) -> TraceError {
    TraceError::Damaged { path: path.display().to_string(), cause: cause.to_owned() }
}

/// Whether a line without its newline is a whole row nevertheless.
fn is_object(line: &[u8]) -> bool {
    std::str::from_utf8(line)
        .is_ok_and(|text| crate::text::json::parse(text).is_ok_and(|value| value.as_map().is_some()))
}

/// Mends the end of a plain trace: a whole last row gets its newline, a torn one is cut off.
///
/// Returns how many bytes were cut.
fn repair_tail(file: &mut File) -> io::Result<u64> {
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
    if is_object(&tail) {
        file.write_all(b"\n")?;
        return Ok(0);
    }
    file.set_len(row_start)?;
    file.seek(SeekFrom::End(0))?;
    Ok(length - row_start)
}
