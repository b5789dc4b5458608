//! One element: its Rust type ([`Item`]) and its value when the type does not matter ([`Scalar`]).

use half::f16;
use ndarray::ArrayD;

use super::{Array, DType};
use crate::text::number::float_text;
use crate::value::Value;

/// One element of an array, of whatever dtype: a [`Value`] that is a number, and costs nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "each variant is named after what it holds")]
pub enum Scalar {
    Bool(bool),
    Int(i64),
    Float(f64),
}

impl Scalar {
    /// The value as a float (booleans as 0 and 1; large integers rounded).
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "rounds to the nearest, as Python's float(int)")]
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Bool(value) => f64::from(u8::from(value)),
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
        }
    }

    /// The value as an integer, if it is one (`true` is 1, `2.0` is 2).
    #[must_use]
    pub fn to_i64(self) -> Option<i64> {
        match self {
            Self::Bool(value) => Some(i64::from(value)),
            Self::Int(value) => Some(value),
            Self::Float(value) => crate::value::Value::Float(value).as_int(),
        }
    }
}

impl std::fmt::Display for Scalar {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Bool(value) => value.fmt(out),
            Self::Int(value) => value.fmt(out),
            Self::Float(value) => out.write_str(&float_text(*value)),
        }
    }
}

impl From<Scalar> for Value {
    fn from(scalar: Scalar) -> Self {
        match scalar {
            Scalar::Bool(value) => Self::Bool(value),
            Scalar::Int(value) => Self::Int(value),
            Scalar::Float(value) => Self::Float(value),
        }
    }
}

impl Scalar {
    /// The scalar that `value` is, if it is a boolean or a number within 64 bits.
    #[must_use]
    pub fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(value) => Some(Self::Bool(*value)),
            Value::Int(value) => Some(Self::Int(*value)),
            Value::Float(value) => Some(Self::Float(*value)),
            _ => None,
        }
    }
}

/// A Rust type that can be an array's element.
pub trait Item: Copy + Default + PartialEq + PartialOrd + Send + Sync + 'static {
    /// The dtype of arrays of this type.
    const DTYPE: DType;

    /// The element by itself.
    fn to_scalar(self) -> Scalar;

    /// The element as a float.
    fn to_f64(self) -> f64 {
        self.to_scalar().to_f64()
    }

    /// The element that `value` is, if nothing of it is lost: integers must be within range and
    /// exact, booleans 0 or 1. A float may be rounded to a narrower float, but not to infinity.
    fn from_scalar(value: Scalar) -> Option<Self>;

    /// `array` as an [`Array`].
    fn wrap(array: ArrayD<Self>) -> Array;

    /// The array inside `array`, if it holds this type.
    fn unwrap(array: &Array) -> Option<&ArrayD<Self>>;

    /// The array inside `array`, to be written, if it holds this type.
    fn unwrap_mut(array: &mut Array) -> Option<&mut ArrayD<Self>>;
}

macro_rules! item {
    ($item:ty, $variant:ident, $value:ident => $to:expr, $scalar:ident => $from:expr) => {
        impl Item for $item {
            const DTYPE: DType = DType::$variant;

            fn to_scalar(self) -> Scalar {
                let $value = self;
                $to
            }

            fn from_scalar($scalar: Scalar) -> Option<Self> {
                $from
            }

            fn wrap(array: ArrayD<Self>) -> Array {
                Array::$variant(array)
            }

            fn unwrap(array: &Array) -> Option<&ArrayD<Self>> {
                match array {
                    Array::$variant(array) => Some(array),
                    _ => None,
                }
            }

            fn unwrap_mut(array: &mut Array) -> Option<&mut ArrayD<Self>> {
                match array {
                    Array::$variant(array) => Some(array),
                    _ => None,
                }
            }
        }
    };
}

macro_rules! integer_items {
    ($($item:ty, $variant:ident);+) => {$(
        item!($item, $variant, value => Scalar::Int(i64::from(value)), scalar => scalar.to_i64()?.try_into().ok());
    )+};
}
integer_items!(i8, I8; i16, I16; i32, I32; i64, I64; u8, U8; u16, U16; u32, U32);

item!(bool, Bool, value => Scalar::Bool(value), scalar => match scalar.to_i64()? {
    0 => Some(false),
    1 => Some(true),
    _ => None,
});
item!(f16, F16, value => Scalar::Float(value.to_f64()), scalar => narrow(scalar, f16::from_f64, f16::to_f64));
#[expect(clippy::cast_possible_truncation, reason = "rounding is what narrowing a float means")]
const _: () = {
    item!(f32, F32, value => Scalar::Float(f64::from(value)), scalar => narrow(scalar, |value| value as f32, f64::from));
};
item!(f64, F64, value => Scalar::Float(value), scalar => narrow(scalar, |value| value, |value| value));

/// `scalar` rounded to a float type, unless an integer would change or a finite value overflow.
fn narrow<T: Copy>(scalar: Scalar, round: fn(f64) -> T, widen: fn(T) -> f64) -> Option<T> {
    let value = scalar.to_f64();
    let rounded = round(value);
    let kept = match scalar {
        Scalar::Bool(_) => true,
        Scalar::Int(integer) => Scalar::Float(widen(rounded)).to_i64() == Some(integer),
        Scalar::Float(_) => widen(rounded).is_finite() || !value.is_finite(),
    };
    kept.then_some(rounded)
}
