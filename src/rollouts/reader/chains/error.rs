//! Why chains cannot be read.

use std::path::PathBuf;

use crate::diagnostic::{Exit, Problem};
use crate::rollouts::StoreError;

/// Why chains cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ChainError {
    /// There is nothing to read.
    #[error("no store is given")]
    NoStores,
    /// A store is given twice.
    #[error("store `{}` is given twice", path.display())]
    Repeated {
        /// The store's directory.
        path: PathBuf,
    },
    /// A store does not hold what its contract says.
    #[error("store `{}` has {count} violations: {first}", path.display())]
    Invalid {
        /// The store's directory.
        path: PathBuf,
        /// How many kinds of violation there are.
        count: usize,
        /// The first five.
        first: String,
    },
    /// A sound store whose chains cannot be learnt from.
    #[error("store `{}`: {what}", path.display())]
    Refused {
        /// The store's directory.
        path: PathBuf,
        /// Why.
        what: String,
    },
    /// Two stores do not share their contract.
    #[error("store `{}` differs from the first in {keys}", path.display())]
    Contract {
        /// The store's directory.
        path: PathBuf,
        /// What differs, with both values.
        keys: String,
    },
    /// No chain is of the wanted split.
    #[error("no chain is of the split `{split}`")]
    Empty {
        /// The split.
        split: String,
    },
    /// There is no such chain.
    #[error("there is no chain {index}: there are {count}, counted from 0")]
    Index {
        /// What was asked for.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// A store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Problem for ChainError {
    fn code(&self) -> &'static str {
        match self {
            Self::NoStores => "rollouts/no-stores",
            Self::Repeated { .. } => "rollouts/repeated-store",
            Self::Invalid { .. } => "rollouts/invalid",
            Self::Refused { .. } => "rollouts/not-admitted",
            Self::Contract { .. } => "rollouts/contract",
            Self::Empty { .. } => "rollouts/empty-split",
            Self::Index { .. } => "rollouts/no-such-chain",
            Self::Store(error) => error.code(),
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::NoStores | Self::Repeated { .. } | Self::Empty { .. } | Self::Index { .. } => Exit::Usage,
            Self::Invalid { .. } | Self::Refused { .. } | Self::Contract { .. } => Exit::Input,
            Self::Store(error) => error.exit(),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Invalid { .. } => Some("`skyfall rollouts validate` lists all of them".to_owned()),
            Self::Store(error) => error.hint(),
            _ => None,
        }
    }
}
