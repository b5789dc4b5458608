//! From one dtype to another, and element by element: conversions that lose nothing in silence.

use super::{Array, ArrayError, DType, Item, Scalar, reserve, with_dtype};
use crate::value::Value;

impl Array {
    /// The same values under another dtype.
    ///
    /// # Errors
    /// When a value does not fit `dtype` ([`Item::from_scalar`] says what fits); the error names
    /// its place.
    pub fn astype(&self, dtype: DType) -> Result<Self, ArrayError> {
        if self.dtype() == dtype {
            return Ok(self.clone());
        }
        match (self, dtype) {
            // Masks become weights in every script that computes with them.
            (Self::Bool(flags), DType::F32) => Ok(Self::F32(flags.mapv(f32::from))),
            _ => Self::from_scalars(dtype, self.shape(), self.scalars()),
        }
    }

    /// `function` applied to every element, in C order, its results stored as `dtype`.
    ///
    /// # Errors
    /// The first error of `function`, or [`ArrayError::Lost`] for a result that does not fit.
    pub fn map<E: From<ArrayError>>(
        &self,
        dtype: DType,
        mut function: impl FnMut(Value) -> Result<Value, E>,
    ) -> Result<Self, E> {
        let mut results = Vec::with_capacity(self.len());
        for scalar in self.scalars() {
            let result = function(scalar.into())?;
            let found = result.kind();
            results.push(Scalar::from_value(&result).ok_or(ArrayError::NotANumber { path: Vec::new(), found })?);
        }
        Ok(Self::from_scalars(dtype, self.shape(), results.into_iter())?)
    }

    /// The array of `shape` and `dtype` whose elements, in C order, are `scalars`.
    ///
    /// # Errors
    /// When there are too few or too many of them, or one does not fit `dtype`.
    pub fn from_scalars(
        dtype: DType,
        shape: &[usize],
        scalars: impl ExactSizeIterator<Item = Scalar>,
    ) -> Result<Self, ArrayError> {
        with_dtype!(dtype, T => {
            let mut items: Vec<T> = reserve(shape, dtype)?;
            for (offset, scalar) in scalars.enumerate() {
                items.push(T::from_scalar(scalar).ok_or_else(|| lost(scalar, dtype, offset, shape))?);
            }
            Self::from_vec(shape, items)
        })
    }
}

/// The error for `scalar`, the element at `offset` of an array of `shape`.
fn lost(scalar: Scalar, dtype: DType, offset: usize, shape: &[usize]) -> ArrayError {
    let mut path: Vec<usize> = Vec::with_capacity(shape.len());
    let mut rest = offset;
    for &length in shape.iter().rev() {
        path.push(rest % length.max(1));
        rest /= length.max(1);
    }
    path.reverse();
    ArrayError::Lost { value: scalar.to_string(), dtype, path }
}
