//! The rollout store: finite-candidate rollouts as a Zarr v3 hierarchy that Python readers open
//! as it stands.
//!
//! Records ([`record`]) are taken apart into tables ([`tables`], whose columns [`schema`] lists
//! once), texts into dictionaries; the padded `q_h/` view is derived from the tables ([`q_h`]),
//! the sidecar binds everything ([`manifest`]). A store appears complete or not at all.

mod admission;
mod attributes;
mod config;
mod content;
mod datum;
mod dictionary;
mod identifier;
mod info;
mod labels;
mod manifest;
mod q_h;
mod reader;
pub mod record;
mod schema;
mod shell;
mod tables;
mod target;
mod validate;
mod writer;
mod zarr;

pub use config::{ConfigError, ManifestContext, RolloutZarrStoreConfig};
pub use info::{DrawError, Info, InfoSections, Profile, info, panel, random_index, validation};
pub use reader::chains::{Batch, Batches, Chain, ChainError, ChainOptions, ChainReader, State};
pub use reader::{CodecTables, Columns, Groups, Store};
pub use record::{Datum, RecordError, RolloutRecord};
pub use target::TargetInputProtocol;
pub use validate::{Validation, validate};
pub use writer::{RolloutZarrWriteResult, WriteError, Writer, write_rollout_zarr_store};
pub use zarr::StoreError;
