//! Reading JSON in the dialect of Python's `json.loads`.

use crate::diagnostic::{Exit, Problem};
use crate::value::{Map, Value};

/// How deep lists and maps may be nested: far beyond any file of ours, far within the stack.
pub const MAX_DEPTH: usize = 128;

/// Python's own bound on the digits of one integer, which keeps conversions from being an attack.
const MAX_DIGITS: usize = 4300;

/// What is wrong with a JSON text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} at line {line}, column {column}")]
pub struct JsonError {
    /// What was found and what was expected.
    pub message: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in bytes, from 1.
    pub column: usize,
}

impl Problem for JsonError {
    fn code(&self) -> &'static str {
        "text/json"
    }

    fn exit(&self) -> Exit {
        Exit::Input
    }
}

/// Reads one JSON value in Python's dialect.
///
/// Beyond standard JSON: `NaN`, `Infinity` and `-Infinity` are floats, and so is `1e999`
/// (infinite); integers of any size (to 4300 digits) are kept; the last of duplicate keys wins,
/// in the place of the first. A byte-order mark before the value is skipped. A lone surrogate
/// escape, which no UTF-8 text can hold, becomes U+FFFD.
///
/// # Errors
/// Where and why the text is not JSON, or that it is nested deeper than [`MAX_DEPTH`].
pub fn parse(text: &str) -> Result<Value, JsonError> {
    read(text, false)
}

/// As [`parse`], but a lone surrogate escape is an error: texts that differ in nothing else stay
/// different.
///
/// # Errors
/// As [`parse`], and where a lone surrogate stands.
pub fn parse_exact(text: &str) -> Result<Value, JsonError> {
    read(text, true)
}

fn read(text: &str, exact: bool) -> Result<Value, JsonError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader { text, at: 0, exact };
    reader.skip_space();
    let parsed = reader.value(0).and_then(|value| {
        reader.skip_space();
        if reader.at < text.len() { Err(reader.found("the end of the text")) } else { Ok(value) }
    });
    parsed.map_err(|fault| fault.locate(text))
}

/// What is wrong, and at which byte; lines are counted only once something is.
struct Fault {
    message: String,
    at: usize,
}

impl Fault {
    fn locate(self, text: &str) -> JsonError {
        let before = text.as_bytes().get(..self.at).unwrap_or_default();
        let line = 1 + memchr::memchr_iter(b'\n', before).count();
        let column = 1 + memchr::memrchr(b'\n', before).map_or(self.at, |newline| self.at - newline - 1);
        JsonError { message: self.message, line, column }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// Whether lone surrogates are refused.
    exact: bool,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    /// Steps over `byte` if it comes next.
    fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    /// Steps over `word` if it comes next.
    fn take_word(&mut self, word: &str) -> bool {
        let there = self.rest().starts_with(word);
        self.at += if there { word.len() } else { 0 };
        there
    }

    fn fault(&self, message: impl Into<String>) -> Fault {
        Fault { message: message.into(), at: self.at }
    }

    /// The fault of finding something else than what was expected here.
    fn found(&self, expected: &str) -> Fault {
        match self.rest().chars().next() {
            Some(character) => self.fault(format!("expected {expected}, found {character:?}")),
            None => self.fault(format!("expected {expected}, found the end of the text")),
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, Fault> {
        match self.peek() {
            Some(b'"') => self.string().map(Value::Text),
            Some(b'{' | b'[') if depth >= MAX_DEPTH => {
                Err(self.fault(format!("lists and maps are nested deeper than {MAX_DEPTH}")))
            }
            Some(b'{') => self.map(depth + 1),
            Some(b'[') => self.list(depth + 1),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ if self.take_word("null") => Ok(Value::Null),
            _ if self.take_word("true") => Ok(Value::Bool(true)),
            _ if self.take_word("false") => Ok(Value::Bool(false)),
            _ if self.take_word("NaN") => Ok(Value::Float(f64::NAN)),
            _ if self.take_word("Infinity") => Ok(Value::Float(f64::INFINITY)),
            _ => Err(self.found("a JSON value")),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value, Fault> {
        self.at += 1;
        let mut items = Vec::new();
        self.skip_space();
        if self.take(b']') {
            return Ok(Value::List(items));
        }
        loop {
            self.skip_space();
            items.push(self.value(depth)?);
            self.skip_space();
            if self.take(b']') {
                return Ok(Value::List(items));
            }
            if !self.take(b',') {
                return Err(self.found("`,` or `]`"));
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Value, Fault> {
        self.at += 1;
        let mut map = Map::new();
        self.skip_space();
        if self.take(b'}') {
            return Ok(Value::Map(map));
        }
        loop {
            self.skip_space();
            if self.peek() != Some(b'"') {
                return Err(self.found("a key in double quotes"));
            }
            let key = self.string()?;
            self.skip_space();
            if !self.take(b':') {
                return Err(self.found("`:` after the key"));
            }
            self.skip_space();
            map.insert(key, self.value(depth)?);
            self.skip_space();
            if self.take(b'}') {
                return Ok(Value::Map(map));
            }
            if !self.take(b',') {
                return Err(self.found("`,` or `}`"));
            }
        }
    }

    fn skip_digits(&mut self) -> usize {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        self.at - start
    }

    fn number(&mut self) -> Result<Value, Fault> {
        let start = self.at;
        if self.take(b'-') && self.take_word("Infinity") {
            return Ok(Value::Float(f64::NEG_INFINITY));
        }
        let zero = self.peek() == Some(b'0');
        let digits = self.skip_digits();
        if digits == 0 {
            return Err(self.found("a digit"));
        }
        if zero && digits > 1 {
            self.at = start;
            return Err(self.fault("a number must not begin with 0"));
        }
        let mut integral = true;
        if self.take(b'.') {
            integral = false;
            if self.skip_digits() == 0 {
                return Err(self.found("a digit after the decimal point"));
            }
        }
        if self.take(b'e') || self.take(b'E') {
            integral = false;
            let _signed = self.take(b'+') || self.take(b'-');
            if self.skip_digits() == 0 {
                return Err(self.found("a digit of the exponent"));
            }
        }
        let text = self.text.get(start..self.at).unwrap_or_default();
        if !integral {
            return text.parse().map(Value::Float).map_err(|_| self.found("a number"));
        }
        if digits > MAX_DIGITS {
            self.at = start;
            return Err(self.fault(format!("an integer of {digits} digits, more than {MAX_DIGITS}")));
        }
        Ok(text.parse().map_or_else(|_| Value::BigInt(text.to_owned()), Value::Int))
    }

    fn string(&mut self) -> Result<String, Fault> {
        let opening = self.at;
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = self.rest();
            let Some(length) = rest.bytes().position(|byte| byte < b' ' || matches!(byte, b'"' | b'\\')) else {
                self.at = opening;
                return Err(self.fault("this string has no closing quote"));
            };
            let (plain, special) = rest.split_at(length);
            out.push_str(plain);
            self.at += length;
            match special.as_bytes().first() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => out.push(self.escape()?),
                _ => return Err(self.fault("a control character must be escaped inside a string")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Fault> {
        self.at += 1;
        let character = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'r') => '\r',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'u') => return self.unicode_escape(),
            _ => return Err(self.found("an escape such as `\\n`")),
        };
        self.at += 1;
        Ok(character)
    }

    /// The character of `uxxxx`, or of that and a low surrogate that follows it.
    fn unicode_escape(&mut self) -> Result<char, Fault> {
        let high = self.code_unit()?;
        if (0xd800..0xdc00).contains(&high) && self.rest().starts_with("\\u") {
            let after_high = self.at;
            self.at += 1;
            let low = self.code_unit()?;
            if let Some(Ok(character)) = char::decode_utf16([high, low]).next() {
                return Ok(character);
            }
            self.at = after_high;
        }
        match char::from_u32(u32::from(high)) {
            Some(character) => Ok(character),
            None if self.exact => Err(Fault {
                message: format!("`\\u{high:04x}` is half of a character: a surrogate stands with its other half"),
                at: self.at.saturating_sub("\\u0000".len()),
            }),
            None => Ok(char::REPLACEMENT_CHARACTER),
        }
    }

    /// The four hexadecimal digits after `u`.
    fn code_unit(&mut self) -> Result<u16, Fault> {
        self.at += 1;
        let digits = self.rest().get(..4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let unit = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
        let unit = unit.ok_or_else(|| self.found("four hexadecimal digits after `\\u`"))?;
        self.at += 4;
        Ok(unit)
    }
}
