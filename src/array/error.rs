//! What can be wrong with an array, its shape, or data that should become one.

use super::DType;
use crate::diagnostic::{Exit, Problem};
use crate::suggest;

/// Why an array could not be made, read or changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields are named in the messages")]
pub enum ArrayError {
    /// There is no such dtype.
    #[error("unknown dtype `{name}`")]
    UnknownDtype { name: String, nearest: Option<String> },
    /// A shape and a number of elements do not agree.
    #[error("shape {shape:?} does not hold {count} element(s)")]
    Shape { shape: Vec<usize>, count: usize },
    /// The array does not fit into memory.
    #[error("an array of shape {shape:?} and dtype {dtype} does not fit into memory")]
    TooLarge { shape: Vec<usize>, dtype: DType },
    /// Two shapes cannot be brought together.
    #[error("shapes {left:?} and {right:?} do not broadcast together")]
    Broadcast { left: Vec<usize>, right: Vec<usize> },
    /// An index outside the array, or one of the wrong length.
    #[error("index {index:?} lies outside shape {shape:?} (indices count from 0)")]
    Index { index: Vec<usize>, shape: Vec<usize> },
    /// There is no such axis.
    #[error("axis {axis} does not exist in shape {shape:?} (axes count from 0)")]
    Axis { axis: usize, shape: Vec<usize> },
    /// The least or greatest of nothing.
    #[error("axis {axis} of shape {shape:?} is empty and has no extreme (axes count from 0)")]
    Empty { axis: usize, shape: Vec<usize> },
    /// A slice that runs backwards, past the end, or in steps of zero.
    #[error("slice {start}..{end} in steps of {step} lies outside an axis of length {length}")]
    Slice { start: usize, end: usize, step: usize, length: usize },
    /// A value that the dtype cannot hold.
    #[error("{value}{} does not fit {dtype}", place(.path))]
    Lost { value: String, dtype: DType, path: Vec<usize> },
    /// Nested lists whose lengths differ.
    #[error("ragged list{}: expected {expected}, found {found}", place(.path))]
    Ragged { path: Vec<usize>, expected: String, found: String },
    /// Something in the lists that is no number.
    #[error("expected a number{}, found {found}", place(.path))]
    NotANumber { path: Vec<usize>, found: &'static str },
    /// Shapes that have no product.
    #[error("shapes {left:?} and {right:?} have no product: the last axis of the one meets the first of the other")]
    Product { left: Vec<usize>, right: Vec<usize> },
    /// A join of no arrays.
    #[error("there is no array to join")]
    Nothing,
    /// Arithmetic that left its dtype's range.
    #[error("an integer result does not fit {dtype}")]
    Overflow { dtype: DType },
    /// An integer that was divided by zero.
    #[error("an integer is divided by zero; of floats that is inf or nan: `a:astype(\"f64\")`")]
    DivisionByZero,
    /// An integer raised to a negative power.
    #[error("an integer is raised to a negative power; floats can be: `a:astype(\"f64\")`")]
    NegativePower,
}

/// ` at [2][1]`: places in nested lists, counted from 1 as in Lua; nothing at the top.
fn place(path: &[usize]) -> String {
    if path.is_empty() {
        return String::new();
    }
    path.iter().fold(" at ".to_owned(), |text, index| text + &format!("[{}]", index + 1))
}

impl Problem for ArrayError {
    fn code(&self) -> &'static str {
        match self {
            Self::UnknownDtype { .. } => "array/unknown-dtype",
            Self::Shape { .. } | Self::Ragged { .. } => "array/shape",
            Self::TooLarge { .. } => "array/too-large",
            Self::Broadcast { .. } | Self::Product { .. } | Self::Nothing => "array/broadcast",
            Self::Index { .. } | Self::Axis { .. } | Self::Empty { .. } | Self::Slice { .. } => "array/index",
            Self::Lost { .. }
            | Self::NotANumber { .. }
            | Self::Overflow { .. }
            | Self::DivisionByZero
            | Self::NegativePower => "array/value",
        }
    }

    fn exit(&self) -> Exit {
        Exit::Failure
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownDtype { nearest: Some(nearest), .. } => Some(suggest::question(nearest)),
            Self::UnknownDtype { .. } => Some(format!("dtypes are {}", DType::ALL.map(DType::name).join(", "))),
            _ => None,
        }
    }
}
