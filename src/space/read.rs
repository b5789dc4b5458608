//! Elements from plain data: what [`Element::to_value`] gives, under the space it is of.

use indexmap::IndexMap;

use super::{Element, Space, batch, nested};
use crate::array::{Array, DType};
use crate::value::Value;

/// How an array of a dtype is read from plain data.
type Arrays<'a> = dyn Fn(&Value, DType) -> Result<Array, String> + 'a;

impl Space {
    /// The element of this space that plain data spells; whether it lies within the bounds is for
    /// [`Space::contains`] to say. An empty map counts as an empty list.
    ///
    /// # Errors
    /// One line naming the part, under `path`, that is of the wrong kind.
    pub fn element(&self, data: &Value, path: &str) -> Result<Element, String> {
        self.element_with(data, path, &|data, dtype| Array::from_value(data, dtype).map_err(|error| error.to_string()))
    }

    /// As [`Space::element`], with arrays as `arrays` reads them: plain data may only point to one.
    ///
    /// # Errors
    /// As [`Space::element`].
    pub(crate) fn element_with(&self, data: &Value, path: &str, arrays: &Arrays<'_>) -> Result<Element, String> {
        let wrong = |expected: &str| format!("`{path}` must be {expected}, got {}", data.kind());
        let listed = || match data {
            Value::List(items) => Ok(items.as_slice()),
            Value::Map(map) if map.is_empty() => Ok(&[][..]),
            _ => Err(wrong("a list")),
        };
        let item = |index: usize| format!("{path}[{}]", index + 1);
        match self {
            Self::Box(_) | Self::MultiDiscrete(_) | Self::MultiBinary(_) => numbers(self, false, data, path, arrays),
            Self::Discrete { .. } => data.as_int().map(Element::Discrete).ok_or_else(|| wrong("an integer")),
            Self::Text(_) => data.as_text().map(|text| Element::Text(text.to_owned())).ok_or_else(|| wrong("text")),
            Self::Dict(dict) => {
                let map = data.as_map().ok_or_else(|| wrong("a map"))?;
                let spaces = dict.spaces();
                if let Some(unknown) = map.keys().find(|name| !spaces.contains_key(*name)) {
                    return Err(format!("`{path}` has a part `{unknown}`, which its space does not"));
                }
                let parts = spaces.iter().map(|(name, space)| {
                    let data = map.get(name).ok_or_else(|| format!("`{path}.{name}` is missing"))?;
                    Ok((name.clone(), space.element_with(data, &format!("{path}.{name}"), arrays)?))
                });
                parts.collect::<Result<IndexMap<_, _>, String>>().map(Element::Dict)
            }
            Self::Tuple(spaces) => {
                let items = listed()?;
                if items.len() != spaces.len() {
                    return Err(format!("`{path}` must have {} parts, got {}", spaces.len(), items.len()));
                }
                let parts = spaces.iter().zip(items).enumerate();
                let parts = parts.map(|(index, (space, data))| space.element_with(data, &item(index), arrays));
                parts.collect::<Result<_, _>>().map(Element::Tuple)
            }
            Self::Sequence { space, stack: true } => several(space, data, path, arrays),
            Self::Sequence { space, stack: false } => {
                let items =
                    listed()?.iter().enumerate().map(|(index, data)| space.element_with(data, &item(index), arrays));
                items.collect::<Result<_, _>>().map(Element::Tuple)
            }
            Self::Graph { node_space, edge_space } => graph(node_space, edge_space.as_deref(), data, path, arrays),
            Self::OneOf(spaces) => {
                let [index, data] = listed()? else { return Err(wrong("a pair of an index and an element")) };
                let index = index.as_int().ok_or_else(|| format!("`{}` must be an integer", item(0)))?;
                let space = usize::try_from(index).ok().and_then(|index| spaces.get(index));
                let space = space
                    .ok_or_else(|| format!("`{}` is {index}; there are {} spaces, from 0", item(0), spaces.len()))?;
                Ok(Element::Tuple(vec![Element::Discrete(index), space.element_with(data, &item(1), arrays)?]))
            }
        }
    }
}

/// The array of an element of `space`, or of several of them stacked.
fn numbers(space: &Space, stacked: bool, data: &Value, path: &str, arrays: &Arrays<'_>) -> Result<Element, String> {
    let (inner, dtype) = batch::layout(space).unwrap_or((&[], DType::I64));
    if !stacked && is_empty(data) && inner.first() == Some(&0) {
        return Ok(Element::Array(Array::zeros(dtype, inner)));
    }
    let array = arrays(data, dtype).map_err(|error| format!("`{path}`: {error}"))?;
    // Lists without elements do not show the lengths of all their axes.
    let count = array.shape().first().copied().filter(|_| stacked);
    let shape: Vec<usize> = count.into_iter().chain(inner.iter().copied()).collect();
    let hidden = array.is_empty() && array.shape() == nested::shown(&shape);
    Ok(Element::Array(if hidden { Array::zeros(dtype, &shape) } else { array }))
}

/// Several elements of `space` as one: as [`batch::join`] makes them.
fn several(space: &Space, data: &Value, path: &str, arrays: &Arrays<'_>) -> Result<Element, String> {
    match space {
        _ if is_empty(data) => Ok(batch::join(space, &[])),
        Space::Box(_) | Space::Discrete { .. } | Space::MultiDiscrete(_) | Space::MultiBinary(_) => {
            numbers(space, true, data, path, arrays)
        }
        Space::Dict(dict) => {
            let map = data.as_map().ok_or_else(|| format!("`{path}` must be a map, got {}", data.kind()))?;
            let parts = dict.spaces().iter().map(|(name, space)| {
                let data = map.get(name).ok_or_else(|| format!("`{path}.{name}` is missing"))?;
                Ok((name.clone(), several(space, data, &format!("{path}.{name}"), arrays)?))
            });
            parts.collect::<Result<IndexMap<_, _>, String>>().map(Element::Dict)
        }
        Space::Tuple(spaces) => {
            let items = data.as_list().filter(|items| items.len() == spaces.len());
            let items = items.ok_or_else(|| format!("`{path}` must be a list of {} parts", spaces.len()))?;
            let parts = spaces.iter().zip(items).enumerate();
            let parts =
                parts.map(|(index, (space, data))| several(space, data, &format!("{path}[{}]", index + 1), arrays));
            parts.collect::<Result<_, _>>().map(Element::Tuple)
        }
        _ => {
            let items = data.as_list().ok_or_else(|| format!("`{path}` must be a list, got {}", data.kind()))?;
            let items = items.iter().enumerate();
            let items = items.map(|(index, data)| space.element_with(data, &format!("{path}[{}]", index + 1), arrays));
            items.collect::<Result<_, _>>().map(Element::Tuple)
        }
    }
}

fn is_empty(data: &Value) -> bool {
    matches!(data, Value::List(items) if items.is_empty()) || matches!(data, Value::Map(map) if map.is_empty())
}

fn graph(
    node_space: &Space,
    edge_space: Option<&Space>,
    data: &Value,
    path: &str,
    arrays: &Arrays<'_>,
) -> Result<Element, String> {
    let map = data.as_map().ok_or_else(|| format!("`{path}` must be a map with `nodes`, got {}", data.kind()))?;
    let part = |name: &str| map.get(name).filter(|part| !part.is_null());
    let at = |name: &str| format!("{path}.{name}");
    let nodes = part("nodes").ok_or_else(|| format!("`{}` is missing", at("nodes")))?;
    let nodes = several(node_space, nodes, &at("nodes"), arrays)?;
    let edges = match (part("edges"), part("edge_links"), edge_space) {
        (None, None, _) => None,
        (Some(edges), Some(links), Some(space)) => {
            let links = arrays(links, DType::I32).map_err(|error| format!("`{}`: {error}", at("edge_links")))?;
            Some((several(space, edges, &at("edges"), arrays)?, links))
        }
        (_, _, None) => return Err(format!("`{path}` has edges, but its space has none")),
        _ => return Err(format!("`{path}` must have both `edges` and `edge_links`, or neither")),
    };
    Ok(Element::graph(nodes, edges))
}
