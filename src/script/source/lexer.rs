//! Just enough of Lua's grammar to cut one function out of a chunk: comments, strings, and the
//! keywords that open and close blocks.

/// A word or mark of the chunk that matters here.
#[derive(Clone, Copy, Debug)]
pub(in crate::script) struct Token<'a> {
    pub(in crate::script) text: &'a str,
    /// Where it begins, in bytes.
    start: usize,
    /// Its line, from 1.
    pub(in crate::script) line: usize,
}

/// The text of the function that begins on line `first` and ends on line `last` of `chunk`, as
/// an expression (`function(...) ... end`).
///
/// # Errors
/// When there is no such function, or more than one.
pub(super) fn function_text(chunk: &str, first: usize, last: usize) -> Result<String, String> {
    let tokens = tokens(chunk);
    let mut found = None;
    for (index, token) in tokens.iter().enumerate() {
        if token.text != "function" || token.line != first {
            continue;
        }
        let following = tokens.get(index + 1..).unwrap_or_default();
        let Some(end) = closing(following).filter(|end| end.line == last) else { continue };
        if found.is_some() {
            return Err("shares its line with another function; give each a line of its own".to_owned());
        }
        found = expression(chunk, following, end);
    }
    found.ok_or_else(|| "could not be found in its source text".to_owned())
}

/// The names of the modules that `code` requires with a quoted name, in order, with their lines.
pub(in crate::script) fn required(code: &str) -> Vec<(&str, usize)> {
    let tokens = tokens(code);
    let name = |at: usize| Some((required_here(code, &tokens, at)?, tokens.get(at)?.line));
    (0..tokens.len()).filter_map(name).collect()
}

/// The name that is required where the token at `at` is a `require`.
pub(in crate::script) fn required_here<'a>(code: &'a str, tokens: &[Token<'_>], at: usize) -> Option<&'a str> {
    let token = tokens.get(at).filter(|token| token.text == "require")?;
    quoted_name(code.get(token.start + token.text.len()..)?)
}

/// The name in `("name"` or `"name"`.
fn quoted_name(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let text = text.strip_prefix('(').unwrap_or(text).trim_start();
    let quote = text.chars().next().filter(|first| matches!(first, '"' | '\''))?;
    let (name, _) = text.get(1..)?.split_once(quote)?;
    Some(name)
}

/// The `end` that closes the block whose tokens follow.
fn closing<'a>(following: &[Token<'a>]) -> Option<Token<'a>> {
    let mut depth = 1_usize;
    for token in following {
        match token.text {
            // `while` and `for` open their block with `do`.
            "function" | "if" | "do" | "repeat" => depth += 1,
            "end" | "until" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(*token);
        }
    }
    None
}

/// The function's text without its name; a method gets its `self`.
fn expression(chunk: &str, following: &[Token<'_>], end: Token<'_>) -> Option<String> {
    let open = following.iter().find(|token| token.text == "(")?;
    let method = following.iter().take_while(|token| token.start < open.start).any(|token| token.text == ":");
    let body = chunk.get(open.start + 1..end.start + end.text.len())?;
    let own = match (method, body.trim_start().starts_with(')')) {
        (false, _) => "",
        (true, true) => "self",
        (true, false) => "self, ",
    };
    Some(format!("function({own}{body}"))
}

/// The chunk's names, keywords and marks, without comments and strings.
pub(in crate::script) fn tokens(chunk: &str) -> Vec<Token<'_>> {
    let bytes = chunk.as_bytes();
    let mut tokens = Vec::new();
    let (mut at, mut line) = (0, 1);
    // A first line beginning with `#` is not code.
    if bytes.first() == Some(&b'#') {
        at = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    }
    while let Some(byte) = bytes.get(at) {
        let start = at;
        match byte {
            b'-' if bytes.get(at + 1) == Some(&b'-') => at = comment_end(bytes, at + 2),
            b'"' | b'\'' => at = string_end(bytes, at),
            b'[' if long_end(bytes, at).is_some() => at = long_end(bytes, at).unwrap_or(at + 1),
            byte if byte.is_ascii_punctuation() && *byte != b'_' => {
                let two =
                    matches!((byte, bytes.get(at + 1)), (b'=' | b'<' | b'>' | b'~', Some(b'=')) | (b'.', Some(b'.')));
                at += if two { 2 } else { 1 };
                tokens.extend(chunk.get(start..at).map(|text| Token { text, start, line }));
            }
            byte if byte.is_ascii_alphanumeric() || *byte == b'_' => {
                while bytes.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') {
                    at += 1;
                }
                tokens.extend(chunk.get(start..at).map(|text| Token { text, start, line }));
            }
            _ => at += 1,
        }
        line += bytes.get(start..at).unwrap_or_default().iter().filter(|byte| **byte == b'\n').count();
    }
    tokens
}

/// Where the comment whose text begins at `at` ends.
fn comment_end(bytes: &[u8], at: usize) -> usize {
    long_end(bytes, at).unwrap_or_else(|| {
        let rest = bytes.get(at..).unwrap_or_default();
        at + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())
    })
}

/// Where the quoted string that begins at `at` ends.
fn string_end(bytes: &[u8], at: usize) -> usize {
    let quote = bytes.get(at);
    let mut next = at + 1;
    while let Some(byte) = bytes.get(next) {
        match byte {
            b'\\' => next += 2,
            _ if Some(byte) == quote => return next + 1,
            _ => next += 1,
        }
    }
    bytes.len()
}

/// Where the long bracket that begins at `at` ends, if one begins there.
fn long_end(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?.strip_prefix(b"[")?;
    let level = rest.iter().take_while(|byte| **byte == b'=').count();
    if rest.get(level) != Some(&b'[') {
        return None;
    }
    let mut close = vec![b']'];
    close.extend(std::iter::repeat_n(b'=', level));
    close.push(b']');
    let body = at + level + 2;
    let found = bytes.get(body..)?.windows(close.len()).position(|window| window == close);
    Some(found.map_or(bytes.len(), |offset| body + offset + close.len()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{function_text, required};

    #[test]
    fn finds_the_modules_that_code_requires() {
        let code =
            "local a = require \"a.b\" -- require \"no\"\nlocal c = require( 'c' ).d; required \"x\"; require(name)";
        assert_eq!(required(code), [("a.b", 1), ("c", 2)]);
    }

    #[test]
    fn cuts_functions_out_whatever_surrounds_them() {
        let chunk = "#!/usr/bin/env skyfall\nlocal a = [==[ function ]==] -- function end\nlocal function f(x)\n  if x then return \"end\" end\n  for i = 1, 2 do end\n  repeat local y until true\n  return function() end\nend\nfunction M:g()\nend";
        assert_eq!(
            function_text(chunk, 3, 8).unwrap(),
            "function(x)\n  if x then return \"end\" end\n  for i = 1, 2 do end\n  repeat local y until true\n  return function() end\nend"
        );
        assert_eq!(function_text(chunk, 9, 10).unwrap(), "function(self)\nend");
        assert!(function_text("return function() end, function() end", 1, 1).unwrap_err().contains("shares its line"));
        assert!(function_text(chunk, 1, 1).is_err());
    }
}
