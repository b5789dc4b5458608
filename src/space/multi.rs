//! `MultiDiscrete` and `MultiBinary`: arrays of integers, each with a range of its own.

use super::{BoxSpace, SpaceError, shape};
use crate::array::{Array, DType, Scalar};

/// Integers of one dtype, element `i` from `start[i]` to `start[i] + nvec[i] - 1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MultiDiscreteSpace {
    shape: Vec<usize>,
    dtype: DType,
    nvec: Vec<i64>,
    start: Vec<i64>,
}

impl MultiDiscreteSpace {
    /// The space of `shape` with the counts `nvec` and the first elements `start`, in C order.
    ///
    /// # Errors
    /// When the numbers do not fill `shape`, a count is below 1, or `dtype` does not hold them.
    pub fn new(shape: &[usize], dtype: DType, nvec: &[i64], start: &[i64]) -> Result<Self, SpaceError> {
        let size = shape::size(shape)?;
        for (name, numbers) in [("nvec", nvec), ("start", start)] {
            if numbers.len() != size {
                return Err(SpaceError::new(name, format!("has {} numbers for {size} elements", numbers.len())));
            }
        }
        for (index, (n, start)) in nvec.iter().zip(start).enumerate() {
            check_range(*n, *start, dtype).map_err(|error| error.within(&format!("element {}", index + 1)))?;
        }
        Ok(Self { shape: shape.to_vec(), dtype, nvec: nvec.to_vec(), start: start.to_vec() })
    }

    /// The lengths along each axis.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The element type.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// How many values each element has, in C order.
    #[must_use]
    pub fn nvec(&self) -> &[i64] {
        &self.nvec
    }

    /// Each element's first value, in C order.
    #[must_use]
    pub fn start(&self) -> &[i64] {
        &self.start
    }

    /// The space of `count` elements of one `Discrete` space.
    pub(super) fn repeated(n: i64, start: i64, dtype: DType, count: usize) -> Self {
        Self { shape: vec![count], dtype, nvec: vec![n; count], start: vec![start; count] }
    }

    /// The same elements as a box.
    pub(super) fn as_box(&self) -> BoxSpace {
        let low = self.start.iter().copied().map(Scalar::Int).collect();
        let high = self.start.iter().zip(&self.nvec).map(|(start, n)| Scalar::Int(start + (n - 1))).collect();
        BoxSpace::known(&self.shape, self.dtype, low, high)
    }

    pub(super) fn contains(&self, array: &Array) -> bool {
        array.shape() == self.shape
            && array.dtype().promote(self.dtype) == self.dtype
            && array.scalars().zip(self.nvec.iter().zip(&self.start)).all(|(value, (n, start))| {
                value
                    .to_i64()
                    .and_then(|value| value.checked_sub(*start))
                    .is_some_and(|offset| (0..*n).contains(&offset))
            })
    }
}

/// Fails unless the integers `start` to `start + n - 1` are some, and of the integer type `dtype`.
pub(super) fn check_range(n: i64, start: i64, dtype: DType) -> Result<(), SpaceError> {
    let Some((least, greatest)) = dtype.integer_range() else {
        return Err(SpaceError::new("dtype", format!("must be an integer type, got {}", dtype.numpy_name())));
    };
    if n < 1 {
        return Err(SpaceError::new("n", format!("must be at least 1, got {n}")));
    }
    let last = start.checked_add(n - 1).filter(|last| n <= greatest && start >= least && *last <= greatest);
    last.map(|_| ())
        .ok_or_else(|| SpaceError::new("start", format!("{n} integers from {start} are beyond {}", dtype.numpy_name())))
}

/// Zeros and ones (int8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MultiBinarySpace {
    shape: Vec<usize>,
    /// Whether the shape was given as one number rather than as a list of one.
    bare: bool,
}

impl MultiBinarySpace {
    /// A list of `n` of them.
    ///
    /// # Errors
    /// When `n` is 0, or too large.
    pub fn flat(n: usize) -> Result<Self, SpaceError> {
        Ok(Self { bare: true, ..Self::shaped(&[n])? })
    }

    /// An array of them; Gymnasium tells `[n]` from the bare `n`.
    ///
    /// # Errors
    /// When a length is 0, or there are too many elements.
    pub fn shaped(shape: &[usize]) -> Result<Self, SpaceError> {
        if shape::size(shape)? == 0 {
            return Err(SpaceError::new("n", "must be at least 1"));
        }
        Ok(Self { shape: shape.to_vec(), bare: false })
    }

    /// The lengths along each axis.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The number of elements, where the shape was given by it alone.
    #[must_use]
    pub fn bare(&self) -> Option<usize> {
        self.shape.first().copied().filter(|_| self.bare)
    }

    /// The same elements as a box.
    pub(super) fn as_box(&self) -> BoxSpace {
        let size = self.shape.iter().product();
        BoxSpace::known(&self.shape, DType::I8, vec![Scalar::Int(0); size], vec![Scalar::Int(1); size])
    }

    pub(super) fn contains(&self, array: &Array) -> bool {
        let binary = |value: Scalar| matches!(value.to_i64(), Some(0 | 1));
        array.shape() == self.shape && array.scalars().all(binary)
    }
}
