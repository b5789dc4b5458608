//! Drawing from finite sets: choice, shuffling, and arrays of small integers, each in the order
//! in which NumPy's `Generator` draws.

use std::collections::HashSet;

use super::Rng;

impl Rng {
    /// One of `items`, all equally likely; `None` of an empty list.
    pub fn choice<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        if items.is_empty() {
            return None;
        }
        items.get(self.index_below(items.len()))
    }

    /// `count` different indices below `n`, in random order (`choice(n, count, replace=False)`);
    /// all of them, shuffled, when there are no more than `count`.
    pub fn choose(&mut self, n: usize, count: usize) -> Vec<usize> {
        const LARGE: usize = 10_000;
        const DENSE: usize = 50;
        let count = count.min(n);
        if n > LARGE && count > n / DENSE {
            let mut all: Vec<usize> = (0..n).collect();
            for i in ((n - count).max(1)..n).rev() {
                let j = self.index_below(i + 1);
                all.swap(i, j);
            }
            return all.split_off(n - count);
        }
        // R. Floyd's method: each draw is new, or gives way to the newest candidate.
        let mut taken = HashSet::with_capacity(count);
        let mut chosen = Vec::with_capacity(count);
        for candidate in n - count..n {
            let drawn = self.index_below(candidate + 1);
            let index = if taken.insert(drawn) { drawn } else { candidate };
            taken.insert(index);
            chosen.push(index);
        }
        for i in (1..chosen.len()).rev() {
            let j = self.index_below(i + 1);
            chosen.swap(i, j);
        }
        chosen
    }

    /// Puts `items` into random order, as `Generator.shuffle`.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let j = self.index_up_to(i);
            items.swap(i, j);
        }
    }

    /// The indices below `n` in random order, as `Generator.permutation(n)`.
    pub fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        self.shuffle(&mut order);
        order
    }

    /// `count` integers below `n`, as `Generator.integers(0, n, size=count, dtype=uint8)` (and
    /// `int8`) draws them: four from each 32-bit word, the rest of the last one dropped.
    pub fn small_integers(&mut self, n: u8, count: usize) -> Vec<u8> {
        if n <= 1 {
            return vec![0; count];
        }
        let threshold = (256 - u16::from(n)) % u16::from(n);
        let mut bytes = [0_u8; 4].into_iter();
        bytes.by_ref().for_each(drop);
        (0..count)
            .map(|_| {
                loop {
                    let byte = bytes.next().unwrap_or_else(|| {
                        bytes = self.next_u32().to_le_bytes().into_iter();
                        bytes.next().unwrap_or_default()
                    });
                    let [low, high] = (u16::from(byte) * u16::from(n)).to_le_bytes();
                    if u16::from(low) >= threshold {
                        return high;
                    }
                }
            })
            .collect()
    }

    /// An index from 0 to `last`, by drawing just enough bits until they fit: how NumPy shuffles.
    fn index_up_to(&mut self, last: usize) -> usize {
        let last = u64::try_from(last).unwrap_or(u64::MAX);
        let mask = u64::MAX.checked_shr(last.leading_zeros()).unwrap_or(0);
        loop {
            let draw = if last <= u64::from(u32::MAX) { u64::from(self.next_u32()) } else { self.next_u64() };
            if draw & mask <= last {
                return usize::try_from(draw & mask).unwrap_or_default();
            }
        }
    }

    /// An index below `n`, which is at least 1.
    fn index_below(&mut self, n: usize) -> usize {
        if n <= 1 {
            return 0;
        }
        usize::try_from(self.below(u64::try_from(n).unwrap_or(u64::MAX))).unwrap_or_default()
    }
}
