//! How JSON is laid out: one recursive writer, and the four layouts that differ in separators,
//! key order, escapes and floats.

use crate::text::number::{write_float, write_float_msgspec, write_int};
use crate::value::{Map, Value};

/// What one form of JSON prints at each place where the forms differ.
pub(super) trait Layout: Copy {
    /// Between a key and its value.
    const COLON: &'static [u8];

    /// Between two items at `depth`, or before the first (`first`).
    fn before_item(self, out: &mut Vec<u8>, depth: usize, first: bool);

    /// After the last item of a container that stands at `depth`.
    fn after_items(self, _out: &mut Vec<u8>, _depth: usize) {}

    /// Appends a string.
    fn text(self, out: &mut Vec<u8>, text: &str) {
        write_text(out, text);
    }

    /// Appends a float.
    fn float(self, out: &mut Vec<u8>, value: f64) {
        write_float(out, value);
    }

    /// Whether keys stand sorted by code point, not in their declared order.
    fn sorts(self) -> bool {
        false
    }
}

/// `json.dumps` with its default arguments, or with `sort_keys=True`.
#[derive(Clone, Copy)]
pub(super) struct OneLine {
    pub(super) sorts: bool,
}

/// `json.dumps` with `indent=2, sort_keys=True`.
#[derive(Clone, Copy)]
pub(super) struct Canonical;

/// No spaces, UTF-8.
#[derive(Clone, Copy)]
pub(super) struct Compact;

/// No spaces, UTF-8, floats as msgspec spells them.
#[derive(Clone, Copy)]
pub(super) struct Msgspec;

impl Layout for OneLine {
    const COLON: &'static [u8] = b": ";

    fn before_item(self, out: &mut Vec<u8>, _depth: usize, first: bool) {
        if !first {
            out.extend_from_slice(b", ");
        }
    }

    fn sorts(self) -> bool {
        self.sorts
    }
}

impl Layout for Canonical {
    const COLON: &'static [u8] = b": ";

    fn before_item(self, out: &mut Vec<u8>, depth: usize, first: bool) {
        if !first {
            out.push(b',');
        }
        self.after_items(out, depth);
    }

    fn after_items(self, out: &mut Vec<u8>, depth: usize) {
        out.push(b'\n');
        out.resize(out.len() + 2 * depth, b' ');
    }

    fn sorts(self) -> bool {
        true
    }
}

impl Layout for Compact {
    const COLON: &'static [u8] = b":";

    fn before_item(self, out: &mut Vec<u8>, _depth: usize, first: bool) {
        if !first {
            out.push(b',');
        }
    }

    fn text(self, out: &mut Vec<u8>, text: &str) {
        write_text_utf8(out, text);
    }
}

impl Layout for Msgspec {
    const COLON: &'static [u8] = Compact::COLON;

    fn before_item(self, out: &mut Vec<u8>, depth: usize, first: bool) {
        Compact.before_item(out, depth, first);
    }

    fn text(self, out: &mut Vec<u8>, text: &str) {
        write_text_utf8(out, text);
    }

    fn float(self, out: &mut Vec<u8>, value: f64) {
        write_float_msgspec(out, value);
    }
}

/// Appends `value`, a container of which stands at `depth`.
pub(super) fn write_value<L: Layout>(out: &mut Vec<u8>, value: &Value, layout: L, depth: usize) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Int(value) => write_int(out, *value),
        Value::BigInt(text) => out.extend_from_slice(text.as_bytes()),
        Value::Float(value) => layout.float(out, *value),
        Value::Text(text) => layout.text(out, text),
        Value::List(items) => write_list(out, items, layout, depth),
        Value::Map(map) => write_map(out, map, layout, depth),
    }
}

fn write_list<L: Layout>(out: &mut Vec<u8>, items: &[Value], layout: L, depth: usize) {
    out.push(b'[');
    for (index, item) in items.iter().enumerate() {
        layout.before_item(out, depth + 1, index == 0);
        write_value(out, item, layout, depth + 1);
    }
    if !items.is_empty() {
        layout.after_items(out, depth);
    }
    out.push(b']');
}

fn write_map<L: Layout>(out: &mut Vec<u8>, map: &Map, layout: L, depth: usize) {
    out.push(b'{');
    let mut write_entry = |index: usize, key: &str, value: &Value| {
        layout.before_item(out, depth + 1, index == 0);
        layout.text(out, key);
        out.extend_from_slice(L::COLON);
        write_value(out, value, layout, depth + 1);
    };
    if layout.sorts() {
        // UTF-8 sorts by code point, as Python does.
        let mut entries: Vec<_> = map.iter().collect();
        entries.sort_unstable_by_key(|(key, _)| *key);
        entries.into_iter().enumerate().for_each(|(index, (key, value))| write_entry(index, key, value));
    } else {
        map.iter().enumerate().for_each(|(index, (key, value))| write_entry(index, key, value));
    }
    if !map.is_empty() {
        layout.after_items(out, depth);
    }
    out.push(b'}');
}

/// Appends `text` as a JSON string, ASCII only, as Python does.
pub fn write_text(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| !matches!(byte, b' '..=b'~') || matches!(byte, b'"' | b'\\')) {
        let (plain, special) = rest.split_at(at);
        out.extend_from_slice(plain.as_bytes());
        let mut characters = special.chars();
        if let Some(character) = characters.next() {
            write_escape(out, character);
        }
        rest = characters.as_str();
    }
    out.extend_from_slice(rest.as_bytes());
    out.push(b'"');
}

/// Appends `text` as a JSON string in UTF-8; only what JSON demands is escaped.
fn write_text_utf8(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| byte < b' ' || matches!(byte, b'"' | b'\\')) {
        let (plain, special) = rest.split_at(at);
        out.extend_from_slice(plain.as_bytes());
        let mut characters = special.chars();
        if let Some(character) = characters.next() {
            write_escape(out, character);
        }
        rest = characters.as_str();
    }
    out.extend_from_slice(rest.as_bytes());
    out.push(b'"');
}

/// Appends the escape of one character: the short one if there is one, else `\uxxxx`, as a
/// surrogate pair beyond U+FFFF.
fn write_escape(out: &mut Vec<u8>, character: char) {
    let short = match character {
        '"' => b'"',
        '\\' => b'\\',
        '\n' => b'n',
        '\r' => b'r',
        '\t' => b't',
        '\u{8}' => b'b',
        '\u{c}' => b'f',
        _ => {
            for unit in character.encode_utf16(&mut [0; 2]) {
                out.extend_from_slice(b"\\u");
                out.extend_from_slice(crate::digest::hex(&unit.to_be_bytes()).as_bytes());
            }
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}
