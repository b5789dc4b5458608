//! A reward composition as plain data: the manifest's `reward_spec` and a configuration's `reward`.
//!
//! ```yaml
//! terms:
//! - name: upright
//!   weight: 0.8
//!   params: {}
//!   lua: {source: ..., sha256: ...}
//! - name: alive
//!   weight: 0.2
//!   params: {}
//!   builtin: alive
//! ```
//!
//! A term has either `builtin`, the name of a native term, or `lua`, source by value. Written in
//! full; read with defaults: `weight` 1, `params` empty, `name` that of the builtin.

use super::{RewardRecord, TermOrigin, TermRecord};
use crate::text::decode::{Field, Mistakes, decode};
use crate::value::{Map, Value};

impl RewardRecord {
    /// The composition as plain data, in the order of composition.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let terms = self.terms.iter().map(|(term, weight)| term_to_value(term, *weight)).collect();
        Value::Map(Map::from_iter([("terms".to_owned(), Value::List(terms))]))
    }

    /// The composition that `value` records. Unknown keys are tolerated.
    ///
    /// # Errors
    /// Every mistake, with its path.
    pub fn from_value(value: &Value) -> Result<Self, Mistakes> {
        decode(value, Self::read)
    }

    /// The composition at `field`; `None` after noting what is wrong.
    #[must_use]
    pub(crate) fn read(field: &Field<'_>) -> Option<Self> {
        let items = field.clone().section()?.require("terms", "a list of terms")?.items()?;
        let mut record = Self::default();
        let mut complete = true;
        for item in &items {
            let Some((term, weight)) = read_term(item) else {
                complete = false;
                continue;
            };
            if record.terms.iter().any(|(earlier, _)| earlier.name == term.name) {
                item.note(format!("a second term named `{}`", term.name));
            }
            record.terms.push((term, weight));
        }
        complete.then_some(record)
    }
}

fn term_to_value(term: &TermRecord, weight: f64) -> Value {
    let (key, origin) = match &term.origin {
        TermOrigin::Builtin(name) => ("builtin", Value::from(name.as_str())),
        TermOrigin::Lua(lua) => ("lua", lua.clone()),
    };
    Value::Map(Map::from_iter([
        ("name".to_owned(), Value::from(term.name.as_str())),
        ("weight".to_owned(), Value::Float(weight)),
        ("params".to_owned(), Value::Map(term.params.clone())),
        (key.to_owned(), origin),
    ]))
}

fn read_term(field: &Field<'_>) -> Option<(TermRecord, f64)> {
    let field = field.clone().section()?;
    let weight = field.get("weight").map_or(Some(1.0), |weight| weight.number());
    let params = field.get("params").map_or_else(|| Some(Map::new()), |params| params.map());
    let given_name = field.get("name").map(|name| name.text());
    let origin = match (field.get("builtin"), field.get("lua")) {
        (Some(builtin), None) => builtin.text().map(TermOrigin::Builtin),
        (None, Some(lua)) => lua.map().map(|lua| TermOrigin::Lua(Value::Map(lua))),
        _ => {
            field.note("expected either `builtin` (a native term's name) or `lua` (source by value)");
            None
        }
    };
    let name = match (given_name, &origin) {
        (Some(name), _) => name,
        (None, Some(TermOrigin::Builtin(name))) => Some(name.clone()),
        (None, Some(TermOrigin::Lua(_))) => field.require("name", "text").and_then(|name| name.text()),
        (None, None) => None,
    };
    Some((TermRecord { name: name?, params: params?, origin: origin? }, weight?))
}
