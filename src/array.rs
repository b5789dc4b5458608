//! Native arrays of any rank: what `skyfall.array` gives a script, what observations and the
//! rollout store's tables are made of.
//!
//! Every array is in C order and contiguous; the constructors see to it.

mod arithmetic;
mod dtype;

use half::f16;
use ndarray::{ArrayD, Axis, IxDyn};

pub use arithmetic::Operation;
pub use dtype::DType;

use crate::value::Value;

/// Why an array could not be made or changed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ArrayError(pub(crate) String);

/// An array in C order, of one of the element types the file formats know.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each variant is named after its dtype")]
pub enum Array {
    Bool(ArrayD<bool>),
    I8(ArrayD<i8>),
    I16(ArrayD<i16>),
    I32(ArrayD<i32>),
    I64(ArrayD<i64>),
    U8(ArrayD<u8>),
    U16(ArrayD<u16>),
    U32(ArrayD<u32>),
    F16(ArrayD<f16>),
    F32(ArrayD<f32>),
    F64(ArrayD<f64>),
}

/// Runs the same expression on the array inside, whatever its element type.
macro_rules! each {
    ($array:expr, $inner:ident => $body:expr) => {
        match $array {
            $crate::array::Array::Bool($inner) => $body,
            $crate::array::Array::I8($inner) => $body,
            $crate::array::Array::I16($inner) => $body,
            $crate::array::Array::I32($inner) => $body,
            $crate::array::Array::I64($inner) => $body,
            $crate::array::Array::U8($inner) => $body,
            $crate::array::Array::U16($inner) => $body,
            $crate::array::Array::U32($inner) => $body,
            $crate::array::Array::F16($inner) => $body,
            $crate::array::Array::F32($inner) => $body,
            $crate::array::Array::F64($inner) => $body,
        }
    };
}
pub(crate) use each;

impl Array {
    /// Zeros (`false` for booleans) in the given shape.
    #[must_use]
    pub fn zeros(dtype: DType, shape: &[usize]) -> Self {
        let shape = IxDyn(shape);
        match dtype {
            DType::Bool => Self::Bool(ArrayD::from_elem(shape, false)),
            DType::I8 => Self::I8(ArrayD::zeros(shape)),
            DType::I16 => Self::I16(ArrayD::zeros(shape)),
            DType::I32 => Self::I32(ArrayD::zeros(shape)),
            DType::I64 => Self::I64(ArrayD::zeros(shape)),
            DType::U8 => Self::U8(ArrayD::zeros(shape)),
            DType::U16 => Self::U16(ArrayD::zeros(shape)),
            DType::U32 => Self::U32(ArrayD::zeros(shape)),
            DType::F16 => Self::F16(ArrayD::from_elem(shape, f16::ZERO)),
            DType::F32 => Self::F32(ArrayD::zeros(shape)),
            DType::F64 => Self::F64(ArrayD::zeros(shape)),
        }
    }

    /// The numbers of `values` - a list, nested as deep as the array's rank, or a single number
    /// for rank 0 - as `dtype`.
    ///
    /// # Errors
    /// When the lists are ragged, or an element is not a number that `dtype` holds exactly
    /// (floats are rounded to the dtype's precision).
    pub fn from_value(values: &Value, dtype: DType) -> Result<Self, ArrayError> {
        let mut shape = Vec::new();
        let mut level = values;
        while let Value::List(items) = level {
            shape.push(items.len());
            match items.first() {
                Some(first) => level = first,
                None => break,
            }
        }
        let mut array = Self::zeros(dtype, &shape);
        let mut index = 0;
        fill(&mut array, values, &shape, &mut index, "")?;
        Ok(array)
    }

    /// The same numbers as nested lists.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut index = 0;
        nest(self, self.shape(), &mut index)
    }

    /// The element type.
    #[must_use]
    pub fn dtype(&self) -> DType {
        match self {
            Self::Bool(_) => DType::Bool,
            Self::I8(_) => DType::I8,
            Self::I16(_) => DType::I16,
            Self::I32(_) => DType::I32,
            Self::I64(_) => DType::I64,
            Self::U8(_) => DType::U8,
            Self::U16(_) => DType::U16,
            Self::U32(_) => DType::U32,
            Self::F16(_) => DType::F16,
            Self::F32(_) => DType::F32,
            Self::F64(_) => DType::F64,
        }
    }

    /// The lengths along each axis.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        each!(self, array => array.shape())
    }

    /// How many elements there are.
    #[must_use]
    pub fn len(&self) -> usize {
        each!(self, array => array.len())
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The float32 elements in C order, if that is what they are.
    #[must_use]
    pub fn as_f32(&self) -> Option<&[f32]> {
        match self {
            Self::F32(array) => array.as_slice(),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub fn as_f32_mut(&mut self) -> Option<&mut [f32]> {
        match self {
            Self::F32(array) => array.as_slice_mut(),
            _ => None,
        }
    }

    /// The part at `position` along the first axis, one rank lower; `None` beyond the end.
    #[must_use]
    pub fn row(&self, position: usize) -> Option<Self> {
        fn row<T: Clone>(array: &ArrayD<T>, position: usize) -> Option<ArrayD<T>> {
            let length = *array.shape().first()?;
            (position < length).then(|| array.index_axis(Axis(0), position).as_standard_layout().into_owned())
        }
        Some(match self {
            Self::Bool(array) => Self::Bool(row(array, position)?),
            Self::I8(array) => Self::I8(row(array, position)?),
            Self::I16(array) => Self::I16(row(array, position)?),
            Self::I32(array) => Self::I32(row(array, position)?),
            Self::I64(array) => Self::I64(row(array, position)?),
            Self::U8(array) => Self::U8(row(array, position)?),
            Self::U16(array) => Self::U16(row(array, position)?),
            Self::U32(array) => Self::U32(row(array, position)?),
            Self::F16(array) => Self::F16(row(array, position)?),
            Self::F32(array) => Self::F32(row(array, position)?),
            Self::F64(array) => Self::F64(row(array, position)?),
        })
    }

    /// The element at `index` in C order: a boolean, an integer or a float.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<Value> {
        fn at<T: Copy>(array: &ArrayD<T>, index: usize) -> Option<T> {
            array.as_slice()?.get(index).copied()
        }
        Some(match self {
            Self::Bool(array) => Value::Bool(at(array, index)?),
            Self::I8(array) => Value::Int(at(array, index)?.into()),
            Self::I16(array) => Value::Int(at(array, index)?.into()),
            Self::I32(array) => Value::Int(at(array, index)?.into()),
            Self::I64(array) => Value::Int(at(array, index)?),
            Self::U8(array) => Value::Int(at(array, index)?.into()),
            Self::U16(array) => Value::Int(at(array, index)?.into()),
            Self::U32(array) => Value::Int(at(array, index)?.into()),
            Self::F16(array) => Value::Float(at(array, index)?.into()),
            Self::F32(array) => Value::Float(at(array, index)?.into()),
            Self::F64(array) => Value::Float(at(array, index)?),
        })
    }

    /// Sets the element at `index` in C order.
    ///
    /// # Errors
    /// When there is no such element, or the dtype does not hold `value`.
    pub fn set(&mut self, index: usize, value: &Value) -> Result<(), ArrayError> {
        let dtype = self.dtype();
        let refuse = || ArrayError(format!("{} does not fit {dtype}", crate::text::json::to_string(value)));
        let beyond = || ArrayError(format!("there is no element {index}"));
        macro_rules! integer {
            ($array:expr, $kind:ty) => {{
                let slot = $array.as_slice_mut().and_then(|slice| slice.get_mut(index)).ok_or_else(beyond)?;
                *slot = value.as_int().and_then(|value| <$kind>::try_from(value).ok()).ok_or_else(refuse)?;
            }};
        }
        macro_rules! float {
            ($array:expr, $convert:expr) => {{
                let slot = $array.as_slice_mut().and_then(|slice| slice.get_mut(index)).ok_or_else(beyond)?;
                *slot = value.as_float().map($convert).ok_or_else(refuse)?;
            }};
        }
        match self {
            Self::Bool(array) => {
                let slot = array.as_slice_mut().and_then(|slice| slice.get_mut(index)).ok_or_else(beyond)?;
                *slot = match value {
                    Value::Bool(value) => *value,
                    Value::Int(0) => false,
                    Value::Int(1) => true,
                    _ => return Err(refuse()),
                };
            }
            Self::I8(array) => integer!(array, i8),
            Self::I16(array) => integer!(array, i16),
            Self::I32(array) => integer!(array, i32),
            Self::I64(array) => integer!(array, i64),
            Self::U8(array) => integer!(array, u8),
            Self::U16(array) => integer!(array, u16),
            Self::U32(array) => integer!(array, u32),
            Self::F16(array) => float!(array, f16::from_f64),
            #[expect(clippy::cast_possible_truncation, reason = "rounding to the dtype is what is asked for")]
            Self::F32(array) => float!(array, |value| value as f32),
            Self::F64(array) => float!(array, |value| value),
        }
        Ok(())
    }
}

/// Copies the numbers of `values` into `array` in C order.
fn fill(array: &mut Array, values: &Value, shape: &[usize], index: &mut usize, path: &str) -> Result<(), ArrayError> {
    let Some((length, inner)) = shape.split_first() else {
        array.set(*index, values).map_err(|ArrayError(problem)| ArrayError(format!("element{path}: {problem}")))?;
        *index += 1;
        return Ok(());
    };
    let items = match values {
        Value::List(items) => items.as_slice(),
        // An empty table of Lua's is read as an empty map.
        Value::Map(map) if map.is_empty() => &[],
        _ => return Err(ArrayError(format!("ragged: element{path} is {}, not a list", values.kind()))),
    };
    if items.len() != *length {
        return Err(ArrayError(format!("ragged: element{path} has {} items where others have {length}", items.len())));
    }
    for (position, item) in items.iter().enumerate() {
        fill(array, item, inner, index, &format!("{path}[{}]", position + 1))?;
    }
    Ok(())
}

fn nest(array: &Array, shape: &[usize], index: &mut usize) -> Value {
    let Some((length, inner)) = shape.split_first() else {
        let value = array.get(*index).unwrap_or_default();
        *index += 1;
        return value;
    };
    Value::List((0..*length).map(|_| nest(array, inner, index)).collect())
}
