//! Element types and their names.

use std::fmt;
use std::str::FromStr;

use super::ArrayError;

/// The element type of an [`super::Array`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each variant is named after its dtype")]
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

/// Each type with its short name and NumPy's.
const NAMES: [(DType, &str, &str); 11] = [
    (DType::Bool, "bool", "bool"),
    (DType::I8, "i8", "int8"),
    (DType::I16, "i16", "int16"),
    (DType::I32, "i32", "int32"),
    (DType::I64, "i64", "int64"),
    (DType::U8, "u8", "uint8"),
    (DType::U16, "u16", "uint16"),
    (DType::U32, "u32", "uint32"),
    (DType::F16, "f16", "float16"),
    (DType::F32, "f32", "float32"),
    (DType::F64, "f64", "float64"),
];

impl DType {
    /// NumPy's name: `float32`, `int64`, ...
    #[must_use]
    pub fn numpy_name(self) -> &'static str {
        NAMES.iter().find(|(dtype, ..)| *dtype == self).map_or("", |(_, _, name)| name)
    }

    /// Whether elements are floats.
    #[must_use]
    pub fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32 | Self::F64)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(NAMES.iter().find(|(dtype, ..)| dtype == self).map_or("", |(_, name, _)| name))
    }
}

impl FromStr for DType {
    type Err = ArrayError;

    /// Reads a short name or NumPy's.
    fn from_str(name: &str) -> Result<Self, ArrayError> {
        NAMES.iter().find(|(_, short, numpy)| *short == name || *numpy == name).map(|(dtype, ..)| *dtype).ok_or_else(
            || {
                let short: Vec<&str> = NAMES.iter().map(|(_, short, _)| *short).collect();
                ArrayError(format!("unknown dtype `{name}`; known are {}", short.join(" ")))
            },
        )
    }
}
