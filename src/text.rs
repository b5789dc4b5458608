//! Text forms of plain data, byte for byte as Python prints them, and the way from there to types.
//!
//! [`number`] spells numbers, [`json`] is `json.dumps`/`json.loads`, [`yaml`] is PyYAML's
//! `safe_dump(sort_keys=False)` and its resolver, [`time`] spells instants; [`decode`] takes
//! typed things out of what was read and collects the mistakes.

pub(crate) mod decode;
pub mod json;
pub(crate) mod number;
pub(crate) mod time;
pub mod yaml;

pub use decode::{Mistake, Mistakes};
