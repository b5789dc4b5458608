//! Elements as plain numbers, for whatever computes with them.

use super::Element;
use crate::array::Array;

impl Element {
    /// Appends the element's numbers to `numbers`, in C order and in the order of its parts;
    /// `false` when a part is text, which has none.
    pub fn append_numbers(&self, numbers: &mut Vec<f64>) -> bool {
        #[expect(clippy::cast_precision_loss, reason = "as NumPy's astype(float64)")]
        match self {
            Self::Discrete(value) => numbers.push(*value as f64),
            Self::Array(array) => append_array(array, numbers),
            Self::Text(_) => return false,
            Self::Tuple(items) => return items.iter().all(|item| item.append_numbers(numbers)),
            Self::Dict(items) => return items.values().all(|item| item.append_numbers(numbers)),
        }
        true
    }
}

fn append_array(array: &Array, numbers: &mut Vec<f64>) {
    #[expect(clippy::cast_precision_loss, reason = "as NumPy's astype(float64)")]
    match array {
        Array::Bool(items) => numbers.extend(items.iter().map(|item| f64::from(u8::from(*item)))),
        Array::I8(items) => numbers.extend(items.iter().map(|item| f64::from(*item))),
        Array::I16(items) => numbers.extend(items.iter().map(|item| f64::from(*item))),
        Array::I32(items) => numbers.extend(items.iter().map(|item| f64::from(*item))),
        Array::I64(items) => numbers.extend(items.iter().map(|item| *item as f64)),
        Array::U8(items) => numbers.extend(items.iter().map(|item| f64::from(*item))),
        Array::U16(items) => numbers.extend(items.iter().map(|item| f64::from(*item))),
        Array::U32(items) => numbers.extend(items.iter().map(|item| f64::from(*item))),
        Array::F16(items) => numbers.extend(items.iter().map(|item| f64::from(*item))),
        Array::F32(items) => numbers.extend(items.iter().map(|item| f64::from(*item))),
        Array::F64(items) => numbers.extend(items.iter().copied()),
    }
}
