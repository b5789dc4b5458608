//! Percentile bootstrap intervals (Efron 1979) that are the same wherever they are computed.
//!
//! Runs are drawn with replacement by a generator of our own; drawn within their stratum where
//! runs of several tasks stand in one group, so that no resample lacks a task. Values are sorted
//! first: the order in which files were named tells nothing.

use super::series::count;
use crate::sum::Sum;

/// How intervals are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bootstrap {
    /// The share of resampled statistics that an interval holds.
    pub confidence: f64,
    /// How many resamples.
    pub reps: usize,
    /// The seed they are drawn with.
    pub seed: u64,
}

impl Default for Bootstrap {
    fn default() -> Self {
        Self { confidence: 0.95, reps: 2000, seed: 0 }
    }
}

/// Values by stratum; each stratum sorted, none empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Strata(Vec<Vec<f64>>);

impl Strata {
    /// Values with the stratum of each. Strata are ordered by name.
    pub(super) fn new<'a>(values: impl IntoIterator<Item = (&'a str, f64)>) -> Self {
        let mut strata: std::collections::BTreeMap<&str, Vec<f64>> = std::collections::BTreeMap::new();
        for (stratum, value) in values {
            strata.entry(stratum).or_default().push(value);
        }
        let sorted = strata.into_values().map(|mut values| {
            values.sort_by(f64::total_cmp);
            values
        });
        Self(sorted.collect())
    }

    /// All values of one stratum.
    pub(super) fn single(values: &[f64]) -> Self {
        Self::new(values.iter().map(|value| ("", *value)))
    }

    fn values(&self) -> impl Iterator<Item = f64> + '_ {
        self.0.iter().flatten().copied()
    }

    pub(super) fn len(&self) -> usize {
        self.0.iter().map(Vec::len).sum()
    }

    fn all_equal(&self) -> bool {
        let first = self.values().next();
        self.values().all(|value| first.is_some_and(|first| first.to_bits() == value.to_bits()))
    }

    /// The mean of a resample.
    fn resampled_mean(&self, draws: &mut Draws) -> f64 {
        let mut sum = Sum::default();
        for stratum in &self.0 {
            for _ in stratum {
                sum.add(draws.one_of(stratum));
            }
        }
        sum.value() / count(self.len())
    }
}

impl Bootstrap {
    /// The interval of the mean of `values`; of two values and more.
    #[must_use]
    pub fn mean_of(&self, values: &[f64]) -> Option<(f64, f64)> {
        self.mean(&Strata::single(values))
    }

    /// The interval of the mean; of two values and more.
    pub(super) fn mean(&self, sample: &Strata) -> Option<(f64, f64)> {
        if sample.len() < 2 {
            return None;
        }
        if sample.all_equal() {
            return sample.values().next().map(|value| (value, value));
        }
        self.interval(|draws| sample.resampled_mean(draws))
    }

    /// The interval of the difference of two means, each side drawn by itself; of two values and
    /// more on each.
    pub(super) fn difference(&self, a: &Strata, b: &Strata) -> Option<(f64, f64)> {
        if a.len() < 2 || b.len() < 2 {
            return None;
        }
        if a.all_equal() && b.all_equal() {
            let difference = a.values().next()? - b.values().next()?;
            return Some((difference, difference));
        }
        self.interval(|draws| a.resampled_mean(draws) - b.resampled_mean(draws))
    }

    fn interval(&self, mut statistic: impl FnMut(&mut Draws) -> f64) -> Option<(f64, f64)> {
        let mut draws = Draws(self.seed);
        let mut statistics: Vec<f64> = (0..self.reps).map(|_| statistic(&mut draws)).collect();
        statistics.sort_by(f64::total_cmp);
        let tail = (1.0 - self.confidence) / 2.0;
        Some((quantile(&statistics, tail)?, quantile(&statistics, 1.0 - tail)?))
    }
}

/// `SplitMix64` (Steele, Lea and Flood 2014), reduced to an index by multiply-shift.
struct Draws(u64);

impl Draws {
    fn one_of(&mut self, values: &[f64]) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        let index = (u128::from(bits) * values.len() as u128) >> 64;
        usize::try_from(index).ok().and_then(|index| values.get(index)).copied().unwrap_or_default()
    }
}

/// The quantile of sorted values by linear interpolation (type 7 of Hyndman and Fan 1996).
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let position = share * count(sorted.len().checked_sub(1)?);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index below the length")]
    let below = position.floor() as usize;
    let low = *sorted.get(below)?;
    let high = sorted.get(below + 1).copied().unwrap_or(low);
    Some(low + (position - position.floor()) * (high - low))
}
