//! Reading the named settings of a policy or an algorithm: defaults, ranges, and every mistake in
//! one message.
//!
//! A reader asks for each setting it has by name; whatever was not asked for is unknown. A wrong
//! value is noted and its default handed out, so that the reader goes on; [`Settings::finish`]
//! gives what was made only if nothing was noted.

use crate::suggest;
use crate::text::json;
use crate::value::{Map, Value};

/// The largest count that a setting may ask for: whatever is made of it fits memory or is
/// refused for its own reasons.
const MOST: i64 = 1 << 31;
/// The most weights that settings may ask for: 256 MB of them.
pub(crate) const MOST_WEIGHTS: usize = 1 << 25;

/// A map of settings being read.
pub(crate) struct Settings<'a> {
    /// How messages call the map: `kwargs` or `params`.
    root: &'static str,
    map: &'a Map,
    known: Vec<&'static str>,
    notes: Vec<String>,
}

impl<'a> Settings<'a> {
    pub(crate) fn new(root: &'static str, map: &'a Map) -> Self {
        Self { root, map, known: Vec::new(), notes: Vec::new() }
    }

    /// Notes what is wrong: a whole sentence without its full stop.
    pub(crate) fn note(&mut self, message: impl Into<String>) {
        self.notes.push(message.into());
    }

    /// The value called `key`, if one is given.
    pub(crate) fn get(&mut self, key: &'static str) -> Option<&'a Value> {
        self.known.push(key);
        self.map.get(key).filter(|value| !value.is_null())
    }

    /// The value called `key` as `read` reads it; `expected` says what `read` takes.
    pub(crate) fn read<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&Value) -> Option<T>,
        expected: &str,
    ) -> Option<T> {
        let value = self.get(key)?;
        let found = read(value);
        if found.is_none() {
            let given = json::to_compact(value);
            self.note(format!("`{}.{key}` must be {expected}, got {given}", self.root));
        }
        found
    }

    /// A seed: an integer of at least 0.
    pub(crate) fn seed(&mut self, default: u64) -> u64 {
        self.read("seed", Value::as_count, "an integer of at least 0").unwrap_or(default)
    }

    /// An integer of at least `least`.
    pub(crate) fn count(&mut self, key: &'static str, least: i64, default: usize) -> usize {
        let read = |value: &Value| count(value, least);
        self.read(key, read, &format!("an integer of at least {least}")).unwrap_or(default)
    }

    /// A list of integers of at least `least`.
    pub(crate) fn counts(&mut self, key: &'static str, least: i64, default: &[usize]) -> Vec<usize> {
        let read = |value: &Value| value.as_list()?.iter().map(|item| count(item, least)).collect();
        let expected = format!("a list of integers of at least {least}");
        self.read(key, read, &expected).unwrap_or_else(|| default.to_vec())
    }

    /// A finite number above 0.
    pub(crate) fn positive(&mut self, key: &'static str, default: f64) -> f64 {
        let read = |value: &Value| value.as_float().filter(|number| number.is_finite() && *number > 0.0);
        self.read(key, read, "a number above 0").unwrap_or(default)
    }

    /// A finite number of at least 0.
    pub(crate) fn non_negative(&mut self, key: &'static str, default: f64) -> f64 {
        let read = |value: &Value| value.as_float().filter(|number| number.is_finite() && *number >= 0.0);
        self.read(key, read, "a number of at least 0").unwrap_or(default)
    }

    /// A number from 0 to 1.
    pub(crate) fn share(&mut self, key: &'static str, default: f64) -> f64 {
        let read = |value: &Value| value.as_float().filter(|number| (0.0..=1.0).contains(number));
        self.read(key, read, "a number from 0 to 1").unwrap_or(default)
    }

    /// Any finite number.
    pub(crate) fn number(&mut self, key: &'static str, default: f64) -> f64 {
        let read = |value: &Value| value.as_float().filter(|number| number.is_finite());
        self.read(key, read, "a finite number").unwrap_or(default)
    }

    /// A truth value.
    pub(crate) fn flag(&mut self, key: &'static str, default: bool) -> bool {
        self.read(key, Value::as_bool, "true or false").unwrap_or(default)
    }

    /// `made`, if nothing is wrong.
    ///
    /// # Errors
    /// Everything that was noted, unknown settings first, in one line.
    pub(crate) fn finish<T>(mut self, made: Option<T>) -> Result<T, String> {
        let mut notes: Vec<String> = Vec::new();
        for key in self.map.keys().filter(|key| !self.known.contains(&key.as_str())) {
            let hint = suggest::hint(key, "it takes", self.known.iter().copied());
            notes.push(format!("unknown setting `{}.{key}`; {hint}", self.root));
        }
        notes.append(&mut self.notes);
        match made {
            Some(made) if notes.is_empty() => Ok(made),
            _ => Err(notes.join("; ")),
        }
    }
}

/// An integer from `least` up to 2^31.
pub(crate) fn count(value: &Value, least: i64) -> Option<usize> {
    let count = value.as_int().filter(|count| (least..=MOST).contains(count))?;
    usize::try_from(count).ok()
}
