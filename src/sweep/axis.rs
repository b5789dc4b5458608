//! `--axis a.b.c=0.1,0.2`: an axis typed on the command line.

use crate::config::{SetError, value_at};
use crate::diagnostic::{Exit, Problem};
use crate::value::Value;

/// Why an axis cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AxisError {
    /// There is no `=`, or nothing on one side of it.
    #[error("`{0}` is not of the form a.b.c=VALUE,VALUE")]
    Malformed(String),
    /// Two axes are one field.
    #[error("--axis {0} is there twice; name all its values in one")]
    Twice(String),
    /// Every trial's value would take the place of the one that was set.
    #[error("--set {set} would be overwritten by --axis {axis}; leave one of them out")]
    Set {
        /// The field that is set.
        set: String,
        /// The axis's field.
        axis: String,
    },
    /// The configuration has no such field.
    #[error("--axis {0}")]
    Path(#[from] SetError),
}

impl Problem for AxisError {
    fn code(&self) -> &'static str {
        "sweep/axis"
    }

    fn exit(&self) -> Exit {
        Exit::Usage
    }
}

/// The path of the field and its values. A comma parts two values, but not inside the brackets,
/// braces or quotes of a JSON value; each value is what `--set` would make of it.
///
/// # Errors
/// When `text` is not of the form, or the configuration has no such field.
pub(crate) fn parse(text: &str) -> Result<(String, Vec<Value>), AxisError> {
    let malformed = || AxisError::Malformed(text.to_owned());
    let (path, values) = text.split_once('=').ok_or_else(malformed)?;
    let path = path.trim();
    if path.split('.').any(|key| key.trim().is_empty()) || values.is_empty() {
        return Err(malformed());
    }
    let values = parts(values).into_iter().map(|value| value_at(path, value));
    Ok((path.to_owned(), values.collect::<Result<_, _>>()?))
}

/// Refuses axes that take each other's place, or that of what is set by `overrides` (`a.b.c=VALUE`).
///
/// # Errors
/// The first that does.
pub(crate) fn check(axes: &[(String, Vec<Value>)], overrides: &[String]) -> Result<(), AxisError> {
    let mut known = std::collections::HashSet::new();
    for (axis, _) in axes {
        if !known.insert(axis) {
            return Err(AxisError::Twice(axis.clone()));
        }
        let mut fields = overrides.iter().filter_map(|set| Some(set.split_once('=')?.0.trim()));
        let covers =
            |set: &&str| set.strip_prefix(axis.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        if let Some(set) = fields.find(covers) {
            return Err(AxisError::Set { set: set.to_owned(), axis: axis.clone() });
        }
    }
    Ok(())
}

/// The text between the commas that stand outside of brackets, braces and quotes.
fn parts(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quoted, mut escaped) = (Vec::new(), 0, 0_i64, false, false);
    for (at, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            ',' if depth <= 0 => {
                parts.push(text.get(start..at).unwrap_or_default());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text.get(start..).unwrap_or_default());
    parts
}
