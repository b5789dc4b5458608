//! Arrays and nested lists of plain data.
//!
//! Lists must be rectangular: the first item at each level decides the depth, and everything else
//! has to follow. Places in messages count from 1, as in Lua.

use super::{Array, ArrayError, DType, Scalar};
use crate::value::Value;

impl Array {
    /// The array that `value` spells as nested lists of numbers or booleans; a bare number has
    /// shape `[]`.
    ///
    /// # Errors
    /// When the lists are ragged, hold something else, or a value does not fit `dtype`; the error
    /// names the place.
    pub fn from_value(value: &Value, dtype: DType) -> Result<Self, ArrayError> {
        let (shape, scalars) = flatten(value)?;
        Self::from_scalars(dtype, &shape, scalars.into_iter())
    }

    /// The same with the dtype that suits the values: `bool` if all are booleans, `i64` if all
    /// are integers, `f64` else.
    ///
    /// # Errors
    /// When the lists are ragged or hold something else; the error names the place.
    pub fn infer(value: &Value) -> Result<Self, ArrayError> {
        let (shape, scalars) = flatten(value)?;
        Self::from_scalars(common_dtype(&scalars), &shape, scalars.into_iter())
    }

    /// The elements as nested lists (a bare value for shape `[]`).
    #[must_use]
    pub fn to_value(&self) -> Value {
        nest(self.shape(), &mut self.scalars().map(Value::from))
    }
}

/// The shape that `value` spells and its leaves in C order.
fn flatten(value: &Value) -> Result<(Vec<usize>, Vec<Scalar>), ArrayError> {
    let mut shape = Vec::new();
    let mut level = value;
    while let Value::List(items) = level {
        shape.push(items.len());
        match items.first() {
            Some(first) => level = first,
            None => break,
        }
    }
    let mut scalars = Vec::new();
    collect(value, &shape, &mut Vec::new(), &mut scalars)?;
    Ok((shape, scalars))
}

/// Appends the leaves of `value`, which must have `shape`, to `scalars`; `path` is where it lies.
fn collect(value: &Value, shape: &[usize], path: &mut Vec<usize>, scalars: &mut Vec<Scalar>) -> Result<(), ArrayError> {
    let ragged = |path: &[usize], expected, found| ArrayError::Ragged { path: path.to_vec(), expected, found };
    match (shape.split_first(), value) {
        (Some((&length, rest)), Value::List(items)) => {
            if items.len() != length {
                return Err(ragged(path, format!("{length} item(s)"), format!("{} item(s)", items.len())));
            }
            for (position, item) in items.iter().enumerate() {
                path.push(position);
                collect(item, rest, path, scalars)?;
                path.pop();
            }
            Ok(())
        }
        (Some((length, _)), other) => Err(ragged(path, format!("a list of {length}"), other.kind().to_owned())),
        (None, Value::List(_)) => Err(ragged(path, "a number".to_owned(), "a list".to_owned())),
        (None, leaf) => {
            let scalar = Scalar::from_value(leaf);
            scalars.push(scalar.ok_or_else(|| ArrayError::NotANumber { path: path.clone(), found: leaf.kind() })?);
            Ok(())
        }
    }
}

/// The narrowest of `bool`, `i64` and `f64` that suits all `scalars`.
fn common_dtype(scalars: &[Scalar]) -> DType {
    let all = |kind: fn(&Scalar) -> bool| !scalars.is_empty() && scalars.iter().all(kind);
    if all(|scalar| matches!(scalar, Scalar::Bool(_))) {
        DType::Bool
    } else if all(|scalar| matches!(scalar, Scalar::Int(_))) {
        DType::I64
    } else {
        DType::F64
    }
}

/// Takes the elements of `shape` from `leaves` into nested lists.
fn nest(shape: &[usize], leaves: &mut impl Iterator<Item = Value>) -> Value {
    match shape.split_first() {
        None => leaves.next().unwrap_or_default(),
        Some((&length, rest)) => Value::List((0..length).map(|_| nest(rest, leaves)).collect()),
    }
}
