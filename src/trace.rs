//! The trace: JSON Lines, one object a step, the one thing evaluation reads.
//!
//! [`Writer`] writes it byte for byte as Python would. [`read_columns`] reads it as columns, for
//! evaluation; [`load`] and [`rows`] read whole rows, for scripts. Everything here takes any producer's
//! file as it is: an oddity costs at most its own row, and is told as a
//! [`columns::Warning`].

mod about;
mod account;
mod cells;
mod chunk;
pub mod columns;
mod copies;
mod error;
mod fault;
mod field;
mod file;
mod format;
mod gather;
mod group;
mod identity;
mod input;
mod instant;
mod intern;
mod layout;
mod lines;
mod load;
mod near;
mod number;
mod order;
mod parse;
mod part;
mod read;
mod recorded;
mod regimes;
mod repair;
mod rescore;
pub(crate) mod row;
mod rows;
mod scan;
mod scanner;
mod select;
mod sink;
mod slot;
mod sparse;
pub mod stats;
mod table;
mod tally;
mod times;
mod writer;

pub use error::TraceError;
pub use load::{Loaded, Run, load, load_with};
pub(crate) use near::near_fields;
pub use order::Restart;
pub use read::{ReadOptions, read_columns};
pub use rescore::{RescoreError, Rescored, rescore};
pub use row::Row;
pub use rows::{Entry, Rows, rows};
pub use select::{Filter, select};
pub use slot::{Scalar, Slot};
pub use stats::stats;
pub use table::{csv, parquet};
pub(crate) use table::{csv_of, parquet_of};
pub use tally::Tally;
pub use writer::{Summary, Writer, WriterOptions};
