//! JSON in Python's dialect.

use crate::value::Value;

/// What is wrong with a JSON text.
#[derive(Debug, thiserror::Error)]
#[error("{message} at line {line}, column {column}")]
pub struct JsonError {
    /// What was found and what was expected.
    pub message: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in bytes, from 1.
    pub column: usize,
}

/// `value` as `json.dumps(value)` prints it: one line, separators `", "` and `": "`, ASCII only.
#[must_use]
pub fn to_string(value: &Value) -> String {
    let mut out = Vec::new();
    write(&mut out, value);
    String::from_utf8_lossy(&out).into_owned()
}

/// Appends `value` as `json.dumps(value)` prints it.
pub fn write(_out: &mut Vec<u8>, _value: &Value) {}

/// Appends `text` as a JSON string, ASCII only, as Python does.
pub fn write_text(_out: &mut Vec<u8>, _text: &str) {}

/// `value` as `json.dumps(value, indent=2, sort_keys=True)` prints it.
#[must_use]
pub fn to_canonical(_value: &Value) -> String {
    String::new()
}

/// Reads one JSON value in Python's dialect (`NaN`, `Infinity` accepted, the last of duplicate
/// keys wins, integers of any size kept).
///
/// # Errors
/// Where and why the text is not JSON.
pub fn parse(_text: &str) -> Result<Value, JsonError> {
    Ok(Value::Null)
}
