//! The bytes of a row: exactly what Python's `json.dumps` prints for the same row.
//!
//! Written by hand, because this is where a run's logging time goes: the metadata is rendered
//! once, field names are literals, component names are escaped once, and a row allocates
//! nothing. Maps inside a row stand sorted by key, except the reward components, which keep the
//! order of composition.

use crate::text::json::write_text;
use crate::text::number::{write_float, write_int};
use crate::trace::row::{IDENTITY_KEYS, Row};
use crate::value::{Map, Value};

/// Renders rows of one run.
#[derive(Debug)]
pub(super) struct RowFormat {
    /// `{` and the metadata, up to the name of the first step field.
    prefix: Vec<u8>,
    /// Component names by position, each with its rendered `"name": `.
    components: Vec<(String, Vec<u8>)>,
    /// The last label and origin, and all that stands between the step and the time.
    regime: (Option<String>, Option<String>, Vec<u8>),
    /// Whether non-finite numbers become `null`.
    strict_json: bool,
}

impl RowFormat {
    pub(super) fn new(meta: &Map, strict_json: bool) -> Self {
        let mut prefix = b"{".to_vec();
        let identity = IDENTITY_KEYS.iter().filter_map(|key| meta.get_key_value(*key));
        let mut others: Vec<_> = meta.iter().filter(|(key, _)| !IDENTITY_KEYS.contains(&key.as_str())).collect();
        others.sort_by_key(|(key, _)| *key);
        for (key, value) in identity.chain(others) {
            write_text(&mut prefix, key);
            prefix.extend_from_slice(b": ");
            write_value(&mut prefix, value, strict_json);
            prefix.extend_from_slice(b", ");
        }
        let mut regime = (None, None, Vec::new());
        render_regime(&mut regime);
        Self { prefix, components: Vec::new(), regime, strict_json }
    }

    /// Appends `row` and a newline.
    pub(super) fn write(&mut self, out: &mut Vec<u8>, row: &Row) {
        let strict = self.strict_json;
        out.extend_from_slice(&self.prefix);
        out.extend_from_slice(b"\"step\": ");
        write_int(out, row.step);
        if self.regime.0 != row.regime_id || self.regime.1 != row.regime_origin {
            self.regime.0.clone_from(&row.regime_id);
            self.regime.1.clone_from(&row.regime_origin);
            render_regime(&mut self.regime);
        }
        out.extend_from_slice(&self.regime.2);
        write_optional_text(out, row.observed_at.as_deref());
        out.extend_from_slice(b", \"action\": ");
        match &row.action {
            Some(action) => write_value(out, action, strict),
            None => out.extend_from_slice(b"null"),
        }
        out.extend_from_slice(b", \"reward\": ");
        write_number(out, row.reward, strict);
        out.extend_from_slice(b", \"reward_components\": ");
        self.write_components(out, row);
        out.extend_from_slice(b", \"reward_detail\": ");
        write_map(out, &row.reward_detail, strict);
        out.extend_from_slice(if row.invalid_action {
            b", \"invalid_action\": true, \"effective_rank\": "
        } else {
            b", \"invalid_action\": false, \"effective_rank\": "
        });
        match row.effective_rank {
            Some(rank) => write_number(out, rank, strict),
            None => out.extend_from_slice(b"null"),
        }
        if row.ticket_snapshot.is_empty() && row.verifier_snapshot.is_empty() {
            out.extend_from_slice(b", \"ticket_snapshot\": {}, \"verifier_snapshot\": {}");
        } else {
            out.extend_from_slice(b", \"ticket_snapshot\": ");
            write_map(out, &row.ticket_snapshot, strict);
            out.extend_from_slice(b", \"verifier_snapshot\": ");
            write_map(out, &row.verifier_snapshot, strict);
        }
        for (key, value) in &row.extra {
            out.extend_from_slice(b", ");
            write_text(out, key);
            out.extend_from_slice(b": ");
            write_value(out, value, strict);
        }
        out.extend_from_slice(b"}\n");
    }

    fn write_components(&mut self, out: &mut Vec<u8>, row: &Row) {
        out.push(b'{');
        for (position, (name, value)) in row.reward_components.iter().enumerate() {
            if position > 0 {
                out.extend_from_slice(b", ");
            }
            match self.components.get(position) {
                Some((known, rendered)) if known == name => out.extend_from_slice(rendered),
                _ => {
                    let start = out.len();
                    write_text(out, name);
                    out.extend_from_slice(b": ");
                    let rendered = out.get(start..).unwrap_or_default().to_vec();
                    self.components.truncate(position);
                    self.components.push((name.clone(), rendered));
                }
            }
            write_number(out, *value, self.strict_json);
        }
        out.push(b'}');
    }
}

/// Renders label and origin anew.
fn render_regime((id, origin, rendered): &mut (Option<String>, Option<String>, Vec<u8>)) {
    rendered.clear();
    rendered.extend_from_slice(b", \"regime_id\": ");
    write_optional_text(rendered, id.as_deref());
    rendered.extend_from_slice(b", \"regime_origin\": ");
    write_optional_text(rendered, origin.as_deref());
    rendered.extend_from_slice(b", \"observed_at\": ");
}

fn write_optional_text(out: &mut Vec<u8>, text: Option<&str>) {
    match text {
        Some(text) => write_text(out, text),
        None => out.extend_from_slice(b"null"),
    }
}

pub(super) fn write_number(out: &mut Vec<u8>, value: f64, strict: bool) {
    if strict && !value.is_finite() {
        out.extend_from_slice(b"null");
    } else {
        write_float(out, value);
    }
}

fn write_value(out: &mut Vec<u8>, value: &Value, strict: bool) {
    match value {
        Value::Float(number) => write_number(out, *number, strict),
        Value::Map(map) => write_map(out, map, strict),
        Value::List(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.extend_from_slice(b", ");
                }
                write_value(out, item, strict);
            }
            out.push(b']');
        }
        scalar => crate::text::json::write(out, scalar),
    }
}

pub(super) fn write_map(out: &mut Vec<u8>, map: &Map, strict: bool) {
    if map.is_empty() {
        out.extend_from_slice(b"{}");
        return;
    }
    out.push(b'{');
    let mut write_entry = |first: bool, key: &str, value: &Value| {
        if !first {
            out.extend_from_slice(b", ");
        }
        write_text(out, key);
        out.extend_from_slice(b": ");
        write_value(out, value, strict);
    };
    if map.keys().is_sorted() {
        for (index, (key, value)) in map.iter().enumerate() {
            write_entry(index == 0, key, value);
        }
    } else {
        let mut entries: Vec<_> = map.iter().collect();
        entries.sort_by_key(|(key, _)| *key);
        for (index, (key, value)) in entries.into_iter().enumerate() {
            write_entry(index == 0, key, value);
        }
    }
    out.push(b'}');
}
