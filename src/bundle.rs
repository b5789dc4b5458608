//! Bundles: an exported policy as one movable directory.
//!
//! [`manifest`] is `manifest.yaml`, the description of everything that stands beside it;
//! [`export()`] writes a bundle whole or not at all; [`Bundle`] opens one and trusts nothing in
//! it; [`serve()`] runs its policy, frozen, in the world and the regimes it was trained in, and a
//! [`Server`] answers observations with the actions of an [`Actor`].

mod act;
mod checkpoint;
mod error;
mod export;
mod listen;
pub mod manifest;
mod open;
mod serve;

pub use act::{ActError, Actor};
pub use error::BundleError;
pub use export::{ExportOptions, export};
pub(crate) use export::{check_target, discard};
pub use listen::{ListenError, Server};
pub use manifest::Manifest;
pub use open::{Bundle, check};
pub use serve::{ServeOptions, serve};

/// The manifest's file name.
const MANIFEST: &str = "manifest.yaml";
/// The checkpoint's directory within the bundle.
const CHECKPOINT: &str = "checkpoint";
