//! The layout of a document: block collections, their indents, and long keys.

use super::scalar::{is_simple_key, write_text};
use crate::text::number::{float_text, write_int};
use crate::value::{Map, Value};

/// Text under construction that knows its column (all that is printed is ASCII).
#[derive(Default)]
pub(super) struct Page {
    text: String,
    /// Characters on the last line.
    pub(super) column: usize,
}

impl Page {
    /// Appends `text`.
    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.column = match text.rfind('\n') {
            Some(at) => text.len() - at - 1,
            None => self.column + text.len(),
        };
    }

    /// Fills the line with spaces up to `indent`.
    pub(super) fn pad(&mut self, indent: usize) {
        while self.column < indent {
            self.push(" ");
        }
    }

    /// Begins a line at `indent`.
    pub(super) fn new_line(&mut self, indent: usize) {
        self.push("\n");
        self.pad(indent);
    }
}

/// Where a node stands: what its layout depends on.
#[derive(Clone, Copy)]
enum Place {
    /// The document itself.
    Root,
    /// After `-`, `?` or the `:` of a long key: a collection begins on the same line.
    AfterIndicator,
    /// After `key:`: a collection begins on the next line, a list at the key's own indent.
    AfterKey,
}

/// `value` as a whole document.
pub(super) fn document(value: &Value) -> String {
    let mut page = Page::default();
    let plain = write_node(&mut page, value, 0, Place::Root);
    page.push("\n");
    if plain {
        // A plain scalar could go on, so PyYAML ends the document.
        page.push("...\n");
    }
    page.text
}

/// Appends a node inside a collection at `indent` (the root: 0); answers whether it is a plain
/// scalar.
fn write_node(page: &mut Page, value: &Value, indent: usize, place: Place) -> bool {
    let inner = if matches!(place, Place::Root) { indent } else { indent + 2 };
    match value {
        Value::List(items) if !items.is_empty() => {
            let at = if matches!(place, Place::AfterKey) { indent } else { inner };
            write_list(page, items, at, place);
            return false;
        }
        Value::Map(map) if !map.is_empty() => {
            write_map(page, map, inner, place);
            return false;
        }
        _ => {}
    }
    if !matches!(place, Place::Root) {
        page.push(" ");
    }
    match value {
        Value::List(_) => page.push("[]"),
        Value::Map(_) => page.push("{}"),
        Value::Text(text) => return write_text(page, text, indent + 2, true),
        other => {
            page.push(&scalar_text(other));
            return true;
        }
    }
    false
}

/// Begins an item of a collection at `indent`; the first one may share the line of what led here.
fn begin_item(page: &mut Page, indent: usize, first: bool, place: Place) {
    if first && !matches!(place, Place::AfterKey) {
        page.pad(indent);
    } else {
        page.new_line(indent);
    }
}

fn write_list(page: &mut Page, items: &[Value], indent: usize, place: Place) {
    for (index, item) in items.iter().enumerate() {
        begin_item(page, indent, index == 0, place);
        page.push("-");
        write_node(page, item, indent, Place::AfterIndicator);
    }
}

fn write_map(page: &mut Page, map: &Map, indent: usize, place: Place) {
    for (index, (key, value)) in map.iter().enumerate() {
        begin_item(page, indent, index == 0, place);
        if is_simple_key(key) {
            write_text(page, key, indent, false);
            page.push(":");
            write_node(page, value, indent, Place::AfterKey);
        } else {
            page.push("? ");
            write_text(page, key, indent + 2, true);
            page.new_line(indent);
            page.push(":");
            write_node(page, value, indent, Place::AfterIndicator);
        }
    }
}

/// The text of a scalar other than text.
fn scalar_text(value: &Value) -> String {
    match value {
        Value::Bool(true) => "true".to_owned(),
        Value::Bool(false) => "false".to_owned(),
        Value::Int(value) => {
            let mut out = Vec::new();
            write_int(&mut out, *value);
            String::from_utf8_lossy(&out).into_owned()
        }
        Value::BigInt(text) => text.clone(),
        Value::Float(value) if value.is_nan() => ".nan".to_owned(),
        Value::Float(value) if value.is_infinite() => if *value > 0.0 { ".inf" } else { "-.inf" }.to_owned(),
        Value::Float(value) => {
            // YAML 1.1 floats have a point, Python's `1e-05` has none.
            let text = float_text(*value);
            if text.contains('.') { text } else { text.replacen('e', ".0e", 1) }
        }
        Value::Null | Value::Text(_) | Value::List(_) | Value::Map(_) => "null".to_owned(),
    }
}
