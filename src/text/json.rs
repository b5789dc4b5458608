//! JSON in Python's dialect.
//!
//! [`write()`] and [`to_string`] print what `json.dumps(value)` prints, [`to_canonical`] what
//! `json.dumps(value, indent=2, sort_keys=True)` prints, [`to_msgspec`] what `msgspec.json`
//! encodes, each byte for byte; [`parse`] reads what `json.loads` reads. Printing never fails
//! and reading back gives an equal [`Value`], except that `to_msgspec` has no non-finite floats.

mod layout;
mod parse;

pub use layout::write_text;
use layout::{Canonical, Compact, Msgspec, OneLine, write_value};
pub use parse::{JsonError, MAX_DEPTH, parse, parse_exact};

use crate::value::Value;

/// `value` as `json.dumps(value)` prints it: one line, separators `", "` and `": "`, ASCII only.
///
/// ```
/// use skyfall::value::Value;
/// let value = Value::List(vec![Value::Int(1), Value::Float(1.0), Value::from("é")]);
/// assert_eq!(skyfall::text::json::to_string(&value), r#"[1, 1.0, "\u00e9"]"#);
/// ```
#[must_use]
pub fn to_string(value: &Value) -> String {
    text_of(|out| write(out, value))
}

/// Appends `value` as `json.dumps(value)` prints it.
pub fn write(out: &mut Vec<u8>, value: &Value) {
    write_value(out, value, OneLine { sorts: false }, 0);
}

/// `value` as `json.dumps(value, sort_keys=True)` prints it.
#[must_use]
pub fn to_sorted_line(value: &Value) -> String {
    text_of(|out| write_value(out, value, OneLine { sorts: true }, 0))
}

/// `value` as `json.dumps(value, indent=2, sort_keys=True, ensure_ascii=True)` prints it: the
/// form that is hashed and written into manifests.
#[must_use]
pub fn to_canonical(value: &Value) -> String {
    text_of(|out| write_value(out, value, Canonical, 0))
}

/// `value` without spaces, in UTF-8: `json.dumps(value, separators=(",", ":"), ensure_ascii=False)`.
#[must_use]
pub fn to_compact(value: &Value) -> String {
    text_of(|out| write_value(out, value, Compact, 0))
}

/// `value` as `msgspec.json.encode` prints it: compact and in UTF-8 like [`to_compact`], but
/// floats as `0.00001`, `1e-6`, `1e16`, and `null` for those that are not finite.
#[must_use]
pub fn to_msgspec(value: &Value) -> String {
    text_of(|out| write_value(out, value, Msgspec, 0))
}

/// What `write` appends, as text.
fn text_of(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8_lossy(&out).into_owned()
}
