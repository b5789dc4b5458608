//! Scalars as PyYAML prints them: which style a text gets, and how long ones are folded.

use std::borrow::Cow;

use super::emit::Page;
use super::plain::{Kind, kind};

/// Lines are folded at the first single space beyond this column.
const WIDTH: usize = 80;

/// What a text is like, as far as its style depends on it.
struct Traits {
    /// It has line breaks.
    multiline: bool,
    /// It cannot stand without quotes.
    needs_quotes: bool,
    /// It cannot stand in single quotes.
    needs_escapes: bool,
}

impl Traits {
    fn of(text: &str) -> Self {
        let indicator = text.starts_with("---")
            || text.starts_with("...")
            || text.starts_with(|first| "#,[]{}&*!|>'\"%@`".contains(first))
            || text.starts_with(['?', '-']) && is_blank(text.chars().nth(1))
            || text.contains(": ")
            || text.contains(":\n")
            || text.ends_with(':')
            || text.contains(" #")
            || text.contains("\n#");
        let edge = |character: char| character == ' ' || character == '\n';
        let multiline = text.contains('\n');
        Self {
            multiline,
            needs_quotes: indicator || multiline || text.starts_with(edge) || text.ends_with(edge),
            needs_escapes: text.contains("\n ")
                || text.contains(" \n")
                || text.contains(|character: char| !matches!(character, '\n' | ' '..='~')),
        }
    }
}

/// Whether the character after an indicator ends it.
fn is_blank(character: Option<char>) -> bool {
    matches!(character, None | Some(' ' | '\n'))
}

/// Whether `text` can be a key before a `:` on one line. PyYAML counts the five characters of
/// the tag it leaves unprinted (`!!str`) into its bound of 127.
pub(super) fn is_simple_key(text: &str) -> bool {
    !text.is_empty() && text.chars().count() + 5 < 128 && !text.contains(['\n', '\u{85}', '\u{2028}', '\u{2029}'])
}

/// Appends `text` in the style PyYAML chooses. Keys are never folded (`fold`); folded lines and
/// those after a break begin at `indent`. Answers whether the text stands plain.
pub(super) fn write_text(page: &mut Page, text: &str, indent: usize, fold: bool) -> bool {
    let traits = Traits::of(text);
    if traits.needs_escapes {
        write_double_quoted(page, text, indent, fold);
    } else if traits.needs_quotes || kind(text) != Kind::Text {
        page.push("'");
        write_words(page, &text.replace('\'', "''"), indent, fold, traits.multiline);
        page.push("'");
    } else {
        write_words(page, text, indent, fold, false);
        return true;
    }
    false
}

/// Appends words, a single space between two of which becomes a line break beyond the width, and
/// whose own line breaks are doubled.
fn write_words(page: &mut Page, text: &str, indent: usize, fold: bool, multiline: bool) {
    let mut rest = text;
    let mut first = true;
    while !rest.is_empty() {
        let is_spaces = rest.starts_with(' ');
        let is_breaks = multiline && rest.starts_with('\n');
        let length = if is_spaces || is_breaks {
            let repeated = if is_spaces { ' ' } else { '\n' };
            rest.len() - rest.trim_start_matches(repeated).len()
        } else {
            rest.find([' ', '\n']).unwrap_or(rest.len())
        };
        let (run, after) = rest.split_at(length);
        if is_breaks {
            page.push("\n");
            page.push(run);
            page.pad(indent);
        } else if run == " " && fold && page.column > WIDTH && !first && !after.is_empty() {
            page.new_line(indent);
        } else {
            page.push(run);
        }
        rest = after;
        first = false;
    }
}

/// Appends `text` in double quotes. Beyond the width a line may end, with a backslash, before a
/// space or beside an escape, but neither after the first nor before the last character.
fn write_double_quoted(page: &mut Page, text: &str, indent: usize, fold: bool) {
    page.push("\"");
    let last = text.chars().count().saturating_sub(1);
    let mut after_escape = false;
    let mut characters = text.chars().enumerate().peekable();
    while let Some((index, character)) = characters.next() {
        let may_fold = fold && 0 < index && index < last;
        let Some(escape) = escape(character) else {
            if may_fold && (character == ' ' || after_escape) && page.column > WIDTH {
                break_line(page, indent, character);
            }
            page.push(character.encode_utf8(&mut [0; 4]));
            after_escape = false;
            continue;
        };
        page.push(&escape);
        after_escape = true;
        // Right after an escape PyYAML counts one column too few.
        if let Some((_, next)) = characters.peek()
            && may_fold
            && page.column > WIDTH + 1
        {
            break_line(page, indent, *next);
        }
    }
    page.push("\"");
}

/// Continues a double-quoted scalar on the next line with `next`, whose space must be kept.
fn break_line(page: &mut Page, indent: usize, next: char) {
    page.push("\\");
    page.new_line(indent);
    if next == ' ' {
        page.push("\\");
    }
}

/// The escape of a character that cannot stand for itself in double quotes.
fn escape(character: char) -> Option<Cow<'static, str>> {
    let name = match character {
        '\0' => "\\0",
        '\u{7}' => "\\a",
        '\u{8}' => "\\b",
        '\t' => "\\t",
        '\n' => "\\n",
        '\u{b}' => "\\v",
        '\u{c}' => "\\f",
        '\r' => "\\r",
        '\u{1b}' => "\\e",
        '"' => "\\\"",
        '\\' => "\\\\",
        '\u{85}' => "\\N",
        '\u{a0}' => "\\_",
        '\u{2028}' => "\\L",
        '\u{2029}' => "\\P",
        ' '..='~' => return None,
        '\0'..='\u{ff}' => return Some(format!("\\x{:02X}", u32::from(character)).into()),
        '\0'..='\u{ffff}' => return Some(format!("\\u{:04X}", u32::from(character)).into()),
        _ => return Some(format!("\\U{:08X}", u32::from(character)).into()),
    };
    Some(name.into())
}
