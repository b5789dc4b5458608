//! Several arrays as one.

use ndarray::{ArrayViewD, Axis};

use super::{Array, ArrayError, DType, Item, check_shape, with_dtype};

impl Array {
    /// `parts` one after the other along `axis`, in the dtype in which they all meet.
    ///
    /// # Errors
    /// When there are none, there is no such axis, their shapes differ elsewhere, or the whole is too large.
    pub fn concatenate(parts: &[Self], axis: usize) -> Result<Self, ArrayError> {
        let Some(first) = parts.first() else { return Err(ArrayError::Nothing) };
        first.axis_length(axis)?;
        let dtype = parts.iter().map(Self::dtype).reduce(DType::promote).unwrap_or(DType::F64);
        let unlike = |part: &&Self| {
            let lengths = part.shape().iter().zip(first.shape()).enumerate();
            part.shape().len() != first.shape().len() || lengths.into_iter().any(|(at, (a, b))| at != axis && a != b)
        };
        let mismatch =
            |other: &Self| ArrayError::Broadcast { left: first.shape().to_vec(), right: other.shape().to_vec() };
        if let Some(other) = parts.iter().find(unlike) {
            return Err(mismatch(other));
        }
        let mut shape = first.shape().to_vec();
        let lengths = parts.iter().filter_map(|part| part.shape().get(axis));
        if let Some(length) = shape.get_mut(axis) {
            *length = lengths.fold(0, |sum: usize, length| sum.saturating_add(*length));
        }
        check_shape(&shape, dtype)?;
        let parts: Vec<_> = parts.iter().map(|part| part.rounded(dtype)).collect::<Result<_, _>>()?;
        with_dtype!(dtype, T => {
            let views: Vec<ArrayViewD<'_, T>> = parts.iter().filter_map(|part| T::unwrap(part)).map(|part| part.view()).collect();
            ndarray::concatenate(Axis(axis), &views).map(Self::from).map_err(|_| mismatch(first))
        })
    }

    /// `parts`, all of one shape, along a new axis that becomes the axis `axis`.
    ///
    /// # Errors
    /// When there are none, there can be no such axis, or their shapes differ.
    pub fn stack(parts: &[Self], axis: usize) -> Result<Self, ArrayError> {
        let parts: Result<Vec<Self>, ArrayError> = parts
            .iter()
            .map(|part| {
                let mut shape = part.shape().to_vec();
                if axis > shape.len() {
                    return Err(ArrayError::Axis { axis, shape });
                }
                shape.insert(axis, 1);
                part.clone().reshape(&shape)
            })
            .collect();
        Self::concatenate(&parts?, axis)
    }
}
