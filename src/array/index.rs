//! Single elements, slices and sub-arrays. Indices and axes count from 0 here; `skyfall.array`
//! translates from Lua's 1.

use ndarray::{Axis, Slice};

use super::{Array, ArrayError, Item, Scalar, check_shape, each};
use crate::value::Value;

impl Array {
    /// Where the element at `index`, one number per axis, stands in C order.
    #[must_use]
    pub fn position(&self, index: &[usize]) -> Option<usize> {
        let shape = self.shape();
        if index.len() != shape.len() {
            return None;
        }
        index
            .iter()
            .zip(shape)
            .try_fold(0, |position, (&index, &length)| (index < length).then(|| position * length + index))
    }

    /// The element at `position` in C order: a boolean, an integer or a float.
    #[must_use]
    pub fn get(&self, position: usize) -> Option<Value> {
        each!(self, array => array.as_slice()?.get(position).map(|item| item.to_scalar().into()))
    }

    /// Sets the element at `position` in C order.
    ///
    /// # Errors
    /// When there is no such element or `value` does not fit the dtype.
    pub fn set(&mut self, position: usize, value: &Value) -> Result<(), ArrayError> {
        let dtype = self.dtype();
        let outside = ArrayError::Index { index: vec![position], shape: self.shape().to_vec() };
        let path = Vec::new;
        let scalar =
            Scalar::from_value(value).ok_or_else(|| ArrayError::NotANumber { path: path(), found: value.kind() })?;
        let lost = || ArrayError::Lost { value: scalar.to_string(), dtype, path: path() };
        each!(self, array => {
            let item = array.as_slice_mut().and_then(|items| items.get_mut(position)).ok_or(outside)?;
            *item = Item::from_scalar(scalar).ok_or_else(lost)?;
        });
        Ok(())
    }

    /// The part at `position` along the first axis, one rank lower; `None` beyond the end.
    #[must_use]
    pub fn row(&self, position: usize) -> Option<Self> {
        self.pick(0, position).ok()
    }

    /// The sub-array at `position` along `axis`: a copy with that axis gone.
    ///
    /// # Errors
    /// When there is no such axis or position.
    pub fn pick(&self, axis: usize, position: usize) -> Result<Self, ArrayError> {
        self.check_position(axis, position)?;
        Ok(each!(self, array => array.index_axis(Axis(axis), position).to_owned().into()))
    }

    /// Copies `part` over the sub-array at `position` along `axis`; `part` broadcasts.
    ///
    /// # Errors
    /// When there is no such axis or position, the shapes do not meet, or a value does not fit.
    pub fn put(&mut self, axis: usize, position: usize, part: &Self) -> Result<(), ArrayError> {
        self.check_position(axis, position)?;
        let part = part.astype(self.dtype())?;
        each!(self, array => {
            let mut target = array.index_axis_mut(Axis(axis), position);
            let mismatch = || ArrayError::Broadcast { left: target.shape().to_vec(), right: part.shape().to_vec() };
            let source = Item::unwrap(&part).and_then(|source| source.broadcast(target.raw_dim())).ok_or_else(mismatch)?;
            target.assign(&source);
        });
        Ok(())
    }

    /// The positions `start`, `start + step`, ... before `end` along `axis`, as a copy.
    ///
    /// # Errors
    /// When there is no such axis, the range does not lie within it, or `step` is 0.
    pub fn slice(&self, axis: usize, start: usize, end: usize, step: usize) -> Result<Self, ArrayError> {
        let length = self.axis_length(axis)?;
        let outside = || ArrayError::Slice { start, end, step, length };
        if start > end || end > length || step == 0 {
            return Err(outside());
        }
        if start == end {
            let mut shape = self.shape().to_vec();
            shape.splice(axis..=axis, [0]);
            check_shape(&shape, self.dtype())?;
        }
        let signed = |value: usize| isize::try_from(value).map_err(|_| outside());
        let slice = Slice::new(signed(start)?, Some(signed(end)?), signed(step)?);
        Ok(each!(self, array => array.slice_axis(Axis(axis), slice).to_owned().into()))
    }

    /// The axes in reverse order (a matrix's transpose), as a copy.
    #[must_use]
    pub fn transpose(&self) -> Self {
        each!(self, array => array.t().to_owned().into())
    }

    /// How long `axis` is.
    pub(super) fn axis_length(&self, axis: usize) -> Result<usize, ArrayError> {
        let shape = self.shape();
        shape.get(axis).copied().ok_or_else(|| ArrayError::Axis { axis, shape: shape.to_vec() })
    }

    /// Fails unless `position` exists along `axis`.
    fn check_position(&self, axis: usize, position: usize) -> Result<(), ArrayError> {
        if position < self.axis_length(axis)? {
            return Ok(());
        }
        let mut index = vec![0; axis];
        index.push(position);
        Err(ArrayError::Index { index, shape: self.shape().to_vec() })
    }
}
