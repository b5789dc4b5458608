//! Elements of spaces: observations and actions.

use std::fmt;

use indexmap::IndexMap;

use crate::array::Array;
use crate::text::json;
use crate::value::Value;

/// One element of a [`Space`](super::Space): an observation or an action.
///
/// Environments write into an element the caller keeps, so that stepping allocates nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum Element {
    /// An element of a `Discrete` space.
    Discrete(i64),
    /// An element of a `Box`, `MultiDiscrete` or `MultiBinary` space, in the space's shape; or
    /// several elements of such a space (or of `Discrete`) stacked along a new first axis.
    Array(Array),
    /// An element of a `Text` space.
    Text(String),
    /// An element of a `Tuple` space; the elements of a `Sequence`, unless they are stacked; the
    /// index of a `OneOf` element's space, from 0, followed by the element.
    Tuple(Vec<Element>),
    /// An element of a `Dict` space, in the space's order; the stacked `nodes` of a `Graph` and,
    /// if it has any, its stacked `edges` and `edge_links` (int32, `[n_edges, 2]`: from which
    /// node to which, from 0).
    Dict(IndexMap<String, Element>),
}

impl Element {
    /// A graph: stacked nodes and, if it has edges, the stacked edges and their links.
    #[must_use]
    pub fn graph(nodes: Self, edges: Option<(Self, Array)>) -> Self {
        let mut parts = IndexMap::from([("nodes".to_owned(), nodes)]);
        if let Some((edges, links)) = edges {
            parts.insert("edges".to_owned(), edges);
            parts.insert("edge_links".to_owned(), Self::Array(links));
        }
        Self::Dict(parts)
    }

    /// The float32 elements, if this is an array of them.
    #[must_use]
    pub fn as_f32(&self) -> Option<&[f32]> {
        match self {
            Self::Array(array) => array.as_f32(),
            _ => None,
        }
    }

    /// The element as plain data: a number, text, nested lists or a map.
    #[must_use]
    pub fn to_value(&self) -> Value {
        match self {
            Self::Discrete(value) => Value::Int(*value),
            Self::Array(array) => array.to_value(),
            Self::Text(text) => Value::Text(text.clone()),
            Self::Tuple(parts) => Value::List(parts.iter().map(Self::to_value).collect()),
            Self::Dict(parts) => Value::Map(parts.iter().map(|(name, part)| (name.clone(), part.to_value())).collect()),
        }
    }
}

/// The element as a reader of Python or Lua expects it: `1`, `[0.5, 2.0]`, `{"a": 1}`.
impl fmt::Display for Element {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&json::to_string(&self.to_value()))
    }
}
