//! Element-wise arithmetic and comparison with broadcasting.
//!
//! Result dtypes follow NumPy 2: two arrays meet in [`DType::promote`]; a scalar takes the
//! array's dtype unless it is a float and the array is not (then `f64`). Dividing integers gives
//! `f64`, unless it is rounded down. `bool` counts as `i64` 0 and 1. An integer result outside its
//! dtype is an error, where NumPy wraps around, and so is one that does not exist, where it warns.
#![allow(clippy::bool_comparison, unused_comparisons, reason = "one expression serves every element type")]

use std::borrow::Cow;
use std::convert::identity;

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
    /// Rounded down.
    FloorDivide,
    /// What [`Operation::FloorDivide`] leaves, with the divisor's sign.
    Remainder,
    Power,
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
    /// When the shapes do not broadcast together or an integer result overflows or does not exist:
    /// of a division by zero, of a negative power.
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
                            Operation::FloorDivide => arithmetic(left, right, Number::floor_over),
                            Operation::Remainder => arithmetic(left, right, Number::modulo),
                            Operation::Power => arithmetic(left, right, Number::power),
                        }?;
                        match operation {
                            _ if !overflowed => Ok(result),
                            Operation::FloorDivide | Operation::Remainder if right.iter().any(|by| by.is_zero()) => {
                                Err(ArrayError::DivisionByZero)
                            }
                            Operation::Power if right.iter().any(|by| by.has_no_power()) => {
                                Err(ArrayError::NegativePower)
                            }
                            _ => Err(ArrayError::Overflow { dtype }),
                        }
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

/// The power as IEEE 754 has it: 1 of whatever to the 0, and of 1 to whatever, NaN too.
fn power(base: f64, exponent: f64) -> f64 {
    if exponent == 0.0 || base == 1.0 { 1.0 } else { pxfm::f_pow(base, exponent) }
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
    fn floor_over(self, other: Self) -> (Self, bool);
    fn modulo(self, other: Self) -> (Self, bool);
    fn power(self, other: Self) -> (Self, bool);

    /// Whether there is no quotient by it; never of a float.
    fn is_zero(self) -> bool;

    /// Whether no power of an integer by it is an integer; never of a float.
    fn has_no_power(self) -> bool;
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
                self.floor_over(other)
            }

            fn floor_over(self, other: Self) -> (Self, bool) {
                let Some(towards_zero) = self.checked_div(other) else { return (self, true) };
                let below = self.checked_rem(other).is_some_and(|rest| rest != 0 && (rest < 0) != (other < 0));
                (if below { towards_zero - 1 } else { towards_zero }, false)
            }

            fn modulo(self, other: Self) -> (Self, bool) {
                // Of the least integer by -1, too, where the quotient is outside.
                match self.checked_rem(other) {
                    Some(rest) if rest != 0 && (rest < 0) != (other < 0) => (rest + other, false),
                    Some(rest) => (rest, false),
                    None => (0, other == 0),
                }
            }

            fn power(self, other: Self) -> (Self, bool) {
                let power = u32::try_from(other).ok().map(|other| self.checked_pow(other));
                match power {
                    Some(power) => power.map_or((self, true), |power| (power, false)),
                    // So great a power of anything else is outside.
                    None if other > 0 && (self == 0 || self == 1) => (self, false),
                    None if other > 0 && self.checked_add(1) == Some(0) => {
                        (if other % 2 == 0 { 1 } else { self }, false)
                    }
                    None => (self, true),
                }
            }

            fn is_zero(self) -> bool {
                self == 0
            }

            fn has_no_power(self) -> bool {
                self < 0
            }
        }
    )+};
}
integers!(i8, i16, i32, i64, u8, u16, u32);

macro_rules! floats {
    ($($number:ty, $wide:ty, $narrow:path, $rounded:path);+) => {$(
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

            fn floor_over(self, other: Self) -> (Self, bool) {
                let (a, b) = (<$wide>::from(self), <$wide>::from(other));
                if b == 0.0 {
                    return (self / other, false);
                }
                // What is left is exact, so that the quotient is never one too many.
                let rest = a % b;
                let quotient = (a - rest) / b;
                let quotient = if rest != 0.0 && (rest < 0.0) != (b < 0.0) { quotient - 1.0 } else { quotient };
                let whole = quotient.round();
                let whole = if whole == 0.0 { (0.0 as $wide).copysign(a / b) } else { whole };
                ($narrow(whole), false)
            }

            fn modulo(self, other: Self) -> (Self, bool) {
                let (a, b) = (<$wide>::from(self), <$wide>::from(other));
                let rest = a % b;
                let rest = match rest {
                    _ if rest == 0.0 => rest.copysign(b),
                    _ if (rest < 0.0) != (b < 0.0) => rest + b,
                    _ => rest,
                };
                ($narrow(rest), false)
            }

            fn power(self, other: Self) -> (Self, bool) {
                ($rounded(power(self.into(), other.into())), false)
            }

            fn is_zero(self) -> bool {
                false
            }

            fn has_no_power(self) -> bool {
                false
            }
        }
    )+};
}
floats!(
    f16, f32, f16::from_f32, f16::from_f64;
    f32, f32, identity, narrowed;
    f64, f64, identity, identity
);
