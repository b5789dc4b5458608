//! Elements and their bytes, a piece at a time.

use std::io::{self, Read, Write};

use half::f16;

use super::{NpyError, vector};
use crate::array::{Array, Item};

/// The bytes that are decoded or encoded at once.
const PIECE: usize = 1 << 16;

/// An element that can be made of bytes.
pub(super) trait Raw: Item {
    /// How many.
    const SIZE: usize;

    fn from_bytes(bytes: &[u8], big_endian: bool) -> Self;

    fn put(self, bytes: &mut Vec<u8>);
}

macro_rules! raw {
    ($($item:ty),+) => {$(
        impl Raw for $item {
            const SIZE: usize = size_of::<$item>();

            fn from_bytes(bytes: &[u8], big_endian: bool) -> Self {
                let mut own = [0; size_of::<$item>()];
                own.copy_from_slice(bytes);
                if big_endian { Self::from_be_bytes(own) } else { Self::from_le_bytes(own) }
            }

            fn put(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }
        }
    )+};
}
raw!(i8, i16, i32, i64, u8, u16, u32, f16, f32, f64);

impl Raw for bool {
    const SIZE: usize = 1;

    fn from_bytes(bytes: &[u8], _big_endian: bool) -> Self {
        bytes.first().is_some_and(|byte| *byte != 0)
    }

    fn put(self, bytes: &mut Vec<u8>) {
        bytes.push(u8::from(self));
    }
}

/// `count` elements as an array of one axis.
pub(super) fn read<T: Raw>(reader: &mut impl Read, count: usize, big_endian: bool) -> Result<Array, NpyError> {
    let mut items: Vec<T> = Vec::new();
    pieces(reader, count, T::SIZE, |bytes| {
        items.try_reserve(bytes.len() / T::SIZE).map_err(io::Error::other)?;
        items.extend(bytes.chunks_exact(T::SIZE).map(|bytes| T::from_bytes(bytes, big_endian)));
        Ok(())
    })?;
    vector(items)
}

/// `count` unsigned integers of 64 bits as an array of `i64`.
pub(super) fn read_unsigned(reader: &mut impl Read, count: usize, big_endian: bool) -> Result<Array, NpyError> {
    let mut items: Vec<i64> = Vec::new();
    pieces(reader, count, 8, |bytes| {
        items.try_reserve(bytes.len() / 8).map_err(io::Error::other)?;
        for bytes in bytes.chunks_exact(8) {
            let item = i64::from_bytes(bytes, big_endian);
            if item < 0 {
                return Err(NpyError::Unsigned { value: item.cast_unsigned(), position: items.len() + 1 });
            }
            items.push(item);
        }
        Ok(())
    })?;
    vector(items)
}

/// Hands `each` the bytes of `count` elements of `size` bytes, whole elements at a time.
fn pieces(
    reader: &mut impl Read,
    count: usize,
    size: usize,
    mut each: impl FnMut(&[u8]) -> Result<(), NpyError>,
) -> Result<(), NpyError> {
    let mut piece = vec![0; PIECE.min(count.saturating_mul(size))];
    let mut done = 0;
    while done < count {
        let wanted = (count - done).min(PIECE / size) * size;
        let room = piece.get_mut(..wanted).unwrap_or_default();
        let found = fill(reader, room)?;
        let whole = found / size;
        each(room.get(..whole * size).unwrap_or_default())?;
        done += whole;
        if found < wanted {
            return Err(NpyError::Truncated { expected: count, found: done });
        }
    }
    Ok(())
}

/// Reads into `room` until it is full or there is no more; how many bytes came.
fn fill(reader: &mut impl Read, room: &mut [u8]) -> io::Result<usize> {
    let mut found = 0;
    while let Some(rest) = room.get_mut(found..).filter(|rest| !rest.is_empty()) {
        match reader.read(rest) {
            Ok(0) => break,
            Ok(count) => found += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// Writes `items`, the lowest byte first.
pub(super) fn write<T: Raw>(writer: &mut impl Write, items: &[T]) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(PIECE.min(items.len().saturating_mul(T::SIZE)));
    for piece in items.chunks(PIECE / T::SIZE) {
        bytes.clear();
        piece.iter().for_each(|item| item.put(&mut bytes));
        writer.write_all(&bytes)?;
    }
    Ok(())
}
