//! The trace room: bytes of the writer, rules of the readers.

mod writer;
