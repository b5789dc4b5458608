//! `observation_dropout`: observations that get lost on their way.

use super::Wrapper;
use super::element::{copy, zero};
use super::setting::Fill;
use super::snapshot::{memory_of, remembered};
use crate::env::setting::Field;
use crate::random::Rng;
use crate::snapshot::SnapshotError;
use crate::space::{Element, Space};
use crate::value::Value;

/// Loses an observation with a probability; what the agent gets instead is the last one that
/// arrived, or zeros. An episode's first observation always arrives, and nothing is drawn for it.
pub(super) struct ObservationDropout {
    probability: f64,
    fill: Fill,
    zero: Element,
    /// The last one that arrived; none yet in a fresh episode.
    last: Element,
    fresh: bool,
}

impl Default for ObservationDropout {
    fn default() -> Self {
        let nothing = Element::Discrete(0);
        Self { probability: 0.0, fill: Fill::Last, zero: nothing.clone(), last: nothing, fresh: true }
    }
}

impl Wrapper for ObservationDropout {
    fn fields(&mut self) -> Vec<(&'static str, Field<'_>)> {
        vec![("probability", Field::Share(&mut self.probability)), ("fill", Field::Other(&mut self.fill))]
    }

    fn fit(&mut self, observations: &Space, _: &Space) -> Result<(), String> {
        self.zero = zero(observations);
        self.last = self.zero.clone();
        Ok(())
    }

    fn begin(&mut self) {
        self.fresh = true;
    }

    fn observation(&mut self, observation: &mut Element, rng: &mut Rng) {
        let dropped = !std::mem::replace(&mut self.fresh, false) && rng.double() < self.probability;
        match (dropped, self.fill) {
            (false, _) => copy(observation, &mut self.last),
            (true, Fill::Last) => copy(&self.last, observation),
            (true, Fill::Zeros) => copy(&self.zero, observation),
        }
    }
    fn memory(&self) -> Value {
        memory_of(&self.last, self.fresh)
    }

    fn remember(&mut self, memory: &Value, observations: &Space, _: &Space) -> Result<(), SnapshotError> {
        (self.last, self.fresh) = remembered(memory, observations)?;
        Ok(())
    }
}
