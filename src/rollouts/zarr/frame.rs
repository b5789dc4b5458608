//! Blosc frames: bit-shuffled blocks, each a Zstandard frame.
//!
//! c-blosc's own level 5 runs Zstandard at level 9 inside and takes four to five times the time
//! for a few per cent of size. Both are the same format, which every Blosc reader opens; which
//! one made a store is told in its attributes.

use std::cell::RefCell;

use zarrs::array::codec::{BloscCompressionLevel, BloscCompressor, BloscShuffleMode, blosc_compress_bytes};

use super::bitshuffle;

/// Who makes the frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoder {
    /// Zstandard level 1 in blocks of 512 KiB.
    #[default]
    Fast,
    /// c-blosc at level 5, byte for byte.
    CBlosc,
}

impl Encoder {
    /// Every encoder.
    pub const ALL: [Self; 2] = [Self::Fast, Self::CBlosc];

    /// Its name among the writer's options.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::CBlosc => "c-blosc",
        }
    }

    /// What it does, for a store's attributes.
    pub(in crate::rollouts) fn description(self) -> &'static str {
        match self {
            Self::Fast => "blosc1 frame: bitshuffle, zstd level 1, blocks of 512 KiB",
            Self::CBlosc => "c-blosc clevel 5: bitshuffle, zstd level 9",
        }
    }
}

/// The bytes of a block before compression.
const BLOCK: usize = 512 << 10;
/// Zstandard's level inside the fast frames.
const LEVEL: i32 = 1;
/// The largest frame of the format.
pub(in crate::rollouts) const LARGEST: usize = i32::MAX as usize - HEADER;
const HEADER: usize = 16;

thread_local! {
    static CONTEXT: RefCell<Option<zstd::bulk::Compressor<'static>>> = const { RefCell::new(None) };
}

/// The frame of `bytes`, elements of `size` bytes.
pub(super) fn encode(bytes: &[u8], size: usize, encoder: Encoder) -> std::io::Result<Vec<u8>> {
    match encoder {
        Encoder::Fast => CONTEXT.with_borrow_mut(|context| {
            let context = match context {
                Some(context) => context,
                None => context.insert(zstd::bulk::Compressor::new(LEVEL)?),
            };
            fast(bytes, size, context)
        }),
        Encoder::CBlosc => exact(bytes, size).map_err(std::io::Error::other),
    }
}

fn exact(bytes: &[u8], size: usize) -> Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>> {
    let level = BloscCompressionLevel::try_from(5_u8).map_err(|_| "Blosc has no level 5")?;
    let (shuffle, own_block_size, threads) = (BloscShuffleMode::BitShuffle, 0, 1);
    Ok(blosc_compress_bytes(bytes, level, shuffle, size, BloscCompressor::Zstd, own_block_size, threads)?)
}

/// The frame: a header, where each block starts, the blocks.
fn fast(bytes: &[u8], size: usize, context: &mut zstd::bulk::Compressor<'_>) -> std::io::Result<Vec<u8>> {
    const FORMAT_VERSION: u8 = 2;
    const ZSTD_VERSION: u8 = 1;
    const STORED: u8 = 0x02;
    // Bits shuffled, blocks in one piece, Zstandard.
    const FLAGS: u8 = 0x04 | 0x10 | 4 << 5;
    let whole = |length: usize| u32::try_from(length).map_err(|_| std::io::Error::other("a Blosc frame holds 2 GiB"));
    let element = u8::try_from(size).map_err(|_| std::io::Error::other("an element is too large for Blosc"))?;
    let block = (BLOCK - BLOCK % size.max(1)).min(bytes.len()).max(1);
    let blocks = bytes.len().div_ceil(block);

    let mut frame = vec![FORMAT_VERSION, ZSTD_VERSION, FLAGS, element];
    frame.reserve(bytes.len() / 2);
    frame.extend(whole(bytes.len())?.to_le_bytes());
    frame.extend(whole(block)?.to_le_bytes());
    frame.extend([0; 4]);
    let starts = frame.len();
    frame.resize(starts + 4 * blocks, 0);
    let mut shuffled = vec![0; block];
    let mut packed = Vec::with_capacity(zstd::zstd_safe::compress_bound(block));
    for (index, part) in bytes.chunks(block).enumerate() {
        let start = whole(frame.len())?.to_le_bytes();
        if let Some(slot) = frame.get_mut(starts + 4 * index..starts + 4 * index + 4) {
            slot.copy_from_slice(&start);
        }
        let Some(shuffled) = shuffled.get_mut(..part.len()) else { continue };
        bitshuffle::shuffle(part, size, shuffled);
        packed.clear();
        context.compress_to_buffer(shuffled, &mut packed)?;
        // A block of its own length is one that is not compressed.
        let kept: &[u8] = if packed.len() < part.len() { &packed } else { shuffled };
        frame.extend(whole(kept.len())?.to_le_bytes());
        frame.extend(kept);
    }
    if frame.len() >= HEADER + bytes.len() {
        frame.truncate(HEADER);
        frame.extend(bytes);
        if let Some(flags) = frame.get_mut(2) {
            *flags |= STORED;
        }
    }
    let total = whole(frame.len())?.to_le_bytes();
    if let Some(slot) = frame.get_mut(12..HEADER) {
        slot.copy_from_slice(&total);
    }
    Ok(frame)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use zarrs::array::codec::blosc_decompress_bytes;

    use super::*;

    #[test]
    fn c_blosc_reads_every_frame() {
        let mut state = 1_u32;
        let mut noise = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        for (size, length) in [(1, 1), (2, 2), (2, 30), (1, 4096), (2, 1_843_200), (2, BLOCK + 18), (1, 2 * BLOCK + 7)]
        {
            let smooth: Vec<u8> = (0..length).map(|at| (at / 301) as u8).collect();
            let rough: Vec<u8> = (0..length).map(|_| noise()).collect();
            for bytes in [vec![0; length], smooth, rough] {
                for encoder in Encoder::ALL {
                    let frame = encode(&bytes, size, encoder).unwrap();
                    assert_eq!(
                        blosc_decompress_bytes(&frame, length, 1).unwrap(),
                        bytes,
                        "{size} {length} {encoder:?}"
                    );
                    assert!(frame.len() <= length + HEADER);
                }
            }
        }
    }
}
