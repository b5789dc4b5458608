//! YAML in PyYAML's dialect (YAML 1.1, as Python programs write and read it).
//!
//! [`to_string`] prints what `yaml.safe_dump(value, sort_keys=False)` prints, byte for byte;
//! [`parse`] resolves plain scalars as `yaml.safe_load` does, so that a file means here what it
//! means to Python: `yes` is true, `12:30` is 750, `1e5` is text. The grammar itself is read by
//! an event parser; which text is a number is decided in `plain`, for both directions.

mod emit;
mod plain;
mod read;
mod scalar;

use crate::diagnostic::{Exit, Problem};
use crate::value::Value;

/// How deep lists and maps may be nested.
pub const MAX_DEPTH: usize = super::json::MAX_DEPTH;

/// What is wrong with a YAML text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} at line {line}, column {column}")]
pub struct YamlError {
    /// What was found.
    pub message: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl Problem for YamlError {
    fn code(&self) -> &'static str {
        "text/yaml"
    }

    fn exit(&self) -> Exit {
        Exit::Input
    }
}

/// `value` as `yaml.safe_dump(value, sort_keys=False)` prints it, with the final line break.
///
/// ```
/// use skyfall::value::{Map, Value};
/// let low = Value::List(vec![Value::Float(1e-5), Value::from("-inf"), Value::from("no")]);
/// let map = Value::Map(Map::from_iter([("low".to_owned(), low)]));
/// assert_eq!(skyfall::text::yaml::to_string(&map), "low:\n- 1.0e-05\n- -inf\n- 'no'\n");
/// ```
#[must_use]
pub fn to_string(value: &Value) -> String {
    emit::document(value)
}

/// Reads one YAML document, plain scalars resolved as PyYAML's `safe_load` resolves them.
///
/// An empty text is null. Aliases are copied; merge keys (`<<`) are merged, the map's own keys
/// and earlier maps winning. The last of duplicate keys wins, in the place of the first. Where
/// Python has types that plain data lacks, the text is kept: timestamps (`2020-01-31`), keys that
/// are not text (`1: x` has the key `1`), and the scalars `=` and `<<`, which PyYAML refuses.
///
/// # Errors
/// Where and why the text is not YAML, has more than one document, tags that ask for other types
/// or for code, a collection as a key, nesting beyond [`MAX_DEPTH`], or aliases that would expand
/// beyond bounds.
pub fn parse(text: &str) -> Result<Value, YamlError> {
    read::document(text)
}
