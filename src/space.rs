//! Observation and action spaces, and the elements that live in them (Gymnasium's
//! `gymnasium.spaces`).
//!
//! Spaces are equal when everything about them is, what decides sampling included: the order of a
//! `Dict`'s keys and of a `Text`'s alphabet, the dtype, the last bit of a bound.

mod batch;
mod boxed;
mod contains;
mod decode;
mod dict;
mod display;
mod draw;
mod element;
mod encode;
mod fault;
mod multi;
mod nested;
mod numbers;
mod read;
mod sampler;
mod shape;
mod text;

pub use boxed::BoxSpace;
pub use dict::DictSpace;
pub use element::Element;
pub use multi::{MultiBinarySpace, MultiDiscreteSpace};
pub use sampler::Sampler;
pub use text::TextSpace;

use crate::array::{Array, DType};

/// A set of observations or actions.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Space {
    /// Numbers within bounds.
    Box(BoxSpace),
    /// The integers `start` to `start + n - 1`.
    Discrete {
        /// How many there are, at least 1.
        n: i64,
        /// The first.
        start: i64,
        /// The integer type they have in Python.
        dtype: DType,
    },
    /// An array of integers, each with a range of its own.
    MultiDiscrete(MultiDiscreteSpace),
    /// An array of zeros and ones.
    MultiBinary(MultiBinarySpace),
    /// Strings over an alphabet.
    Text(TextSpace),
    /// An element of each of several named spaces.
    Dict(DictSpace),
    /// An element of each of several spaces.
    Tuple(Vec<Space>),
    /// Any number of elements of one space.
    Sequence {
        /// What its elements are of.
        space: Box<Space>,
        /// Whether they are stacked into one array (of a `Dict` or `Tuple`: one for each part).
        stack: bool,
    },
    /// Nodes, and edges that link them.
    Graph {
        /// What a node carries.
        node_space: Box<Space>,
        /// What an edge carries; without it there are no edges.
        edge_space: Option<Box<Space>>,
    },
    /// An element of one of several spaces, and of which; at least one.
    OneOf(Vec<Space>),
}

/// Why a space could not be made or decoded.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {message}")]
pub struct SpaceError {
    /// The field at fault.
    pub path: String,
    /// What was expected and what came.
    pub message: String,
}

impl SpaceError {
    fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }

    /// The same fault, found in the part called `outer`.
    fn within(self, outer: &str) -> Self {
        Self { path: format!("{outer}.{}", self.path), ..self }
    }
}

/// How deep spaces may be nested in each other.
const MAX_DEPTH: usize = 32;

impl Space {
    /// The integers `start` to `start + n - 1`, which are int64 in Python.
    ///
    /// # Errors
    /// When there are none, or the last is beyond 64 bits.
    pub fn discrete(n: i64, start: i64) -> Result<Self, SpaceError> {
        Self::discrete_of(DType::I64, n, start)
    }

    /// The integers `start` to `start + n - 1` of an integer type.
    ///
    /// # Errors
    /// When there are none, `dtype` is not an integer type, or they are beyond it.
    pub fn discrete_of(dtype: DType, n: i64, start: i64) -> Result<Self, SpaceError> {
        multi::check_range(n, start, dtype)?;
        Ok(Self::Discrete { n, start, dtype })
    }

    /// An element of each of several spaces.
    ///
    /// # Errors
    /// When they are nested too deep.
    pub fn tuple(spaces: Vec<Self>) -> Result<Self, SpaceError> {
        Self::Tuple(spaces).checked()
    }

    /// An element of each of several named spaces.
    ///
    /// # Errors
    /// When they are nested too deep.
    pub fn dict(spaces: DictSpace) -> Result<Self, SpaceError> {
        Self::Dict(spaces).checked()
    }

    /// Any number of elements of `space`.
    ///
    /// # Errors
    /// When they are nested too deep.
    pub fn sequence(space: Self, stack: bool) -> Result<Self, SpaceError> {
        Self::Sequence { space: Box::new(space), stack }.checked()
    }

    /// Nodes, and edges that link them.
    ///
    /// # Errors
    /// When they are nested too deep.
    pub fn graph(node_space: Self, edge_space: Option<Self>) -> Result<Self, SpaceError> {
        Self::Graph { node_space: Box::new(node_space), edge_space: edge_space.map(Box::new) }.checked()
    }

    /// An element of one of several spaces.
    ///
    /// # Errors
    /// When there is none, or they are nested too deep.
    pub fn one_of(spaces: Vec<Self>) -> Result<Self, SpaceError> {
        if spaces.is_empty() {
            return Err(SpaceError::new("spaces", "must be at least one"));
        }
        Self::OneOf(spaces).checked()
    }

    /// The name of the space's kind, as Gymnasium calls it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Box(_) => "Box",
            Self::Discrete { .. } => "Discrete",
            Self::MultiDiscrete(_) => "MultiDiscrete",
            Self::MultiBinary(_) => "MultiBinary",
            Self::Text(_) => "Text",
            Self::Dict(_) => "Dict",
            Self::Tuple(_) => "Tuple",
            Self::Sequence { .. } => "Sequence",
            Self::Graph { .. } => "Graph",
            Self::OneOf(_) => "OneOf",
        }
    }

    /// The spaces this one is made of, in order.
    fn parts(&self) -> Vec<&Self> {
        match self {
            Self::Dict(dict) => dict.spaces().values().collect(),
            Self::Tuple(spaces) | Self::OneOf(spaces) => spaces.iter().collect(),
            Self::Sequence { space, .. } => vec![space],
            Self::Graph { node_space, edge_space } => {
                std::iter::once(&**node_space).chain(edge_space.as_deref()).collect()
            }
            _ => Vec::new(),
        }
    }

    fn depth(&self) -> usize {
        1 + self.parts().into_iter().map(Self::depth).max().unwrap_or(0)
    }

    fn checked(self) -> Result<Self, SpaceError> {
        if self.depth() > MAX_DEPTH {
            return Err(SpaceError::new("space", format!("is nested deeper than {MAX_DEPTH} spaces")));
        }
        Ok(self)
    }

    /// An element of the right kind and shape, to be written into.
    #[must_use]
    pub fn blank(&self) -> Element {
        match self {
            Self::Box(space) => Element::Array(Array::zeros(space.dtype(), space.shape())),
            Self::Discrete { start, .. } => Element::Discrete(*start),
            Self::MultiDiscrete(space) => Element::Array(Array::zeros(space.dtype(), space.shape())),
            Self::MultiBinary(space) => Element::Array(Array::zeros(DType::I8, space.shape())),
            Self::Text(_) => Element::Text(String::new()),
            Self::Dict(dict) => {
                Element::Dict(dict.spaces().iter().map(|(name, space)| (name.clone(), space.blank())).collect())
            }
            Self::Tuple(spaces) => Element::Tuple(spaces.iter().map(Self::blank).collect()),
            Self::Sequence { space, stack: true } => batch::join(space, &[]),
            Self::Sequence { .. } => Element::Tuple(Vec::new()),
            Self::Graph { node_space, .. } => Element::graph(batch::join(node_space, &[]), None),
            Self::OneOf(spaces) => {
                Element::Tuple(std::iter::once(Element::Discrete(0)).chain(spaces.first().map(Self::blank)).collect())
            }
        }
    }
}
