//! One chunk: its stored bytes and its elements' bytes.
//!
//! Decoding contexts and buffers belong to a thread and are used again: making them costs more
//! than a small chunk does.

use std::borrow::Cow;
use std::cell::RefCell;
use std::io::Read as _;

use zarrs::array::codec::{BloscCodec, BloscCompressor, BloscShuffleMode};
use zarrs::array::{BytesRepresentation, BytesToBytesCodecTraits, CodecOptions};

use super::layout::{Compressor, Layout};

/// The most bytes that one byte of a frame can stand for: a run in a block of Zstandard is 128 KiB
/// for 4 bytes.
pub(super) const LARGEST_RATIO: usize = 1 << 15;

/// Up to this many bytes are taken for a chunk without asking whether its file can hold them.
const ALWAYS: usize = 1 << 24;

/// What a thread keeps between chunks.
#[derive(Default)]
pub(super) struct Scratch {
    zstd: Option<zstd::bulk::Decompressor<'static>>,
    /// Stored bytes as they were read.
    pub(super) stored: Vec<u8>,
    /// A chunk of which only some rows are wanted.
    pub(super) decoded: Vec<u8>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Calls `work` with this thread's scratch, or with a fresh one where it is in use already.
pub(super) fn with_scratch<T>(work: impl FnOnce(&mut Scratch) -> T) -> T {
    const KEPT: usize = 1 << 24;
    SCRATCH.with(|scratch| match scratch.try_borrow_mut() {
        Ok(mut scratch) => {
            let answer = work(&mut scratch);
            if scratch.stored.capacity() > KEPT {
                scratch.stored = Vec::new();
            }
            if scratch.decoded.capacity() > KEPT {
                scratch.decoded = Vec::new();
            }
            answer
        }
        Err(_) => work(&mut Scratch::default()),
    })
}

impl Scratch {
    /// Decodes `stored` into `decoded`, which must be as long as the layout's chunks.
    pub(super) fn decode(&mut self, layout: &Layout, stored: &[u8], decoded: &mut [u8]) -> Result<(), String> {
        let mut stored = stored;
        for _ in 0..layout.checksums {
            let (body, sum) = stored.split_last_chunk::<4>().ok_or("is too short for its checksum")?;
            if crc32c::crc32c(body) != u32::from_le_bytes(*sum) {
                return Err("its checksum differs".to_owned());
            }
            stored = body;
        }
        let wrong = |count: usize| format!("holds {count} bytes and not {}", decoded.len());
        match layout.compressor {
            Compressor::None => {
                if stored.len() != decoded.len() {
                    return Err(wrong(stored.len()));
                }
                decoded.copy_from_slice(stored);
            }
            Compressor::Zstd => {
                let zstd = match &mut self.zstd {
                    Some(zstd) => zstd,
                    none => none.insert(zstd::bulk::Decompressor::new().map_err(|error| error.to_string())?),
                };
                let length = zstd.decompress_to_buffer(stored, decoded).map_err(|error| error.to_string())?;
                if length != decoded.len() {
                    return Err(format!("holds {length} bytes and not {}", decoded.len()));
                }
            }
            Compressor::Blosc => {
                // The frame's header: version, flags, element size, then three lengths.
                let said = stored.get(4..8).and_then(|bytes| <[u8; 4]>::try_from(bytes).ok()).map(u32::from_le_bytes);
                let said = said.and_then(|said| usize::try_from(said).ok()).ok_or("is no frame of Blosc")?;
                if said != decoded.len() {
                    return Err(wrong(said));
                }
                decoded.copy_from_slice(&blosc(stored)?);
            }
            Compressor::Gzip => {
                let mut reader = flate2::read::GzDecoder::new(stored);
                reader.read_exact(decoded).map_err(|error| error.to_string())?;
                if reader.read(&mut [0]).map_err(|error| error.to_string())? != 0 {
                    return Err("holds more bytes than a chunk has".to_owned());
                }
            }
        }
        if layout.swapped {
            decoded.chunks_exact_mut(layout.dtype.size()).for_each(<[u8]>::reverse);
        }
        Ok(())
    }

    /// Decodes a chunk into this thread's own buffer and hands it back, to be put back after use.
    pub(super) fn decode_aside(&mut self, layout: &Layout, stored: &[u8]) -> Result<Vec<u8>, String> {
        let length = layout.chunk_bytes();
        if length > ALWAYS && length / LARGEST_RATIO > stored.len() {
            return Err(format!("its {} bytes cannot hold a chunk of {length}", stored.len()));
        }
        let mut decoded = std::mem::take(&mut self.decoded);
        decoded.resize(length, 0);
        self.decode(layout, stored, &mut decoded).map(|()| decoded)
    }
}

/// The bytes in a frame of Blosc; its header says how they were made.
fn blosc(frame: &[u8]) -> Result<Vec<u8>, String> {
    let level = 5.try_into().map_err(|_| "is compressed at no known level")?;
    let codec = BloscCodec::new(BloscCompressor::Zstd, level, None, BloscShuffleMode::NoShuffle, None);
    let codec = codec.map_err(|error| error.to_string())?;
    let decoded = codec.decode(Cow::Borrowed(frame), &BytesRepresentation::UnboundedSize, &CodecOptions::default());
    decoded.map(Cow::into_owned).map_err(|error| error.to_string())
}
