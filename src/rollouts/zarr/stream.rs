//! An array that grows row by row and is on disk as soon as a chunk is full.
//!
//! One stream owns its array, so no two threads ever touch a chunk. Memory holds less than one
//! inner chunk of rows, whatever the array's length; the bytes on disk depend on the rows alone.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;

use rayon::prelude::*;

use super::StoreError;
use super::directory::Directory;
use super::document::{self, item_size};
use super::encode::{encode, summed};
use super::layout::{Grid, Layout};
use crate::array::DType;

/// Bytes to be compressed before what came of them is written.
const AT_A_TIME: usize = 4 << 20;

/// An array under construction.
pub(in crate::rollouts) struct ArrayStream {
    files: Arc<Directory>,
    path: String,
    dtype: DType,
    /// The lengths of the axes after the first.
    tail: Vec<usize>,
    layout: Layout,
    rows: usize,
    /// Rows that wait for their chunk to fill, at most one chunk of them.
    waiting: Vec<u8>,
    /// The shard being written, once it is known that there is one.
    shard: Option<Shard>,
    /// Shards already complete.
    shards: usize,
}

/// A shard's file: inner chunks one after another, their places at the end.
struct Shard {
    file: File,
    key: String,
    length: u64,
    /// Where each inner chunk begins and how long it is.
    places: Vec<(u64, u64)>,
}

impl ArrayStream {
    pub(super) fn new(files: Arc<Directory>, path: String, dtype: DType, tail: Vec<usize>, layout: Layout) -> Self {
        Self { files, path, dtype, tail, layout, rows: 0, waiting: Vec::new(), shard: None, shards: 0 }
    }

    /// Bytes an element.
    fn item(&self) -> usize {
        usize::try_from(item_size(self.dtype)).unwrap_or(1)
    }

    /// Bytes a row.
    fn row(&self) -> usize {
        self.tail.iter().product::<usize>().saturating_mul(self.item())
    }

    /// Appends rows, little-endian and in C order.
    pub(in crate::rollouts) fn push(&mut self, mut bytes: &[u8]) -> Result<(), StoreError> {
        let row = self.row();
        let whole = bytes.len().checked_div(row).filter(|rows| rows * row == bytes.len());
        self.rows += whole.ok_or_else(|| self.refuse("rows that are not whole were to be written"))?;
        let chunk = self.layout.inner * row;
        if self.waiting.len() + bytes.len() <= chunk {
            self.waiting.extend_from_slice(bytes);
            return Ok(());
        }
        let mut first = std::mem::take(&mut self.waiting);
        if !first.is_empty() {
            let (filling, rest) = bytes.split_at(chunk - first.len());
            first.extend_from_slice(filling);
            bytes = rest;
        }
        let full = bytes.chunks_exact(chunk);
        let rest = full.remainder();
        let chunks: Vec<&[u8]> = (!first.is_empty()).then_some(first.as_slice()).into_iter().chain(full).collect();
        let (item, codec) = (self.item(), self.layout.codec);
        // A few at a time, enough for every thread: memory stays small.
        let some = (AT_A_TIME / chunk.max(1)).max(rayon::current_num_threads()).max(1);
        for some in chunks.chunks(some) {
            let encoded: Result<Vec<_>, _> = some.par_iter().map(|chunk| encode(chunk, item, codec)).collect();
            for chunk in encoded.map_err(|error| self.refuse(error))? {
                self.append(&chunk)?;
            }
        }
        first.clear();
        first.extend_from_slice(rest);
        self.waiting = first;
        Ok(())
    }

    /// Closes the array and describes it.
    pub(in crate::rollouts) fn finish(mut self) -> Result<(), StoreError> {
        let chunk = self.layout.inner * self.row();
        let grid = self.layout.grid(self.rows);
        match grid {
            Grid::Plain(_) if self.waiting.is_empty() => {}
            Grid::Plain(_) => {
                let encoded = encode(&self.waiting, self.item(), self.layout.codec);
                let encoded = encoded.map_err(|error| self.refuse(error))?;
                let key = self.key(0);
                self.files.write(&key, &encoded).map_err(|error| self.failed(&key, error))?;
            }
            Grid::Sharded { .. } => {
                let mut last = std::mem::take(&mut self.waiting);
                if !last.is_empty() {
                    last.resize(chunk, 0);
                    let encoded = encode(&last, self.item(), self.layout.codec);
                    self.append(&encoded.map_err(|error| self.refuse(error))?)?;
                }
                self.close()?;
            }
        }
        let mut shape = vec![self.rows];
        shape.extend(&self.tail);
        let text = document::array(self.dtype, &shape, grid, self.layout.codec);
        let key = document::key(&self.path);
        self.files.write(&key, text.as_bytes()).map_err(|error| self.failed(&key, error))
    }

    /// Appends one encoded inner chunk to the shard at hand.
    fn append(&mut self, encoded: &[u8]) -> Result<(), StoreError> {
        if self.shard.as_ref().is_some_and(|shard| shard.places.len() == self.layout.per_shard) {
            self.close()?;
        }
        let shard = match &mut self.shard {
            Some(shard) => shard,
            None => {
                let key = self.key(self.shards);
                let file = self.files.create(&key).map_err(|error| self.failed(&key, error))?;
                self.shard.insert(Shard { file, key, length: 0, places: Vec::new() })
            }
        };
        let length = encoded.len() as u64;
        shard.places.push((shard.length, length));
        shard.length += length;
        let (key, written) = (shard.key.clone(), shard.file.write_all(encoded));
        written.map_err(|error| self.failed(&key, error))
    }

    /// Ends the shard at hand with its index.
    fn close(&mut self) -> Result<(), StoreError> {
        let Some(mut shard) = self.shard.take() else { return Ok(()) };
        // A later shard is as long as the first, though its rows may end before.
        let places = if self.shards == 0 { shard.places.len() } else { self.layout.per_shard };
        self.shards += 1;
        shard.places.resize(places, (u64::MAX, u64::MAX));
        let index = shard.places.iter().flat_map(|(start, length)| [*start, *length]).flat_map(u64::to_le_bytes);
        let index = summed(index.collect());
        shard.file.write_all(&index).map_err(|error| self.failed(&shard.key, error))
    }

    /// The key of the chunk at `place` along the first axis.
    fn key(&self, place: usize) -> String {
        format!("{}/c/{place}{}", self.path, "/0".repeat(self.tail.len()))
    }

    fn refuse(&self, what: impl std::fmt::Display) -> StoreError {
        StoreError::node(self.files.root(), &self.path, what)
    }

    fn failed(&self, key: &str, error: std::io::Error) -> StoreError {
        StoreError::files(&self.files.path(key), error)
    }
}
