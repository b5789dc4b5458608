//! `--set a.b.c=VALUE`: one value of a configuration, changed by its path.

use super::schema::{EXPERIMENT, Shape, unknown_key};
use crate::diagnostic::{Exit, Problem};
use crate::text::json;
use crate::value::{Map, Value};

/// Why a value could not be set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetError {
    /// There is no `=`, or nothing before it.
    #[error("`{0}` is not of the form a.b.c=VALUE")]
    NotAnAssignment(String),
    /// The schema has no such key.
    #[error("`{path}`: {message}")]
    UnknownKey {
        /// The path as far as the key that is not known.
        path: String,
        /// That it is unknown, and what is near.
        message: String,
    },
    /// The path leads into something that has no keys.
    #[error("`{path}` is {kind}, which has no `{key}`")]
    NoKeys {
        /// The path to what is in the way.
        path: String,
        /// What it is.
        kind: &'static str,
        /// The key asked of it.
        key: String,
    },
}

impl Problem for SetError {
    fn code(&self) -> &'static str {
        "config/set"
    }

    fn exit(&self) -> Exit {
        Exit::Usage
    }
}

/// Sets one value of `document` by `assignment`, `a.b.c=VALUE`. VALUE is JSON if it parses as
/// JSON, else text; where the schema has text, it is text as it stands (`run.name=1E5`). Below
/// `kwargs`, `params` and `meta` keys are free, and maps on the way are made; an item of a list
/// is named by its index from 0 (`reward.terms.0.weight=0.5`).
///
/// # Errors
/// A malformed assignment, a key that the schema does not have, a path through something that is
/// neither a map nor a list. `document` is then unchanged. What the value ought to be is checked
/// by [`super::ExperimentConfig::from_value`].
pub fn set(document: &mut Value, assignment: &str) -> Result<(), SetError> {
    let malformed = || SetError::NotAnAssignment(assignment.to_owned());
    let (path, text) = assignment.split_once('=').ok_or_else(malformed)?;
    let keys: Vec<&str> = path.split('.').map(str::trim).collect();
    if keys.iter().any(|key| key.is_empty()) {
        return Err(malformed());
    }
    set_value(document, path, value_at(path, text)?)
}

/// What `text` is where the path leads: text as it stands where the schema has text, elsewhere
/// JSON if it parses as JSON.
///
/// # Errors
/// When the schema has no such path.
pub(crate) fn value_at(path: &str, text: &str) -> Result<Value, SetError> {
    let keys: Vec<&str> = path.split('.').map(str::trim).collect();
    Ok(match shape_of(&keys)? {
        Shape::Text => Value::from(text),
        _ => json::parse(text).unwrap_or_else(|_| Value::from(text)),
    })
}

/// Sets what the path leads to, as [`set`] does.
///
/// # Errors
/// As for [`set`].
pub(crate) fn set_value(document: &mut Value, path: &str, value: Value) -> Result<(), SetError> {
    let keys: Vec<&str> = path.split('.').map(str::trim).collect();
    shape_of(&keys)?;
    let mut changed = document.clone();
    *place(&mut changed, &keys)? = value;
    *document = changed;
    Ok(())
}

/// What the schema has at the end of the path.
fn shape_of(keys: &[&str]) -> Result<Shape, SetError> {
    let mut shape = EXPERIMENT;
    for (index, key) in keys.iter().enumerate() {
        shape = match shape {
            Shape::Section(known) => match known.iter().find(|(name, _)| name == key) {
                Some((_, inner)) => *inner,
                None => {
                    let path = path_to(keys, index + 1);
                    return Err(SetError::UnknownKey { path, message: unknown_key(key, known) });
                }
            },
            Shape::Each(item) => *item,
            Shape::Open => return Ok(Shape::Data),
            Shape::Text => return Err(no_keys(keys, index, "text")),
            Shape::Data => return Err(no_keys(keys, index, "a single value")),
        };
    }
    Ok(shape)
}

/// The place at the end of the path, made if it is not there.
fn place<'a>(document: &'a mut Value, keys: &[&str]) -> Result<&'a mut Value, SetError> {
    let mut here = document;
    for (index, key) in keys.iter().enumerate() {
        let empty = matches!(here, Value::Null) || matches!(here, Value::List(items) if items.is_empty());
        if empty {
            *here = Value::Map(Map::new());
        }
        here = match here {
            Value::Map(map) => map.entry((*key).to_owned()).or_default(),
            Value::List(items) => {
                let item = key.parse().ok().and_then(|at: usize| items.get_mut(at));
                item.ok_or_else(|| no_keys(keys, index, "a list"))?
            }
            other => return Err(no_keys(keys, index, other.kind())),
        };
    }
    Ok(here)
}

fn path_to(keys: &[&str], end: usize) -> String {
    keys.get(..end).unwrap_or(keys).join(".")
}

fn no_keys(keys: &[&str], index: usize, kind: &'static str) -> SetError {
    let key = keys.get(index).copied().unwrap_or_default().to_owned();
    SetError::NoKeys { path: path_to(keys, index), kind, key }
}
