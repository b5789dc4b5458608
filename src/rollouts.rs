//! The rollout store.
