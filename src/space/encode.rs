//! Spaces as the manifest holds them: keys after the constructor's arguments, nothing lost.
//!
//! Bounds are float64 text of the exact dtype value; infinite ones are the *text* `inf` and
//! `-inf`, as the format document shows. Decoding also accepts YAML's own infinities and the
//! spellings of other writers, and integers for floats.

use super::{BoxSpace, Space, SpaceError};
use crate::array::DType;
use crate::value::{Map, Value};

impl Space {
    /// The space as plain data.
    #[must_use]
    pub fn encode(&self) -> Value {
        let mut map = Map::new();
        let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
        match self {
            Self::Box(space) => {
                put("type", "Box".into());
                put("low", bounds(space.low(), space.shape(), space.dtype()));
                put("high", bounds(space.high(), space.shape(), space.dtype()));
                let shape = space.shape().iter().map(|length| Value::Int(i64::try_from(*length).unwrap_or(i64::MAX)));
                put("shape", Value::List(shape.collect()));
                put("dtype", space.dtype().numpy_name().into());
            }
            Self::Discrete { n, start } => {
                put("type", "Discrete".into());
                put("n", (*n).into());
                put("start", (*start).into());
            }
        }
        Value::Map(map)
    }

    /// The space that plain data describes.
    ///
    /// # Errors
    /// Which field is missing or wrong.
    pub fn decode(data: &Value) -> Result<Self, SpaceError> {
        let map =
            data.as_map().ok_or_else(|| SpaceError::new("space", format!("must be a map, got {}", data.kind())))?;
        let field = |name: &str| map.get(name).ok_or_else(|| SpaceError::new(name, "is missing"));
        match field("type")?.as_text() {
            Some("Box") => decode_box(map),
            Some("Discrete") => {
                let integer = |name: &str, value: &Value| {
                    value
                        .as_int()
                        .ok_or_else(|| SpaceError::new(name, format!("must be an integer, got {}", value.kind())))
                };
                let start = map.get("start").map_or(Ok(0), |start| integer("start", start))?;
                Self::discrete(integer("n", field("n")?)?, start)
            }
            other => Err(SpaceError::new(
                "type",
                format!("unknown space {:?}; known are Box, Discrete", other.unwrap_or("")),
            )),
        }
    }
}

fn decode_box(map: &Map) -> Result<Space, SpaceError> {
    let field = |name: &str| map.get(name).ok_or_else(|| SpaceError::new(name, "is missing"));
    let dtype = match map.get("dtype") {
        None => DType::F32,
        Some(name) => name
            .as_text()
            .and_then(|name| name.parse().ok())
            .ok_or_else(|| SpaceError::new("dtype", "is not a known element type"))?,
    };
    let (mut low, mut high) = (Vec::new(), Vec::new());
    let depth = flatten(field("low")?, "low", &mut low)?;
    flatten(field("high")?, "high", &mut high)?;
    let shape = match map.get("shape") {
        None => depth,
        Some(shape) => shape
            .as_list()
            .and_then(|items| items.iter().map(|item| usize::try_from(item.as_int()?).ok()).collect())
            .ok_or_else(|| SpaceError::new("shape", "must be a list of lengths"))?,
    };
    BoxSpace::new(&shape, dtype, &low, &high).map(Space::Box)
}

/// Appends the bounds in `value`, a number or nested lists, and returns their shape.
fn flatten(value: &Value, path: &str, bounds: &mut Vec<f64>) -> Result<Vec<usize>, SpaceError> {
    let Value::List(items) = value else {
        bounds.push(bound(value, path)?);
        return Ok(Vec::new());
    };
    let mut inner = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let shape = flatten(item, &format!("{path}[{}]", index + 1), bounds)?;
        if index > 0 && shape != inner {
            return Err(SpaceError::new(path, "is ragged"));
        }
        inner = shape;
    }
    inner.insert(0, items.len());
    Ok(inner)
}

fn bound(value: &Value, path: &str) -> Result<f64, SpaceError> {
    let named = value.as_text().and_then(|text| match text.trim().to_lowercase().as_str() {
        "inf" | "+inf" | ".inf" | "infinity" | "+infinity" => Some(f64::INFINITY),
        "-inf" | "-.inf" | "-infinity" => Some(f64::NEG_INFINITY),
        _ => None,
    });
    named
        .or_else(|| value.as_float())
        .ok_or_else(|| SpaceError::new(path, format!("must be a number or an infinity, got {}", value.kind())))
}

/// Bounds as lists nested to `shape`.
fn bounds(flat: &[f64], shape: &[usize], dtype: DType) -> Value {
    match shape.split_first() {
        None => flat.first().map_or(Value::Null, |bound| number(*bound, dtype)),
        Some((_, [])) => Value::List(flat.iter().map(|bound| number(*bound, dtype)).collect()),
        Some((length, inner)) => {
            let stride = (flat.len() / (*length).max(1)).max(1);
            Value::List(flat.chunks(stride).map(|part| bounds(part, inner, dtype)).collect())
        }
    }
}

fn number(bound: f64, dtype: DType) -> Value {
    if bound.is_infinite() {
        return Value::Text(if bound > 0.0 { "inf" } else { "-inf" }.to_owned());
    }
    let number = Value::Float(bound);
    match number.as_int() {
        Some(whole) if !dtype.is_float() => Value::Int(whole),
        _ => number,
    }
}
