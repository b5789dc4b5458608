//! What a native environment has to say for itself: its dynamics, and nothing of seeds, limits or
//! buffers.
//!
//! Observations and actions are plain arrays and numbers ([`WorldObservation`], [`WorldAction`]), so that
//! one world serves a single environment and a batch of copies alike, without allocation.

use super::setting::Field;
use super::snapshot::Slot;
use super::vector::{self, Actions};
use std::fmt::Display;

use crate::array::{Array, DType, Item};
use crate::random::Rng;
use crate::space::{Element, Space, SpaceError};

/// The dynamics of one environment.
pub(super) trait World: Clone + Send {
    /// The fields that `gymnasium.make` takes as keyword arguments.
    const ARGUMENTS: &'static [&'static str] = &[];
    /// The fields that `reset(options=...)` takes, for the episode it begins.
    const OPTIONS: &'static [&'static str] = &[];

    /// `i64` for a discrete action, `f32` for a continuous one.
    type Action: WorldAction;
    /// `[f32; N]` for a box, `[i64; 1]` for a discrete space, `[i64; N]` for a tuple of those.
    type Observation: WorldObservation;

    /// The observation space and the action space.
    fn spaces(&self) -> Result<(Space, Space), SpaceError>;

    /// Everything that can be set between steps, by name, in a fixed order.
    fn fields(&mut self) -> Vec<(&'static str, Field<'_>)>;

    /// What changes from step to step, for checkpoints; `None` where it cannot be saved.
    fn state(&mut self) -> Option<Vec<Slot<'_>>> {
        None
    }

    /// Begins an episode.
    fn start(&mut self, rng: &mut Rng);

    /// Takes one step.
    fn advance(&mut self, action: Self::Action, rng: &mut Rng) -> Outcome;

    /// The present observation.
    fn observe(&self) -> Self::Observation;
}

/// What a step of a world brought.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    pub(super) reward: f64,
    pub(super) terminated: bool,
}

/// One action, as a world takes it.
pub(super) trait WorldAction: Item + Display + Sync {
    /// Whether a world with this action space takes it. A box's bounds are for the world to apply
    /// (Gymnasium's worlds clip); what is not a finite number is refused.
    fn fits(self, space: &Space) -> bool;

    /// The action in `element`, if it is one of this kind.
    fn from_element(element: &Element) -> Option<Self>;

    /// The actions given to a batch, if they are of this kind.
    fn given(actions: Actions<'_>) -> Option<&[Self]>;

    /// The action a policy chose for a copy, if it is of this kind.
    fn chosen(action: vector::Action) -> Option<Self>;
}

impl WorldAction for i64 {
    #[inline]
    fn fits(self, space: &Space) -> bool {
        space.contains(&Element::Discrete(self))
    }

    #[inline]
    fn from_element(element: &Element) -> Option<Self> {
        match element {
            Element::Discrete(index) => Some(*index),
            _ => None,
        }
    }

    fn given(actions: Actions<'_>) -> Option<&[Self]> {
        match actions {
            Actions::Discrete(actions) => Some(actions),
            _ => None,
        }
    }

    fn chosen(action: vector::Action) -> Option<Self> {
        match action {
            vector::Action::Discrete(index) => Some(index),
            vector::Action::Continuous(_) => None,
        }
    }
}

impl WorldAction for f32 {
    #[inline]
    fn fits(self, _: &Space) -> bool {
        self.is_finite()
    }

    #[inline]
    fn from_element(element: &Element) -> Option<Self> {
        match (element.as_f32(), element) {
            (Some([force]), Element::Array(array)) if array.shape() == [1] => Some(*force),
            _ => None,
        }
    }

    fn given(actions: Actions<'_>) -> Option<&[Self]> {
        match actions {
            Actions::Continuous(actions) => Some(actions),
            _ => None,
        }
    }

    fn chosen(action: vector::Action) -> Option<Self> {
        match action {
            vector::Action::Discrete(_) => None,
            vector::Action::Continuous(force) => Some(force),
        }
    }
}

/// One observation, as a world gives it.
pub(super) trait WorldObservation: Copy + Send {
    /// The type of its numbers.
    type Number: Item + Sync;
    /// How many numbers it has.
    const WIDTH: usize;

    /// Its numbers.
    fn numbers(&self) -> &[Self::Number];

    /// Its numbers, for a batch's policy.
    fn view(&self) -> vector::Observation<'_>;

    /// Writes it as an element of the observation space; allocates only if `element` is no such
    /// element yet.
    fn write(&self, element: &mut Element);
}

impl<const N: usize> WorldObservation for [f32; N] {
    type Number = f32;
    const WIDTH: usize = N;

    fn numbers(&self) -> &[f32] {
        self
    }

    fn view(&self) -> vector::Observation<'_> {
        vector::Observation::Floats(self)
    }

    #[inline]
    fn write(&self, element: &mut Element) {
        if let Element::Array(array) = element
            && array.shape() == [N]
            && let Some(slots) = array.as_f32_mut()
        {
            slots.copy_from_slice(self);
            return;
        }
        let mut array = Array::zeros(DType::F32, &[N]);
        array.as_f32_mut().into_iter().for_each(|slots| slots.copy_from_slice(self));
        *element = Element::Array(array);
    }
}

impl<const N: usize> WorldObservation for [i64; N] {
    type Number = i64;
    const WIDTH: usize = N;

    fn numbers(&self) -> &[i64] {
        self
    }

    fn view(&self) -> vector::Observation<'_> {
        vector::Observation::Integers(self)
    }

    #[inline]
    fn write(&self, element: &mut Element) {
        match (self.as_slice(), element) {
            ([number], Element::Discrete(slot)) => *slot = *number,
            ([number], element) => *element = Element::Discrete(*number),
            (numbers, Element::Tuple(items)) if items.len() == N => {
                items.iter_mut().zip(numbers).for_each(|(item, number)| *item = Element::Discrete(*number));
            }
            (numbers, element) => {
                *element = Element::Tuple(numbers.iter().copied().map(Element::Discrete).collect());
            }
        }
    }
}

/// `values`, each rounded to float32.
#[expect(clippy::cast_possible_truncation, reason = "observations are float32")]
pub(super) fn narrow<const N: usize>(values: [f64; N]) -> [f32; N] {
    values.map(|value| value as f32)
}
