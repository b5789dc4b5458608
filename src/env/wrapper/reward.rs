//! `reward_scale`: rewards in other units.

use super::Wrapper;
use crate::env::setting::Field;

/// The reward times `scale` plus `offset`, in float64.
pub(super) struct RewardScale {
    scale: f64,
    offset: f64,
}

impl Default for RewardScale {
    fn default() -> Self {
        Self { scale: 1.0, offset: 0.0 }
    }
}

impl Wrapper for RewardScale {
    fn fields(&mut self) -> Vec<(&'static str, Field<'_>)> {
        vec![("scale", Field::Number(&mut self.scale)), ("offset", Field::Number(&mut self.offset))]
    }

    fn reward(&mut self, reward: f64, _: bool) -> f64 {
        let scaled = reward * self.scale;
        // Adding 0 would turn a negative zero around.
        if self.offset == 0.0 { scaled } else { scaled + self.offset }
    }
}
