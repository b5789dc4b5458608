//! Functions of one element at a time.
//!
//! Result dtypes are NumPy's: roots, exponentials and logarithms of integers are floats as wide as
//! the integers need ([`DType::floating`]); magnitude, sign and rounding keep the dtype.
//! Exponentials and logarithms are rounded correctly, so that every platform has the same bits.

use half::f16;
use ndarray::ArrayD;

use super::{Array, ArrayError, DType, Item};

/// What to compute from an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// The magnitude.
    Abs,
    /// -1, 0 or 1; NaN stays.
    Sign,
    /// The square root.
    Sqrt,
    /// The exponential.
    Exp,
    /// The natural logarithm.
    Log,
    /// The nearest integer below.
    Floor,
    /// The nearest integer above.
    Ceil,
    /// The nearest integer; halves go to the even one.
    Round,
}

impl Function {
    /// Whether integers are computed with as floats.
    const fn is_floating(self) -> bool {
        matches!(self, Self::Sqrt | Self::Exp | Self::Log)
    }
}

/// A function of one float, in its own width.
macro_rules! of_float {
    ($name:ident, $float:ty, $exp:path, $log:path) => {
        impl Function {
            fn $name(self, value: $float) -> $float {
                match self {
                    Self::Abs => value.abs(),
                    Self::Sign if value == 0.0 => 0.0,
                    Self::Sign if value.is_nan() => value,
                    Self::Sign => value.signum(),
                    Self::Sqrt => value.sqrt(),
                    Self::Exp => $exp(value),
                    Self::Log => $log(value),
                    Self::Floor => value.floor(),
                    Self::Ceil => value.ceil(),
                    Self::Round => value.round_ties_even(),
                }
            }
        }
    };
}
of_float!(of_f64, f64, pxfm::f_exp, pxfm::f_log);
of_float!(of_f32, f32, pxfm::f_expf, pxfm::f_logf);

impl DType {
    /// The float dtype in which functions of this dtype's elements are computed: its own, or the
    /// narrowest that holds an integer dtype's values.
    #[must_use]
    pub const fn floating(self) -> Self {
        match self {
            Self::F16 | Self::F32 | Self::F64 => self,
            _ => match self.size() {
                1 => Self::F16,
                2 => Self::F32,
                _ => Self::F64,
            },
        }
    }
}

impl Array {
    /// `function` of every element.
    ///
    /// # Errors
    /// When a magnitude lies outside its dtype (that of the least integer).
    pub fn apply(&self, function: Function) -> Result<Self, ArrayError> {
        if function.is_floating() && !self.dtype().is_float() {
            return self.rounded(self.dtype().floating())?.apply(function);
        }
        macro_rules! integers {
            ($array:expr, $variant:ident) => {
                match function {
                    Function::Abs => {
                        let overflow = || ArrayError::Overflow { dtype: self.dtype() };
                        let items: Option<Vec<_>> = $array.iter().map(|item| item.checked_abs()).collect();
                        Self::from_vec(self.shape(), items.ok_or_else(overflow)?)
                    }
                    Function::Sign => Ok(Self::$variant($array.mapv(|item| item.signum()))),
                    _ => Ok(self.clone()),
                }
            };
        }
        macro_rules! unsigned {
            ($array:expr, $variant:ident) => {
                match function {
                    Function::Sign => Ok(Self::$variant($array.mapv(|item| item.min(1)))),
                    _ => Ok(self.clone()),
                }
            };
        }
        match self {
            Self::Bool(_) if function == Function::Sign => self.astype(DType::I64),
            Self::Bool(_) => Ok(self.clone()),
            Self::I8(array) => integers!(array, I8),
            Self::I16(array) => integers!(array, I16),
            Self::I32(array) => integers!(array, I32),
            Self::I64(array) => integers!(array, I64),
            Self::U8(array) => unsigned!(array, U8),
            Self::U16(array) => unsigned!(array, U16),
            Self::U32(array) => unsigned!(array, U32),
            Self::F16(array) => mapped(array, |item| f16::from_f32(function.of_f32(item.to_f32()))),
            Self::F32(array) => mapped(array, |item| function.of_f32(item)),
            Self::F64(array) => mapped(array, |item| function.of_f64(item)),
        }
    }
}

/// `function` of every element.
fn mapped<T: Item>(array: &ArrayD<T>, function: impl Fn(T) -> T) -> Result<Array, ArrayError> {
    Ok(T::wrap(array.mapv(function)))
}
