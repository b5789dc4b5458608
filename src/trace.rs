//! The trace: JSON Lines, one object a step, the one thing evaluation reads.
//!
//! [`Writer`] writes it byte for byte as Python would. Everything here takes any producer's
//! file as it is: an oddity costs at most its own row, and is told as a
//! [`columns::Warning`].

pub mod columns;
mod error;
mod format;
pub mod row;
mod sink;
mod writer;

pub use error::TraceError;
pub use row::Row;
pub use writer::{Summary, Writer, WriterOptions};
