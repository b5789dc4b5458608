//! The rollout store: finite-candidate rollouts as a Zarr v3 hierarchy that Python readers open
//! as it stands.
//!
//! Records ([`record`]) are checked ([`admission`]) and taken apart into tables whose columns
//! [`schema`] lists once: small ones wait in memory ([`tables`]), those that grow with every step
//! stream to disk ([`rows`]). Texts become ids of dictionaries; the padded `q_h/` view is derived
//! from the tables in a second pass ([`q_h`]), the sidecar binds everything ([`manifest`]). A
//! store appears complete or not at all.

mod admission;
mod attributes;
mod column;
mod config;
mod content;
mod datum;
mod dictionary;
mod identifier;
mod info;
mod join;
mod labels;
mod manifest;
mod q_h;
mod quantity;
mod reader;
pub mod record;
mod records_file;
mod rows;
mod schema;
mod shard;
mod shell;
mod split_hash;
mod tables;
mod target;
mod validate;
mod writer;
mod zarr;

pub use config::{ConfigError, ManifestContext, RolloutZarrStoreConfig};
pub(crate) use content::content_digest;
pub use info::{Info, InfoSections, PlotError, Profile, info, plot};
pub(crate) use info::{panel, random_index, validation};
pub(crate) use join::file_stem;
pub use join::{By, Filter, JoinError, JoinOptions, Progress, merge, select, split};
pub use reader::chains::{Batch, Batches, Chain, ChainError, ChainOptions, ChainReader, State};
pub use reader::{CodecTables, Columns, Groups, Store};
pub use record::{Datum, RecordError, RolloutRecord};
pub use records_file::{RecordsError, RecordsFile};
pub use shard::{ShardEntry, ShardRow, canonical_shard_id, rows_hash};
pub use target::TargetInputProtocol;
pub(crate) use validate::{OWNER, OWNERSHIP, parse_marker, read_marker, validate_unsealed};
pub use validate::{Validation, validate};
pub use writer::{RolloutZarrWriteResult, WriteError, Writer, write_rollout_zarr_store};
pub use zarr::{Encoder, StoreError};
