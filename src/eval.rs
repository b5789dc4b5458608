//! Evaluation: the numbers, from trace files alone.
