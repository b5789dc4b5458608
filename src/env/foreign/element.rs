//! Elements of spaces in a frame, and back, checked against the space.
//!
//! Numbers of `Discrete` are integers, texts strings, parts of composite spaces lists and objects.
//! An array is nested lists, or `{"raw": offset, "shape": [...]}`: its elements lie at that
//! offset of the frame's bytes, little-endian, in C order, in the space's own dtype.

use half::f16;

use crate::array::{Array, DType, Item};
use crate::space::{Element, Space};
use crate::text::json;
use crate::text::number::write_int;
use crate::value::{Map, Value};

/// Appends `element` to the JSON in `head`; arrays go into `bytes` if the program reads them
/// there.
pub(super) fn write(element: &Element, head: &mut Vec<u8>, bytes: Option<&mut Vec<u8>>) {
    match element {
        Element::Discrete(value) => write_int(head, *value),
        Element::Text(text) => json::write(head, &Value::Text(text.clone())),
        Element::Array(array) => match bytes {
            None => json::write(head, &array.to_value()),
            Some(bytes) => {
                let shape = array.shape().iter().map(|length| integer(*length)).collect();
                let entries = [("raw", integer(bytes.len())), ("shape", Value::List(shape))];
                json::write(
                    head,
                    &Value::Map(entries.map(|(key, value)| (key.to_owned(), value)).into_iter().collect()),
                );
                append(array, bytes);
            }
        },
        Element::Tuple(parts) => list(parts.iter(), head, bytes),
        Element::Dict(parts) => object(parts.iter().map(|(name, part)| (name.as_str(), part)), head, bytes),
    }
}

fn list<'a>(parts: impl Iterator<Item = &'a Element>, head: &mut Vec<u8>, mut bytes: Option<&mut Vec<u8>>) {
    head.push(b'[');
    for (position, part) in parts.enumerate() {
        if position > 0 {
            head.push(b',');
        }
        write(part, head, bytes.as_deref_mut());
    }
    head.push(b']');
}

fn object<'a>(
    parts: impl Iterator<Item = (&'a str, &'a Element)>,
    head: &mut Vec<u8>,
    mut bytes: Option<&mut Vec<u8>>,
) {
    head.push(b'{');
    for (position, (name, part)) in parts.enumerate() {
        if position > 0 {
            head.push(b',');
        }
        json::write(head, &Value::Text(name.to_owned()));
        head.push(b':');
        write(part, head, bytes.as_deref_mut());
    }
    head.push(b'}');
}

fn integer(length: usize) -> Value {
    Value::Int(i64::try_from(length).unwrap_or(i64::MAX))
}

/// The element of `space` that `value` spells; `path` is its name in messages.
///
/// # Errors
/// What was expected and what came. Bounds of a `Box` are not looked at: environments leave them.
pub(super) fn read(value: &Value, bytes: &[u8], space: &Space, path: &str) -> Result<Element, String> {
    let element = match space {
        Space::Box(space) => Element::Array(array(value, bytes, space.dtype(), Some(space.shape()), path)?),
        Space::Discrete { .. } => Element::Discrete(value.as_int().ok_or_else(|| expected(path, "an integer", value))?),
    };
    if fits(&element, space) { Ok(element) } else { Err(format!("`{path}` is {element}, outside {space}")) }
}

/// Whether `element` may be handed over as an element of `space`: of its kind, its shape and its
/// dtype. A `Box`'s bounds are for the environment to look at.
pub(super) fn fits(element: &Element, space: &Space) -> bool {
    match (space, element) {
        (Space::Box(space), Element::Array(array)) => array.shape() == space.shape() && array.dtype() == space.dtype(),
        _ => space.contains(element),
    }
}

/// The array of `dtype` (and of `shape`, if it is known) that `value` spells.
fn array(value: &Value, bytes: &[u8], dtype: DType, shape: Option<&[usize]>, path: &str) -> Result<Array, String> {
    let array = match value {
        Value::Map(map) => raw(map, bytes, dtype).ok_or_else(|| {
            format!("`{path}` must be lists of numbers, or `raw` and `shape` that lie within the frame's bytes")
        })?,
        value => Array::from_value(value, dtype).map_err(|problem| format!("`{path}`: {problem}"))?,
    };
    // Lists cannot tell a shape such as (0, 3).
    let array = match shape {
        Some(shape) if array.is_empty() && shape.contains(&0) => Array::zeros(dtype, shape),
        _ => array,
    };
    match shape {
        Some(shape) if shape != array.shape() => {
            Err(format!("`{path}` must have shape {shape:?}, got {:?}", array.shape()))
        }
        _ => Ok(array),
    }
}

/// The array in the frame's bytes that `map` points to.
fn raw(map: &Map, bytes: &[u8], dtype: DType) -> Option<Array> {
    let length = |value: &Value| usize::try_from(value.as_int()?).ok();
    let shape: Vec<usize> = map.get("shape")?.as_list()?.iter().map(length).collect::<Option<_>>()?;
    let size = shape.iter().try_fold(dtype.size(), |size, length| size.checked_mul(*length))?;
    let start = length(map.get("raw")?)?;
    let bytes = bytes.get(start..start.checked_add(size)?)?;
    match dtype {
        DType::Bool => Array::from_vec(&shape, bytes.iter().map(|byte| *byte != 0).collect()).ok(),
        DType::I8 => numbers(bytes, &shape, i8::from_le_bytes),
        DType::I16 => numbers(bytes, &shape, i16::from_le_bytes),
        DType::I32 => numbers(bytes, &shape, i32::from_le_bytes),
        DType::I64 => numbers(bytes, &shape, i64::from_le_bytes),
        DType::U8 => numbers(bytes, &shape, u8::from_le_bytes),
        DType::U16 => numbers(bytes, &shape, u16::from_le_bytes),
        DType::U32 => numbers(bytes, &shape, u32::from_le_bytes),
        DType::F16 => numbers(bytes, &shape, f16::from_le_bytes),
        DType::F32 => numbers(bytes, &shape, f32::from_le_bytes),
        DType::F64 => numbers(bytes, &shape, f64::from_le_bytes),
    }
}

fn numbers<T: Item, const N: usize>(bytes: &[u8], shape: &[usize], read: fn([u8; N]) -> T) -> Option<Array> {
    let (items, _) = bytes.as_chunks::<N>();
    Array::from_vec(shape, items.iter().map(|item| read(*item)).collect()).ok()
}

/// Appends the elements of `array`, little-endian, in C order.
fn append(array: &Array, bytes: &mut Vec<u8>) {
    macro_rules! each_number {
        ($($variant:ident),+) => {
            match array {
                Array::Bool(array) => bytes.extend(array.iter().map(|item| u8::from(*item))),
                $(Array::$variant(array) => bytes.extend(array.iter().flat_map(|item| item.to_le_bytes())),)+
            }
        };
    }
    each_number!(I8, I16, I32, I64, U8, U16, U32, F16, F32, F64);
}

fn expected(path: &str, what: &str, value: &Value) -> String {
    format!("`{path}` must be {what}, got {}", value.kind())
}
