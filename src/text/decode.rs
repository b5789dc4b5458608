//! Reading typed things out of plain data: every mistake is collected, with its path.
//!
//! A [`Field`] is one piece of data and the path that leads to it. Asking it for a type answers
//! `None` after noting what was expected and what came, so that a reader goes on and reports
//! everything at once. Keys that nobody asks for are left to the caller: the format's readers
//! tolerate them, the configuration does not.

use std::cell::RefCell;
use std::fmt;

use crate::diagnostic::Problem;
use crate::value::{Map, Value};

/// One mistake in plain data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Where, as `algorithm.policy.kwargs` or `reward.terms[1].weight`; empty for the whole.
    pub path: String,
    /// What is wrong there, as the rest of a sentence.
    pub message: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            out.write_str(&self.message)
        } else {
            write!(out, "`{}`: {}", self.path, self.message)
        }
    }
}

/// All mistakes in a piece of plain data, in the order they were met.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
pub struct Mistakes(pub Vec<Mistake>);

impl fmt::Display for Mistakes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, mistake) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(out, "{separator}{mistake}")?;
        }
        Ok(())
    }
}

impl Problem for Mistakes {
    fn code(&self) -> &'static str {
        "text/mistakes"
    }
}

/// Reads `value` with `read`, whose answer counts only if no mistake was noted.
///
/// # Errors
/// All mistakes that were noted.
pub(crate) fn decode<T>(value: &Value, read: impl FnOnce(&Field<'_>) -> Option<T>) -> Result<T, Mistakes> {
    let mistakes = RefCell::default();
    let read = read(&Field { value, path: String::new(), mistakes: &mistakes });
    let mistakes: Mistakes = mistakes.into_inner();
    match read {
        Some(read) if mistakes.0.is_empty() => Ok(read),
        _ => Err(mistakes),
    }
}

/// One piece of data, and the path that leads to it.
#[derive(Clone, Debug)]
pub(crate) struct Field<'a> {
    value: &'a Value,
    path: String,
    mistakes: &'a RefCell<Mistakes>,
}

impl<'a> Field<'a> {
    /// The data itself.
    #[must_use]
    pub(crate) fn value(&self) -> &'a Value {
        self.value
    }

    /// Notes that something is wrong with this field.
    pub(crate) fn note(&self, message: impl Into<String>) {
        self.note_at(self.path.clone(), message);
    }

    /// Notes that something is wrong with the key `key` of this field.
    pub(crate) fn note_key(&self, key: &str, message: impl Into<String>) {
        self.note_at(self.path_to(key), message);
    }

    fn note_at(&self, path: String, message: impl Into<String>) {
        self.mistakes.borrow_mut().0.push(Mistake { path, message: message.into() });
    }

    fn path_to(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// `found`, or `None` and a note of what was expected instead.
    fn expect<T>(&self, found: Option<T>, expected: &str) -> Option<T> {
        if found.is_none() {
            self.note(format!("expected {expected}, found {}", describe(self.value)));
        }
        found
    }

    /// The text here.
    #[must_use]
    pub(crate) fn text(&self) -> Option<String> {
        self.expect(self.value.as_text().map(str::to_owned), "text")
    }

    /// The truth value here.
    #[must_use]
    pub(crate) fn flag(&self) -> Option<bool> {
        self.expect(self.value.as_bool(), "true or false")
    }

    /// The finite number here.
    #[must_use]
    pub(crate) fn number(&self) -> Option<f64> {
        self.expect(self.value.as_float().filter(|number| number.is_finite()), "a finite number")
    }

    /// The whole number here, at least `least`; a float with a whole value counts.
    #[must_use]
    pub(crate) fn whole(&self, least: u64) -> Option<u64> {
        self.expect(self.value.as_count().filter(|whole| *whole >= least), &format!("an integer of at least {least}"))
    }

    /// The map here. An empty list counts: Lua's `{}` does not say which of the two it is.
    #[must_use]
    pub(crate) fn map(&self) -> Option<Map> {
        let found = match self.value {
            Value::List(items) if items.is_empty() => Some(Map::new()),
            other => other.as_map().cloned(),
        };
        self.expect(found, "a map")
    }

    /// The items of the list here. An empty map counts, as for [`Field::map`].
    #[must_use]
    pub(crate) fn items(&self) -> Option<Vec<Self>> {
        let found = match self.value {
            Value::Map(map) if map.is_empty() => Some([].as_slice()),
            other => other.as_list(),
        };
        let items = self.expect(found, "a list")?.iter().enumerate();
        let field = |(index, value)| Self { value, path: format!("{}[{index}]", self.path), mistakes: self.mistakes };
        Some(items.map(field).collect())
    }

    /// The field `key` of the map here, if it is there and not null. What is no map has no fields;
    /// [`Field::section`] says so once.
    #[must_use]
    pub(crate) fn get(&self, key: &str) -> Option<Self> {
        let value = self.value.as_map()?.get(key).filter(|value| !value.is_null())?;
        Some(Self { value, path: self.path_to(key), mistakes: self.mistakes })
    }

    /// The field `key`, or `None` and a note that `expected` is missing.
    #[must_use]
    pub(crate) fn require(&self, key: &str, expected: &str) -> Option<Self> {
        let field = self.get(key);
        if field.is_none() {
            self.note_key(key, format!("missing, expected {expected}"));
        }
        field
    }

    /// This field, if it is a map (or empty).
    #[must_use]
    pub(crate) fn section(self) -> Option<Self> {
        self.map().map(|_| self)
    }
}

/// What `value` is, for an error message: its kind, and the value itself where it is short.
fn describe(value: &Value) -> String {
    const SHORT: usize = 40;
    match value {
        Value::Null | Value::List(_) | Value::Map(_) => value.kind().to_owned(),
        _ => {
            let text = crate::text::json::to_compact(value);
            if text.chars().count() <= SHORT { format!("{} ({text})", value.kind()) } else { value.kind().to_owned() }
        }
    }
}
