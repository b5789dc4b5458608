//! Bit shuffling: the bits of equal weight of all elements together, so that slowly changing
//! numbers become long runs (Masui et al. 2015, "A compression scheme for radio data").

use wide::{i8x16, i16x16};

/// A byte of each of so many elements, taken at once.
const LANES: usize = 32;
type Lanes = (i8x16, i8x16);

/// Shuffles the bits of `from`, elements of `size` bytes, into `to` of the same length.
///
/// Bit `k` of byte `b` of element `i` becomes bit `i % 8` of byte `i / 8` of plane `8 b + k`.
/// As in c-blosc, elements that do not fill whole bytes of every plane are left as they are.
pub(super) fn shuffle(from: &[u8], size: usize, to: &mut [u8]) {
    let count = from.len() / size.max(1);
    if size == 0 || !count.is_multiple_of(8) || !from.len().is_multiple_of(size) {
        to.copy_from_slice(from);
        return;
    }
    let plane = count / 8;
    if plane == 0 {
        return;
    }
    let whole = from.chunks_exact(LANES * size);
    let rest = whole.remainder();
    for (byte, planes) in to.chunks_exact_mut(8 * plane).enumerate() {
        let gathered = |elements: &[u8]| {
            let mut bytes = [0; LANES];
            for (to, element) in bytes.iter_mut().zip(elements.chunks_exact(size)) {
                *to = element.get(byte).copied().unwrap_or(0);
            }
            lanes(&bytes)
        };
        match size {
            1 => spread(from.as_chunks().0.iter().map(lanes), planes, plane),
            2 => spread(from.as_chunks().0.iter().map(|pairs| every_other(pairs, byte)), planes, plane),
            _ => spread(whole.clone().map(gathered), planes, plane),
        }
        let mut lanes = gathered(rest);
        for row in planes.chunks_exact_mut(plane).rev() {
            let bits = top_bits(&mut lanes);
            for (to, bits) in row.as_chunks_mut::<{ LANES / 8 }>().1.iter_mut().zip(bits) {
                *to = bits;
            }
        }
    }
}

/// Writes the bits of equal weight of every lane to the plane that is theirs.
#[inline(always)]
fn spread(lanes: impl Iterator<Item = Lanes>, planes: &mut [u8], plane: usize) {
    let mut rows = planes.chunks_exact_mut(plane).map(|row| row.as_chunks_mut().0);
    let [Some(p0), Some(p1), Some(p2), Some(p3), Some(p4), Some(p5), Some(p6), Some(p7)] =
        std::array::from_fn(|_| rows.next())
    else {
        return;
    };
    let rows = p7.iter_mut().zip(p6).zip(p5).zip(p4).zip(p3).zip(p2).zip(p1).zip(p0);
    for (mut lanes, (((((((t7, t6), t5), t4), t3), t2), t1), t0)) in lanes.zip(rows) {
        (*t7, *t6) = (top_bits(&mut lanes), top_bits(&mut lanes));
        (*t5, *t4) = (top_bits(&mut lanes), top_bits(&mut lanes));
        (*t3, *t2) = (top_bits(&mut lanes), top_bits(&mut lanes));
        (*t1, *t0) = (top_bits(&mut lanes), top_bits(&mut lanes));
    }
}

/// The highest bit of every lane; the next lower one is the highest then.
#[inline(always)]
fn top_bits((low, high): &mut Lanes) -> [u8; LANES / 8] {
    let bits = low.to_bitmask() & 0xffff | high.to_bitmask() << 16;
    *low += *low;
    *high += *high;
    bits.to_le_bytes()
}

#[inline(always)]
fn lanes(bytes: &[u8; LANES]) -> Lanes {
    let mut signed = [[0; LANES / 2]; 2];
    for (lane, byte) in signed.as_flattened_mut().iter_mut().zip(bytes) {
        *lane = byte.cast_signed();
    }
    let [low, high] = signed;
    (i8x16::new(low), i8x16::new(high))
}

/// Byte `byte`, 0 or 1, of elements of two bytes.
#[inline(always)]
fn every_other(pairs: &[u8; 2 * LANES], byte: usize) -> Lanes {
    let mut words = [[0; LANES / 2]; 2];
    for (word, pair) in words.as_flattened_mut().iter_mut().zip(pairs.as_chunks().0) {
        *word = i16::from_le_bytes(*pair);
    }
    let [low, high] = words;
    let shift = if byte == 0 { 0 } else { 8 };
    let narrow = |words| i8x16::from_i16x16_truncate(i16x16::new(words) >> shift);
    (narrow(low), narrow(high))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing, reason = "tests")]

    use super::shuffle;

    #[test]
    fn every_bit_lands_in_its_plane() {
        for (count, size) in [(8, 1), (24, 2), (64, 4), (8, 8), (136, 1), (1032, 2), (72, 3)] {
            let from: Vec<u8> = (0..count * size).map(|at| (at * 37 + at / 5) as u8).collect();
            let mut to = vec![0; from.len()];
            shuffle(&from, size, &mut to);
            for element in 0..count {
                for byte in 0..size {
                    for bit in 0..8 {
                        let expected = from[element * size + byte] >> bit & 1;
                        let plane = (8 * byte + bit) * (count / 8);
                        assert_eq!(to[plane + element / 8] >> (element % 8) & 1, expected);
                    }
                }
            }
        }
    }

    #[test]
    fn what_does_not_fill_its_planes_stays() {
        let from = [1, 2, 3, 4, 5, 6];
        let mut to = [0; 6];
        shuffle(&from, 2, &mut to);
        assert_eq!(to, from);
    }
}
