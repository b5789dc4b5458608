//! Bit shuffling: the bits of equal weight of all elements together, so that slowly changing
//! numbers become long runs (Masui et al. 2015, "A compression scheme for radio data").

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
    for (byte, planes) in to.chunks_exact_mut(8 * plane).enumerate() {
        let mut rows = planes.chunks_exact_mut(plane);
        let [Some(p0), Some(p1), Some(p2), Some(p3), Some(p4), Some(p5), Some(p6), Some(p7)] =
            std::array::from_fn(|_| rows.next())
        else {
            return;
        };
        let targets = p0.iter_mut().zip(p1).zip(p2).zip(p3).zip(p4).zip(p5).zip(p6).zip(p7);
        for (group, (((((((t0, t1), t2), t3), t4), t5), t6), t7)) in from.chunks_exact(8 * size).zip(targets) {
            let [b0, b1, b2, b3, b4, b5, b6, b7] = transpose(gather(group, size, byte)).to_le_bytes();
            (*t0, *t1, *t2, *t3) = (b0, b1, b2, b3);
            (*t4, *t5, *t6, *t7) = (b4, b5, b6, b7);
        }
    }
}

/// Byte `byte` of each of 8 elements of `size` bytes, the first element's lowest.
fn gather(group: &[u8], size: usize, byte: usize) -> u64 {
    let word = |bytes: [u8; 8]| u64::from_le_bytes(bytes);
    match (size, group.as_chunks().0) {
        (1, [bytes]) => word(*bytes),
        (2, [first, second]) => {
            // Every other byte of 8, in the lower half.
            let pack = |x: u64| {
                let x = x & 0x00ff_00ff_00ff_00ff;
                let x = (x | x >> 8) & 0x0000_ffff_0000_ffff;
                (x | x >> 16) & 0x0000_0000_ffff_ffff
            };
            let shift = 8 * (byte & 1);
            pack(word(*first) >> shift) | pack(word(*second) >> shift) << 32
        }
        _ => word(std::array::from_fn(|element| group.get(element * size + byte).copied().unwrap_or(0))),
    }
}

/// An 8 by 8 matrix of bits, transposed (Warren, Hacker's Delight, 7-3).
fn transpose(matrix: u64) -> u64 {
    let swap = |x: u64, shift: u32, mask: u64| {
        let t = (x ^ (x >> shift)) & mask;
        x ^ t ^ (t << shift)
    };
    let x = swap(matrix, 7, 0x00aa_00aa_00aa_00aa);
    let x = swap(x, 14, 0x0000_cccc_0000_cccc);
    swap(x, 28, 0x0000_0000_f0f0_f0f0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing, reason = "tests")]

    use super::shuffle;

    #[test]
    fn every_bit_lands_in_its_plane() {
        for (count, size) in [(8, 1), (24, 2), (64, 4), (8, 8)] {
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
