//! **skyfall**: continual-RL experiments as small Lua scripts on a fast native core.
//!
//! The crate is a house of rooms that depend on each other in one direction only
//! (`tests/house.rs` checks it):
//!
//! | storey | rooms | knows |
//! |---|---|---|
//! | ground | [`value`], [`text`], [`diagnostic`], [`snapshot`], [`mod@array`], [`random`]; within the crate `atomic`, `closing`, `digest`, `suggest`, `sum`, `object`, `unit`, `launcher` | bytes, numbers, files |
//! | worlds | [`space`], [`mod@env`], [`policy`], [`reward`], [`regime`], [`trace`] | one step of one run |
//! | runs | [`config`], [`algorithm`], [`experiment`] | a whole run |
//! | artifacts | [`bundle`], [`eval`], [`rollouts`] | what leaves the machine |
//! | campaigns | [`sweep`], [`campaign`] | many runs, many shards |
//! | doors | [`script`] (Lua), [`cli`] (terminal) | the user |
//!
//! A room's root names what is for users of the crate; what only other rooms need is `pub(crate)`.
//! Only `script` sees `mlua`; only `cli` prints. Everything below the doors is plain Rust,
//! usable and tested without either. The way of the data from a script to the disk, and where to
//! add something, are in `docs/architecture.md`.
//!
//! An experiment from Rust, without Lua:
//!
//! ```
//! use skyfall::config::ExperimentConfig;
//! use skyfall::experiment::{Catalog, Experiment, Parts, Silent};
//! use skyfall::text::yaml;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let document = yaml::parse(
//!     "env: {id: CartPole-v1}\n\
//!      algorithm: {name: discrete_hill_climbing, policy: {id: linear_menu}}\n\
//!      rollout: {total_steps: 500}\n\
//!      run: {seed: 7}\n",
//! )?;
//! let config = ExperimentConfig::from_value(&document)?;
//! let mut experiment = Experiment::new(config, &Catalog::native(), Parts::default())?;
//! // `Some(path)` writes a trace there; an `Observer` hears of every step, window and episode.
//! let result = experiment.run(None, &mut Silent)?;
//! assert_eq!((result.steps, result.total_reward), (500, 500.0));
//! # Ok(())
//! # }
//! ```

mod atomic;
mod closing;
mod digest;
mod launcher;
mod object;
mod suggest;
mod sum;
mod unit;

pub mod algorithm;
pub mod array;
pub mod bundle;
pub mod campaign;
pub mod cli;
pub mod config;
pub mod diagnostic;
pub mod env;
pub mod eval;
pub mod experiment;
pub mod policy;
pub mod random;
pub mod regime;
pub mod reward;
pub mod rollouts;
pub mod script;
pub mod snapshot;
pub mod space;
pub mod sweep;
pub mod text;
pub mod trace;
pub mod value;

// What the errors of others carry.
pub use atomic::AtomicError;
pub use object::ObjectError;
pub use unit::UnitError;
