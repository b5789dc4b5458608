//! The element types of arrays and their names.
//!
//! A dtype has one short name (`f32`), used in Lua and in messages, and one NumPy name
//! (`float32`), used wherever a file format asks for it. Both are understood when reading.

use std::fmt;
use std::str::FromStr;

use super::ArrayError;
use crate::suggest;

/// The type of an array's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each variant is named after its type")]
pub enum DType {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    F16,
    F32,
    F64,
}

/// What sort of numbers a dtype holds; sorts are ordered, later ones win in arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sort {
    Bool,
    Integer,
    Float,
}

impl DType {
    /// Every dtype.
    pub const ALL: [Self; 11] = [
        Self::Bool,
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::U8,
        Self::U16,
        Self::U32,
        Self::F16,
        Self::F32,
        Self::F64,
    ];

    /// The short name: `bool`, `i8` ... `f64`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::F16 => "f16",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// NumPy's name: `bool`, `int8` ... `float64`.
    #[must_use]
    pub const fn numpy_name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::I8 => "int8",
            Self::I16 => "int16",
            Self::I32 => "int32",
            Self::I64 => "int64",
            Self::U8 => "uint8",
            Self::U16 => "uint16",
            Self::U32 => "uint32",
            Self::F16 => "float16",
            Self::F32 => "float32",
            Self::F64 => "float64",
        }
    }

    /// Bytes per element.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 | Self::F16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::F64 => 8,
        }
    }

    /// Whether this is `f16`, `f32` or `f64`.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32 | Self::F64)
    }

    /// The least and greatest value of an integer dtype.
    #[must_use]
    pub const fn integer_range(self) -> Option<(i64, i64)> {
        match self {
            Self::I8 => Some((i8::MIN as i64, i8::MAX as i64)),
            Self::I16 => Some((i16::MIN as i64, i16::MAX as i64)),
            Self::I32 => Some((i32::MIN as i64, i32::MAX as i64)),
            Self::I64 => Some((i64::MIN, i64::MAX)),
            Self::U8 => Some((0, u8::MAX as i64)),
            Self::U16 => Some((0, u16::MAX as i64)),
            Self::U32 => Some((0, u32::MAX as i64)),
            Self::Bool | Self::F16 | Self::F32 | Self::F64 => None,
        }
    }

    /// The dtype in which elements of `self` and `other` meet, by NumPy's table: the smallest
    /// that holds both (`i32` with `u32` is `i64`, `i32` with `f32` is `f64`).
    #[must_use]
    pub fn promote(self, other: Self) -> Self {
        let (low, high) = if self.sort() <= other.sort() { (self, other) } else { (other, self) };
        match (low.sort(), high.sort()) {
            (Sort::Bool, _) => high,
            (Sort::Integer, Sort::Float) => {
                let needed = match low.size() {
                    1 => Self::F16,
                    2 => Self::F32,
                    _ => Self::F64,
                };
                if needed.size() > high.size() { needed } else { high }
            }
            (Sort::Integer, Sort::Integer) if low.is_signed() != high.is_signed() => {
                let (signed, unsigned) = if low.is_signed() { (low, high) } else { (high, low) };
                let needed = match unsigned.size() {
                    1 => Self::I16,
                    2 => Self::I32,
                    _ => Self::I64,
                };
                if needed.size() > signed.size() { needed } else { signed }
            }
            _ => {
                if low.size() > high.size() {
                    low
                } else {
                    high
                }
            }
        }
    }

    /// What sort of numbers these are.
    pub(super) const fn sort(self) -> Sort {
        match self {
            Self::Bool => Sort::Bool,
            Self::F16 | Self::F32 | Self::F64 => Sort::Float,
            _ => Sort::Integer,
        }
    }

    /// Whether this is a signed integer.
    const fn is_signed(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

impl FromStr for DType {
    type Err = ArrayError;

    fn from_str(name: &str) -> Result<Self, ArrayError> {
        let named = Self::ALL.into_iter().find(|dtype| dtype.name() == name || dtype.numpy_name() == name);
        named.ok_or_else(|| ArrayError::UnknownDtype {
            name: name.to_owned(),
            nearest: suggest::nearest(
                name,
                Self::ALL.map(Self::name).into_iter().chain(Self::ALL.map(Self::numpy_name)),
            )
            .map(str::to_owned),
        })
    }
}
