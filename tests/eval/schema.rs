//! As much of JSON Schema as the published schema uses.

use skyfall::value::{Map, Value};

/// Panics where `value` is not what `schema` describes.
pub(super) fn assert_valid(schema: &Value, value: &Value) {
    if let Err(fault) = valid(schema, schema, value, "$") {
        panic!("{fault}");
    }
}

fn valid(root: &Value, schema: &Value, value: &Value, place: &str) -> Result<(), String> {
    let schema = match schema {
        Value::Bool(true) => return Ok(()),
        Value::Map(schema) => schema,
        other => return Err(format!("{place}: a schema that is {}", other.kind())),
    };
    for (keyword, rule) in schema {
        match keyword.as_str() {
            "$schema" | "title" | "description" | "$defs" => {}
            "$ref" => {
                let name = rule.as_text().unwrap().strip_prefix("#/$defs/").unwrap();
                valid(root, &root.as_map().unwrap()["$defs"].as_map().unwrap()[name], value, place)?;
            }
            "const" => require(value == rule, place, "the constant")?,
            "enum" => require(rule.as_list().unwrap().contains(value), place, "one of the enum")?,
            "type" => require(types(rule).any(|name| is(value, name)), place, &format!("{rule:?}"))?,
            "minimum" => {
                let least = rule.as_float().unwrap();
                require(value.as_float().is_none_or(|number| number >= least), place, "at least the minimum")?;
            }
            "minItems" | "maxItems" => {
                let most = usize::try_from(rule.as_int().unwrap()).unwrap();
                let length = value.as_list().unwrap().len();
                require(if keyword == "minItems" { length >= most } else { length <= most }, place, keyword)?;
            }
            "oneOf" => {
                let fitting = rule.as_list().unwrap().iter().filter(|one| valid(root, one, value, place).is_ok());
                require(fitting.count() == 1, place, "exactly one of oneOf")?;
            }
            "items" => {
                for (index, item) in value.as_list().unwrap_or_default().iter().enumerate() {
                    valid(root, rule, item, &format!("{place}[{index}]"))?;
                }
            }
            "required" => {
                for key in rule.as_list().unwrap() {
                    let there = value.as_map().is_none_or(|map| map.contains_key(key.as_text().unwrap()));
                    require(there, place, &format!("with {key:?}"))?;
                }
            }
            "properties" => properties(root, rule.as_map().unwrap(), value, place)?,
            "additionalProperties" => {
                let known = schema.get("properties").and_then(Value::as_map).cloned().unwrap_or_default();
                for (key, entry) in value.as_map().into_iter().flatten().filter(|(key, _)| !known.contains_key(*key)) {
                    require(rule != &Value::Bool(false), place, &format!("without {key:?}"))?;
                    valid(root, rule, entry, &format!("{place}.{key}"))?;
                }
            }
            other => return Err(format!("{place}: the keyword {other} is not known here")),
        }
    }
    Ok(())
}

fn properties(root: &Value, properties: &Map, value: &Value, place: &str) -> Result<(), String> {
    let Some(map) = value.as_map() else { return Ok(()) };
    for (key, schema) in properties {
        if let Some(entry) = map.get(key) {
            valid(root, schema, entry, &format!("{place}.{key}"))?;
        }
    }
    Ok(())
}

fn types(rule: &Value) -> impl Iterator<Item = &str> {
    let several = rule.as_list().unwrap_or_default().iter().filter_map(Value::as_text);
    rule.as_text().into_iter().chain(several)
}

fn is(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.as_bool().is_some(),
        "integer" => matches!(value, Value::Int(_)),
        "number" => matches!(value, Value::Int(_) | Value::Float(_)),
        "string" => value.as_text().is_some(),
        "array" => value.as_list().is_some(),
        "object" => value.as_map().is_some(),
        _ => false,
    }
}

fn require(holds: bool, place: &str, what: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(format!("{place} is not {what}")) }
}
