//! Findings as they are printed: for people, or one JSON object a line for editors and CI.

use std::fmt::Write;

use crate::diagnostic::Diagnostic;
use crate::text::json;
use crate::value::Value;

use super::args::ErrorFormat;

/// An error, whole.
pub(super) fn error(diagnostic: &Diagnostic, format: ErrorFormat) -> String {
    match format {
        ErrorFormat::Text => harmless(&diagnostic.to_string()),
        ErrorFormat::Json => json::to_string(&object(diagnostic)),
    }
}

/// A line of the given level: `warning` or `note`.
pub(super) fn line(level: &str, message: &str, format: ErrorFormat) -> String {
    match format {
        ErrorFormat::Text if level == "note" => harmless(message),
        ErrorFormat::Text => harmless(&format!("{level}: {message}")),
        ErrorFormat::Json => json::to_string(&Value::map([("level", level.into()), ("message", message.into())])),
    }
}

/// An error as plain data.
pub(super) fn object(diagnostic: &Diagnostic) -> Value {
    let texts = |lines: &[String]| Value::List(lines.iter().map(|line| line.as_str().into()).collect());
    let location = diagnostic.location.as_ref().map(|location| {
        let integer = |number: usize| Value::Int(i64::try_from(number).unwrap_or(i64::MAX));
        let mark = location.mark.map(|mark| (integer(mark.column), integer(mark.width)));
        let (column, width) = mark.unzip();
        Value::map([
            ("file", location.file.as_str().into()),
            ("line", integer(location.line)),
            ("column", column.unwrap_or_default()),
            ("width", width.unwrap_or_default()),
            ("source", location.source.as_deref().map(Value::from).unwrap_or_default()),
        ])
    });
    Value::map([
        ("level", "error".into()),
        ("code", diagnostic.code.as_str().into()),
        ("message", diagnostic.message.as_str().into()),
        ("location", location.unwrap_or_default()),
        ("hints", texts(&diagnostic.hints)),
        ("trace", texts(&diagnostic.trace)),
        ("exit", Value::Int(i64::from(diagnostic.exit.code()))),
    ])
}

/// `text` with what could change the terminal or the reading direction spelled out: it may hold
/// names from files of strangers.
pub(super) fn harmless(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        if is_harmless(character) {
            plain.push(character);
        } else {
            let _ = write!(plain, "\\u{{{:x}}}", u32::from(character));
        }
    }
    plain
}

/// [`harmless`] for a name in a line or table, which it must not break.
pub(super) fn name(text: &str) -> String {
    harmless(text).replace('\n', "\\u{a}").replace('\t', "\\u{9}")
}

fn is_harmless(character: char) -> bool {
    match character {
        '\n' | '\t' => true,
        // Marks, embeddings, overrides and isolates of text that runs the other way.
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => false,
        other => !other.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::{harmless, name};

    #[test]
    fn what_moves_the_cursor_or_turns_the_text_is_spelled_out() {
        assert_eq!(harmless("calm\tä\n"), "calm\tä\n");
        assert_eq!(harmless("\u{1b}[2Jx\u{202e}y\r\u{85}\u{7f}"), "\\u{1b}[2Jx\\u{202e}y\\u{d}\\u{85}\\u{7f}");
        assert_eq!(name("a\n\tb\u{1b}"), "a\\u{a}\\u{9}b\\u{1b}");
    }
}
