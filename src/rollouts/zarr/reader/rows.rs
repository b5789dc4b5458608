//! The rows of one array: which files and chunks they lie in, decoded on every core straight to
//! where they belong.

use std::ops::Range;

use rayon::prelude::*;

use super::chunk::{LARGEST_RATIO, Scratch, with_scratch};
use super::layout::Layout;
use crate::rollouts::zarr::source::{Opened, Source};

/// Neighbouring chunks of a shard are read in one go up to this many bytes.
const RUN: usize = 1 << 18;

/// An array of more bytes than this must have files that can hold it.
const ALWAYS: usize = 1 << 30;

/// Reading takes at most so many files, or chunks of a file, at once.
const MOST_CHUNKS: usize = 1 << 22;

/// The files of an array.
pub(super) struct Files<'a> {
    pub(super) layout: &'a Layout,
    /// What the store is read from.
    pub(super) source: &'a Source,
    /// The array's path within it.
    pub(super) path: &'a str,
    /// Whether every chunk is stored, so that a missing one is damage and not a fill value.
    pub(super) all_stored: bool,
}

/// Part of a chunk: which one, which rows of it, and where they go.
struct Piece<'d> {
    chunk: usize,
    rows: Range<usize>,
    target: &'d mut [u8],
}

/// The error of the foremost part that has one, whichever thread was the quickest.
fn first_error(parts: impl IndexedParallelIterator<Item = Result<(), String>>) -> Result<(), String> {
    parts.collect::<Vec<_>>().into_iter().collect()
}

impl Files<'_> {
    /// Refuses rows that the array's files cannot hold, before memory is taken for them.
    pub(super) fn check(&self, rows: &Range<usize>) -> Result<(), String> {
        let bytes = rows.len().saturating_mul(self.layout.row_elements() * self.layout.dtype.size());
        self.justify(bytes)?;
        for lengths in [&self.layout.file, &self.layout.chunk] {
            let first = [rows.len()];
            let wanted = first.iter().chain(self.layout.shape.iter().skip(1));
            let counts = wanted.zip(lengths).map(|(wanted, length)| wanted.div_ceil(*length).max(1));
            if counts.fold(1, usize::saturating_mul) > MOST_CHUNKS {
                return Err(format!("its chunks of {lengths:?} are too many"));
            }
        }
        Ok(())
    }

    /// Reads `rows`, which were checked, into `target`, which is as long as they are.
    pub(super) fn read(&self, rows: &Range<usize>, target: &mut [u8]) -> Result<(), String> {
        if !self.layout.whole_rows() {
            return self.scattered(rows, target);
        }
        let row_bytes = self.layout.row_elements() * self.layout.dtype.size();
        let files = pieces(rows, self.layout.file.first().copied().unwrap_or(1), row_bytes, target);
        first_error(files.into_par_iter().map(|part| {
            let mut index = vec![0; self.layout.shape.len()];
            if let Some(first) = index.first_mut() {
                *first = part.chunk;
            }
            let key = self.layout.key(&index);
            self.file(&key, part, row_bytes).map_err(|what| self.at(&key, what))
        }))
    }

    /// What went wrong with a file.
    fn at(&self, key: &str, what: impl std::fmt::Display) -> String {
        format!("chunk `{}/{key}`{what}", self.path)
    }

    /// Refuses an array that its files cannot hold.
    fn justify(&self, bytes: usize) -> Result<(), String> {
        if bytes <= ALWAYS {
            return Ok(());
        }
        let held = usize::try_from(self.source.held(self.path).bytes).unwrap_or(usize::MAX);
        let said = format!("its shape makes {bytes} bytes, which its files of {held} bytes cannot hold");
        if bytes / LARGEST_RATIO > held { Err(said) } else { Ok(()) }
    }

    /// Where the file `key` is within the store.
    fn place(&self, key: &str) -> String {
        format!("{}/{key}", self.path)
    }

    /// The file at `place`, and its length in bytes.
    fn open<'p>(&'p self, place: &'p str) -> Result<Option<(Opened<'p>, usize)>, String> {
        match self.source.open(place).map_err(fault)? {
            Some(file) => {
                let size = usize::try_from(file.size()).map_err(fault)?;
                Ok(Some((file, size)))
            }
            None if self.all_stored => Err(" is missing".to_owned()),
            None => Ok(None),
        }
    }

    /// Refuses to read a chunk that is much longer than its elements.
    fn check_size(&self, stored: usize) -> Result<(), String> {
        let most = self.layout.chunk_bytes().saturating_mul(2).saturating_add(1 << 16);
        if stored > most { Err(format!(" has {stored} bytes, more than a chunk can have")) } else { Ok(()) }
    }

    fn fill(&self, target: &mut [u8]) {
        if self.layout.fill.iter().all(|byte| *byte == 0) {
            target.fill(0);
            return;
        }
        for element in target.chunks_exact_mut(self.layout.fill.len().max(1)) {
            element.copy_from_slice(&self.layout.fill);
        }
    }

    /// A chunk that its shard does not have: damage, or a chunk of fill values.
    fn absent(&self, number: usize, target: &mut [u8]) -> Result<(), String> {
        if self.all_stored {
            return Err(format!(": chunk {number} in it is missing"));
        }
        self.fill(target);
        Ok(())
    }

    /// The wanted rows of one file.
    fn file(&self, key: &str, part: Piece<'_>, row_bytes: usize) -> Result<(), String> {
        let place = self.place(key);
        let Some((file, size)) = self.open(&place)? else {
            self.fill(part.target);
            return Ok(());
        };
        let chunk_rows = self.layout.chunk.first().copied().unwrap_or(1);
        if self.layout.shard.is_none() {
            self.check_size(size)?;
            return with_scratch(|scratch| {
                let mut stored = std::mem::take(&mut scratch.stored);
                stored.clear();
                stored.resize(size, 0);
                file.read_exact_at(&mut stored, 0).map_err(fault)?;
                let answer = self.chunk(scratch, &stored, part, chunk_rows, row_bytes);
                scratch.stored = stored;
                answer.map_err(|what| format!(": {what}"))
            });
        }
        let index = self.index(&file, size)?;
        let inner = pieces(&part.rows, chunk_rows, row_bytes, part.target);
        let runs = runs(inner, &index).into_par_iter();
        first_error(runs.map(|run| self.run(&file, size, run, &index, row_bytes)))
    }

    /// Where the chunks of a shard lie in it, by offset and length; `None` for absent ones.
    fn index(&self, file: &Opened<'_>, size: usize) -> Result<Vec<Option<(u64, usize)>>, String> {
        let shard = self.layout.shard.ok_or(" is no shard")?;
        let parts = self.layout.file.iter().zip(&self.layout.chunk);
        let count: usize = parts.map(|(file, chunk)| file / chunk).product();
        let sum = if shard.index_checksum { 4 } else { 0 };
        let length = count * 16 + sum;
        if length > size {
            return Err(" is too short for its index".to_owned());
        }
        let mut bytes = vec![0; length];
        let offset = if shard.index_at_end { size - length } else { 0 };
        file.read_exact_at(&mut bytes, offset as u64).map_err(fault)?;
        let (entries, stored_sum) = bytes.split_at(count * 16);
        if shard.index_checksum && stored_sum != crc32c::crc32c(entries).to_le_bytes() {
            return Err(": its index's checksum differs".to_owned());
        }
        let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap_or_default());
        let entries = entries.chunks_exact(16).map(|entry| {
            let (offset, length) = entry.split_at(8);
            let (offset, length) = (number(offset), number(length));
            if offset == u64::MAX && length == u64::MAX {
                return Ok(None);
            }
            match offset.checked_add(length) {
                Some(end) if end <= size as u64 => {
                    let length = usize::try_from(length).map_err(fault)?;
                    self.check_size(length).map(|()| Some((offset, length)))
                }
                _ => Err(": a chunk in it lies beyond its end".to_owned()),
            }
        });
        entries.collect()
    }

    /// Chunks that lie one after the other.
    fn run(
        &self,
        file: &Opened<'_>,
        size: usize,
        run: Vec<Piece<'_>>,
        index: &[Option<(u64, usize)>],
        row_bytes: usize,
    ) -> Result<(), String> {
        let place = |piece: &Piece<'_>| index.get(piece.chunk).copied().flatten();
        let Some((start, _)) = run.first().and_then(place) else {
            return run.into_iter().try_for_each(|piece| self.absent(piece.chunk, piece.target));
        };
        let length: usize = run.iter().filter_map(place).map(|(_, length)| length).sum();
        let chunk_rows = self.layout.chunk.first().copied().unwrap_or(1);
        with_scratch(|scratch| {
            let mut stored = std::mem::take(&mut scratch.stored);
            stored.clear();
            stored.resize(length.min(size), 0);
            file.read_exact_at(&mut stored, start).map_err(fault)?;
            let mut rest = stored.as_slice();
            for piece in run {
                let Some((_, length)) = place(&piece) else { continue };
                let (own, after) = rest.split_at_checked(length).ok_or(": a chunk in it lies beyond its end")?;
                rest = after;
                let number = piece.chunk;
                self.chunk(scratch, own, piece, chunk_rows, row_bytes)
                    .map_err(|what| format!(": chunk {number} in it: {what}"))?;
            }
            scratch.stored = stored;
            Ok(())
        })
    }

    /// The wanted rows of one chunk.
    fn chunk(
        &self,
        scratch: &mut Scratch,
        stored: &[u8],
        piece: Piece<'_>,
        chunk_rows: usize,
        row_bytes: usize,
    ) -> Result<(), String> {
        if piece.rows.len() == chunk_rows {
            return scratch.decode(self.layout, stored, piece.target);
        }
        let decoded = scratch.decode_aside(self.layout, stored)?;
        let wanted = decoded.get(piece.rows.start * row_bytes..piece.rows.end * row_bytes);
        piece.target.copy_from_slice(wanted.ok_or("is shorter than it should be")?);
        scratch.decoded = decoded;
        Ok(())
    }

    /// Rows of chunks that split other axes than the first, one after the other.
    fn scattered(&self, rows: &Range<usize>, target: &mut [u8]) -> Result<(), String> {
        let layout = self.layout;
        let mut wanted: Vec<Range<usize>> = layout.shape.iter().map(|length| 0..*length).collect();
        if let Some(first) = wanted.first_mut() {
            *first = rows.clone();
        }
        for at in boxes(&wanted, &layout.file) {
            let key = layout.key(&at);
            let origin: Vec<usize> = at.iter().zip(&layout.file).map(|(index, length)| index * length).collect();
            let place = self.place(&key);
            let opened = self.open(&place).map_err(|what| self.at(&key, what))?;
            let index = match (&opened, layout.shard) {
                (Some((file, size)), Some(_)) => self.index(file, *size).map_err(|what| self.at(&key, what))?,
                (Some((_, size)), None) => {
                    self.check_size(*size).map_err(|what| self.at(&key, what))?;
                    vec![Some((0, *size))]
                }
                (None, _) => Vec::new(),
            };
            let within = wanted.iter().zip(&origin).zip(&layout.file).map(|((wanted, origin), length)| {
                wanted.start.saturating_sub(*origin)..(wanted.end - origin).min(*length)
            });
            let within: Vec<Range<usize>> = within.collect();
            for inner in boxes(&within, &layout.chunk) {
                let counts = layout.file.iter().zip(&layout.chunk).map(|(file, chunk)| file / chunk);
                let number = inner.iter().zip(counts).fold(0, |number, (index, count)| number * count + index);
                let stored = match (&opened, index.get(number).copied().flatten()) {
                    (Some((file, _)), Some((offset, length))) => {
                        let mut stored = vec![0; length];
                        file.read_exact_at(&mut stored, offset).map_err(fault).map(|()| Some(stored))
                    }
                    _ => Ok(None),
                };
                let decoded = stored.and_then(|stored| match stored {
                    Some(stored) => with_scratch(|scratch| scratch.decode_aside(layout, &stored))
                        .map_err(|what| format!(": {what}")),
                    None => {
                        let mut filled = vec![0; layout.chunk_bytes().min(target.len().max(1 << 24))];
                        self.absent(number, &mut filled)?;
                        Ok(filled)
                    }
                });
                let decoded = decoded.map_err(|what| self.at(&key, what))?;
                let axes = inner.iter().zip(&origin).zip(&layout.chunk).zip(&wanted);
                let axes: Vec<Axis> = axes
                    .map(|(((at, origin), chunk), wanted)| Axis::meet(origin + at * chunk, *chunk, wanted))
                    .collect();
                copy(&axes, layout.dtype.size(), &decoded, target).ok_or_else(|| self.at(&key, " does not fit"))?;
            }
        }
        Ok(())
    }
}

fn fault(error: impl std::fmt::Display) -> String {
    format!(": {error}")
}

/// `rows`, and the bytes they go to, by the chunk of `length` rows they lie in.
fn pieces<'d>(rows: &Range<usize>, length: usize, row_bytes: usize, target: &'d mut [u8]) -> Vec<Piece<'d>> {
    let mut pieces = Vec::new();
    let (mut at, mut rest) = (rows.start, target);
    while at < rows.end {
        let chunk = at / length;
        let (first, last) = (at - chunk * length, (rows.end - chunk * length).min(length));
        let (own, after) = rest.split_at_mut(((last - first) * row_bytes).min(rest.len()));
        pieces.push(Piece { chunk, rows: first..last, target: own });
        (at, rest) = (chunk * length + last, after);
    }
    pieces
}

/// Pieces grouped by what can be read in one go.
fn runs<'d>(pieces: Vec<Piece<'d>>, index: &[Option<(u64, usize)>]) -> Vec<Vec<Piece<'d>>> {
    let mut runs: Vec<Vec<Piece<'d>>> = Vec::new();
    let (mut end, mut bytes) = (None, 0);
    for piece in pieces {
        let place = index.get(piece.chunk).copied().flatten();
        let follows = match (place, end) {
            (Some((offset, length)), Some(end)) => offset == end && bytes + length <= RUN,
            _ => false,
        };
        bytes = place.map_or(0, |(_, length)| length) + if follows { bytes } else { 0 };
        end = place.map(|(offset, length)| offset + length as u64);
        match runs.last_mut() {
            Some(run) if follows => run.push(piece),
            _ => runs.push(vec![piece]),
        }
    }
    runs
}

/// The indices of the chunks of `lengths` that `wanted` meets, in C order.
fn boxes(wanted: &[Range<usize>], lengths: &[usize]) -> Vec<Vec<usize>> {
    wanted.iter().zip(lengths).fold(vec![Vec::new()], |indices, (wanted, length)| {
        let along = wanted.start / length..wanted.end.div_ceil(*length);
        let longer = |index: Vec<usize>| {
            along.clone().map(move |next| index.iter().copied().chain([next]).collect::<Vec<usize>>())
        };
        indices.into_iter().flat_map(longer).collect()
    })
}

/// Where a chunk and the wanted part meet along one axis.
struct Axis {
    chunk: usize,
    wanted: usize,
    from: usize,
    to: usize,
    count: usize,
}

impl Axis {
    fn meet(origin: usize, chunk: usize, wanted: &Range<usize>) -> Self {
        let first = origin.max(wanted.start);
        let last = (origin + chunk).min(wanted.end);
        Self {
            chunk,
            wanted: wanted.len(),
            from: first - origin,
            to: first - wanted.start,
            count: last.saturating_sub(first),
        }
    }
}

/// Copies where chunk and wanted part meet.
fn copy(axes: &[Axis], size: usize, chunk: &[u8], target: &mut [u8]) -> Option<()> {
    let (axis, rest) = axes.split_first()?;
    if rest.is_empty() {
        let from = chunk.get(axis.from * size..(axis.from + axis.count) * size)?;
        target.get_mut(axis.to * size..(axis.to + axis.count) * size)?.copy_from_slice(from);
        return Some(());
    }
    let from = rest.iter().map(|axis| axis.chunk).product::<usize>() * size;
    let to = rest.iter().map(|axis| axis.wanted).product::<usize>() * size;
    for step in 0..axis.count {
        let (source, place) = (axis.from + step, axis.to + step);
        copy(
            rest,
            size,
            chunk.get(source * from..(source + 1) * from)?,
            target.get_mut(place * to..(place + 1) * to)?,
        )?;
    }
    Some(())
}
