//! Bundles: an exported policy as one movable directory.
