//! Why stores cannot be joined or taken apart.

use std::path::PathBuf;

use crate::diagnostic::{Exit, Problem};
use crate::rollouts::{StoreError, WriteError};

/// Why stores cannot be joined or taken apart. What stood at the destination is untouched.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// There is nothing to join.
    #[error("no store is given to merge")]
    NoParts,
    /// A store is given twice, or a copy of it.
    #[error("store `{}` is given twice{copy}: its chains would be there twice", path.display())]
    Repeated {
        /// The store's directory.
        path: PathBuf,
        /// Where it was before, if that is another directory.
        copy: String,
    },
    /// Two parts have one chain.
    #[error(
        "stores `{}` and `{}` both have the rollout `{}` of one source: it would be there twice",
        first.display(), path.display(), rollout.escape_debug()
    )]
    Shared {
        /// The later part's directory.
        path: PathBuf,
        /// That of the earlier part.
        first: PathBuf,
        /// The rollout's id.
        rollout: String,
    },
    /// The destination is one of the parts.
    #[error("`{}` is one of the stores to be read; write elsewhere", path.display())]
    Destination {
        /// The destination.
        path: PathBuf,
    },
    /// A part does not hold what its contract says.
    #[error("store `{}` has {count} violations: {first}", path.display())]
    Invalid {
        /// The part's directory.
        path: PathBuf,
        /// How many kinds of violation there are.
        count: usize,
        /// The first five.
        first: String,
    },
    /// A part was written otherwise than the first.
    #[error("store `{}` does not go with `{}`: {what}", path.display(), first.display())]
    Disagree {
        /// The part's directory.
        path: PathBuf,
        /// That of the first part.
        first: PathBuf,
        /// What differs, with both values.
        what: String,
    },
    /// A sound part that cannot be taken over as it is.
    #[error("store `{}`: {what}", path.display())]
    Refused {
        /// The part's directory.
        path: PathBuf,
        /// Why.
        what: String,
    },
    /// A value that is asked for is not in the store.
    #[error("store `{}` has no {field} `{value}`; {hint}", path.display())]
    Unknown {
        /// The store's directory.
        path: PathBuf,
        /// What is asked for.
        field: &'static str,
        /// By which value.
        value: String,
        /// What may be meant.
        hint: String,
    },
    /// No chain is all that is asked for.
    #[error("store `{}` has no chain with {wanted}", path.display())]
    Nothing {
        /// The store's directory.
        path: PathBuf,
        /// What is asked for.
        wanted: String,
    },
    /// The store that came of it breaks the contract.
    #[error("the store that came of it has {count} violations: {first}; nothing was written")]
    Outcome {
        /// How many kinds of violation there are.
        count: usize,
        /// The first five.
        first: String,
    },
    /// A part cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl Problem for JoinError {
    fn code(&self) -> &'static str {
        match self {
            Self::NoParts => "rollouts/no-stores",
            Self::Repeated { .. } => "rollouts/repeated-store",
            Self::Shared { .. } => "rollouts/repeated-rollout",
            Self::Destination { .. } => "rollouts/destination",
            Self::Invalid { .. } => "rollouts/invalid",
            Self::Disagree { .. } => "rollouts/contract",
            Self::Refused { .. } => "rollouts/refused-part",
            Self::Unknown { .. } | Self::Nothing { .. } => "rollouts/nothing-selected",
            Self::Outcome { .. } => "rollouts/outcome",
            Self::Store(error) => error.code(),
            Self::Write(error) => error.code(),
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::NoParts
            | Self::Repeated { .. }
            | Self::Shared { .. }
            | Self::Destination { .. }
            | Self::Unknown { .. }
            | Self::Nothing { .. } => Exit::Usage,
            Self::Invalid { .. } | Self::Disagree { .. } | Self::Refused { .. } => Exit::Input,
            Self::Outcome { .. } => Exit::Failure,
            Self::Store(error) => error.exit(),
            Self::Write(error) => error.exit(),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Invalid { .. } => Some("`skyfall rollouts validate` lists all of them".to_owned()),
            Self::Store(error) => error.hint(),
            Self::Write(error) => error.hint(),
            _ => None,
        }
    }
}
