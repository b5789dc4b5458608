//! Bundles: an exported policy as one movable directory.
//!
//! [`manifest`] is `manifest.yaml`, the description of everything that stands beside it.

pub mod manifest;
