//! The order of runs in a report: by identity, so that the order of files tells nothing.

use std::cmp::Ordering;

use crate::trace::columns::Identity;
use crate::value::Value;

/// What a report is read by first comes first: groups stand together, seeds in order.
const KEYS: [&str; 5] = ["policy_id", "task", "algorithm_id", "run_id", "seed"];

/// Compares two runs' identities.
pub(in crate::eval) fn by_identity(a: &Identity, b: &Identity) -> Ordering {
    let fields = KEYS.iter().map(|key| values(a.fields.get(*key), b.fields.get(*key)));
    fields.fold(Ordering::Equal, Ordering::then).then_with(|| a.file.cmp(&b.file))
}

/// Nothing, then numbers by value, then everything else by its text.
fn values(a: Option<&Value>, b: Option<&Value>) -> Ordering {
    let rank = |value: Option<&Value>| match value {
        None => 0,
        Some(value) if value.as_float().is_some() => 1,
        Some(_) => 2,
    };
    let number = |value: Option<&Value>| value.and_then(Value::as_float).unwrap_or_default();
    let text = |value: Option<&Value>| value.map(super::plain).unwrap_or_default();
    rank(a).cmp(&rank(b)).then_with(|| number(a).total_cmp(&number(b))).then_with(|| text(a).cmp(&text(b)))
}
