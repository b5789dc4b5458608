//! Spaces: Gymnasium's samples, membership, the manifest's encoding, and their Lua face.

mod encoding;
mod lua;
mod membership;
mod peer;
mod sampling;
