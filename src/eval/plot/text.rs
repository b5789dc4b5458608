//! Texts in pictures: about how wide they are, and cutting those that are too long.

use super::TEXT;
use crate::eval::output::cell;

/// About how wide `text` is, in pixels: on the wide side of common sans-serif fonts, so
/// that what fits by this measure fits.
pub(super) fn width(text: &str) -> f64 {
    text.chars().map(advance).sum()
}

/// About how wide a character is, in pixels.
fn advance(c: char) -> f64 {
    let ems = match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' => 0.34,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '-' | '/' => 0.42,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '\u{2026}' => 0.98,
        'A'..='Z' | '0'..='9' => 0.69,
        c if c.is_ascii() => 0.62,
        '\u{2e80}'.. => 1.05,
        _ => 0.72,
    };
    ems * TEXT
}

/// `name` as a title: on one line, with nothing that cannot be seen, and not endless.
pub(super) fn whole(name: &str) -> String {
    const LONGEST: usize = 400;
    cell::name(name, LONGEST)
}

/// `name` in at most `room` pixels, and the whole of it where it had to be cut; on one line, with
/// nothing that cannot be seen.
pub(super) fn fitted(name: &str, room: f64) -> (String, Option<String>) {
    let whole = whole(name);
    if width(&whole) <= room {
        return (whole, None);
    }
    let mut left = room - advance('\u{2026}');
    let kept = whole.chars().take_while(|c| {
        left -= advance(*c);
        left >= 0.0
    });
    let cut: String = kept.collect::<String>().trim_end().chars().chain(['\u{2026}']).collect();
    (cut, Some(whole))
}

/// Whether `name` fits into `room` pixels without being cut.
pub(super) fn fits(name: &str, room: f64) -> bool {
    width(name) <= room
}
