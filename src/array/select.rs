//! Element-wise choice: the lesser and the greater, limits, one of two by a condition, and logic.
//!
//! Truth is an element that is not 0 (NaN is true, as in NumPy); what comes of logic is `bool`.
#![allow(clippy::bool_comparison, reason = "one expression serves every element type")]

use ndarray::ArrayD;

use super::arithmetic::zip;
use super::{Array, ArrayError, Item, each, reserve, with_dtype};

/// What to make of two truths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logic {
    /// Both.
    And,
    /// Either.
    Or,
    /// One of them only.
    Xor,
}

impl Array {
    /// The lesser of each two elements: NaN if either is.
    ///
    /// # Errors
    /// When the shapes do not broadcast together.
    pub fn minimum(&self, other: &Self) -> Result<Self, ArrayError> {
        self.choose(other, false)
    }

    /// The greater of each two elements: NaN if either is.
    ///
    /// # Errors
    /// When the shapes do not broadcast together.
    pub fn maximum(&self, other: &Self) -> Result<Self, ArrayError> {
        self.choose(other, true)
    }

    fn choose(&self, other: &Self, greater: bool) -> Result<Self, ArrayError> {
        let dtype = self.dtype().promote(other.dtype());
        let (left, right) = (self.rounded(dtype)?, other.rounded(dtype)?);
        with_dtype!(dtype, T => {
            let (left, right) = both::<T>(&left, &right)?;
            if greater {
                zip(left, right, |a: T, b: T| pick(a, b, a > b))
            } else {
                zip(left, right, |a: T, b: T| pick(a, b, a < b))
            }
        })
    }

    /// The elements of `yes` where this array's are true, else those of `no`; all three broadcast.
    ///
    /// # Errors
    /// When the shapes do not broadcast together.
    pub fn where_else(&self, yes: &Self, no: &Self) -> Result<Self, ArrayError> {
        let dtype = yes.dtype().promote(no.dtype());
        let condition = self.truth();
        let shape = condition.logic(Logic::And, &condition)?;
        let shape = shape.logic(Logic::And, &yes.truth())?.logic(Logic::And, &no.truth())?;
        let condition = condition.spread(shape.shape())?;
        let (yes, no) = (yes.rounded(dtype)?.spread(shape.shape())?, no.rounded(dtype)?.spread(shape.shape())?);
        let flags = condition.as_slice::<bool>().unwrap_or_default();
        with_dtype!(dtype, T => {
            let (yes, no) = (yes.as_slice::<T>().unwrap_or_default(), no.as_slice::<T>().unwrap_or_default());
            let items = flags.iter().zip(yes.iter().zip(no)).map(|(flag, (yes, no))| if *flag { *yes } else { *no });
            Self::from_vec(shape.shape(), items.collect::<Vec<T>>())
        })
    }

    /// Whether each element is not 0.
    #[must_use]
    pub fn truth(&self) -> Self {
        fn of<T: Item>(array: &ArrayD<T>) -> Array {
            Array::Bool(array.mapv(|item| item != T::default()))
        }
        match self {
            Self::Bool(_) => self.clone(),
            other => each!(other, array => of(array)),
        }
    }

    /// Whether each element is 0.
    #[must_use]
    pub fn negated(&self) -> Self {
        fn of<T: Item>(array: &ArrayD<T>) -> Array {
            Array::Bool(array.mapv(|item| item == T::default()))
        }
        each!(self, array => of(array))
    }

    /// What `logic` makes of the truths of each two elements.
    ///
    /// # Errors
    /// When the shapes do not broadcast together.
    pub fn logic(&self, logic: Logic, other: &Self) -> Result<Self, ArrayError> {
        let (left, right) = (self.truth(), other.truth());
        let (left, right) = both::<bool>(&left, &right)?;
        match logic {
            Logic::And => zip(left, right, |a, b| a & b),
            Logic::Or => zip(left, right, |a, b| a | b),
            Logic::Xor => zip(left, right, |a, b| a ^ b),
        }
    }

    /// This array repeated to `shape`.
    fn spread(&self, shape: &[usize]) -> Result<Self, ArrayError> {
        if self.shape() == shape {
            return Ok(self.clone());
        }
        each!(self, array => {
            let mismatch = || ArrayError::Broadcast { left: array.shape().to_vec(), right: shape.to_vec() };
            let mut items = reserve(shape, self.dtype())?;
            items.extend(array.broadcast(shape).ok_or_else(mismatch)?.iter().copied());
            Self::from_vec(shape, items)
        })
    }
}

/// Both arrays as ones of `T`, which they are.
fn both<'a, T: Item>(left: &'a Array, right: &'a Array) -> Result<(&'a ArrayD<T>, &'a ArrayD<T>), ArrayError> {
    let mismatch = || ArrayError::Broadcast { left: left.shape().to_vec(), right: right.shape().to_vec() };
    T::unwrap(left).zip(T::unwrap(right)).ok_or_else(mismatch)
}

/// `a` if it is the `better`, or NaN, else `b`.
#[expect(clippy::eq_op, reason = "only NaN differs from itself")]
fn pick<T: Item>(a: T, b: T, better: bool) -> T {
    if better || a != a { a } else { b }
}
