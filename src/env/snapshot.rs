//! A native world's state as plain data, for checkpoints.

use crate::snapshot::{self, SnapshotError};
use crate::value::Value;

/// One piece of a world's state.
pub(super) enum Slot<'a> {
    Number(&'a mut f64),
    Integer(&'a mut i64),
    Index(&'a mut usize),
    Flag(&'a mut bool),
}

/// The pieces' values, in their order.
pub(super) fn save(slots: Vec<Slot<'_>>) -> Value {
    let value = |slot| match slot {
        Slot::Number(number) => Value::Float(*number),
        Slot::Integer(integer) => Value::Int(*integer),
        Slot::Index(index) => snapshot::count(u64::try_from(*index).unwrap_or(u64::MAX)),
        Slot::Flag(flag) => Value::Bool(*flag),
    };
    Value::List(slots.into_iter().map(value).collect())
}

/// Gives the pieces the values in entry `key` of `state`.
///
/// # Errors
/// When there are not as many, or one is of another kind.
pub(super) fn restore(slots: Vec<Slot<'_>>, state: &Value, key: &str) -> Result<(), SnapshotError> {
    let values = snapshot::read(state, key, |value| value.as_list().filter(|values| values.len() == slots.len()))?;
    for (slot, value) in slots.into_iter().zip(values) {
        let put = || {
            match slot {
                Slot::Number(number) => *number = value.as_float()?,
                Slot::Integer(integer) => *integer = value.as_int()?,
                Slot::Index(index) => *index = usize::try_from(value.as_int()?).ok()?,
                Slot::Flag(flag) => *flag = value.as_bool()?,
            }
            Some(())
        };
        put().ok_or_else(|| snapshot::damaged(key))?;
    }
    Ok(())
}
