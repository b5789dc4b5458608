//! Spaces as the manifest holds them: keys after the constructor's arguments, nothing lost.
//!
//! Bounds are the exact values of the dtype; where there is none, the *text* `inf` or `-inf`, as
//! the format document shows (also for integers, whose own type has no infinity).

use super::{BoxSpace, MultiDiscreteSpace, Space, nested};
use crate::array::{DType, Scalar};
use crate::value::{Map, Value};

impl Space {
    /// The space as plain data, which [`Space::decode`] turns back into an equal one.
    #[must_use]
    pub fn encode(&self) -> Value {
        let mut map = Map::from_iter([("type".to_owned(), Value::from(self.kind()))]);
        let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
        match self {
            Self::Box(space) => {
                put("low", bounds(space, space.low()));
                put("high", bounds(space, space.high()));
                put("shape", lengths(space.shape()));
                put("dtype", space.dtype().numpy_name().into());
            }
            Self::Discrete { n, start, dtype } => {
                put("n", (*n).into());
                put("start", (*start).into());
                if *dtype != DType::I64 {
                    put("dtype", dtype.numpy_name().into());
                }
            }
            Self::MultiDiscrete(space) => {
                let nvec = integers(space, space.nvec());
                // Only lists that end in nothing, such as those of shape [0, 3], do not show it.
                let shape = (nested::shown(space.shape()) != space.shape()).then(|| lengths(space.shape()));
                put("nvec", nvec);
                put("start", integers(space, space.start()));
                if let Some(shape) = shape {
                    put("shape", shape);
                }
                put("dtype", space.dtype().numpy_name().into());
            }
            Self::MultiBinary(space) => {
                put("n", space.bare().map_or_else(|| lengths(space.shape()), length));
            }
            Self::Text(space) => {
                put("min_length", space.min_length().into());
                put("max_length", space.max_length().into());
                put("charset", space.charset().into());
            }
            Self::Dict(dict) => {
                let spaces = dict.spaces().iter().map(|(name, space)| (name.clone(), space.encode()));
                put("spaces", Value::Map(spaces.collect()));
            }
            Self::Tuple(spaces) | Self::OneOf(spaces) => {
                put("spaces", Value::List(spaces.iter().map(Self::encode).collect()));
            }
            Self::Sequence { space, stack } => {
                put("space", space.encode());
                put("stack", (*stack).into());
            }
            Self::Graph { node_space, edge_space } => {
                put("node_space", node_space.encode());
                put("edge_space", edge_space.as_ref().map(|space| space.encode()).into());
            }
        }
        Value::Map(map)
    }
}

fn length(length: usize) -> Value {
    Value::Int(i64::try_from(length).unwrap_or(i64::MAX))
}

fn lengths(shape: &[usize]) -> Value {
    Value::List(shape.iter().copied().map(length).collect())
}

fn bounds(space: &BoxSpace, bounds: &[Scalar]) -> Value {
    nest(
        space.shape(),
        &mut bounds.iter().map(|bound| match bound {
            Scalar::Float(bound) if bound.is_infinite() => if *bound > 0.0 { "inf" } else { "-inf" }.into(),
            bound => Value::from(*bound),
        }),
    )
}

fn integers(space: &MultiDiscreteSpace, numbers: &[i64]) -> Value {
    nest(space.shape(), &mut numbers.iter().copied().map(Value::Int))
}

/// Takes the elements of `shape` from `leaves` into nested lists.
fn nest(shape: &[usize], leaves: &mut dyn Iterator<Item = Value>) -> Value {
    match shape.split_first() {
        None => leaves.next().unwrap_or_default(),
        Some((&length, rest)) => Value::List((0..length).map(|_| nest(rest, leaves)).collect()),
    }
}
