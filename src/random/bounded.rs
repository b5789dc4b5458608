//! Bounded integers of every width, as NumPy's `Generator.integers` draws them: by Lemire's
//! method, on 64 bits, on 32, or on the bytes, halves and bits of 32.

use super::{Rng, halves, high_half, low_half};
use crate::array::DType;

impl Rng {
    /// An integer from `low` to `high - 1`, as `Generator.integers(low, high)` with dtype int64;
    /// `low` when the range is empty or has one element (nothing is drawn then).
    pub fn integers(&mut self, low: i64, high: i64) -> i64 {
        let width = high.wrapping_sub(low).cast_unsigned();
        if high <= low.saturating_add(1) {
            return low;
        }
        low.wrapping_add(self.below(width).cast_signed())
    }

    /// `count` integers from `low` to `high - 1`, as
    /// `Generator.integers(low, high, size=count, dtype=dtype)` draws them: narrow dtypes take
    /// several from each 32 bits and drop the rest of the last. The dtype is one that holds them.
    pub fn integers_of(&mut self, dtype: DType, low: i64, high: i64, count: usize) -> Vec<i64> {
        let bits = match dtype {
            DType::Bool => 1,
            DType::I8 | DType::U8 => 8,
            DType::I16 | DType::U16 => 16,
            _ => return (0..count).map(|_| self.integers(low, high)).collect(),
        };
        match high.checked_sub(low).and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 1 && *n <= 1 << bits) {
            Some(n) => {
                let mut pieces = Pieces { rng: self, bits, word: 0, left: 0 };
                (0..count).map(|_| low + i64::from(pieces.below(n))).collect()
            }
            None => vec![low; count],
        }
    }

    /// An integer below `n` by Lemire's method, on 32 bits where `n` allows.
    pub(super) fn below(&mut self, n: u64) -> u64 {
        match u32::try_from(n) {
            Ok(n) => u64::from(self.below_u32(n)),
            Err(_) if n == 1 << 32 => u64::from(self.next_u32()),
            Err(_) => self.below_u64(n),
        }
    }

    fn below_u32(&mut self, n: u32) -> u32 {
        let mut product = u64::from(self.next_u32()) * u64::from(n);
        let [mut low, mut high] = halves(product);
        if low < n {
            let threshold = n.wrapping_neg() % n;
            while low < threshold {
                product = u64::from(self.next_u32()) * u64::from(n);
                [low, high] = halves(product);
            }
        }
        high
    }

    fn below_u64(&mut self, n: u64) -> u64 {
        let mut product = u128::from(self.next_u64()) * u128::from(n);
        if low_half(product) < n {
            let threshold = n.wrapping_neg() % n;
            while low_half(product) < threshold {
                product = u128::from(self.next_u64()) * u128::from(n);
            }
        }
        high_half(product)
    }
}

/// The bits, bytes or halves of 32-bit words, low ones first.
struct Pieces<'a> {
    rng: &'a mut Rng,
    bits: u32,
    word: u32,
    left: u32,
}

impl Pieces<'_> {
    fn next(&mut self) -> u32 {
        if self.left == 0 {
            (self.word, self.left) = (self.rng.next_u32(), 32 / self.bits);
        } else {
            self.word >>= self.bits;
        }
        self.left -= 1;
        self.word & ((1 << self.bits) - 1)
    }

    /// A number below `n`, which is at least 2 and at most all that a piece can be.
    fn below(&mut self, n: u32) -> u32 {
        let all = 1 << self.bits;
        let threshold = (all - n) % n;
        loop {
            let product = self.next() * n;
            if product & (all - 1) >= threshold {
                return product >> self.bits;
            }
        }
    }
}
