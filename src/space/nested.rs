//! Numbers as nested lists, and the shape that the lists show.

use super::SpaceError;
use crate::value::Value;

/// Numbers from nested lists, in C order.
pub(super) struct Nested<T> {
    /// The lists' shape, as far as they show it; `None` for a number without a list.
    pub(super) shape: Option<Vec<usize>>,
    pub(super) items: Vec<T>,
}

/// The `leaf`s of nested lists of one shape.
pub(super) fn numbers<T>(
    value: &Value,
    path: &str,
    leaf: &dyn Fn(&Value, &str) -> Result<T, SpaceError>,
) -> Result<Nested<T>, SpaceError> {
    let mut items = Vec::new();
    let shape = flatten(value, path, leaf, &mut items)?;
    let bare = !matches!(value, Value::List(_)) && !is_empty(value);
    Ok(Nested { shape: (!bare).then_some(shape), items })
}

impl<T> Nested<T> {
    /// Fails unless the numbers fill `shape`, or there is just one, which stands for all.
    pub(super) fn check(&self, shape: &[usize], path: &str) -> Result<(), SpaceError> {
        match &self.shape {
            Some(found) if found != shown(shape) => Err(SpaceError::new(
                path,
                format!("has the shape {found:?}, which is not that of the space, {shape:?}"),
            )),
            _ => Ok(()),
        }
    }
}

/// The part of `shape` that nested lists show: all up to the first length of zero.
pub(super) fn shown(shape: &[usize]) -> &[usize] {
    let end = shape.iter().position(|length| *length == 0).map_or(shape.len(), |zero| zero + 1);
    shape.get(..end).unwrap_or(shape)
}

/// Lua's empty table, which may be an empty list.
fn is_empty(value: &Value) -> bool {
    matches!(value, Value::Map(map) if map.is_empty())
}

/// Appends the numbers in `value` and returns its shape.
fn flatten<T>(
    value: &Value,
    path: &str,
    leaf: &dyn Fn(&Value, &str) -> Result<T, SpaceError>,
    found: &mut Vec<T>,
) -> Result<Vec<usize>, SpaceError> {
    if is_empty(value) {
        return Ok(vec![0]);
    }
    let Value::List(items) = value else {
        found.push(leaf(value, path)?);
        return Ok(Vec::new());
    };
    let mut inner = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let shape = flatten(item, &format!("{path}[{}]", index + 1), leaf, found)?;
        if index > 0 && shape != inner {
            return Err(SpaceError::new(path, "is ragged: its lists differ in length"));
        }
        inner = shape;
    }
    inner.insert(0, items.len());
    Ok(inner)
}
