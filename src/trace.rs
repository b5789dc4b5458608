//! The trace: JSON Lines, one object a step, the one thing evaluation reads.

pub mod columns;
pub mod row;
