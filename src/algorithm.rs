//! Learning algorithms.
