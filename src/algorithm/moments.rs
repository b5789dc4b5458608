//! Counts to calculate with, and what returns are judged by: mean and deviation.

/// `count` as a number to calculate with.
#[expect(clippy::cast_precision_loss, reason = "counts of episodes, steps and candidates")]
pub(super) fn number(count: usize) -> f64 {
    count as f64
}

/// Mean and standard deviation (of the population) of `numbers`; zeros of none.
pub(super) fn moments(numbers: impl Iterator<Item = f64> + Clone) -> [f64; 2] {
    let count = number(numbers.clone().count().max(1));
    let mean = numbers.clone().sum::<f64>() / count;
    let variance = numbers.map(|number| (number - mean).powi(2)).sum::<f64>() / count;
    [mean, variance.sqrt()]
}
