//! Text forms of plain data, byte for byte as Python prints them, and the way from there to types.
//!
//! [`number`] spells numbers, [`json`] is `json.dumps`/`json.loads`, [`yaml`] is PyYAML's
//! `safe_dump(sort_keys=False)` and its resolver, [`time`] spells instants; [`decode`] takes
//! typed things out of what was read and collects the mistakes.

pub mod decode;
pub mod json;
pub mod number;
pub mod time;
pub mod yaml;
