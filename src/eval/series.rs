//! Sums that do not depend on how the rows were cut into files, and what is built on them.

use crate::sum::Sum;

/// The sum of `values`.
pub(super) fn sum(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut total = Sum::default();
    for value in values {
        total.add(value);
    }
    total.value()
}

/// The mean of `values`, if there are any.
pub(super) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| sum(values.iter().copied()) / count(values.len()))
}

/// The sample standard deviation (n - 1), of at least two values.
pub(super) fn deviation(values: &[f64]) -> Option<f64> {
    deviation_from(mean(values)?, values)
}

/// The same of values whose mean is known.
pub(super) fn deviation_from(mean: f64, values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let squares = sum(values.iter().map(|value| (value - mean) * (value - mean)));
    Some((squares / count(values.len() - 1)).sqrt())
}

/// A count as a divisor.
pub(super) fn count(n: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "row counts stay far below 2^53")]
    let n = n as f64;
    n
}

/// The means of each `w` values in a row, the first ending at value `w`; `w` is at least 1.
///
/// Each is a difference of two compensated prefix sums of which both halves are kept, so a long
/// series costs no memory and its late means are as good as its first.
pub(super) fn trailing_means(values: &[f64], w: usize) -> impl Iterator<Item = f64> + '_ {
    let (mut to, mut from) = (Sum::default(), Sum::default());
    let leaving = std::iter::once(None).chain(values.iter().map(Some));
    for value in values.iter().take(w.saturating_sub(1)) {
        to.add(*value);
    }
    values.iter().skip(w.saturating_sub(1)).zip(leaving).map(move |(entering, leaving)| {
        to.add(*entering);
        if let Some(leaving) = leaving {
            from.add(*leaving);
        }
        to.since(from) / count(w)
    })
}

/// The median, if there are values.
pub(super) fn median(values: &[f64]) -> Option<f64> {
    median_of(values.to_vec())
}

/// The same of values that may be put in another order.
fn median_of(mut values: Vec<f64>) -> Option<f64> {
    let (n, middle) = (values.len(), values.len() / 2);
    if n == 0 {
        return None;
    }
    let (below, upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let upper = *upper;
    if n % 2 == 1 {
        return Some(upper);
    }
    let lower = below.iter().copied().max_by(f64::total_cmp)?;
    Some(f64::midpoint(lower, upper))
}

/// Points up to which the Theil-Sen slope is exact: it looks at all pairs.
const THEIL_SEN_MOST: usize = 2000;

/// Every so many-th of `n` points counts for the Theil-Sen slope.
pub(super) fn theil_sen_stride(n: usize) -> usize {
    n.div_ceil(THEIL_SEN_MOST).max(1)
}

/// The Theil-Sen slope: the median of the slopes between all pairs of points with different
/// abscissae. Of more than [`THEIL_SEN_MOST`] points only every so many-th counts.
pub(super) fn theil_sen(points: &[(f64, f64)]) -> Option<f64> {
    let points: Vec<(f64, f64)> = points.iter().copied().step_by(theil_sen_stride(points.len())).collect();
    let mut slopes = Vec::with_capacity(points.len() * points.len().saturating_sub(1) / 2);
    for (index, (x, y)) in points.iter().enumerate() {
        for (other_x, other_y) in points.iter().skip(index + 1) {
            if x != other_x {
                slopes.push((other_y - y) / (other_x - x));
            }
        }
    }
    median_of(slopes)
}
