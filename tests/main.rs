//! Every integration test, one binary: a module a room, behaviour through public interfaces.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    reason = "tests say what went wrong by failing"
)]

mod acceptance;
mod bad_input;
mod command;
mod config;
mod eval;
mod experiment;
mod house;
mod manifest;
mod peers;
mod script;
mod text_json;
mod text_yaml;
mod trace;
mod values;
