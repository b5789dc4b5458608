//! Reductions over all elements, or along one axis.
#![allow(clippy::bool_comparison, reason = "one expression serves every element type")]

use ndarray::Axis;

use super::{Array, ArrayError, Item, Scalar, each};
use crate::value::Value;

impl Array {
    /// The sum of all elements, left to right in float64 (`bool` counts); 0 without elements.
    #[must_use]
    pub fn sum(&self) -> f64 {
        self.numbers().fold(0.0, |sum, number| sum + number)
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
        Ok(each!(self, array => {
            array.map_axis(Axis(axis), |lane| extreme(lane.iter().copied(), |a, b| a < b).unwrap_or_default()).into()
        }))
    }

    /// The greatest elements along `axis`, which is gone.
    ///
    /// # Errors
    /// When there is no such axis, or it is empty.
    pub fn max_along(&self, axis: usize) -> Result<Self, ArrayError> {
        self.check_not_empty(axis)?;
        Ok(each!(self, array => {
            array.map_axis(Axis(axis), |lane| extreme(lane.iter().copied(), |a, b| a > b).unwrap_or_default()).into()
        }))
    }

    fn check_not_empty(&self, axis: usize) -> Result<(), ArrayError> {
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
fn extreme<T: Item>(items: impl Iterator<Item = T>, better: fn(T, T) -> bool) -> Option<T> {
    #[expect(clippy::eq_op, reason = "only NaN differs from itself")]
    let is_nan = |item: T| item != item;
    items.reduce(|best, item| if !is_nan(best) && (is_nan(item) || better(item, best)) { item } else { best })
}
