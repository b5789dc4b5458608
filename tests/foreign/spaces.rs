//! Every kind of space and its elements, there and back.
