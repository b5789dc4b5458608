//! Which keys a configuration has, and which of them are text: the one table behind the check
//! for unknown keys and behind `--set`.

use crate::suggest;
use crate::text::decode::Field;
use crate::value::Value;

/// What stands at a key.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    /// Text, whatever it looks like.
    Text,
    /// A number, a truth value, a list of names.
    Data,
    /// A map whose keys are the user's own.
    Open,
    /// A map with these keys.
    Section(&'static [(&'static str, Shape)]),
    /// A list of items of one shape.
    Each(&'static Shape),
}

use Shape::{Data, Each, Open, Section, Text};

/// The whole document.
pub(super) const EXPERIMENT: Shape = Section(&[
    ("env", Section(&[("id", Text), ("kwargs", Open), ("lua", Open), ("wrappers", Each(&WRAPPER))])),
    ("algorithm", Section(&[("name", Text), ("params", Open), ("policy", POLICY)])),
    ("rollout", Section(&[("window_steps", Data), ("total_steps", Data), ("auto_reset", Data)])),
    ("reward", Section(&[("terms", Each(&TERM))])),
    ("regime", Section(&[("provider", Text), ("params", Open), ("lua", Open)])),
    ("run", Section(&[("name", Text), ("seed", Data), ("task", Text), ("policy_id", Text), ("meta", Open)])),
    ("trace", Section(&[("record", Data), ("effective_rank", Data)])),
]);

const POLICY: Shape = Section(&[("id", Text), ("kwargs", Open), ("lua", Open)]);

const WRAPPER: Shape = Section(&[("name", Text), ("params", Open)]);

const TERM: Shape = Section(&[("name", Text), ("weight", Data), ("params", Open), ("builtin", Text), ("lua", Open)]);

/// Notes every key that the schema does not know, with the nearest one that it does.
pub(super) fn note_unknown_keys(field: &Field<'_>, shape: Shape) {
    match (shape, field.value()) {
        (Section(known), Value::Map(map)) => {
            for key in map.keys() {
                match known.iter().find(|(name, _)| name == key) {
                    Some((_, inner)) => {
                        if let Some(inner_field) = field.get(key) {
                            note_unknown_keys(&inner_field, *inner);
                        }
                    }
                    None => field.note_key(key, unknown_key(key, known)),
                }
            }
        }
        (Each(item), Value::List(_)) => {
            field.items().into_iter().flatten().for_each(|field| note_unknown_keys(&field, *item));
        }
        _ => {}
    }
}

/// The message about `key`, which is not among `known`.
pub(super) fn unknown_key(key: &str, known: &[(&'static str, Shape)]) -> String {
    format!("unknown key; {}", suggest::hint(key, "known are", known.iter().map(|(name, _)| *name)))
}
