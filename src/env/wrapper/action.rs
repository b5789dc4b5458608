//! Other actions than the agent chose: `sticky_actions`, `action_permutation`, `action_mask`.

use super::Wrapper;
use super::element::{copy, zero};
use super::menu::{Mask, Permutation};
use super::snapshot::{memory_of, remembered};
use crate::env::setting::Field;
use crate::random::Rng;
use crate::snapshot::SnapshotError;
use crate::space::{Element, Space};
use crate::value::Value;

/// `sticky_actions`: with a probability, the action before is repeated (Machado et al. 2018,
/// "Revisiting the Arcade Learning Environment", section 5.1). What counts is the action that was
/// handed on, so repeats go on repeating. An episode's first action is never replaced; every step
/// draws one double, the first included.
pub(super) struct StickyActions {
    probability: f64,
    last: Element,
    fresh: bool,
}

impl Default for StickyActions {
    fn default() -> Self {
        Self { probability: 0.0, last: Element::Discrete(0), fresh: true }
    }
}

impl Wrapper for StickyActions {
    fn fields(&mut self) -> Vec<(&'static str, Field<'_>)> {
        vec![("probability", Field::Share(&mut self.probability))]
    }

    fn fit(&mut self, _: &Space, actions: &Space) -> Result<(), String> {
        self.last = zero(actions);
        Ok(())
    }

    fn begin(&mut self) {
        self.fresh = true;
    }

    fn action(&mut self, action: &mut Element, rng: &mut Rng) {
        let sticks = rng.double() < self.probability;
        if sticks && !self.fresh {
            copy(&self.last, action);
        } else {
            copy(action, &mut self.last);
        }
        self.fresh = false;
    }

    fn memory(&self) -> Value {
        memory_of(&self.last, self.fresh)
    }

    fn remember(&mut self, memory: &Value, _: &Space, actions: &Space) -> Result<(), SnapshotError> {
        (self.last, self.fresh) = remembered(memory, actions)?;
        Ok(())
    }
}

/// `action_permutation`: the actions of a discrete space mean each other.
#[derive(Default)]
pub(super) struct ActionPermutation {
    permutation: Permutation,
}

impl Wrapper for ActionPermutation {
    fn fields(&mut self) -> Vec<(&'static str, Field<'_>)> {
        vec![("permutation", Field::Other(&mut self.permutation))]
    }

    fn fit(&mut self, _: &Space, actions: &Space) -> Result<(), String> {
        self.permutation.fit(actions)
    }

    fn action(&mut self, action: &mut Element, _: &mut Rng) {
        if let Element::Discrete(action) = action {
            *action = self.permutation.apply(*action);
        }
    }
}

/// `action_mask`: some actions of a discrete space are not to be had. Choosing one is refused:
/// the lowest that is to be had is taken instead, and the step is reported as an invalid action.
#[derive(Default)]
pub(super) struct ActionMask {
    masked: Mask,
    refused: bool,
}

impl Wrapper for ActionMask {
    fn fields(&mut self) -> Vec<(&'static str, Field<'_>)> {
        vec![("masked", Field::Other(&mut self.masked))]
    }

    fn fit(&mut self, _: &Space, actions: &Space) -> Result<(), String> {
        self.masked.fit(actions)
    }

    fn action(&mut self, action: &mut Element, _: &mut Rng) {
        let instead = match action {
            Element::Discrete(action) => self.masked.instead_of(*action),
            _ => None,
        };
        self.refused = instead.is_some();
        if let Some(instead) = instead {
            *action = Element::Discrete(instead);
        }
    }

    fn refused(&self) -> bool {
        self.refused
    }
}
