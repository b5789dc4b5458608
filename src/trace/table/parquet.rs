//! Rows as Parquet: one nullable column a scalar, in row groups of a bounded size.
//!
//! Written by hand, for the little of the format that a flat table needs: version 1 data pages,
//! plain values, zstd. Every reader of Parquet takes it (<https://parquet.apache.org/docs/file-format/>).

use std::io::{self, Write};

use super::thrift::{self, Kind, Struct, write_count};
use super::{Column, ColumnKind};
use crate::text::json;
use crate::value::Value;

const MAGIC: &[u8] = b"PAR1";
/// A row group ends at so many rows or bytes, whichever comes first.
const MOST_ROWS: usize = 1 << 17;
const MOST_BYTES: usize = 1 << 26;

/// Numbers of the format: encodings, the codec, the page's type.
const PLAIN: i32 = 0;
const RLE: i32 = 3;
const ZSTD: i32 = 6;
const DATA_PAGE: i32 = 0;

/// The format's number of the type that holds `kind`.
fn physical(kind: ColumnKind) -> i32 {
    match kind {
        ColumnKind::Bool => 0,
        ColumnKind::Int => 2,
        ColumnKind::Float => 5,
        ColumnKind::Text => 6,
    }
}

/// The cells of one column in the row group that is being filled.
#[derive(Debug, Default)]
struct Cells {
    /// A bit a row: whether there is a value.
    present: Bits,
    /// The values that are there, plain; booleans are in `flags`.
    plain: Vec<u8>,
    flags: Bits,
}

/// Bits, the lowest of a byte first.
#[derive(Debug, Default)]
struct Bits {
    bytes: Vec<u8>,
    count: usize,
}

impl Bits {
    fn push(&mut self, bit: bool) {
        if self.count.is_multiple_of(8) {
            self.bytes.push(0);
        }
        if let Some(last) = self.bytes.last_mut() {
            *last |= u8::from(bit) << (self.count % 8);
        }
        self.count += 1;
    }
}

impl Cells {
    /// Adds a row's cell; returns its size.
    fn push(&mut self, kind: ColumnKind, cell: &Value) -> usize {
        let before = self.plain.len();
        self.present.push(!cell.is_null());
        match (kind, cell) {
            (_, Value::Null) => {}
            (ColumnKind::Bool, cell) => self.flags.push(cell.as_bool() == Some(true)),
            (ColumnKind::Int, cell) => self.plain.extend(cell.as_int().unwrap_or_default().to_le_bytes()),
            (ColumnKind::Float, cell) => self.plain.extend(cell.as_float().unwrap_or(f64::NAN).to_le_bytes()),
            (ColumnKind::Text, Value::Text(text)) => self.push_text(text),
            (ColumnKind::Text, other) => self.push_text(&json::to_string(other)),
        }
        self.plain.len() - before
    }

    fn push_text(&mut self, text: &str) {
        // A text of 4 GiB is no line of a trace.
        self.plain.extend(u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes());
        self.plain.extend_from_slice(text.as_bytes());
    }

    /// The data page's content: which rows have a value, then the values.
    fn page(&self, kind: ColumnKind) -> Vec<u8> {
        // One run of bits, packed: its length in bytes counted in eights.
        let mut levels = Vec::new();
        write_count(&mut levels, (self.present.bytes.len() as u64) << 1 | 1);
        levels.extend_from_slice(&self.present.bytes);
        let mut page = u32::try_from(levels.len()).unwrap_or(u32::MAX).to_le_bytes().to_vec();
        page.append(&mut levels);
        page.extend_from_slice(if kind == ColumnKind::Bool { &self.flags.bytes } else { &self.plain });
        page
    }
}

/// A Parquet file being written.
#[derive(Debug)]
pub(super) struct ParquetWriter<W: Write> {
    out: W,
    /// Bytes written so far.
    written: i64,
    columns: Vec<Column>,
    cells: Vec<Cells>,
    rows: usize,
    bytes: usize,
    groups: Vec<Vec<u8>>,
    all_rows: i64,
}

impl<W: Write> ParquetWriter<W> {
    pub(super) fn new(mut out: W, columns: Vec<Column>) -> io::Result<Self> {
        out.write_all(MAGIC)?;
        let cells = columns.iter().map(|_| Cells::default()).collect();
        let written = i64::from(size(MAGIC.len())?);
        Ok(Self { out, written, columns, cells, rows: 0, bytes: 0, groups: Vec::new(), all_rows: 0 })
    }

    /// Adds a row, a cell for each column.
    pub(super) fn push(&mut self, row: &[Value]) -> io::Result<()> {
        for ((column, cells), cell) in self.columns.iter().zip(&mut self.cells).zip(row) {
            self.bytes += cells.push(column.kind, cell);
        }
        self.rows += 1;
        if self.rows >= MOST_ROWS || self.bytes >= MOST_BYTES { self.end_group() } else { Ok(()) }
    }

    fn end_group(&mut self) -> io::Result<()> {
        let rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        let mut chunks = Vec::with_capacity(self.columns.len());
        let mut group_bytes = 0;
        for (column, cells) in self.columns.iter().zip(&mut self.cells) {
            let page = std::mem::take(cells).page(column.kind);
            let packed = zstd::bulk::compress(&page, zstd::DEFAULT_COMPRESSION_LEVEL)?;
            let header = Struct::default()
                .i32(1, DATA_PAGE)
                .i32(2, size(page.len())?)
                .i32(3, size(packed.len())?)
                .structure(5, Struct::default().i32(1, size(rows)?).i32(2, PLAIN).i32(3, RLE).i32(4, RLE))
                .finish();
            let start = self.written;
            self.out.write_all(&header)?;
            self.out.write_all(&packed)?;
            let (whole, stored) = (header.len() + page.len(), header.len() + packed.len());
            self.written += i64::from(size(stored)?);
            group_bytes += i64::from(size(whole)?);
            let about = Struct::default()
                .i32(1, physical(column.kind))
                .list(2, Kind::I32, [PLAIN, RLE].map(|encoding| thrift::int(encoding.into())).into_iter())
                .list(3, Kind::Text, std::iter::once(thrift::text(&column.name)))
                .i32(4, ZSTD)
                .i64(5, size(rows)?.into())
                .i64(6, size(whole)?.into())
                .i64(7, size(stored)?.into())
                .i64(9, start);
            chunks.push(Struct::default().i64(2, start).structure(3, about).finish());
        }
        let group =
            Struct::default().list(1, Kind::Struct, chunks.into_iter()).i64(2, group_bytes).i64(3, size(rows)?.into());
        self.groups.push(group.finish());
        self.all_rows += i64::from(size(rows)?);
        Ok(())
    }

    /// Writes what is left, and what is where.
    pub(super) fn finish(mut self) -> io::Result<()> {
        if self.rows > 0 {
            self.end_group()?;
        }
        let root = Struct::default().text(4, "row").i32(5, size(self.columns.len())?).finish();
        let schema: Vec<Vec<u8>> = std::iter::once(root).chain(self.columns.iter().map(element)).collect();
        let footer = Struct::default()
            .i32(1, 1)
            .list(2, Kind::Struct, schema.into_iter())
            .i64(3, self.all_rows)
            .list(4, Kind::Struct, self.groups.into_iter())
            .text(6, concat!("skyfall ", env!("CARGO_PKG_VERSION")))
            .finish();
        self.out.write_all(&footer)?;
        self.out.write_all(&size(footer.len())?.to_le_bytes())?;
        self.out.write_all(MAGIC)?;
        self.out.flush()
    }
}

/// A column of the schema: a nullable one (1), and of text that it is UTF-8, in the old words and the new.
fn element(column: &Column) -> Vec<u8> {
    let element = Struct::default().i32(1, physical(column.kind)).i32(3, 1).text(4, &column.name);
    match column.kind {
        ColumnKind::Text => element.i32(6, 0).structure(10, Struct::default().structure(1, Struct::default())).finish(),
        _ => element.finish(),
    }
}

fn size(size: usize) -> io::Result<i32> {
    i32::try_from(size).map_err(|_| io::Error::other("a part of the file is larger than Parquet allows"))
}
