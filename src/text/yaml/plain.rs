//! What a plain scalar means: the implicit types of YAML 1.1 as PyYAML's resolver knows them.
//!
//! [`kind`] is asked by the writer (text of another kind needs quotes) and by the reader, so the
//! two cannot disagree. It follows PyYAML where that departs from YAML 1.1: floats need a point
//! and a signed exponent, `y` and `n` are text.

use crate::value::Value;

/// More digits than this are kept as text: converting them would be an attack, not a number.
const MAX_DIGITS: usize = 4300;

/// The implicit type of a plain scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    Bool(bool),
    Int,
    Float,
    Timestamp,
    /// `<<`, which merges another map into this one.
    Merge,
    /// `=`, the default key of YAML 1.1.
    Default,
    Text,
}

/// The implicit type of the plain scalar `text`.
pub(super) fn kind(text: &str) -> Kind {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Kind::Null,
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Kind::Bool(true),
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Kind::Bool(false),
        "<<" => Kind::Merge,
        "=" => Kind::Default,
        _ if !text.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first)) => Kind::Text,
        _ if is_float(text) => Kind::Float,
        _ if is_int(text) => Kind::Int,
        _ if is_timestamp(text) => Kind::Timestamp,
        _ => Kind::Text,
    }
}

/// The value of the plain scalar `text`.
pub(super) fn resolve(text: &str) -> Value {
    let resolved = match kind(text) {
        Kind::Null => Some(Value::Null),
        Kind::Bool(value) => Some(Value::Bool(value)),
        Kind::Int => int(text),
        Kind::Float => float(text),
        Kind::Timestamp | Kind::Merge | Kind::Default | Kind::Text => None,
    };
    resolved.unwrap_or_else(|| Value::from(text))
}

/// The integer that `text` spells, if it is of that kind and not all underscores.
pub(super) fn int(text: &str) -> Option<Value> {
    if !is_int(text) || text.len() > MAX_DIGITS {
        return None;
    }
    let (negative, text) = split_sign(text);
    let text = text.replace('_', "");
    let mut natural = Natural::default();
    if text == "0" {
        natural.push(10, 0);
    } else if let Some(digits) = text.strip_prefix("0b") {
        natural.push_digits(2, digits)?;
    } else if let Some(digits) = text.strip_prefix("0x") {
        natural.push_digits(16, digits)?;
    } else if text.starts_with('0') {
        natural.push_digits(8, &text)?;
    } else {
        let mut parts = text.split(':');
        natural.push_digits(10, parts.next()?)?;
        for part in parts {
            natural.push(60, part.parse().ok()?);
        }
    }
    let magnitude = natural.to_string();
    let text = if negative && magnitude != "0" { format!("-{magnitude}") } else { magnitude };
    Some(text.parse().map_or_else(|_| Value::BigInt(text), Value::Int))
}

/// The float that `text` spells, if it is of that kind (or an integer, for `!!float 3`).
pub(super) fn float(text: &str) -> Option<Value> {
    let (negative, text) = split_sign(text);
    let text = text.replace('_', "").to_ascii_lowercase();
    let magnitude = match text.as_str() {
        ".inf" => f64::INFINITY,
        ".nan" => f64::NAN,
        _ => {
            // Base 60, least significant part first, added in PyYAML's order.
            let mut base = 1.0;
            let mut sum = 0.0;
            for (index, part) in text.rsplit(':').enumerate() {
                let part: f64 =
                    part.parse().ok().filter(|_| part.starts_with(|c: char| c.is_ascii_digit() || c == '.'))?;
                sum = if index == 0 { part } else { sum + part * base };
                base *= 60.0;
            }
            sum
        }
    };
    Some(Value::Float(if negative { -magnitude } else { magnitude }))
}

/// `text` without its sign, and whether that was a minus.
fn split_sign(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

fn all(text: &str, is: impl Fn(u8) -> bool) -> bool {
    !text.is_empty() && text.bytes().all(is)
}

fn digits(text: &str) -> bool {
    all(text, |byte| byte.is_ascii_digit())
}

/// Digits and underscores, the first a digit.
fn grouped_digits(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit()) && all(text, |byte| byte.is_ascii_digit() || byte == b'_')
}

/// One part of a base-60 number after the first: `0` to `59`, or with a leading zero.
fn sixtieth(text: &str) -> bool {
    match text.as_bytes() {
        [ones] => ones.is_ascii_digit(),
        [b'0'..=b'5', ones] => ones.is_ascii_digit(),
        _ => false,
    }
}

fn is_int(text: &str) -> bool {
    let (_, text) = split_sign(text);
    if let Some(rest) = text.strip_prefix("0b") {
        return all(rest, |byte| matches!(byte, b'0' | b'1' | b'_'));
    }
    if let Some(rest) = text.strip_prefix("0x") {
        return all(rest, |byte| byte.is_ascii_hexdigit() || byte == b'_');
    }
    if let Some(rest) = text.strip_prefix('0') {
        return rest.is_empty() || all(rest, |byte| matches!(byte, b'0'..=b'7' | b'_'));
    }
    match text.split_once(':') {
        None => grouped_digits(text),
        Some((first, rest)) => grouped_digits(first) && rest.split(':').all(sixtieth),
    }
}

fn is_float(text: &str) -> bool {
    let (_, unsigned) = split_sign(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    let Some((whole, rest)) = unsigned.split_once('.') else { return false };
    if let Some((first, sixtieths)) = whole.split_once(':') {
        let fraction = rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
        return fraction && grouped_digits(first) && sixtieths.split(':').all(sixtieth);
    }
    let (fraction, exponent) = rest.split_once(['e', 'E']).map_or((rest, None), |(f, e)| (f, Some(e)));
    if !exponent.is_none_or(|exponent| exponent.strip_prefix(['+', '-']).is_some_and(digits)) {
        return false;
    }
    if whole.is_empty() {
        // Without a digit before the point PyYAML allows no sign.
        return unsigned.len() == text.len() && grouped_digits(fraction);
    }
    grouped_digits(whole) && fraction.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_')
}

/// `YYYY-MM-DD`, or that with a time of day, where month, day and hour may be one digit.
fn is_timestamp(text: &str) -> bool {
    let (date, time) = match text.find(|c: char| !c.is_ascii_digit() && c != '-') {
        None => (text, None),
        Some(at) => {
            let (date, time) = text.split_at(at);
            (date, Some(time))
        }
    };
    let mut parts = date.split('-');
    let (Some(year), Some(month), Some(day), None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let one_or_two = |part: &str| digits(part) && part.len() <= 2;
    if !digits(year) || year.len() != 4 || !one_or_two(month) || !one_or_two(day) {
        return false;
    }
    time.map_or(month.len() == 2 && day.len() == 2, is_time_of_day)
}

/// `Th:mm:ss[.f][ zone]`, the `T` possibly spaces.
fn is_time_of_day(text: &str) -> bool {
    let blank = |c: char| c == ' ' || c == '\t';
    let time = text.strip_prefix(['T', 't']).unwrap_or_else(|| text.trim_start_matches(blank));
    if time.len() == text.len() {
        return false;
    }
    let clock_end = time.find(|c: char| !c.is_ascii_digit() && c != ':').unwrap_or(time.len());
    let (clock, rest) = time.split_at(clock_end);
    let mut parts = clock.split(':');
    let (Some(hour), Some(minute), Some(second), None) = (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    if !digits(hour) || hour.len() > 2 || ![minute, second].iter().all(|part| digits(part) && part.len() == 2) {
        return false;
    }
    let zone = rest.strip_prefix('.').map_or(rest, |rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    if zone.is_empty() {
        return true;
    }
    let zone = zone.trim_start_matches(blank);
    if zone == "Z" {
        return true;
    }
    let Some(offset) = zone.strip_prefix(['+', '-']) else { return false };
    let (hours, minutes) = offset.split_once(':').map_or((offset, None), |(h, m)| (h, Some(m)));
    digits(hours) && hours.len() <= 2 && minutes.is_none_or(|minutes| digits(minutes) && minutes.len() == 2)
}

/// A natural number of any size, in limbs of nine decimal digits, the least first.
#[derive(Default)]
struct Natural(Vec<u32>);

impl Natural {
    const LIMB: u64 = 1_000_000_000;

    /// Appends one digit in `radix`.
    fn push(&mut self, radix: u32, digit: u32) {
        let mut carry = u64::from(digit);
        for limb in &mut self.0 {
            let grown = u64::from(*limb) * u64::from(radix) + carry;
            let rest = (grown % Self::LIMB) as u32;
            *limb = rest;
            carry = grown / Self::LIMB;
        }
        if carry > 0 {
            // At most `radix`, so one limb holds it.
            self.0.extend(u32::try_from(carry));
        }
    }

    /// Appends the digits of `text`; `None` if there is none.
    fn push_digits(&mut self, radix: u32, text: &str) -> Option<()> {
        for character in text.chars() {
            self.push(radix, character.to_digit(radix)?);
        }
        (!text.is_empty()).then_some(())
    }
}

impl std::fmt::Display for Natural {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut limbs = self.0.iter().rev();
        write!(out, "{}", limbs.next().unwrap_or(&0))?;
        limbs.try_for_each(|limb| write!(out, "{limb:09}"))
    }
}
