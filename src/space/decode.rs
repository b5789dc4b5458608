//! Reading spaces from plain data: what [`Space::encode`] writes, and what Python's writers make
//! of the same spaces.
//!
//! Infinities may be YAML's (`.inf`), JSON's (`-Infinity`) or text; integers may be written as
//! floats and floats as integers; what Gymnasium's constructors have defaults for may be absent.

use super::nested::{Nested, numbers};
use super::{BoxSpace, DictSpace, MultiBinarySpace, MultiDiscreteSpace, Space, SpaceError, TextSpace};
use crate::array::{DType, Scalar};
use crate::suggest;
use crate::value::{Map, Value};

/// The names in `type`.
const KINDS: [&str; 10] =
    ["Box", "Discrete", "MultiDiscrete", "MultiBinary", "Text", "Dict", "Tuple", "Sequence", "Graph", "OneOf"];

impl Space {
    /// The space that plain data describes.
    ///
    /// # Errors
    /// Which field is missing or wrong.
    pub fn decode(data: &Value) -> Result<Self, SpaceError> {
        let map =
            data.as_map().ok_or_else(|| SpaceError::new("space", format!("must be a map, got {}", data.kind())))?;
        match text(map, "type")? {
            "Box" => decode_box(map),
            "Discrete" => {
                let start = optional(map, "start").map_or(Ok(0), |start| integer(start, "start"))?;
                Self::discrete_of(dtype(map, DType::I64)?, integer(field(map, "n")?, "n")?, start)
            }
            "MultiDiscrete" => decode_multi_discrete(map),
            "MultiBinary" => match field(map, "n")? {
                Value::List(_) => MultiBinarySpace::shaped(&lengths(field(map, "n")?, "n")?),
                n => MultiBinarySpace::flat(length(n, "n")?),
            }
            .map(Self::MultiBinary),
            "Text" => {
                let min_length = optional(map, "min_length").map_or(Ok(1), |length| integer(length, "min_length"))?;
                let max_length = integer(field(map, "max_length")?, "max_length")?;
                let charset = optional(map, "charset").map_or(Ok(TextSpace::ALPHANUMERIC.to_owned()), charset)?;
                TextSpace::new(min_length, max_length, &charset).map(Self::Text)
            }
            "Dict" => Self::dict(named(field(map, "spaces")?)?),
            "Tuple" => Self::tuple(listed(field(map, "spaces")?)?),
            "OneOf" => Self::one_of(listed(field(map, "spaces")?)?),
            "Sequence" => {
                let stack = optional(map, "stack").map_or(Some(false), Value::as_bool);
                let stack = stack.ok_or_else(|| SpaceError::new("stack", "must be true or false"))?;
                Self::sequence(part(map, "space")?, stack)
            }
            "Graph" => {
                let edge_space = optional(map, "edge_space").map(|_| part(map, "edge_space")).transpose()?;
                Self::graph(part(map, "node_space")?, edge_space)
            }
            unknown => {
                let hint = suggest::hint(unknown, "known are", KINDS);
                Err(SpaceError::new("type", format!("unknown space {unknown:?}; {hint}")))
            }
        }
    }
}

fn decode_box(map: &Map) -> Result<Space, SpaceError> {
    let dtype = dtype(map, DType::F32)?;
    let [low, high] = ["low", "high"].map(|name| numbers(field(map, name)?, name, &bound));
    let (low, high) = (low?, high?);
    let shape = match optional(map, "shape") {
        Some(shape) => lengths(shape, "shape")?,
        // As Gymnasium: the bounds' shape; numbers alone bound a list of one.
        None => [&low, &high].into_iter().find_map(|bounds| bounds.shape.clone()).unwrap_or_else(|| vec![1]),
    };
    low.check(&shape, "low")?;
    high.check(&shape, "high")?;
    BoxSpace::exact(&shape, dtype, &low.items, &high.items).map(Space::Box)
}

fn decode_multi_discrete(map: &Map) -> Result<Space, SpaceError> {
    let nvec = numbers(field(map, "nvec")?, "nvec", &integer)?;
    let shape = match optional(map, "shape") {
        Some(shape) => lengths(shape, "shape")?,
        None => nvec.shape.clone().unwrap_or_default(),
    };
    nvec.check(&shape, "nvec")?;
    let start = match optional(map, "start") {
        Some(start) => numbers(start, "start", &integer)?,
        None => Nested { shape: None, items: vec![0] },
    };
    start.check(&shape, "start")?;
    let size = super::shape::size(&shape)?;
    let [nvec, start] = [nvec, start].map(|numbers| match (numbers.shape, numbers.items.as_slice()) {
        (None, [one]) => vec![*one; size],
        _ => numbers.items,
    });
    MultiDiscreteSpace::new(&shape, dtype(map, DType::I64)?, &nvec, &start).map(Space::MultiDiscrete)
}

/// The field called `name`, if it is there and not null.
fn optional<'a>(map: &'a Map, name: &str) -> Option<&'a Value> {
    map.get(name).filter(|value| !value.is_null())
}

fn field<'a>(map: &'a Map, name: &str) -> Result<&'a Value, SpaceError> {
    map.get(name).ok_or_else(|| SpaceError::new(name, "is missing"))
}

fn text<'a>(map: &'a Map, name: &str) -> Result<&'a str, SpaceError> {
    let value = field(map, name)?;
    value.as_text().ok_or_else(|| SpaceError::new(name, format!("must be text, got {}", value.kind())))
}

fn dtype(map: &Map, default: DType) -> Result<DType, SpaceError> {
    match optional(map, "dtype") {
        None => Ok(default),
        Some(_) => text(map, "dtype")?.parse().map_err(|error| SpaceError::new("dtype", format!("{error}"))),
    }
}

fn integer(value: &Value, path: &str) -> Result<i64, SpaceError> {
    value.as_int().ok_or_else(|| SpaceError::new(path, format!("must be an integer, got {}", shown(value))))
}

fn length(value: &Value, path: &str) -> Result<usize, SpaceError> {
    let length = integer(value, path)?;
    usize::try_from(length).map_err(|_| SpaceError::new(path, format!("must not be negative, got {length}")))
}

/// A list of lengths. An empty table of Lua's comes as an empty map.
fn lengths(value: &Value, path: &str) -> Result<Vec<usize>, SpaceError> {
    let items = items(value).ok_or_else(|| SpaceError::new(path, format!("must be a list, got {}", value.kind())))?;
    items.iter().enumerate().map(|(index, item)| length(item, &format!("{path}[{}]", index + 1))).collect()
}

fn items(value: &Value) -> Option<&[Value]> {
    match value {
        Value::List(items) => Some(items),
        Value::Map(map) if map.is_empty() => Some(&[]),
        _ => None,
    }
}

/// A bound: a number, a truth value, or the text of a number.
fn bound(value: &Value, path: &str) -> Result<Scalar, SpaceError> {
    let scalar = match value {
        Value::BigInt(_) => value.as_float().map(Scalar::Float),
        Value::Text(text) => {
            // Python's `1e5` is text to YAML 1.1; `.inf` is YAML's own, quoted by mistake.
            let text = text.trim().to_lowercase().replace(".inf", "inf");
            text.parse().ok().map(Scalar::Float)
        }
        _ => Scalar::from_value(value),
    };
    scalar.ok_or_else(|| SpaceError::new(path, format!("must be a number or an infinity, got {}", shown(value))))
}

/// The value if it is short, else its kind.
fn shown(value: &Value) -> String {
    match value {
        Value::Text(text) => format!("the text {:?}", text.chars().take(20).collect::<String>()),
        Value::Float(number) => format!("the number {}", crate::text::number::float_text(*number)),
        other => other.kind().to_owned(),
    }
}

/// An alphabet: text, or a list of characters.
fn charset(value: &Value) -> Result<String, SpaceError> {
    let wrong = |message: String| SpaceError::new("charset", message);
    match value {
        Value::Text(text) => Ok(text.clone()),
        Value::List(items) => items
            .iter()
            .map(|item| item.as_text().filter(|text| text.chars().count() == 1))
            .collect::<Option<_>>()
            .ok_or_else(|| wrong("must be a list of single characters".to_owned())),
        other => Err(wrong(format!("must be text, got {}", other.kind()))),
    }
}

fn part(map: &Map, name: &str) -> Result<Space, SpaceError> {
    Space::decode(field(map, name)?).map_err(|error| error.within(name))
}

fn listed(spaces: &Value) -> Result<Vec<Space>, SpaceError> {
    let wrong = || SpaceError::new("spaces", format!("must be a list of spaces, got {}", spaces.kind()));
    let spaces = items(spaces).ok_or_else(wrong)?.iter().enumerate();
    spaces
        .map(|(index, space)| Space::decode(space).map_err(|error| error.within(&format!("spaces[{}]", index + 1))))
        .collect()
}

/// A map of spaces by name, or a list of pairs.
fn named(spaces: &Value) -> Result<DictSpace, SpaceError> {
    let space = |name: &str, space: &Value| {
        let space = Space::decode(space).map_err(|error| error.within(&format!("spaces.{name}")))?;
        Ok((name.to_owned(), space))
    };
    if let Value::Map(spaces) = spaces {
        return spaces.iter().map(|(name, data)| space(name, data)).collect();
    }
    let wrong = |message: &str| SpaceError::new("spaces", message);
    let pairs = spaces.as_list().ok_or_else(|| wrong("must be a map of spaces by name, or a list of pairs"))?;
    let mut found = DictSpace::default();
    for pair in pairs {
        let Some([Value::Text(name), data]) = pair.as_list() else {
            return Err(wrong("must be pairs of a name, which is text, and a space"));
        };
        if !found.insert(space(name, data)?) {
            return Err(wrong(&format!("has the name {name:?} twice")));
        }
    }
    Ok(found)
}
