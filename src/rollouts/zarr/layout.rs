//! How an array is cut into chunks along its first axis.
//!
//! Up to one inner chunk of rows an array is a single plain chunk; beyond that its inner chunks
//! stand in shards, one file each, so that a store of any size stays within a few hundred files
//! and a reader still fetches small pieces. The cut depends on the array alone, never on how its
//! rows arrived.

use super::frame::Encoder;

/// How chunks are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rollouts) enum Codec {
    /// Zstandard at its default level, with a checksum.
    Zstd,
    /// Blosc over Zstandard with bit shuffling, then a checksum: depth rasters.
    Depth(Encoder),
}

/// The cut of one array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rollouts) struct Layout {
    /// Rows an inner chunk, at least 1.
    pub(super) inner: usize,
    /// Inner chunks a shard, at least 1.
    pub(super) per_shard: usize,
    pub(super) codec: Codec,
}

impl Layout {
    /// Columns of row tables: a shard of the narrowest column holds 4 MiB.
    pub(in crate::rollouts) const COLUMN: Self = Self { inner: 1 << 14, per_shard: 256, codec: Codec::Zstd };

    /// The derived view, so many states a chunk.
    pub(in crate::rollouts) fn states(chunk_states: u32) -> Self {
        Self { inner: rows(chunk_states), per_shard: 512, codec: Codec::Zstd }
    }

    /// Depth rasters, so many steps a chunk.
    pub(in crate::rollouts) fn depth(chunk_steps: u32, encoder: Encoder) -> Self {
        Self { inner: rows(chunk_steps), per_shard: 16, codec: Codec::Depth(encoder) }
    }

    /// Audit crops: a row is large enough to be a chunk.
    pub(in crate::rollouts) const CROPS: Self = Self { inner: 1, per_shard: 64, codec: Codec::Zstd };
}

fn rows(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX).max(1)
}

/// How the chunks of a complete array lie on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grid {
    /// Plain chunks of so many rows.
    Plain(usize),
    /// Shards of so many rows, holding inner chunks of so many.
    Sharded { outer: usize, inner: usize },
}

impl Layout {
    /// The grid of an array of `rows` rows.
    pub(super) fn grid(&self, rows: usize) -> Grid {
        if rows <= self.inner {
            return Grid::Plain(rows.max(1));
        }
        let chunks = rows.div_ceil(self.inner);
        Grid::Sharded { outer: self.inner * chunks.min(self.per_shard), inner: self.inner }
    }
}
