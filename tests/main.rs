//! Every integration test, one binary: a module a room, behaviour through public interfaces.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::type_complexity,
    missing_docs,
    unreachable_pub,
    reason = "tests say what went wrong by failing"
)]

mod acceptance;
mod algorithm;
mod array;
mod bad_input;
mod bundle;
mod bundle_rows;
mod callbacks;
mod campaign;
mod cli;
mod cluster;
mod command;
mod config;
mod digest;
mod env;
mod errors;
mod escape;
mod eval;
mod experiment;
mod factory;
mod foreign;
mod hostile;
mod house;
mod interrupt;
mod learning;
mod limits;
mod listen;
mod lua_definitions;
mod manifest;
#[cfg(feature = "s3")]
mod objects;
mod packaging;
mod pages;
mod peers;
mod policy;
mod random;
mod reference;
mod regime;
mod rerun;
mod resolved;
mod resume;
mod rollouts;
mod script;
mod space;
mod step_view;
mod sweep;
mod text_json;
mod text_yaml;
mod tools;
mod trace;
#[cfg(not(feature = "s3"))]
mod unbuilt;
mod values;
mod wrapper;
