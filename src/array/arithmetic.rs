//! Element-wise arithmetic and comparison with broadcasting.
//!
//! Result dtypes follow NumPy 2: two arrays meet in [`DType::promote`]; a scalar takes the
//! array's dtype unless it is a float and the array is not (then `f64`). Dividing integers gives
//! `f64`. `bool` counts as `i64` 0 and 1. An integer result outside its dtype is an error, where
//! NumPy wraps around.
#![allow(clippy::bool_comparison, reason = "one expression serves every element type")]

use std::borrow::Cow;

use half::f16;
use ndarray::ArrayD;

use super::dtype::Sort;
use super::{Array, ArrayError, DType, Item, Scalar, each, reserve, with_dtype};
use crate::value::Value;

/// What to compute from two elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each variant is named after the operation")]
pub enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
}

/// What to ask of two elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each variant is named after the comparison")]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Array {
    /// `self` and `other`, element by element.
    ///
    /// # Errors
    /// When the shapes do not broadcast together or an integer result overflows.
    pub fn combine(&self, operation: Operation, other: &Self) -> Result<Self, ArrayError> {
        let mut dtype = self.dtype().promote(other.dtype());
        if dtype.sort() == Sort::Bool {
            dtype = DType::I64;
        }
        if operation == Operation::Divide && !dtype.is_float() {
            dtype = DType::F64;
        }
        let (left, right) = (self.rounded(dtype)?, other.rounded(dtype)?);
        macro_rules! run {
            ($($variant:ident),+) => {
                match (left.as_ref(), right.as_ref()) {
                    $((Self::$variant(left), Self::$variant(right)) => {
                        let (result, overflowed) = match operation {
                            Operation::Add => arithmetic(left, right, Number::plus),
                            Operation::Subtract => arithmetic(left, right, Number::minus),
                            Operation::Multiply => arithmetic(left, right, Number::times),
                            Operation::Divide => arithmetic(left, right, Number::over),
                        }?;
                        if overflowed { Err(ArrayError::Overflow { dtype }) } else { Ok(result) }
                    })+
                    // Both sides were brought to one dtype, which is not `bool`.
                    _ => Err(mismatch(self.shape(), other.shape())),
                }
            };
        }
        run!(I8, I16, I32, I64, U8, U16, U32, F16, F32, F64)
    }

    /// `self` and `other` compared element by element, as a `bool` array; NaN equals nothing.
    ///
    /// # Errors
    /// When the shapes do not broadcast together.
    pub fn compare(&self, comparison: Comparison, other: &Self) -> Result<Self, ArrayError> {
        let dtype = self.dtype().promote(other.dtype());
        let (left, right) = (self.rounded(dtype)?, other.rounded(dtype)?);
        with_dtype!(dtype, T => match (T::unwrap(&left), T::unwrap(&right)) {
            (Some(left), Some(right)) => match comparison {
                Comparison::Equal => zip(left, right, |a: T, b: T| a == b),
                Comparison::NotEqual => zip(left, right, |a: T, b: T| a != b),
                Comparison::Less => zip(left, right, |a: T, b: T| a < b),
                Comparison::LessOrEqual => zip(left, right, |a: T, b: T| a <= b),
                Comparison::Greater => zip(left, right, |a: T, b: T| a > b),
                Comparison::GreaterOrEqual => zip(left, right, |a: T, b: T| a >= b),
            },
            _ => Err(mismatch(self.shape(), other.shape())),
        })
    }

    /// One element without axes that stands for `value` in arithmetic with this array: of this
    /// array's dtype, unless `value` is of a higher sort (a float beside integers is `f64`).
    ///
    /// # Errors
    /// When `value` is no number, or an integer outside the dtype's range.
    pub fn scalar_like(&self, value: &Value) -> Result<Self, ArrayError> {
        let found = value.kind();
        let scalar = Scalar::from_value(value).ok_or(ArrayError::NotANumber { path: Vec::new(), found })?;
        let own = match scalar {
            Scalar::Bool(_) => DType::Bool,
            Scalar::Int(_) => DType::I64,
            Scalar::Float(_) => DType::F64,
        };
        let dtype = if own.sort() > self.dtype().sort() { own } else { self.dtype() };
        let scalar = if dtype.is_float() { Scalar::Float(scalar.to_f64()) } else { scalar };
        Self::from_scalars(dtype, &[], std::iter::once(scalar))
    }

    /// This array as `dtype`; towards floats, values are rounded.
    pub(super) fn rounded(&self, dtype: DType) -> Result<Cow<'_, Self>, ArrayError> {
        if self.dtype() == dtype {
            return Ok(Cow::Borrowed(self));
        }
        match dtype {
            DType::F64 => Ok(Cow::Owned(each!(self, array => Self::F64(array.mapv(|item| item.to_f64()))))),
            DType::F32 => Ok(Cow::Owned(each!(self, array => Self::F32(array.mapv(|item| narrowed(item.to_f64())))))),
            DType::F16 => {
                Ok(Cow::Owned(each!(self, array => Self::F16(array.mapv(|item| f16::from_f64(item.to_f64()))))))
            }
            integer => self.astype(integer).map(Cow::Owned),
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "rounding is what narrowing a float means")]
const fn narrowed(value: f64) -> f32 {
    value as f32
}

/// `compute` over the elements of two arrays, and whether a result was outside its dtype.
fn arithmetic<T: Number>(
    left: &ArrayD<T>,
    right: &ArrayD<T>,
    compute: impl Fn(T, T) -> (T, bool),
) -> Result<(Array, bool), ArrayError> {
    let mut overflowed = false;
    let result = zip(left, right, |a, b| {
        let (result, outside) = compute(a, b);
        overflowed |= outside;
        result
    })?;
    Ok((result, overflowed))
}

/// `function` over the elements of two arrays, each repeated along the axes it lacks.
pub(super) fn zip<T: Item, R: Item>(
    left: &ArrayD<T>,
    right: &ArrayD<T>,
    mut function: impl FnMut(T, T) -> R,
) -> Result<Array, ArrayError> {
    let mismatch = || mismatch(left.shape(), right.shape());
    let shape = broadcast_shape(left.shape(), right.shape()).ok_or_else(mismatch)?;
    let (left, right) = (left.as_standard_layout(), right.as_standard_layout());
    let (a, b) = (left.as_slice().unwrap_or_default(), right.as_slice().unwrap_or_default());
    let block = Block::of(left.shape(), right.shape(), &shape);
    let mut items: Vec<R> = reserve(&shape, R::DTYPE)?;
    // Plain slices, which the compiler turns into vector code, from block to block.
    block.each(left.shape(), right.shape(), &shape, |at, other| {
        let (a, b) = (a.get(at..).unwrap_or_default(), b.get(other..).unwrap_or_default());
        match (block.left_repeats, block.right_repeats, a.first(), b.first()) {
            (true, _, Some(a), _) => items.extend(b.iter().take(block.length).map(|b| function(*a, *b))),
            (_, true, _, Some(b)) => items.extend(a.iter().take(block.length).map(|a| function(*a, *b))),
            _ => items.extend(a.iter().zip(b).take(block.length).map(|(a, b)| function(*a, *b))),
        }
    });
    Array::from_vec(&shape, items)
}

/// The longest run of a result over which each side either goes along or stays one element.
struct Block {
    /// The axes before the run.
    axes: usize,
    /// Elements of the run.
    length: usize,
    left_repeats: bool,
    right_repeats: bool,
}

impl Block {
    fn of(left: &[usize], right: &[usize], shape: &[usize]) -> Self {
        let repeats = |own: &[usize], axis: usize| length_at(own, shape.len(), axis) == 1;
        let mut block = Self { axes: shape.len(), length: 1, left_repeats: false, right_repeats: false };
        let mut begun = false;
        for (axis, length) in shape.iter().enumerate().rev() {
            // An axis of length 1 is both: every element goes along and stays.
            if *length != 1 {
                let sides = (repeats(left, axis), repeats(right, axis));
                if begun && sides != (block.left_repeats, block.right_repeats) {
                    break;
                }
                (block.left_repeats, block.right_repeats) = sides;
                begun = true;
            }
            block.axes = axis;
            block.length *= length;
        }
        block
    }

    /// Calls `visit` with where each run begins in either side.
    fn each(&self, left: &[usize], right: &[usize], shape: &[usize], mut visit: impl FnMut(usize, usize)) {
        let outer = shape.get(..self.axes).unwrap_or_default();
        let strides = |own: &[usize]| -> Vec<usize> {
            let stride = |axis: usize| match length_at(own, shape.len(), axis) {
                1 => 0,
                _ => (axis + 1..shape.len()).map(|after| length_at(own, shape.len(), after)).product(),
            };
            (0..self.axes).map(stride).collect()
        };
        let (left, right) = (strides(left), strides(right));
        for run in 0..outer.iter().product() {
            let (mut rest, mut at, mut other) = (run, 0, 0);
            for ((length, left), right) in outer.iter().zip(&left).zip(&right).rev() {
                at += rest % length * left;
                other += rest % length * right;
                rest /= length;
            }
            visit(at, other);
        }
    }
}

/// The length of an array along an axis of a result of `rank` axes, 1 where it has no such axis.
fn length_at(own: &[usize], rank: usize, axis: usize) -> usize {
    (axis + own.len()).checked_sub(rank).map_or(1, |at| own.get(at).copied().unwrap_or(1))
}

fn mismatch(left: &[usize], right: &[usize]) -> ArrayError {
    ArrayError::Broadcast { left: left.to_vec(), right: right.to_vec() }
}

/// NumPy's rule: shapes are aligned at their last axes; lengths agree or one of them is 1.
fn broadcast_shape(left: &[usize], right: &[usize]) -> Option<Vec<usize>> {
    let rank = left.len().max(right.len());
    (0..rank)
        .map(|axis| match (length_at(left, rank, axis), length_at(right, rank, axis)) {
            (a, b) if a == b => Some(a),
            (1, other) | (other, 1) => Some(other),
            _ => None,
        })
        .collect()
}

/// A number that can be computed with; each result comes with whether it is outside the dtype.
trait Number: Item {
    fn plus(self, other: Self) -> (Self, bool);
    fn minus(self, other: Self) -> (Self, bool);
    fn times(self, other: Self) -> (Self, bool);
    fn over(self, other: Self) -> (Self, bool);
}

macro_rules! integers {
    ($($number:ty),+) => {$(
        impl Number for $number {
            fn plus(self, other: Self) -> (Self, bool) {
                self.overflowing_add(other)
            }

            fn minus(self, other: Self) -> (Self, bool) {
                self.overflowing_sub(other)
            }

            fn times(self, other: Self) -> (Self, bool) {
                self.overflowing_mul(other)
            }

            // Never asked: integers are divided as floats.
            fn over(self, other: Self) -> (Self, bool) {
                self.checked_div(other).map_or((self, true), |quotient| (quotient, false))
            }
        }
    )+};
}
integers!(i8, i16, i32, i64, u8, u16, u32);

macro_rules! floats {
    ($($number:ty),+) => {$(
        impl Number for $number {
            fn plus(self, other: Self) -> (Self, bool) {
                (self + other, false)
            }

            fn minus(self, other: Self) -> (Self, bool) {
                (self - other, false)
            }

            fn times(self, other: Self) -> (Self, bool) {
                (self * other, false)
            }

            fn over(self, other: Self) -> (Self, bool) {
                (self / other, false)
            }
        }
    )+};
}
floats!(f16, f32, f64);
