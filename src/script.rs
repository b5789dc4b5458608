//! The script host: the only room that sees Lua.
//!
//! [`ScriptHost`] owns one Lua 5.4 virtual machine: a library ([`bind`]) on top of the domain
//! rooms, `require` for the embedded library and for files beside the script, permissions for
//! every path, and errors that point at the script's line. Values cross the border through
//! [`convert`], which tracks the path of every field; functions that must outlive their script
//! (reward terms, regime providers, environments, policies) are recorded by value by [`source`].

mod bare;
mod bind;
mod budget;
mod check;
mod convert;
mod error;
mod host;
mod known;
mod limits;
mod loader;
mod locked;
mod mark;
mod output;
mod permissions;
mod programs;
pub mod reference;
mod source;
mod standard;
mod tools;

pub use bare::BareScripts;
pub(crate) use bind::experiment::Earlier;
pub use bind::experiment::{RunOptions, ScriptedExperiment, Watch};
pub(crate) use bind::factory::module_function;
pub use bind::rollouts::oracle::ScriptedOracle;
pub use bind::sweep::ScriptedSweep;
pub use error::ScriptError;
pub use host::{Console, Outcome, Script, ScriptHost, Settings};
pub use limits::{Deadline, Limits};
pub use permissions::Permissions;
pub(crate) use programs::programs;
pub(crate) use tools::{Reply, Touched};
