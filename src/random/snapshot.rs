//! A stream's point as plain data, for checkpoints.

use super::{Rng, RngState};
use crate::snapshot::{self, SnapshotError};
use crate::value::Value;

impl Rng {
    /// Where the stream stands, as plain data.
    #[must_use]
    pub fn snapshot(&self) -> Value {
        let at = self.state();
        let (state, increment, kept) = at.words();
        snapshot::state([
            ("state", Value::Text(state.to_string())),
            ("increment", Value::Text(increment.to_string())),
            ("kept", kept.into()),
            ("spawned", at.spawned().into()),
        ])
    }

    /// Continues where [`Rng::snapshot`] was taken, on a stream of the same seed.
    ///
    /// # Errors
    /// When `state` is something else.
    pub fn restore_snapshot(&mut self, state: &Value) -> Result<(), SnapshotError> {
        let words = |key| snapshot::read(state, key, |value| value.as_text()?.parse::<u128>().ok());
        let half = |value: &Value| u32::try_from(value.as_int()?).ok();
        let kept = snapshot::read(state, "kept", |value| match value {
            Value::Null => Some(None),
            value => half(value).map(Some),
        })?;
        let spawned = snapshot::read(state, "spawned", half)?;
        self.restore(&RngState::from_words((words("state")?, words("increment")?, kept), spawned));
        Ok(())
    }
}
