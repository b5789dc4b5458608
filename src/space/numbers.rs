//! Elements as plain numbers, for whatever computes with them.

use super::Element;
use crate::array::{Item, each};

impl Element {
    /// Appends the element's numbers to `numbers`, in C order and in the order of its parts;
    /// `false` when a part is text, which has none.
    pub fn append_numbers(&self, numbers: &mut Vec<f64>) -> bool {
        #[expect(clippy::cast_precision_loss, reason = "as NumPy's astype(float64)")]
        match self {
            Self::Discrete(value) => numbers.push(*value as f64),
            Self::Array(array) => each!(array, items => numbers.extend(items.iter().map(|item| item.to_f64()))),
            Self::Text(_) => return false,
            Self::Tuple(items) => return items.iter().all(|item| item.append_numbers(numbers)),
            Self::Dict(items) => return items.values().all(|item| item.append_numbers(numbers)),
        }
        true
    }
}
