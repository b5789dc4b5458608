//! Which part of the source an error is about: the line that it names, and in it, or in the rest
//! of the call that begins there, the name or field that its message quotes.

use crate::diagnostic::{Location, Mark};
use crate::script::source::tokens;

/// A call that goes on for longer is not searched further.
const MOST_LINES: usize = 200;

/// The place of an error with `message` on `line` (from 1) of `text`, the chunk that is `file`.
pub(super) fn location(file: String, line: usize, text: Option<&str>, message: &str) -> Location {
    let Some(text) = text else { return Location { file, line, source: None, mark: None } };
    let lines: Vec<&str> = text.lines().collect();
    let source = |line: usize| lines.get(line.wrapping_sub(1)).copied();
    let last = end_of_call(text, line).min(line + MOST_LINES);
    for name in quoted(message) {
        for at in line..=last {
            let Some(column) = source(at).and_then(|source| position(source, name, at > line)) else { continue };
            let mark = Some(Mark { column, width: name.chars().count() });
            return Location { file, line: at, source: source(at).map(str::to_owned), mark };
        }
    }
    let whole = source(line).map(|source| {
        let code = source.trim();
        Mark {
            column: source.chars().take_while(|first| first.is_whitespace()).count() + 1,
            width: code.chars().count(),
        }
    });
    Location { file, line, source: source(line).map(str::to_owned), mark: whole.filter(|mark| mark.width > 0) }
}

/// The last line of the brackets that are open at the end of `line`.
fn end_of_call(text: &str, line: usize) -> usize {
    let mut depth = 0_usize;
    for token in tokens(text).iter().skip_while(|token| token.line < line) {
        if token.line > line && depth == 0 {
            break;
        }
        match token.text {
            "(" | "{" | "[" => depth += 1,
            ")" | "}" | "]" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if token.line > line && depth == 0 {
            return token.line;
        }
    }
    line
}

/// What `message` quotes that the source may hold, innermost parts of paths first.
fn quoted(message: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for quote in ['`', '\'', '"'] {
        let mut rest = message;
        while let Some((_, after)) = rest.split_once(quote) {
            let Some((name, then)) = after.split_once(quote) else { break };
            let innermost = name.rsplit('.').find(|part| !part.starts_with('[') && !part.is_empty()).unwrap_or(name);
            let innermost = innermost.split('[').next().filter(|part| !part.is_empty()).unwrap_or(innermost);
            names.extend([name, innermost].into_iter().filter(|name| !name.trim().is_empty() && name.len() < 80));
            rest = then;
        }
    }
    names
}

/// The column of `name` in `source`, as a whole word; `field` asks for one that is given a value
/// or stands in quotes.
fn position(source: &str, name: &str, field: bool) -> Option<usize> {
    let word = |character: Option<char>| character.is_some_and(|it| it.is_alphanumeric() || it == '_');
    let outer = word(name.chars().next());
    source.match_indices(name).find_map(|(at, _)| {
        let (before, after) = (source.get(..at)?, source.get(at + name.len()..)?);
        let whole = !outer || (!word(before.chars().next_back()) && !word(after.chars().next()));
        let given = after.trim_start().starts_with('=') || before.ends_with(['"', '\'']);
        (whole && (given || !field)).then(|| before.chars().count() + 1)
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::location;

    fn marked(text: &str, line: usize, message: &str) -> (usize, String) {
        let location = location("a.lua".to_owned(), line, Some(text), message);
        let mark = location.mark.unwrap();
        let source = location.source.unwrap();
        (location.line, source.chars().skip(mark.column - 1).take(mark.width).collect())
    }

    #[test]
    fn names_fields_and_values_are_found() {
        let text = "local x = y.value + value\nrun {\n  env = { id = 'CartPole-v2' },\n  rollout = {\n    window = 3 } }\nwindow = 4";
        for (line, message, found) in [
            (1, "attempt to index a nil value (global 'y')", (1, "y")),
            (1, "attempt to add a nil value (field 'value')", (1, "value")),
            (2, "unknown environment `CartPole-v2`", (3, "CartPole-v2")),
            (2, "`rollout.window` must be text", (5, "window")),
            (2, "unknown key `steps`", (2, "run {")),
            (5, "no name", (5, "window = 3 } }")),
        ] {
            assert_eq!(marked(text, line, message), (found.0, found.1.to_owned()), "{message}");
        }
    }
}
