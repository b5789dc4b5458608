//! Plain data: the one type that crosses between Lua tables, YAML, JSON, configurations,
//! manifests and trace rows.
//!
//! It keeps what those formats tell apart: `1` and `1.0`, integers too large for 64 bits (as
//! text), non-finite floats, and the order in which a map's keys were declared.

use indexmap::IndexMap;

/// An ordered map from text to [`Value`]; the order is the order of declaration.
pub type Map = IndexMap<String, Value>;

/// A map of `entries`, in their order.
#[must_use]
pub fn map<const N: usize>(entries: [(&str, Value); N]) -> Map {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// One piece of plain data.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// `null`, `None`, `nil`.
    #[default]
    Null,
    /// A truth value.
    Bool(bool),
    /// An integer within 64 bits.
    Int(i64),
    /// An integer outside `i64`, as canonical decimal text (`-?[1-9][0-9]*`).
    BigInt(String),
    /// A float, possibly not finite.
    Float(f64),
    /// Text.
    Text(String),
    /// A sequence.
    List(Vec<Value>),
    /// An ordered map.
    Map(Map),
}

impl Value {
    /// A map of `entries`, in their order.
    #[must_use]
    pub fn map<const N: usize>(entries: [(&str, Value); N]) -> Self {
        Self::Map(map(entries))
    }

    /// What kind of data this is, in the words of an error message.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Int(_) | Self::BigInt(_) => "an integer",
            Self::Float(_) => "a number",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
        }
    }

    /// The truth value, if it is one.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The integer, if it is one or a float with an integral value (`2.0` counts as `2`).
    #[must_use]
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(*value),
            Self::Float(value) => integral(*value),
            _ => None,
        }
    }

    /// The integer as a count, if it is at least 0 and below 2^64; also of a float with an integral
    /// value.
    #[must_use]
    pub fn as_count(&self) -> Option<u64> {
        match self {
            Self::BigInt(text) => text.parse().ok(),
            other => other.as_int().and_then(|value| u64::try_from(value).ok()),
        }
    }

    /// The number as a float, if it is an integer or a float.
    #[must_use]
    pub fn as_float(&self) -> Option<f64> {
        match self {
            #[expect(clippy::cast_precision_loss, reason = "Python's float(int) rounds the same way")]
            Self::Int(value) => Some(*value as f64),
            Self::BigInt(text) => text.parse().ok(),
            Self::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// The text, if it is text.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(value) => Some(value),
            _ => None,
        }
    }

    /// The sequence, if it is one.
    #[must_use]
    pub fn as_list(&self) -> Option<&[Self]> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }

    /// The map, if it is one.
    #[must_use]
    pub fn as_map(&self) -> Option<&Map> {
        match self {
            Self::Map(map) => Some(map),
            _ => None,
        }
    }

    /// Whether this is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }
}

/// What stands in place of code that cannot be recorded by value: why.
pub(crate) fn unrecorded(why: String) -> Value {
    Value::Map(Map::from_iter([("unrecorded".to_owned(), Value::Text(why))]))
}

/// `value` as an `i64` if it is integral and within range.
fn integral(value: f64) -> Option<i64> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0; // 2^63
    #[expect(clippy::cast_possible_truncation, reason = "integral and within range, checked here")]
    (value.fract() == 0.0 && (-LIMIT..LIMIT).contains(&value)).then_some(value as i64)
}

macro_rules! from {
    ($($source:ty => $variant:ident),+ $(,)?) => {$(
        impl From<$source> for Value {
            fn from(value: $source) -> Self {
                Self::$variant(value.into())
            }
        }
    )+};
}
from! { bool => Bool, i32 => Int, u32 => Int, i64 => Int, f64 => Float, &str => Text, String => Text, Vec<Value> => List, Map => Map }

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        i64::try_from(value).map_or_else(|_| Self::BigInt(value.to_string()), Self::Int)
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
