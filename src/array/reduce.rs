//! Reductions over all elements, or along one axis.
#![allow(clippy::bool_comparison, reason = "one expression serves every element type")]

use ndarray::{ArrayD, Axis};

use super::{Array, ArrayError, Item, Scalar, each};
use crate::value::Value;

impl Array {
    /// The sum of all elements, left to right in float64 (`bool` counts); 0 without elements.
    #[must_use]
    pub fn sum(&self) -> f64 {
        each!(self, array => array.iter().fold(0.0, |sum, item| sum + item.to_f64()))
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
        each!(self, array => extreme(array.iter().copied(), |candidate, best| candidate < best).map(value))
    }

    /// The greatest element: NaN if any is, as in NumPy; `None` without elements.
    #[must_use]
    pub fn max(&self) -> Option<Value> {
        each!(self, array => extreme(array.iter().copied(), |candidate, best| candidate > best).map(value))
    }

    /// The sums along `axis`, which is gone: each left to right in float64, 0 where it is empty.
    ///
    /// # Errors
    /// When there is no such axis.
    pub fn sum_along(&self, axis: usize) -> Result<Self, ArrayError> {
        self.axis_length(axis)?;
        let sum = |numbers: &mut dyn Iterator<Item = f64>| numbers.fold(0.0, |sum, number| sum + number);
        Ok(each!(self, array => {
            array.map_axis(Axis(axis), |lane| sum(&mut lane.iter().map(|item| item.to_f64()))).into()
        }))
    }

    /// The arithmetic means along `axis`, which is gone; NaN where it is empty.
    ///
    /// # Errors
    /// When there is no such axis.
    #[expect(clippy::cast_precision_loss, reason = "no array has 2^53 elements")]
    pub fn mean_along(&self, axis: usize) -> Result<Self, ArrayError> {
        let length = self.axis_length(axis)? as f64;
        let sums = self.sum_along(axis)?;
        Self::from_scalars(sums.dtype(), sums.shape(), sums.numbers().map(|sum| Scalar::Float(sum / length)))
    }

    /// The least elements along `axis`, which is gone.
    ///
    /// # Errors
    /// When there is no such axis, or it is empty.
    pub fn min_along(&self, axis: usize) -> Result<Self, ArrayError> {
        self.check_not_empty(axis)?;
        Ok(each!(self, array => extreme_along(array, axis, |a, b| a < b)))
    }

    /// The greatest elements along `axis`, which is gone.
    ///
    /// # Errors
    /// When there is no such axis, or it is empty.
    pub fn max_along(&self, axis: usize) -> Result<Self, ArrayError> {
        self.check_not_empty(axis)?;
        Ok(each!(self, array => extreme_along(array, axis, |a, b| a > b)))
    }

    pub(super) fn check_not_empty(&self, axis: usize) -> Result<(), ArrayError> {
        match self.axis_length(axis)? {
            0 => Err(ArrayError::Empty { axis, shape: self.shape().to_vec() }),
            _ => Ok(()),
        }
    }
}

fn value<T: Item>(item: T) -> Value {
    item.to_scalar().into()
}

/// The item that no other is `better` than, the first NaN before all.
fn extreme<T: Item>(items: impl Iterator<Item = T>, better: impl Fn(T, T) -> bool) -> Option<T> {
    items.reduce(|best, item| if beats(item, best, &better) { item } else { best })
}

/// Whether `item` takes the place of `best`: NaN does, and keeps it.
#[expect(clippy::eq_op, reason = "only NaN differs from itself")]
pub(super) fn beats<T: Item>(item: T, best: T, better: impl Fn(T, T) -> bool) -> bool {
    best == best && (item != item || better(item, best))
}

/// [`extreme`] of every lane along `axis`, row by row of what lies behind it.
fn extreme_along<T: Item>(array: &ArrayD<T>, axis: usize, better: impl Fn(T, T) -> bool + Copy) -> Array {
    let mut shape = array.shape().to_vec();
    let length = shape.remove(axis);
    let inner: usize = array.shape().iter().skip(axis + 1).product();
    let contiguous = array.as_standard_layout();
    let items = contiguous.as_slice().unwrap_or_default();
    let mut results: Vec<T> = Vec::with_capacity(items.len() / length.max(1));
    for block in items.chunks_exact((length * inner).max(1)) {
        let (first, rest) = block.split_at(inner.min(block.len()));
        let start = results.len();
        results.extend_from_slice(first);
        for row in rest.chunks_exact(inner.max(1)) {
            for (best, item) in results.iter_mut().skip(start).zip(row) {
                if beats(*item, *best, better) {
                    *best = *item;
                }
            }
        }
    }
    Array::from_vec(&shape, results).unwrap_or_else(|_| Array::zeros(T::DTYPE, &shape))
}
