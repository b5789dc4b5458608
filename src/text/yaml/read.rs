//! Composing plain data from the events of a YAML document, within bounds.

use std::collections::HashMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Span, StrInput, Tag};

use super::plain::{self, Kind};
use super::{MAX_DEPTH, YamlError};
use crate::value::{Map, Value};

/// What the anchors and aliases of a document may add up to, in nodes and bytes of text: far beyond shared
/// settings, far below a document built to exhaust memory.
const MAX_COPIES: usize = 4 << 20;

/// The tags of YAML's own types.
const YAML_TAG: &str = "tag:yaml.org,2002:";

/// Reads the one document of `text`.
pub(super) fn document(text: &str) -> Result<Value, YamlError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut composer = Composer { parser: Parser::new_from_str(text), anchors: HashMap::new(), copies: 0 };
    let mut root = None;
    loop {
        let (event, span) = composer.next()?;
        match event {
            Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd | Event::Nothing => {}
            Event::StreamEnd => return Ok(root.unwrap_or_default()),
            _ if root.is_some() => return Err(fault("a second document, where one was expected", span.start)),
            event => root = Some(composer.node(event, span, 0)?.value),
        }
    }
}

fn fault(message: impl Into<String>, at: Marker) -> YamlError {
    YamlError { message: message.into(), line: at.line(), column: at.col() + 1 }
}

fn scan_fault(error: &ScanError) -> YamlError {
    fault(error.info(), *error.marker())
}

/// A node as read: its value, and what a key needs to know of it.
struct Node {
    value: Value,
    /// A scalar's text as written, for a key that is not text.
    source: Option<String>,
    /// A plain `<<`.
    merges: bool,
}

impl From<Value> for Node {
    fn from(value: Value) -> Self {
        Self { value, source: None, merges: false }
    }
}

struct Composer<'a> {
    parser: Parser<'a, StrInput<'a>>,
    anchors: HashMap<usize, Value>,
    /// What anchors and aliases have copied so far.
    copies: usize,
}

impl<'a> Composer<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), YamlError> {
        match self.parser.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err(scan_fault(&error)),
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    /// The node that begins with `event`, inside `depth` collections.
    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Node, YamlError> {
        let (anchor, node) = match event {
            Event::Alias(anchor) => return self.alias(anchor, span).map(Node::from),
            Event::Scalar(text, style, anchor, tag) => (anchor, scalar(&text, style, tag.as_deref(), span)?),
            Event::SequenceStart(..) | Event::MappingStart(..) if depth >= MAX_DEPTH => {
                return Err(fault(format!("lists and maps are nested deeper than {MAX_DEPTH}"), span.start));
            }
            Event::SequenceStart(anchor, tag) => {
                check_tag(tag.as_deref(), "seq", span)?;
                (anchor, self.list(depth + 1)?.into())
            }
            Event::MappingStart(anchor, tag) => {
                check_tag(tag.as_deref(), "map", span)?;
                (anchor, self.map(depth + 1)?.into())
            }
            _ => return Err(fault("a value was expected", span.start)),
        };
        if anchor > 0 {
            self.copies += weight(&node.value);
            self.check_copies(span)?;
            self.anchors.insert(anchor, node.value.clone());
        }
        Ok(node)
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Result<Value, YamlError> {
        let value = self.anchors.get(&anchor).ok_or_else(|| fault("an alias inside what it stands for", span.start))?;
        let value = value.clone();
        self.copies += weight(&value);
        self.check_copies(span)?;
        Ok(value)
    }

    fn check_copies(&self, span: Span) -> Result<(), YamlError> {
        if self.copies > MAX_COPIES {
            return Err(fault("the aliases of this document expand to too much data", span.start));
        }
        Ok(())
    }

    fn list(&mut self, depth: usize) -> Result<Value, YamlError> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(Value::List(items)),
                (event, span) => items.push(self.node(event, span, depth)?.value),
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Value, YamlError> {
        let mut merged = Map::new();
        let mut own = Map::new();
        loop {
            let (event, span) = self.next()?;
            if matches!(event, Event::MappingEnd) {
                break;
            }
            let key = self.node(event, span, depth)?;
            let (event, value_span) = self.next()?;
            let value = self.node(event, value_span, depth)?.value;
            if key.merges {
                merge(&mut merged, value, value_span)?;
            } else {
                own.insert(key_text(key, span)?, value);
            }
        }
        if merged.is_empty() {
            return Ok(Value::Map(own));
        }
        merged.extend(own);
        Ok(Value::Map(merged))
    }
}

/// A key's text; keys of other types have the text they were written with.
fn key_text(key: Node, span: Span) -> Result<String, YamlError> {
    match (key.value, key.source) {
        (Value::Text(text), _) | (_, Some(text)) => Ok(text),
        (Value::List(_) | Value::Map(_), None) => Err(fault("a list or map cannot be a key", span.start)),
        // An alias of a number or a truth value.
        (other, None) => Ok(crate::text::json::to_string(&other)),
    }
}

/// Adds what a `<<` names to `merged`; what is there already stays.
fn merge(merged: &mut Map, value: Value, span: Span) -> Result<(), YamlError> {
    let maps = match value {
        Value::List(items) => items,
        other => vec![other],
    };
    for map in maps {
        let Value::Map(map) = map else {
            return Err(fault(format!("`<<` merges a map or a list of maps, not {}", map.kind()), span.start));
        };
        for (key, value) in map {
            merged.entry(key).or_insert(value);
        }
    }
    Ok(())
}

fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>, span: Span) -> Result<Node, YamlError> {
    let plain = style == ScalarStyle::Plain;
    let source = Some(text.to_owned());
    let Some(tag) = tag.filter(|tag| !is_nonspecific(tag)) else {
        let merges = plain && plain::kind(text) == Kind::Merge;
        let value = if plain { plain::resolve(text) } else { Value::from(text) };
        return Ok(Node { value, source, merges });
    };
    let name = tag.is_yaml_core_schema().then_some(tag.suffix.as_str());
    let value = match name {
        Some("str" | "timestamp") => Some(Value::from(text)),
        Some("null") => Some(Value::Null),
        Some("bool") => match plain::kind(text) {
            Kind::Bool(value) => Some(Value::Bool(value)),
            _ => None,
        },
        Some("int") => plain::int(text),
        Some("float") => plain::float(text),
        _ => return Err(fault(format!("the tag `{tag}` asks for what plain data cannot hold"), span.start)),
    };
    let value = value.ok_or_else(|| fault(format!("{text:?} is not of the type its tag names"), span.start))?;
    Ok(Node { value, source, merges: false })
}

/// Whether the tag is the bare `!`, which names no type.
fn is_nonspecific(tag: &Tag) -> bool {
    tag.handle.is_empty() && tag.suffix == "!"
}

/// Fails unless a collection's tag is absent or the one it has anyway.
fn check_tag(tag: Option<&Tag>, own: &str, span: Span) -> Result<(), YamlError> {
    match tag {
        Some(tag) if !is_nonspecific(tag) && format!("{}{}", tag.handle, tag.suffix) != format!("{YAML_TAG}{own}") => {
            Err(fault(format!("the tag `{tag}` asks for what plain data cannot hold"), span.start))
        }
        _ => Ok(()),
    }
}

/// The size of `value` in nodes and bytes of text.
fn weight(value: &Value) -> usize {
    match value {
        Value::Text(text) | Value::BigInt(text) => 1 + text.len(),
        Value::List(items) => 1 + items.iter().map(weight).sum::<usize>(),
        Value::Map(map) => 1 + map.iter().map(|(key, value)| key.len() + weight(value)).sum::<usize>(),
        _ => 1,
    }
}
