//! Snapshots: the state of one part of a run between two steps, as plain data.
//!
//! Environments, policies, algorithms, reward terms and regime providers can be asked for one, and
//! a part made anew from the same configuration can be brought back to it; the run then goes on
//! to the very same bytes. A part that cannot says so, and why: it is never guessed.

use crate::value::{Map, Value};

/// Why a part has no snapshot, or cannot be brought back to one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// The part keeps state that plain data cannot hold.
    #[error("{what} cannot be checkpointed: {why}")]
    Unsupported {
        /// The part, such as "environment `CartPole-v1`".
        what: String,
        /// What is in the way.
        why: String,
    },
    /// The data is not what the part wrote.
    #[error("the saved state has no fitting `{0}`")]
    Damaged(String),
}

impl SnapshotError {
    /// A part, called as a message calls it, that cannot be checkpointed, and why.
    #[must_use]
    pub fn unsupported(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Unsupported { what: what.into(), why: why.into() }
    }

    /// A part of which nothing is known but its name.
    #[must_use]
    pub fn unknown(what: impl Into<String>) -> Self {
        Self::unsupported(what, "it does not say how to save its state")
    }
}

/// A part's state as a map.
#[must_use]
pub(crate) fn state<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Map(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map>())
}

/// A count as data.
#[must_use]
pub(crate) fn count(value: u64) -> Value {
    value.into()
}

/// An index as data.
#[must_use]
pub(crate) fn index(value: usize) -> Value {
    count(u64::try_from(value).unwrap_or(u64::MAX))
}

/// Numbers as data.
#[must_use]
pub(crate) fn numbers(values: &[f64]) -> Value {
    Value::List(values.iter().map(|value| Value::Float(*value)).collect())
}

/// Indices as data.
#[must_use]
pub(crate) fn indices(values: &[usize]) -> Value {
    Value::List(values.iter().copied().map(index).collect())
}

/// The entry `key` of the map `state`.
///
/// # Errors
/// When there is none.
pub(crate) fn entry<'a>(state: &'a Value, key: &str) -> Result<&'a Value, SnapshotError> {
    state.as_map().and_then(|map| map.get(key)).ok_or_else(|| damaged(key))
}

/// The entry `key` as `read` understands it.
///
/// # Errors
/// When there is none, or `read` does not understand it.
pub(crate) fn read<'a, T>(
    state: &'a Value,
    key: &str,
    read: impl FnOnce(&'a Value) -> Option<T>,
) -> Result<T, SnapshotError> {
    read(entry(state, key)?).ok_or_else(|| damaged(key))
}

/// The entry `key` as `read` understands it; `None` where it is null.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_optional<'a, T>(
    state: &'a Value,
    key: &str,
    read: impl FnOnce(&'a Value) -> Option<T>,
) -> Result<Option<T>, SnapshotError> {
    match entry(state, key)? {
        Value::Null => Ok(None),
        value => read(value).map(Some).ok_or_else(|| damaged(key)),
    }
}

/// The count in entry `key`.
///
/// # Errors
/// When there is none.
pub(crate) fn read_count(state: &Value, key: &str) -> Result<u64, SnapshotError> {
    read(state, key, Value::as_count)
}

/// The index below `length` in entry `key`.
///
/// # Errors
/// When there is none.
pub(crate) fn read_index(state: &Value, key: &str, length: usize) -> Result<usize, SnapshotError> {
    read(state, key, |value| as_index(value, length))
}

/// The indices in entry `key`, each below `length`.
///
/// # Errors
/// When there are none.
pub(crate) fn read_indices(state: &Value, key: &str, length: usize) -> Result<Vec<usize>, SnapshotError> {
    read(state, key, |value| value.as_list()?.iter().map(|value| as_index(value, length)).collect())
}

fn as_index(value: &Value, length: usize) -> Option<usize> {
    usize::try_from(value.as_int()?).ok().filter(|index| *index < length)
}

/// The number in entry `key`.
///
/// # Errors
/// When there is none.
pub(crate) fn read_number(state: &Value, key: &str) -> Result<f64, SnapshotError> {
    read(state, key, Value::as_float)
}

/// The numbers in entry `key`.
///
/// # Errors
/// When there are none.
pub(crate) fn read_numbers(state: &Value, key: &str) -> Result<Vec<f64>, SnapshotError> {
    read(state, key, |value| value.as_list()?.iter().map(Value::as_float).collect())
}

/// Gives `slots` the numbers in entry `key`, which are as many.
///
/// # Errors
/// When they are not.
pub(crate) fn read_numbers_into(state: &Value, key: &str, slots: &mut [f64]) -> Result<(), SnapshotError> {
    let numbers = read_numbers(state, key)?;
    if numbers.len() != slots.len() {
        return Err(damaged(key));
    }
    slots.copy_from_slice(&numbers);
    Ok(())
}

/// The truth value in entry `key`.
///
/// # Errors
/// When there is none.
pub(crate) fn read_flag(state: &Value, key: &str) -> Result<bool, SnapshotError> {
    read(state, key, Value::as_bool)
}

/// Data that has no fitting `key`.
#[must_use]
pub(crate) fn damaged(key: &str) -> SnapshotError {
    SnapshotError::Damaged(key.to_owned())
}
