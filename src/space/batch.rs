//! Several elements of one space as one: numbers stacked along a new first axis, the parts of
//! `Dict` and `Tuple` each by themselves, and lists of everything else (Gymnasium's
//! `batch_space`, `concatenate` and `iterate`).

use indexmap::IndexMap;

use super::{Element, Space};
use crate::array::{Array, DType};

/// The shape and dtype of the space's elements, if they are arrays or integers.
pub(super) fn layout(space: &Space) -> Option<(&[usize], DType)> {
    match space {
        Space::Box(space) => Some((space.shape(), space.dtype())),
        Space::Discrete { dtype, .. } => Some((&[], *dtype)),
        Space::MultiDiscrete(space) => Some((space.shape(), space.dtype())),
        Space::MultiBinary(space) => Some((space.shape(), DType::I8)),
        _ => None,
    }
}

/// The `items` of `space` as one element; one that is not of its kind and shape leaves zeros.
pub(super) fn join(space: &Space, items: &[Element]) -> Element {
    if let Some((shape, dtype)) = layout(space) {
        let shape: Vec<usize> = std::iter::once(items.len()).chain(shape.iter().copied()).collect();
        return Element::Array(stack(&shape, dtype, items));
    }
    let part = |pick: &dyn Fn(&Element) -> Option<Element>, space: &Space| {
        join(space, &items.iter().filter_map(pick).collect::<Vec<_>>())
    };
    match space {
        Space::Dict(dict) => {
            let joined = dict.spaces().iter().map(|(name, space)| {
                let pick = |item: &Element| match item {
                    Element::Dict(parts) => parts.get(name).cloned(),
                    _ => None,
                };
                (name.clone(), part(&pick, space))
            });
            Element::Dict(joined.collect())
        }
        Space::Tuple(spaces) => {
            let joined = spaces.iter().enumerate().map(|(index, space)| {
                let pick = |item: &Element| match item {
                    Element::Tuple(parts) => parts.get(index).cloned(),
                    _ => None,
                };
                part(&pick, space)
            });
            Element::Tuple(joined.collect())
        }
        _ => Element::Tuple(items.to_vec()),
    }
}

fn stack(shape: &[usize], dtype: DType, items: &[Element]) -> Array {
    let mut stacked = Array::zeros(dtype, shape);
    for (position, item) in items.iter().enumerate() {
        // What does not fit stays zero, as promised.
        let _ = match item {
            Element::Array(array) => stacked.put(0, position, array),
            Element::Discrete(value) => stacked.put(0, position, &Array::scalar(*value)),
            _ => Ok(()),
        };
    }
    stacked
}

/// The elements that `joined` holds; `None` when it cannot be several elements of `space`.
pub(super) fn split(space: &Space, joined: &Element) -> Option<Vec<Element>> {
    match (space, joined) {
        (Space::Discrete { dtype, .. }, Element::Array(array)) => {
            let fits = array.shape().len() == 1 && array.dtype().promote(*dtype) == *dtype;
            fits.then(|| array.scalars().map(|value| value.to_i64().map(Element::Discrete)).collect()).flatten()
        }
        (_, Element::Array(array)) if layout(space).is_some() => {
            (0..*array.shape().first()?).map(|position| array.row(position).map(Element::Array)).collect()
        }
        (Space::Dict(dict), Element::Dict(parts)) => {
            let columns = dict.spaces().iter().map(|(name, space)| split(space, parts.get(name)?));
            let rows = transpose(columns.collect::<Option<_>>()?)?;
            let named = |row: Vec<Element>| dict.spaces().keys().cloned().zip(row).collect::<IndexMap<_, _>>();
            (parts.len() == dict.spaces().len())
                .then(|| rows.into_iter().map(|row| Element::Dict(named(row))).collect())
        }
        (Space::Tuple(spaces), Element::Tuple(parts)) if parts.len() == spaces.len() => {
            let columns = spaces.iter().zip(parts).map(|(space, part)| split(space, part));
            let rows = transpose(columns.collect::<Option<_>>()?)?;
            Some(rows.into_iter().map(Element::Tuple).collect())
        }
        (Space::Dict(_) | Space::Tuple(_), _) => None,
        (_, Element::Tuple(items)) if layout(space).is_none() => Some(items.clone()),
        _ => None,
    }
}

/// Columns of one length as rows.
fn transpose(columns: Vec<Vec<Element>>) -> Option<Vec<Vec<Element>>> {
    let length = columns.first().map_or(0, Vec::len);
    let mut rows = vec![Vec::with_capacity(columns.len()); length];
    for column in columns {
        if column.len() != length {
            return None;
        }
        for (row, item) in rows.iter_mut().zip(column) {
            row.push(item);
        }
    }
    Some(rows)
}
