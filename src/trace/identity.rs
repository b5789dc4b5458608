//! Which run a row belongs to (G1): the five identity keys, numbers compared by value and kept
//! apart from text. How the run's first row spells a number is remembered, for whoever writes the
//! run again.

use crate::trace::about::parse;
use crate::trace::columns::{Identity, Warning};
use crate::trace::row::IDENTITY_KEYS;
use crate::value::Value;

impl Identity {
    /// The identity whose values have these JSON texts, in the keys' order; empty where absent.
    pub(super) fn from_json(values: [&[u8]; 5]) -> Self {
        let mut identity = Self::default();
        for (key, json) in IDENTITY_KEYS.into_iter().zip(values).filter(|(_, json)| !json.is_empty()) {
            let value = parse(json);
            if let Some(plain) = plain_number(&value) {
                identity.fields.insert(key, plain);
                identity.spelled.insert(key, value);
            } else if !value.is_null() {
                identity.fields.insert(key, value);
            }
        }
        identity
    }

    /// The fields as the run's first row writes them, so that a copy of it has the same text.
    pub fn as_written(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.fields.iter().map(|(key, value)| (*key, self.spelled.get(key).unwrap_or(value)))
    }

    /// Whether no identity key tells the run from others.
    #[must_use]
    pub fn is_anonymous(&self) -> bool {
        self.fields.is_empty()
    }

    /// Text that two identities share only if their fields are equal.
    pub(super) fn key(&self) -> String {
        let values = IDENTITY_KEYS.iter().map(|key| self.fields.get(key).cloned().unwrap_or_default());
        crate::text::json::to_string(&Value::List(values.collect()))
    }

    /// The identity for people: `run_id=a seed=3`; empty for an anonymous run.
    #[must_use]
    pub fn label(&self) -> String {
        let fields: Vec<String> = self
            .fields
            .iter()
            .map(|(key, value)| match value {
                Value::Text(text) => format!("{key}={text}"),
                other => format!("{key}={}", crate::text::json::to_string(other)),
            })
            .collect();
        fields.join(" ")
    }
}

/// The integer that an integral float equals.
fn plain_number(value: &Value) -> Option<Value> {
    match value {
        Value::Float(number) if number.is_finite() && number.fract() == 0.0 => {
            Some(value.as_int().map_or_else(|| Value::BigInt(format!("{number:.0}")), Value::Int))
        }
        _ => None,
    }
}

/// Warns of each identity key that is a number in one run and the same digits as text in another.
pub(super) fn mixed_types<'a>(identities: impl Iterator<Item = &'a Identity> + Clone) -> Vec<Warning> {
    let mixed = |key: &str| {
        let values = || identities.clone().filter_map(|identity| identity.fields.get(key));
        let numbers: std::collections::HashSet<String> =
            values().filter(|value| value.as_text().is_none()).map(crate::text::json::to_string).collect();
        let text = values().filter_map(Value::as_text).find(|text| numbers.contains(*text))?.to_owned();
        Some(Warning {
            code: "mixed_identity",
            message: format!(
                "`{key}` is the number {text} in one run and the text \"{text}\" in another; they are two runs"
            ),
            file: None,
            line: None,
            step: None,
            count: 1,
        })
    };
    IDENTITY_KEYS.iter().filter_map(|key| mixed(key)).collect()
}
