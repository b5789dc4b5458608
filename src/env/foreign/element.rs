//! Elements of spaces in a frame, and back, checked against the space.
//!
//! Numbers of `Discrete` are integers, texts strings, parts of composite spaces lists and objects.
//! An array is nested lists, or `{"raw": offset, "shape": [...]}`: its elements lie at that
//! offset of the frame's bytes, little-endian, in C order, in the space's own dtype.

use half::f16;

use crate::array::{Array, DType, Item, Scalar};
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
    let element = space.element_with(value, path, &|value, dtype| match value {
        Value::Map(map) => raw(map, bytes, dtype)
            .ok_or_else(|| "must be lists of numbers, or `raw` and `shape` of some that the frame holds".to_owned()),
        value => Array::from_value(value, dtype).map_err(|problem| problem.to_string()),
    })?;
    match (fits(&element, space), &element, space) {
        (true, ..) => Ok(element),
        (false, Element::Array(array), Space::Box(space)) => {
            Err(format!("`{path}` must have shape {:?}, got {:?}", space.shape(), array.shape()))
        }
        _ => Err(format!("`{path}` is {element}, outside {space}")),
    }
}

/// Whether `element` may be handed over as an element of `space`: of its kind, its shapes and its
/// dtypes, and within it but for the bounds of a `Box`, which are for the environment to look at.
pub(super) fn fits(element: &Element, space: &Space) -> bool {
    match (space, element) {
        (Space::Box(space), Element::Array(array)) => array.shape() == space.shape() && array.dtype() == space.dtype(),
        (Space::MultiDiscrete(multi), Element::Array(array)) => {
            array.dtype() == multi.dtype() && space.contains(element)
        }
        (Space::MultiBinary(_), Element::Array(array)) => array.dtype() == DType::I8 && space.contains(element),
        (Space::Dict(dict), Element::Dict(parts)) => {
            parts.len() == dict.spaces().len()
                && dict.spaces().iter().all(|(name, space)| parts.get(name).is_some_and(|part| fits(part, space)))
        }
        (Space::Tuple(spaces), Element::Tuple(parts)) => {
            parts.len() == spaces.len() && spaces.iter().zip(parts).all(|(space, part)| fits(part, space))
        }
        (Space::OneOf(spaces), Element::Tuple(parts)) => match parts.as_slice() {
            [Element::Discrete(index), part] => {
                usize::try_from(*index).ok().and_then(|index| spaces.get(index)).is_some_and(|space| fits(part, space))
            }
            _ => false,
        },
        (Space::Sequence { space, stack: false }, Element::Tuple(items)) => items.iter().all(|item| fits(item, space)),
        (Space::Sequence { space, stack: true }, items) => several_fit(items, space).is_some(),
        (Space::Graph { node_space, edge_space }, Element::Dict(parts)) => {
            let count = |name: &str, space| parts.get(name).and_then(|part| several_fit(part, space));
            let Some(nodes) = count("nodes", node_space) else { return false };
            let Some(links) = parts.get("edge_links") else { return parts.len() == 1 };
            let edges = edge_space.as_ref().and_then(|space| count("edges", space));
            edges.is_some_and(|edges| linked(links, edges, nodes))
        }
        _ => space.contains(element),
    }
}

/// How many elements of `space` are stacked in `stacked`, if each fits.
fn several_fit(stacked: &Element, space: &Space) -> Option<usize> {
    let counts = |counts: Vec<Option<usize>>| match counts.split_first() {
        None => Some(0),
        Some((first, rest)) => first.filter(|_| rest.iter().all(|count| count == first)),
    };
    match (space, stacked) {
        (Space::Dict(dict), Element::Dict(parts)) if parts.len() == dict.spaces().len() => {
            counts(dict.spaces().iter().map(|(name, space)| several_fit(parts.get(name)?, space)).collect())
        }
        (Space::Tuple(spaces), Element::Tuple(parts)) if parts.len() == spaces.len() => {
            counts(spaces.iter().zip(parts).map(|(space, part)| several_fit(part, space)).collect())
        }
        (Space::Discrete { dtype, .. }, Element::Array(array)) => {
            let integers = array.scalars().map(|value| value.to_i64().map(Element::Discrete));
            let within = integers.into_iter().all(|value| value.is_some_and(|value| space.contains(&value)));
            (array.shape().len() == 1 && array.dtype() == *dtype && within).then(|| array.len())
        }
        (Space::Box(space), Element::Array(array)) => {
            let (length, rest) = array.shape().split_first()?;
            (rest == space.shape() && array.dtype() == space.dtype()).then_some(*length)
        }
        (_, Element::Array(array)) => {
            let length = *array.shape().first()?;
            let mut rows = (0..length).map(|position| array.row(position).map(Element::Array));
            rows.all(|row| row.is_some_and(|row| fits(&row, space))).then_some(length)
        }
        (_, Element::Tuple(items)) => items.iter().all(|item| fits(item, space)).then_some(items.len()),
        _ => None,
    }
}

/// Whether `links` are those of `edges` edges between `nodes` nodes.
fn linked(links: &Element, edges: usize, nodes: usize) -> bool {
    let Element::Array(links) = links else { return false };
    let node = |value: Scalar| value.to_i64().and_then(|node| usize::try_from(node).ok());
    links.dtype() == DType::I32
        && links.shape() == [edges, 2]
        && links.scalars().all(|value| node(value).is_some_and(|node| node < nodes))
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
