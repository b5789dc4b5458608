//! Spaces: Gymnasium's samples, membership, and the manifest's encoding.

mod sampling;
