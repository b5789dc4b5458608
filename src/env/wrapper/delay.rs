//! Delays: `observation_delay`, `action_delay`, `reward_delay`.
//!
//! Observations and actions wait in a queue of as many as the delay has steps. While it is not
//! full (at an episode's beginning, or after a regime made the delay longer) what is delivered is
//! what [`Fill`] says; after a regime made it shorter, what waited too long is skipped.

use std::collections::VecDeque;

use super::Wrapper;
use super::element::{copy, zero};
use super::setting::{Fill, Steps};
use crate::env::setting::Field;
use crate::random::Rng;
use crate::snapshot::{self, SnapshotError};
use crate::space::{Element, Space};
use crate::value::Value;

/// A queue of elements that keeps their storage.
struct Line {
    steps: Steps,
    fill: Fill,
    zero: Element,
    waiting: VecDeque<Element>,
    spare: Vec<Element>,
}

impl Line {
    /// A delay of no steps; Gymnasium's `DelayObservation` fills with zeros.
    fn new(fill: Fill) -> Self {
        Self { steps: Steps(0), fill, zero: Element::Discrete(0), waiting: VecDeque::new(), spare: Vec::new() }
    }

    fn fields(&mut self) -> Vec<(&'static str, Field<'_>)> {
        vec![("steps", Field::Other(&mut self.steps)), ("fill", Field::Other(&mut self.fill))]
    }

    fn clear(&mut self) {
        self.spare.extend(self.waiting.drain(..));
    }

    /// Takes `element` in and makes it the one that is due.
    fn pass(&mut self, element: &mut Element) {
        if self.steps.0 == 0 && self.waiting.is_empty() {
            return;
        }
        let mut slot = self.spare.pop().unwrap_or_else(|| element.clone());
        copy(element, &mut slot);
        self.waiting.push_back(slot);
        let mut due = None;
        while self.waiting.len() > self.steps.0 {
            self.spare.extend(due.take());
            due = self.waiting.pop_front();
        }
        match (&due, self.fill, self.waiting.front()) {
            (Some(due), ..) => copy(due, element),
            (None, Fill::Last, Some(oldest)) => copy(oldest, element),
            (None, ..) => copy(&self.zero, element),
        }
        self.spare.extend(due);
    }

    /// What waits, the oldest first.
    fn memory(&self) -> Value {
        Value::List(self.waiting.iter().map(Element::to_value).collect())
    }

    /// Goes back to what [`Line::memory`] gave, of elements of `space`.
    fn remember(&mut self, memory: &Value, space: &Space) -> Result<(), SnapshotError> {
        let items = memory.as_list().ok_or_else(|| snapshot::damaged("memory"))?;
        let waiting = items.iter().map(|item| space.element(item, "memory")).collect::<Result<_, _>>();
        self.waiting = waiting.map_err(|_| snapshot::damaged("memory"))?;
        Ok(())
    }
}

/// `observation_delay`: the agent sees the past, as in Gymnasium's `DelayObservation`.
pub(super) struct ObservationDelay(Line);

impl Default for ObservationDelay {
    fn default() -> Self {
        Self(Line::new(Fill::Zeros))
    }
}

impl Wrapper for ObservationDelay {
    fn fields(&mut self) -> Vec<(&'static str, Field<'_>)> {
        self.0.fields()
    }

    fn fit(&mut self, observations: &Space, _: &Space) -> Result<(), String> {
        self.0.zero = zero(observations);
        Ok(())
    }

    fn begin(&mut self) {
        self.0.clear();
    }

    fn observation(&mut self, observation: &mut Element, _: &mut Rng) {
        self.0.pass(observation);
    }

    fn memory(&self) -> Value {
        self.0.memory()
    }

    fn remember(&mut self, memory: &Value, observations: &Space, _: &Space) -> Result<(), SnapshotError> {
        self.0.remember(memory, observations)
    }
}

/// `action_delay`: an action takes effect steps later.
pub(super) struct ActionDelay(Line);

impl Default for ActionDelay {
    fn default() -> Self {
        Self(Line::new(Fill::Zeros))
    }
}

impl Wrapper for ActionDelay {
    fn fields(&mut self) -> Vec<(&'static str, Field<'_>)> {
        self.0.fields()
    }

    fn fit(&mut self, _: &Space, actions: &Space) -> Result<(), String> {
        self.0.zero = zero(actions);
        Ok(())
    }

    fn begin(&mut self) {
        self.0.clear();
    }

    fn action(&mut self, action: &mut Element, _: &mut Rng) {
        self.0.pass(action);
    }

    fn memory(&self) -> Value {
        self.0.memory()
    }

    fn remember(&mut self, memory: &Value, _: &Space, actions: &Space) -> Result<(), SnapshotError> {
        self.0.remember(memory, actions)
    }
}

/// `reward_delay`: a reward arrives steps later, or at the episode's end, so that none is lost.
#[derive(Default)]
pub(super) struct RewardDelay {
    steps: Steps,
    waiting: VecDeque<f64>,
}

impl Wrapper for RewardDelay {
    fn fields(&mut self) -> Vec<(&'static str, Field<'_>)> {
        vec![("steps", Field::Other(&mut self.steps))]
    }

    fn begin(&mut self) {
        self.waiting.clear();
    }

    fn reward(&mut self, reward: f64, ended: bool) -> f64 {
        let kept = if ended { 0 } else { self.steps.0 };
        self.waiting.push_back(reward);
        let due = self.waiting.len().saturating_sub(kept);
        // One alone passes with its bits, a negative zero's sign included.
        self.waiting.drain(..due).reduce(|sum, reward| sum + reward).unwrap_or(0.0)
    }

    fn memory(&self) -> Value {
        snapshot::state([("waiting", self.waiting.iter().copied().map(Value::from).collect::<Vec<_>>().into())])
    }

    fn remember(&mut self, memory: &Value, _: &Space, _: &Space) -> Result<(), SnapshotError> {
        self.waiting = snapshot::read_numbers(memory, "waiting")?.into();
        Ok(())
    }
}
