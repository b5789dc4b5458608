//! Regimes from plain data, every mistake named with its path.

use super::Regime;
use crate::suggest;
use crate::value::{Map, Value};

/// The keys of a regime.
pub(super) const KEYS: [&str; 4] = ["id", "origin", "env", "reward"];

/// The regime that `value`, a map of `id`, `origin`, `env` and `reward`, describes; `path` is
/// how messages call it.
///
/// # Errors
/// One line naming the field that is unknown or not of its kind.
pub fn regime_from_value(value: &Value, path: &str) -> Result<Regime, String> {
    let map = map(value, path)?;
    check_keys(&map, &KEYS, path)?;
    regime(&map, path)
}

/// The regime in `map`, whose keys were checked; an empty `path` is that of the top level.
pub(super) fn regime(map: &Map, path: &str) -> Result<Regime, String> {
    let regime = Regime {
        id: text(map, "id", path)?,
        origin: text(map, "origin", path)?,
        env: inner(map, "env", path)?,
        reward: inner(map, "reward", path)?,
    };
    for (term, weight) in &regime.reward {
        if !weight.as_float().is_some_and(f64::is_finite) {
            let path = join(&join(path, "reward"), term);
            return Err(format!("`{path}` must be a finite number, got {}", weight.kind()));
        }
    }
    Ok(regime)
}

/// Fails at the first key of `map` that is none of `known`.
pub(super) fn check_keys(map: &Map, known: &[&str], path: &str) -> Result<(), String> {
    match map.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => {
            let near = suggest::nearest(key, known.iter().copied()).map(|near| format!("; did you mean `{near}`?"));
            let near = near.unwrap_or_else(|| format!("; known: {}", known.join(", ")));
            Err(format!("unknown key `{}`{near}", join(path, key)))
        }
    }
}

/// `value` as a map; an empty list counts as an empty map (Lua does not tell them apart).
pub(super) fn map(value: &Value, path: &str) -> Result<Map, String> {
    match value {
        Value::Map(map) => Ok(map.clone()),
        Value::Null => Ok(Map::new()),
        Value::List(items) if items.is_empty() => Ok(Map::new()),
        other => Err(format!("`{path}` must be a map, got {}", other.kind())),
    }
}

/// `path.key`, or `key` alone at the top.
pub(super) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn inner(outer: &Map, key: &str, path: &str) -> Result<Map, String> {
    outer.get(key).map_or_else(|| Ok(Map::new()), |value| map(value, &join(path, key)))
}

fn text(map: &Map, key: &str, path: &str) -> Result<Option<String>, String> {
    match map.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Text(text)) => Ok(Some(text.clone())),
        Some(other) => Err(format!("`{}` must be text, got {}", join(path, key), other.kind())),
    }
}
