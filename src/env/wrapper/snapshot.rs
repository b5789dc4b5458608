//! A stack of wrappers as plain data, for checkpoints: what each is set to, where its stream stands
//! and what it remembers.

use super::{Layer, Wrapped, set, settings};
use crate::snapshot::{self, SnapshotError};
use crate::space::{Element, Space};
use crate::value::Value;

impl Wrapped {
    pub(super) fn state(&self) -> Result<Value, SnapshotError> {
        let layers = self.layers.iter().map(|layer| {
            snapshot::state([
                ("settings", layer.settings.clone().into()),
                ("rng", layer.rng.snapshot()),
                ("memory", layer.wrapper.memory()),
            ])
        });
        Ok(snapshot::state([("env", self.env.snapshot()?), ("wrappers", layers.collect::<Vec<_>>().into())]))
    }

    /// Goes back to what [`Wrapped::state`] gave.
    ///
    /// # Errors
    /// When `state` is not that of a stack like this one.
    pub(super) fn set_state(&mut self, state: &Value) -> Result<(), SnapshotError> {
        self.env.restore(snapshot::entry(state, "env")?)?;
        let count = self.layers.len();
        let layers = snapshot::read(state, "wrappers", |list| list.as_list().filter(|list| list.len() == count))?;
        for (layer, state) in self.layers.iter_mut().zip(layers) {
            layer.restore(state, self.env.observation_space(), self.env.action_space())?;
        }
        Ok(())
    }
}

impl Layer {
    fn restore(&mut self, state: &Value, observations: &Space, actions: &Space) -> Result<(), SnapshotError> {
        for (name, value) in snapshot::read(state, "settings", Value::as_map)? {
            set(&mut *self.wrapper, name, value).map_err(|_| snapshot::damaged(name))?;
        }
        self.settings = settings(&mut *self.wrapper);
        self.rng.restore_snapshot(snapshot::entry(state, "rng")?)?;
        self.wrapper.remember(snapshot::entry(state, "memory")?, observations, actions)
    }
}

/// What a wrapper that holds on to the last element remembers: that element, and whether the
/// episode is still without one.
pub(super) fn memory_of(last: &Element, fresh: bool) -> Value {
    snapshot::state([("last", last.to_value()), ("fresh", fresh.into())])
}

/// What [`memory_of`] gave, of an element of `space`.
///
/// # Errors
/// When `memory` is something else.
pub(super) fn remembered(memory: &Value, space: &Space) -> Result<(Element, bool), SnapshotError> {
    let last = snapshot::read(memory, "last", |value| space.element(value, "last").ok())?;
    Ok((last, snapshot::read_flag(memory, "fresh")?))
}
