//! A cursor over one line of JSON in Python's dialect, which steps over values and hands out
//! their text without building anything.
//!
//! It accepts what `json.loads` accepts (`NaN`, `Infinity`, `-Infinity`, integers of any size),
//! down to [`MAX_DEPTH`] levels, and no more. Whether text is UTF-8 is not its business: it only
//! notes whether any was not ASCII.

use crate::text::json::MAX_DEPTH;
use crate::trace::number::{Number, held, leading_digits, quotient, ten_to};

/// Why a line is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScanError {
    pub(super) kind: ScanFault,
    /// How many bytes of the line were left.
    pub(super) left: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScanFault {
    /// The line ends within a value.
    Torn,
    /// Something else stands where this was expected.
    Expected(&'static str),
    TooDeep,
}

pub(super) type Scan<T> = Result<T, ScanError>;

/// A place in a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    pub(super) rest: &'a [u8],
    /// Whether a byte beyond ASCII was stepped over.
    pub(super) beyond_ascii: bool,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(line: &'a [u8]) -> Self {
        Self { rest: line, beyond_ascii: false }
    }

    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// Steps over space. A newline is none: it ends the line.
    #[inline]
    pub(super) fn space(&mut self) {
        while let [b' ' | b'\t' | b'\r', rest @ ..] = self.rest {
            self.rest = rest;
        }
    }

    /// Steps over `bytes` if they come next.
    #[inline]
    pub(super) fn take(&mut self, bytes: &[u8]) -> bool {
        match self.rest.strip_prefix(bytes) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// The bytes stepped over since `start`, an earlier `rest` of this cursor.
    #[inline]
    pub(super) fn since(&self, start: &'a [u8]) -> &'a [u8] {
        start.get(..start.len() - self.rest.len()).unwrap_or_default()
    }

    #[cold]
    pub(super) fn error(&self, expected: &'static str) -> ScanError {
        error_at(self.rest, expected)
    }

    /// Steps into an object; its entries follow with [`Cursor::next_key`].
    pub(super) fn open_object(&mut self) -> Scan<()> {
        if self.take(b"{") { Ok(()) } else { Err(self.error("an object")) }
    }

    /// Steps to the next entry's value and returns its key, as escaped in the text, or `None`
    /// after the closing brace. `first` says that no entry was read yet.
    pub(super) fn next_key(&mut self, first: bool) -> Scan<Option<&'a [u8]>> {
        self.space();
        if self.take(b"}") {
            return Ok(None);
        }
        if !first {
            if !self.take(b",") {
                return Err(self.error("`,` or `}`"));
            }
            self.space();
        }
        if self.peek() != Some(b'"') {
            return Err(self.error("a key in double quotes"));
        }
        let key = self.string()?;
        self.space();
        if !self.take(b":") {
            return Err(self.error("`:` after the key"));
        }
        self.space();
        Ok(Some(key))
    }

    /// Steps over a string and returns what stands between its quotes.
    #[inline]
    pub(super) fn string(&mut self) -> Scan<&'a [u8]> {
        if !self.take(b"\"") {
            return Err(self.error("a string"));
        }
        let start = self.rest;
        loop {
            let special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..=0x1f | 0x80..=0xff);
            let at = self.rest.iter().position(special).unwrap_or(self.rest.len());
            self.rest = self.rest.get(at..).unwrap_or_default();
            match self.rest {
                [b'"', rest @ ..] => {
                    let content = self.since(start);
                    self.rest = rest;
                    return Ok(content);
                }
                [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', rest @ ..] => self.rest = rest,
                [b'\\', b'u', a, b, c, d, rest @ ..] if [a, b, c, d].iter().all(|digit| digit.is_ascii_hexdigit()) => {
                    self.rest = rest;
                }
                [b'\\'] | [] => {
                    self.rest = &[];
                    return Err(self.error("a string"));
                }
                [b'\\', b'u', digits @ ..] if digits.len() < 4 && digits.iter().all(u8::is_ascii_hexdigit) => {
                    self.rest = &[];
                    return Err(self.error("a string"));
                }
                [b'\\', ..] => return Err(self.error("an escape such as \\n or \\u00e9")),
                [0x80..=0xff, rest @ ..] => {
                    self.beyond_ascii = true;
                    self.rest = rest;
                }
                _ => return Err(self.error("a string without raw control characters")),
            }
        }
    }

    /// Steps over a number; `None` if it is one of the tokens for non-finite values.
    #[inline]
    pub(super) fn number(&mut self) -> Scan<Option<Number<'a>>> {
        if matches!(self.rest, [b'N' | b'I', ..] | [b'-', b'I', ..]) {
            return self.non_finite().map(|()| None);
        }
        let (number, rest) = number(self.rest)?;
        self.rest = rest;
        Ok(Some(number))
    }

    /// Steps over an integer written as nearly all are: without sign, up to 18 digits. Otherwise
    /// `None`, and nothing is stepped over.
    #[inline]
    pub(super) fn short_int(&mut self) -> Option<i64> {
        const MOST: usize = 18;
        let (count, value, rest) = digits(self.rest, 0);
        let padded = count > 1 && self.peek() == Some(b'0');
        if count == 0 || count > MOST || padded || matches!(rest, [b'.' | b'e' | b'E', ..]) {
            return None;
        }
        self.rest = rest;
        i64::try_from(value).ok()
    }

    /// Steps over a number and returns the float nearest to it.
    #[inline]
    pub(super) fn float(&mut self) -> Scan<f64> {
        if let Some((value, rest)) = short_float(self.rest) {
            self.rest = rest;
            return Ok(value);
        }
        let first = self.peek();
        Ok(match (self.number()?, first) {
            (Some(number), _) => number.float(),
            (None, Some(b'N')) => f64::NAN,
            (None, Some(b'I')) => f64::INFINITY,
            (None, _) => f64::NEG_INFINITY,
        })
    }

    #[cold]
    fn non_finite(&mut self) -> Scan<()> {
        if self.take(b"NaN") || self.take(b"Infinity") || self.take(b"-Infinity") {
            return Ok(());
        }
        // A torn `Na` must count as torn, and `Nothing` not as a number.
        if self.is_torn_word() {
            self.rest = &[];
        }
        Err(self.error("a number as JSON writes it"))
    }

    /// Steps over any value and returns its text.
    #[inline]
    pub(super) fn value(&mut self) -> Scan<&'a [u8]> {
        self.value_with(&mut |_, _| {})
    }

    /// Steps over any value, returns its text, and tells of each scalar in it what was left of the
    /// line before and after it.
    #[inline]
    pub(super) fn value_with(&mut self, scalar: &mut impl FnMut(&'a [u8], &'a [u8])) -> Scan<&'a [u8]> {
        let start = self.rest;
        if !self.take(b"{}") {
            self.skip(0, scalar)?;
        }
        Ok(self.since(start))
    }

    fn skip(&mut self, depth: usize, scalar: &mut impl FnMut(&'a [u8], &'a [u8])) -> Scan<()> {
        match self.peek() {
            Some(b'{' | b'[') if depth >= MAX_DEPTH => {
                Err(ScanError { kind: ScanFault::TooDeep, left: self.rest.len() })
            }
            Some(b'{') => {
                self.take(b"{");
                let mut first = true;
                while self.next_key(first)?.is_some() {
                    first = false;
                    self.skip(depth + 1, scalar)?;
                }
                Ok(())
            }
            Some(b'[') => self.skip_list(depth, scalar),
            _ => {
                let start = self.rest;
                self.skip_scalar()?;
                scalar(start, self.rest);
                Ok(())
            }
        }
    }

    /// Steps over a value that is neither an object nor a list.
    #[inline]
    pub(super) fn skip_scalar(&mut self) -> Scan<()> {
        match self.peek() {
            Some(b'"') => self.string().map(drop),
            Some(b'0'..=b'9') if self.short_int().is_some() => Ok(()),
            Some(b'-' | b'0'..=b'9' | b'N' | b'I') => self.number().map(drop),
            _ if self.take(b"null") || self.take(b"true") || self.take(b"false") => Ok(()),
            _ if self.is_torn_word() => Err(ScanError { kind: ScanFault::Torn, left: 0 }),
            _ => Err(self.error("a JSON value")),
        }
    }

    /// Whether the line ends within one of the dialect's words.
    fn is_torn_word(&self) -> bool {
        const WORDS: [&[u8]; 6] = [b"null", b"true", b"false", b"NaN", b"Infinity", b"-Infinity"];
        WORDS.iter().any(|word| self.rest.len() < word.len() && word.starts_with(self.rest))
    }

    fn skip_list(&mut self, depth: usize, scalar: &mut impl FnMut(&'a [u8], &'a [u8])) -> Scan<()> {
        self.take(b"[");
        self.space();
        if self.take(b"]") {
            return Ok(());
        }
        loop {
            self.space();
            self.skip(depth + 1, scalar)?;
            self.space();
            if self.take(b"]") {
                return Ok(());
            }
            if !self.take(b",") {
                return Err(self.error("`,` or `]`"));
            }
        }
    }
}

#[cold]
fn error_at(rest: &[u8], expected: &'static str) -> ScanError {
    let kind = if rest.is_empty() { ScanFault::Torn } else { ScanFault::Expected(expected) };
    ScanError { kind, left: rest.len() }
}

/// The number that `text` begins with, and what follows it.
#[inline]
fn number(text: &[u8]) -> Scan<(Number<'_>, &[u8])> {
    let (negative, unsigned) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    let (whole, mut value, mut rest) = digits(unsigned, 0);
    if whole == 0 {
        return Err(error_at(rest, "a number as JSON writes it"));
    }
    if whole > 1 && unsigned.first() == Some(&b'0') {
        return Err(ScanError { kind: ScanFault::Expected("no zero before other digits"), left: text.len() });
    }
    let mut count = whole;
    let mut exponent = 0_i32;
    let mut is_int = true;
    if let [b'.', fraction @ ..] = rest {
        is_int = false;
        let places;
        (places, value, rest) = digits(fraction, value);
        if places == 0 {
            return Err(error_at(rest, "a digit after the point"));
        }
        count += places;
        exponent = i32::try_from(places).map_or(i32::MIN, |places| -places);
    }
    if let [b'e' | b'E', power @ ..] = rest {
        is_int = false;
        let (minus, power) = match power {
            [b'-', power @ ..] => (true, power),
            [b'+', power @ ..] => (false, power),
            _ => (false, power),
        };
        let (places, power, after) = digits(power, 0);
        rest = after;
        if places == 0 {
            return Err(error_at(rest, "a digit in the exponent"));
        }
        let power = held(power, places).and_then(|power| i32::try_from(power).ok()).unwrap_or(i32::MAX);
        exponent = exponent.saturating_add(if minus { -power } else { power });
    }
    let own = text.get(..text.len() - rest.len()).unwrap_or_default();
    Ok((Number { text: own, negative, digits: held(value, count), exponent, is_int }, rest))
}

/// The float that `text` begins with and what follows it, if it is written as nearly all are: one
/// digit before the point, up to 18 after it, no exponent. [`number`] reads all others.
#[inline]
fn short_float(text: &[u8]) -> Option<(f64, &[u8])> {
    const MOST: usize = 18;
    let (negative, unsigned) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    let [whole @ b'0'..=b'9', b'.', rest @ ..] = unsigned else { return None };
    let (mut count, mut value) = (0, u64::from(whole - b'0'));
    let (words, _) = rest.first_chunk::<24>()?.as_chunks::<8>();
    for word in words {
        let (more, number) = leading_digits(*word);
        value = value.wrapping_mul(ten_to(more)).wrapping_add(number);
        count += more;
        if more < 8 {
            break;
        }
    }
    let after = rest.get(count..)?;
    if count == 0 || count > MOST || matches!(after, [b'e' | b'E', ..]) {
        return None;
    }
    let magnitude = quotient(value, count)?;
    Some((if negative { -magnitude } else { magnitude }, after))
}

/// The digits that `text` begins with: how many, their value appended to `value`, and what
/// follows. The value is of use only if it was [`held`].
#[inline]
fn digits(mut text: &[u8], mut value: u64) -> (usize, u64, &[u8]) {
    // A single digit is what most numbers have before the point.
    if let [digit @ b'0'..=b'9', other, ..] = text
        && !other.is_ascii_digit()
    {
        return (1, value.wrapping_mul(10).wrapping_add(u64::from(digit - b'0')), text.get(1..).unwrap_or_default());
    }
    let mut count = 0;
    while let Some(word) = text.first_chunk::<8>() {
        let (more, number) = leading_digits(*word);
        value = value.wrapping_mul(ten_to(more)).wrapping_add(number);
        text = text.get(more..).unwrap_or_default();
        count += more;
        if more < 8 {
            return (count, value, text);
        }
    }
    while let [digit @ b'0'..=b'9', rest @ ..] = text {
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
        text = rest;
        count += 1;
    }
    (count, value, text)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_torn_and_what_is_wrong() {
        for torn in
            ["", "{", "{\"a\"", "{\"a\": ", "{\"a\": tr", "{\"a\": Na", "[1,", "\"x", "\"x\\", "\"x\\u00", "{\"a\": -"]
        {
            assert_eq!(Cursor::new(torn.as_bytes()).value().unwrap_err().kind, ScanFault::Torn, "{torn}");
        }
        for wrong in ["01", "1.x", "+1", ".5", "[1,]", "{\"a\":1,}", "{a:1}", "'a'", "nil", "\"\t\"", "\"\\x\"", "nan"]
        {
            let read = Cursor::new(wrong.as_bytes()).value();
            assert!(matches!(read.unwrap_err().kind, ScanFault::Expected(_)), "{wrong}");
        }
        let deep = "[".repeat(MAX_DEPTH + 1);
        assert_eq!(Cursor::new(deep.as_bytes()).value().unwrap_err().kind, ScanFault::TooDeep);
    }

    proptest! {
        #[test]
        fn accepts_what_the_reader_of_values_accepts(text in "[\\[\\]{}:,\" 0-9a-eE.+\\-tNrufalsn\\\\]{0,24}") {
            let mut cursor = Cursor::new(text.trim_ascii().as_bytes());
            let accepted = cursor.value().is_ok() && cursor.rest.is_empty();
            prop_assert_eq!(accepted, crate::text::json::parse(&text).is_ok(), "{}", text);
        }
    }
}
