//! Regimes from plain data, every mistake named with its path.

use super::Regime;
use crate::suggest;
use crate::text::decode::{Field, Mistakes, decode};
use crate::value::{Map, Value};

/// The keys of a regime.
pub(super) const KEYS: [&str; 4] = ["id", "origin", "env", "reward"];

/// The regime that `value`, a map of `id`, `origin`, `env` and `reward`, describes; `path` is
/// how messages call it.
///
/// # Errors
/// One line naming every field that is unknown or not of its kind.
pub(crate) fn regime_from_value(value: &Value, path: &str) -> Result<Regime, String> {
    read_at(path, value, |field| {
        note_unknown_keys(field, &KEYS);
        regime(field)
    })
    .map_err(|mistakes| mistakes.to_string())
}

/// `regime` as plain data, which [`regime_from_value`] reads.
#[must_use]
pub(crate) fn regime_to_value(regime: &Regime) -> Value {
    let Regime { id, origin, env, reward } = regime.clone();
    let entries: [(&str, Value); 4] =
        [("id", id.into()), ("origin", origin.into()), ("env", env.into()), ("reward", reward.into())];
    Value::Map(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

/// Reads `value`, which messages call `path`.
pub(super) fn read_at<T>(path: &str, value: &Value, read: impl FnOnce(&Field<'_>) -> Option<T>) -> Result<T, Mistakes> {
    // Null is read as the empty map: every key of a regime has a default.
    let value = if value.is_null() { Value::Map(Map::new()) } else { value.clone() };
    let outer = Value::Map(Map::from_iter([(path.to_owned(), value)]));
    decode(&outer, |outer| read(&outer.get(path)?))
}

/// The regime at `field`; unknown keys are the caller's.
pub(super) fn regime(field: &Field<'_>) -> Option<Regime> {
    let field = field.clone().section()?;
    let text = |key| field.get(key).and_then(|field| field.text());
    let map = |key| field.get(key).and_then(|field| field.map()).unwrap_or_default();
    if let Some(reward) = field.get("reward") {
        for term in map("reward").keys() {
            match reward.get(term) {
                Some(weight) => drop(weight.number()),
                None => reward.note_key(term, "expected a finite number, found null"),
            }
        }
    }
    Some(Regime { id: text("id"), origin: text("origin"), env: map("env"), reward: map("reward") })
}

/// Notes every key of the map at `field` that is none of `known`.
pub(super) fn note_unknown_keys(field: &Field<'_>, known: &[&str]) {
    for key in field.value().as_map().into_iter().flatten().map(|(key, _)| key) {
        if !known.contains(&key.as_str()) {
            field.note_key(key, format!("unknown key; {}", suggest::hint(key, "known are", known.iter().copied())));
        }
    }
}
