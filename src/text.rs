//! Text forms of plain data, byte for byte as Python prints them.
//!
//! [`number`] spells numbers, [`json`] is `json.dumps`/`json.loads`, [`yaml`] is PyYAML's
//! `safe_dump(sort_keys=False)` and its resolver, [`time`] spells instants.

pub mod json;
pub mod number;
pub mod time;
pub mod yaml;
