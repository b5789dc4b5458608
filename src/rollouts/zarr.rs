//! Zarr v3 on disk: groups, attributes and arrays of a store's directory.
//!
//! The `zarrs` crate encodes and decodes chunks; metadata documents are ours, field for field as
//! zarr-python writes them, so that the same tables give the same bytes. Every chunk is stored,
//! also one that holds only the fill value: a missing file always means a broken store.

mod directory;
mod document;
mod reader;
mod writer;

use std::path::{Path, PathBuf};

pub(super) use reader::StoreReader;
pub(super) use writer::StoreWriter;

use crate::diagnostic::{Exit, Problem};

/// How an array's chunks are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Codec {
    /// Zstandard at its default level, as zarr-python does it.
    Default,
    /// Blosc over Zstandard with bit shuffling, for depth rasters.
    Depth,
}

/// Why a store could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Nothing is there.
    #[error("there is no store at `{}`", path.display())]
    Missing {
        /// The directory.
        path: PathBuf,
    },
    /// Something is there, but no Zarr v3 group.
    #[error("`{}` is not a rollout store: {what}", path.display())]
    NotAStore {
        /// The directory.
        path: PathBuf,
        /// What is missing or wrong.
        what: String,
    },
    /// The file system refused.
    #[error("cannot access `{}`: {source}", path.display())]
    Files {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// A group or array is missing or damaged.
    #[error("store `{}`: {node}: {what}", path.display())]
    Node {
        /// The store's directory.
        path: PathBuf,
        /// The group or array within it.
        node: String,
        /// What is wrong with it.
        what: String,
    },
}

impl StoreError {
    fn node(store: &Path, node: &str, what: impl std::fmt::Display) -> Self {
        Self::Node { path: store.to_owned(), node: node.to_owned(), what: what.to_string() }
    }

    fn files(path: &Path, source: std::io::Error) -> Self {
        Self::Files { path: path.to_owned(), source }
    }
}

impl Problem for StoreError {
    fn code(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "rollouts/missing",
            Self::NotAStore { .. } => "rollouts/not-a-store",
            Self::Files { .. } => "rollouts/files",
            Self::Node { .. } => "rollouts/damaged",
        }
    }

    fn exit(&self) -> Exit {
        Exit::Input
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Missing { .. } | Self::NotAStore { .. } => {
                Some("a store is the directory that holds `zarr.json` and `manifest.json`".to_owned())
            }
            Self::Node { .. } => Some("the store is incomplete or damaged: write it again".to_owned()),
            Self::Files { .. } => None,
        }
    }
}
