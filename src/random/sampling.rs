//! Drawing from finite sets, counting and shuffling, each in the order in which NumPy's
//! `Generator` draws.

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

    /// The number of tries up to the first success, each succeeding with `probability`, which is
    /// above 0 and at most 1, as `Generator.geometric` counts them.
    pub fn geometric(&mut self, probability: f64) -> u64 {
        // NumPy searches where few tries are to be expected, and inverts the distribution else.
        const SEARCHED: f64 = 0.333_333_333_333_333_3;
        if probability >= SEARCHED {
            let draw = self.double();
            let (mut tries, mut share, mut sum) = (1, probability, probability);
            while draw > sum && share > 0.0 {
                share *= 1.0 - probability;
                sum += share;
                tries += 1;
            }
            return tries;
        }
        let tries = (-self.standard_exponential() / (-probability).ln_1p()).ceil();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates; never negative")]
        let tries = tries as u64;
        tries
    }

    /// An index drawn with the given probabilities: the number of cumulative sums, left to right
    /// and divided by the last, that do not exceed a double (NumPy's `choice(n, p=...)`).
    pub fn weighted(&mut self, weights: &[f64]) -> usize {
        let sums = cumulative(weights);
        let draw = self.double();
        find(&sums, draw)
    }

    /// `count` such indices, as `choice(n, count, p=...)`.
    pub fn weighted_many(&mut self, weights: &[f64], count: usize) -> Vec<usize> {
        let sums = cumulative(weights);
        (0..count).map(|_| find(&sums, self.double())).collect()
    }

    /// `count` different indices drawn with the given weights, as
    /// `choice(n, count, replace=False, p=...)`; fewer when fewer weights are above 0.
    pub fn weighted_choose(&mut self, weights: &[f64], count: usize) -> Vec<usize> {
        let mut left = weights.to_vec();
        let count = count.min(left.iter().filter(|weight| **weight > 0.0).count());
        let mut chosen: Vec<usize> = Vec::with_capacity(count);
        let mut taken = HashSet::with_capacity(count);
        while chosen.len() < count {
            // NumPy draws as many as are missing, and keeps the first of each that is new.
            let draws: Vec<f64> = (chosen.len()..count).map(|_| self.double()).collect();
            let sums = cumulative(&left);
            for index in draws.into_iter().map(|draw| find(&sums, draw)) {
                if taken.insert(index) {
                    chosen.push(index);
                }
            }
            for index in &chosen {
                if let Some(weight) = left.get_mut(*index) {
                    *weight = 0.0;
                }
            }
        }
        chosen
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

/// The sums of `weights` from the left, divided by the last.
fn cumulative(weights: &[f64]) -> Vec<f64> {
    let running = weights.iter().scan(0.0, |sum, weight| {
        *sum += weight;
        Some(*sum)
    });
    let mut sums: Vec<f64> = running.collect();
    let total = sums.last().copied().unwrap_or(1.0);
    for sum in &mut sums {
        *sum /= total;
    }
    sums
}

/// How many of the `sums` do not exceed `draw`; the last index at most.
fn find(sums: &[f64], draw: f64) -> usize {
    sums.partition_point(|sum| *sum <= draw).min(sums.len().saturating_sub(1))
}
