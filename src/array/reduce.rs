//! Reductions over all elements.
#![allow(clippy::bool_comparison, reason = "one expression serves every element type")]

use super::{Array, Item, each};
use crate::value::Value;

impl Array {
    /// The sum of all elements, left to right in float64 (`bool` counts); 0 without elements.
    #[must_use]
    pub fn sum(&self) -> f64 {
        self.numbers().sum()
    }

    /// The arithmetic mean; NaN without elements.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "no array has 2^53 elements")]
    pub fn mean(&self) -> f64 {
        self.sum() / self.len() as f64
    }

    /// The least element: NaN if any is, as in NumPy; `None` without elements.
    #[must_use]
    pub fn min(&self) -> Option<Value> {
        each!(self, array => extreme(array.iter().copied(), |candidate, best| candidate < best))
    }

    /// The greatest element: NaN if any is, as in NumPy; `None` without elements.
    #[must_use]
    pub fn max(&self) -> Option<Value> {
        each!(self, array => extreme(array.iter().copied(), |candidate, best| candidate > best))
    }
}

/// The item that no other is `better` than, the first NaN before all.
fn extreme<T: Item>(items: impl Iterator<Item = T>, better: fn(T, T) -> bool) -> Option<Value> {
    #[expect(clippy::eq_op, reason = "only NaN differs from itself")]
    let is_nan = |item: T| item != item;
    items
        .reduce(|best, item| if !is_nan(best) && (is_nan(item) || better(item, best)) { item } else { best })
        .map(|item| item.to_scalar().into())
}
