//! Observation and action spaces, and the elements that live in them (Gymnasium's
//! `gymnasium.spaces`).

mod numbers;

use indexmap::IndexMap;

use crate::array::Array;

/// A set of observations or actions.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Space {}

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
