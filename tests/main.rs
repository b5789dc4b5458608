//! The one integration-test binary: a module for each room.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    reason = "tests"
)]

mod config;
mod manifest;
mod text_json;
mod text_yaml;
mod values;
