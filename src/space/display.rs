//! Spaces as messages show them, much like Gymnasium's own.

use std::fmt;

use super::Space;
use crate::array::DType;

impl fmt::Display for Space {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Box(space) => write!(out, "Box({:?}, {})", space.shape(), space.dtype().numpy_name()),
            Self::Discrete { n, start, dtype } => {
                write!(out, "Discrete({n}")?;
                if *start != 0 {
                    write!(out, ", start={start}")?;
                }
                if *dtype != DType::I64 {
                    write!(out, ", dtype={}", dtype.numpy_name())?;
                }
                out.write_str(")")
            }
            Self::MultiDiscrete(space) if space.shape().len() == 1 => write!(out, "MultiDiscrete({:?})", space.nvec()),
            Self::MultiDiscrete(space) => write!(out, "MultiDiscrete({:?}, shape={:?})", space.nvec(), space.shape()),
            Self::MultiBinary(space) => match space.bare() {
                Some(n) => write!(out, "MultiBinary({n})"),
                None => write!(out, "MultiBinary({:?})", space.shape()),
            },
            Self::Text(space) => {
                write!(out, "Text({}, {}, charset={:?})", space.min_length(), space.max_length(), space.charset())
            }
            Self::Dict(dict) => {
                let named = dict.spaces().iter().map(|(name, space)| format!("{name:?}: {space}"));
                write!(out, "Dict({})", named.collect::<Vec<_>>().join(", "))
            }
            Self::Tuple(spaces) | Self::OneOf(spaces) => {
                let spaces = spaces.iter().map(Self::to_string).collect::<Vec<_>>();
                write!(out, "{}({})", self.kind(), spaces.join(", "))
            }
            Self::Sequence { space, stack } => write!(out, "Sequence({space}, stack={stack})"),
            Self::Graph { node_space, edge_space } => match edge_space {
                Some(edge_space) => write!(out, "Graph({node_space}, {edge_space})"),
                None => write!(out, "Graph({node_space}, no edges)"),
            },
        }
    }
}
