//! Observation and action spaces, and the elements that live in them (Gymnasium's
//! `gymnasium.spaces`).

mod boxed;
mod encode;
mod numbers;

use std::fmt;

use indexmap::IndexMap;

pub use boxed::BoxSpace;

use crate::array::Array;
use crate::random::Rng;

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
    },
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
}

/// One element of a [`Space`]: an observation or an action.
///
/// Environments write into an element the caller keeps, so that stepping allocates nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum Element {
    /// An element of a `Discrete` space.
    Discrete(i64),
    /// An element of a `Box`, `MultiDiscrete` or `MultiBinary` space, in the space's shape.
    Array(Array),
    /// An element of a `Text` space.
    Text(String),
    /// An element of a `Tuple` space.
    Tuple(Vec<Element>),
    /// An element of a `Dict` space, in the space's order.
    Dict(IndexMap<String, Element>),
}

impl Element {
    /// The float32 elements, if this is an array of them.
    #[must_use]
    pub fn as_f32(&self) -> Option<&[f32]> {
        match self {
            Self::Array(array) => array.as_f32(),
            _ => None,
        }
    }
}

impl Space {
    /// The integers `start` to `start + n - 1`.
    ///
    /// # Errors
    /// When there are none, or the last is beyond 64 bits.
    pub fn discrete(n: i64, start: i64) -> Result<Self, SpaceError> {
        if n < 1 {
            return Err(SpaceError::new("n", format!("must be at least 1, got {n}")));
        }
        if start.checked_add(n - 1).is_none() {
            return Err(SpaceError::new("start", format!("{start} + {n} is beyond 64 bits")));
        }
        Ok(Self::Discrete { n, start })
    }

    /// An element of the right kind and shape, to be written into.
    #[must_use]
    pub fn blank(&self) -> Element {
        match self {
            Self::Box(space) => Element::Array(Array::zeros(space.dtype(), space.shape())),
            Self::Discrete { start, .. } => Element::Discrete(*start),
        }
    }

    /// Whether `element` lies in the space.
    #[must_use]
    pub fn contains(&self, element: &Element) -> bool {
        match (self, element) {
            (Self::Box(space), Element::Array(array)) => space.contains(array),
            (Self::Discrete { n, start }, Element::Discrete(value)) => {
                value.checked_sub(*start).is_some_and(|offset| (0..*n).contains(&offset))
            }
            _ => false,
        }
    }

    /// A random element, drawn as Gymnasium's `Space.sample` draws it.
    pub fn sample(&self, rng: &mut Rng) -> Element {
        match self {
            Self::Box(space) => Element::Array(space.sample(rng)),
            Self::Discrete { n, start } => Element::Discrete(start + rng.integers(0, *n)),
        }
    }
}

/// The element as a reader of Python or Lua expects it: `1`, `[0.5, 2.0]`, `{"a": 1}`.
impl fmt::Display for Element {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Discrete(value) => write!(out, "{value}"),
            Self::Array(array) => out.write_str(&crate::text::json::to_string(&array.to_value())),
            Self::Text(text) => write!(out, "{text:?}"),
            Self::Tuple(items) => {
                out.write_str("[")?;
                for (position, item) in items.iter().enumerate() {
                    write!(out, "{}{item}", if position == 0 { "" } else { ", " })?;
                }
                out.write_str("]")
            }
            Self::Dict(items) => {
                out.write_str("{")?;
                for (position, (name, item)) in items.iter().enumerate() {
                    write!(out, "{}{name:?}: {item}", if position == 0 { "" } else { ", " })?;
                }
                out.write_str("}")
            }
        }
    }
}

impl fmt::Display for Space {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Box(space) => write!(out, "Box({:?}, {})", space.shape(), space.dtype().numpy_name()),
            Self::Discrete { n, start: 0 } => write!(out, "Discrete({n})"),
            Self::Discrete { n, start } => write!(out, "Discrete({n}, start={start})"),
        }
    }
}
