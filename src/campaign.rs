//! Campaigns: a rollout store in shards, each made by a process that may die at any moment.
//!
//! A [`plan`] turns a source [`index`] into a source manifest and a shard [`manifest`]; [`run`]
//! makes one shard's store in a directory of its own, checks it, promotes it by one rename, and
//! writes its success marker last; [`status`] reads everything from the files. Records come from a
//! [`run::RecordSource`]: this room knows neither scripts nor formats of records. A promoted store
//! is never touched again.

mod csv;
mod error;
pub mod gc;
pub mod index;
pub mod manifest;
pub mod plan;
pub(crate) mod pool;
pub(crate) mod promotion;
pub(crate) mod recipe;
mod rows;
pub mod run;
pub(crate) mod sidecar;
pub(crate) mod site;
pub mod status;

pub use error::{ManifestError, RunError};
pub use recipe::Recipe;
pub use site::Site;
