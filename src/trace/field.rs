//! The fields of a row as readers take them: which key is which field, and what each accepts.
//!
//! The rules are the evaluation's (P3-P5): a step is an integer in any spelling, a reward any
//! number or a word for a non-finite one, and what is wrong in another field costs that field
//! only, not its row.

use std::borrow::Cow;

use crate::trace::row::IDENTITY_KEYS;
use crate::trace::scan::{Cursor, Scan};

/// What a key of a row stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Step,
    RegimeId,
    RegimeOrigin,
    ObservedAt,
    Action,
    Reward,
    Components,
    Detail,
    InvalidAction,
    EffectiveRank,
    Ticket,
    Verifier,
    /// One of the identity keys, by its place among them.
    Identity(usize),
    /// Any other key.
    Other,
}

impl Field {
    /// A small number, different for each key that is a field.
    pub(super) fn place(self) -> u32 {
        match self {
            Self::Step => 0,
            Self::RegimeId => 1,
            Self::RegimeOrigin => 2,
            Self::ObservedAt => 3,
            Self::Action => 4,
            Self::Reward => 5,
            Self::Components => 6,
            Self::Detail => 7,
            Self::InvalidAction => 8,
            Self::EffectiveRank => 9,
            Self::Ticket => 10,
            Self::Verifier => 11,
            Self::Identity(place) => 12 + u32::try_from(place).unwrap_or(0),
            Self::Other => 31,
        }
    }

    /// The field that a key names.
    pub(super) fn of_key(key: &str) -> Self {
        match key {
            "step" => Self::Step,
            "regime_id" => Self::RegimeId,
            "regime_origin" => Self::RegimeOrigin,
            "observed_at" => Self::ObservedAt,
            "action" => Self::Action,
            "reward" => Self::Reward,
            "reward_components" => Self::Components,
            "reward_detail" => Self::Detail,
            "invalid_action" => Self::InvalidAction,
            "effective_rank" => Self::EffectiveRank,
            "ticket_snapshot" => Self::Ticket,
            "verifier_snapshot" => Self::Verifier,
            _ => IDENTITY_KEYS.iter().position(|known| *known == key).map_or(Self::Other, Self::Identity),
        }
    }
}

/// A field's value is of no use: what it is instead, in the words of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Odd(pub(super) &'static str);

/// What a value's first byte tells of its kind.
fn kind(first: Option<u8>) -> Odd {
    Odd(match first {
        Some(b'"') => "text",
        Some(b'{') => "a map",
        Some(b'[') => "a list",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    })
}

/// Reads a step: an integer within 64 bits, in any spelling.
#[inline]
pub(super) fn step(cursor: &mut Cursor<'_>) -> Scan<Result<i64, Odd>> {
    if let Some(step) = cursor.short_int() {
        return Ok(Ok(step));
    }
    match cursor.peek() {
        Some(b'-' | b'0'..=b'9') => Ok(match cursor.number()? {
            Some(number) => number.int().ok_or(Odd(if number.float().abs() >= 9e15 || number.is_int {
                "a number beyond 64 bits"
            } else {
                "a number with a fraction"
            })),
            None => Err(Odd("an infinite number")),
        }),
        other => cursor.value().map(|_| Err(kind(other))),
    }
}

/// Reads a reward: any number, `null` for NaN, or a word for a number that is not finite.
#[inline]
pub(super) fn reward(cursor: &mut Cursor<'_>) -> Scan<Result<f64, Odd>> {
    match cursor.peek() {
        Some(b'-' | b'0'..=b'9' | b'N' | b'I') => cursor.float().map(Ok),
        Some(b'n') => cursor.value().map(|_| Ok(f64::NAN)),
        Some(b'"') => Ok(match cursor.string()? {
            b"NaN" | b"nan" => Ok(f64::NAN),
            b"Infinity" | b"inf" => Ok(f64::INFINITY),
            b"-Infinity" | b"-inf" => Ok(f64::NEG_INFINITY),
            _ => Err(Odd("text")),
        }),
        other => cursor.value().map(|_| Err(kind(other))),
    }
}

/// Reads a text that may be null; what stands between the quotes, as escaped. A number is kept
/// as its text.
#[inline]
pub(super) fn optional_text<'a>(cursor: &mut Cursor<'a>) -> Scan<Result<Option<&'a [u8]>, Odd>> {
    match cursor.peek() {
        Some(b'"') => cursor.string().map(|text| Ok(Some(text))),
        Some(b'n') => cursor.value().map(|_| Ok(None)),
        Some(b'-' | b'0'..=b'9') => cursor.value().map(|text| Ok(Some(text))),
        other => cursor.value().map(|_| Err(kind(other))),
    }
}

/// Reads a truth value, also spelled 0 or 1; `None` is null.
#[inline]
pub(super) fn flag(cursor: &mut Cursor<'_>) -> Scan<Result<Option<bool>, Odd>> {
    if cursor.take(b"false") {
        return Ok(Ok(Some(false)));
    }
    let first = cursor.peek();
    Ok(match cursor.value()? {
        b"true" => Ok(Some(true)),
        b"null" => Ok(None),
        text if matches!(first, Some(b'-' | b'0'..=b'9')) => {
            match Cursor::new(text).number()?.and_then(|number| number.int()) {
                Some(0) => Ok(Some(false)),
                Some(1) => Ok(Some(true)),
                _ => Err(Odd("a number other than 0 and 1")),
            }
        }
        _ => Err(kind(first)),
    })
}

/// Reads a number that may be null.
#[inline]
pub(super) fn optional_number(cursor: &mut Cursor<'_>) -> Scan<Result<Option<f64>, Odd>> {
    match cursor.peek() {
        Some(b'n') => cursor.value().map(|_| Ok(None)),
        Some(b'-' | b'0'..=b'9' | b'N' | b'I') => cursor.float().map(|value| Ok(Some(value))),
        other => cursor.value().map(|_| Err(kind(other))),
    }
}

/// The text that stands escaped between quotes as `escaped`.
pub(super) fn unescape(escaped: &[u8]) -> Cow<'_, str> {
    let plain = String::from_utf8_lossy(escaped);
    if !escaped.contains(&b'\\') {
        return plain;
    }
    match crate::text::json::parse(&format!("\"{plain}\"")) {
        Ok(crate::value::Value::Text(text)) => text.into(),
        _ => plain,
    }
}
