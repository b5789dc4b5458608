//! Element-wise arithmetic and reductions.
//!
//! An array keeps its dtype against a scalar; of two arrays both must have the same dtype, and
//! shapes broadcast as NumPy's do. Integer arithmetic that overflows, or divides by zero, is an
//! error rather than a wrapped number.

use half::f16;
use ndarray::{ArrayD, Zip};

use super::{Array, ArrayError};
use crate::value::Value;

/// An arithmetic operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each variant is named after what it does")]
pub enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
}

/// What an element type can do.
trait Element: Copy {
    fn apply(self, operation: Operation, other: Self) -> Option<Self>;
}

macro_rules! integers {
    ($($kind:ty),+) => {$(
        impl Element for $kind {
            fn apply(self, operation: Operation, other: Self) -> Option<Self> {
                match operation {
                    Operation::Add => self.checked_add(other),
                    Operation::Subtract => self.checked_sub(other),
                    Operation::Multiply => self.checked_mul(other),
                    Operation::Divide => self.checked_div(other),
                }
            }
        }
    )+};
}
integers!(i8, i16, i32, i64, u8, u16, u32);

macro_rules! floats {
    ($($kind:ty),+) => {$(
        impl Element for $kind {
            fn apply(self, operation: Operation, other: Self) -> Option<Self> {
                Some(match operation {
                    Operation::Add => self + other,
                    Operation::Subtract => self - other,
                    Operation::Multiply => self * other,
                    Operation::Divide => self / other,
                })
            }
        }
    )+};
}
floats!(f16, f32, f64);

fn combine<T: Element>(a: &ArrayD<T>, operation: Operation, b: &ArrayD<T>) -> Result<ArrayD<T>, ArrayError> {
    let shape = broadcast_shape(a.shape(), b.shape())
        .ok_or_else(|| ArrayError(format!("shapes {:?} and {:?} do not broadcast", a.shape(), b.shape())))?;
    let (Some(a), Some(b)) = (a.broadcast(shape.clone()), b.broadcast(shape)) else {
        return Err(ArrayError("the shapes do not broadcast".to_owned()));
    };
    let mut failed = false;
    let result = Zip::from(a).and(b).map_collect(|a, b| {
        a.apply(operation, *b).unwrap_or_else(|| {
            failed = true;
            *a
        })
    });
    if failed {
        return Err(ArrayError("an integer result overflows its dtype, or divides by zero".to_owned()));
    }
    Ok(result.as_standard_layout().into_owned())
}

/// NumPy's rule: aligned at the last axis, lengths equal or 1.
fn broadcast_shape(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let rank = a.len().max(b.len());
    let length = |shape: &[usize], axis: usize| {
        (axis + shape.len()).checked_sub(rank).and_then(|index| shape.get(index)).copied().unwrap_or(1)
    };
    (0..rank)
        .map(|axis| match (length(a, axis), length(b, axis)) {
            (a, b) if a == b => Some(a),
            (1, b) => Some(b),
            (a, 1) => Some(a),
            _ => None,
        })
        .collect()
}

impl Array {
    /// `self` and `other`, element by element.
    ///
    /// # Errors
    /// When the dtypes differ, the shapes do not broadcast, or an integer result overflows.
    pub fn combine(&self, operation: Operation, other: &Self) -> Result<Self, ArrayError> {
        match (self, other) {
            (Self::I8(a), Self::I8(b)) => combine(a, operation, b).map(Self::I8),
            (Self::I16(a), Self::I16(b)) => combine(a, operation, b).map(Self::I16),
            (Self::I32(a), Self::I32(b)) => combine(a, operation, b).map(Self::I32),
            (Self::I64(a), Self::I64(b)) => combine(a, operation, b).map(Self::I64),
            (Self::U8(a), Self::U8(b)) => combine(a, operation, b).map(Self::U8),
            (Self::U16(a), Self::U16(b)) => combine(a, operation, b).map(Self::U16),
            (Self::U32(a), Self::U32(b)) => combine(a, operation, b).map(Self::U32),
            (Self::F16(a), Self::F16(b)) => combine(a, operation, b).map(Self::F16),
            (Self::F32(a), Self::F32(b)) => combine(a, operation, b).map(Self::F32),
            (Self::F64(a), Self::F64(b)) => combine(a, operation, b).map(Self::F64),
            _ => Err(ArrayError(format!("no arithmetic between {} and {}", self.dtype(), other.dtype()))),
        }
    }

    /// An array of one element (rank 0) with this array's dtype: a scalar's place in arithmetic.
    ///
    /// # Errors
    /// When the dtype does not hold `value`.
    pub fn scalar_like(&self, value: &Value) -> Result<Self, ArrayError> {
        let mut scalar = Self::zeros(self.dtype(), &[]);
        scalar.set(0, value)?;
        Ok(scalar)
    }

    /// The elements as numbers (booleans as 0 and 1), in C order.
    pub fn numbers(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.len()).map(|index| match self.get(index) {
            Some(Value::Bool(value)) => f64::from(u8::from(value)),
            Some(value) => value.as_float().unwrap_or(f64::NAN),
            None => f64::NAN,
        })
    }

    /// The sum of all elements, left to right in float64.
    #[must_use]
    pub fn sum(&self) -> f64 {
        self.numbers().sum()
    }

    /// The least element: NaN if any is, `None` of an empty array.
    #[must_use]
    pub fn min(&self) -> Option<Value> {
        self.extreme(|candidate, best| candidate < best)
    }

    /// The greatest element: NaN if any is, `None` of an empty array.
    #[must_use]
    pub fn max(&self) -> Option<Value> {
        self.extreme(|candidate, best| candidate > best)
    }

    fn extreme(&self, better: impl Fn(f64, f64) -> bool) -> Option<Value> {
        let mut best: Option<(usize, f64)> = None;
        for (index, number) in self.numbers().enumerate() {
            if number.is_nan() {
                return self.get(index);
            }
            if best.is_none_or(|(_, top)| better(number, top)) {
                best = Some((index, number));
            }
        }
        best.and_then(|(index, _)| self.get(index))
    }
}
