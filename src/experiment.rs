//! Experiments: the run loop.
