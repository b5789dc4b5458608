//! A column summed up: how many numbers, their sum, the least and the greatest.
//!
//! Numbers are added in the order of the file, so that nothing depends on how it was cut into
//! blocks.

use crate::sum::Sum;

/// Numbers summed up; NaN is "no number" and left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tally {
    count: u64,
    sum: Sum,
    least: f64,
    greatest: f64,
}

impl Default for Tally {
    fn default() -> Self {
        Self { count: 0, sum: Sum::default(), least: f64::INFINITY, greatest: f64::NEG_INFINITY }
    }
}

impl Tally {
    /// Adds a number.
    #[inline]
    pub(super) fn add(&mut self, value: f64) {
        if value.is_nan() {
            return;
        }
        self.count += 1;
        self.sum.add(value);
        self.least = self.least.min(value);
        self.greatest = self.greatest.max(value);
    }

    /// Adds the numbers of another.
    pub(super) fn join(&mut self, other: &Self) {
        self.count += other.count;
        self.sum.join(other.sum);
        self.least = self.least.min(other.least);
        self.greatest = self.greatest.max(other.greatest);
    }

    /// How many numbers were added.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their mean; `None` of none.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum.value() / self.count as f64)
    }

    /// The least and the greatest; `None` of none.
    #[must_use]
    pub fn range(&self) -> Option<(f64, f64)> {
        (self.count > 0).then_some((self.least, self.greatest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(values: &[f64]) -> Tally {
        let mut tally = Tally::default();
        values.iter().for_each(|value| tally.add(*value));
        tally
    }

    #[test]
    fn rounding_errors_are_carried_along() {
        let whole = tally(&[1.0, 1e100, f64::NAN, 1.0, -1e100]);
        assert_eq!((whole.count(), whole.mean(), whole.range()), (4, Some(0.5), Some((-1e100, 1e100))));
        let mut joined = tally(&[1.0, 1e100]);
        joined.join(&tally(&[f64::NAN, 1.0, -1e100]));
        assert_eq!((joined.count(), joined.mean(), joined.range()), (4, Some(0.5), whole.range()));
        assert_eq!((tally(&[]).mean(), tally(&[]).range()), (None, None));
    }
}
