//! `random_action`: an actuator that sometimes does as it likes.

use super::Wrapper;
use crate::array::{Item, Scalar, each};
use crate::env::setting::Field;
use crate::random::Rng;
use crate::space::{BoxSpace, Element, Space};

/// With a probability, a uniformly random action takes the place of the agent's. Every step draws
/// a double for whether, then each number of the action in order: an integer where the space has
/// integers, a double for the floats of a box.
#[derive(Default)]
pub(super) struct RandomAction {
    probability: f64,
    space: Option<Space>,
}

impl Wrapper for RandomAction {
    fn fields(&mut self) -> Vec<(&'static str, Field<'_>)> {
        vec![("probability", Field::Share(&mut self.probability))]
    }

    fn fit(&mut self, _: &Space, actions: &Space) -> Result<(), String> {
        if !is_finite(actions) {
            return Err(format!("needs an action space of integers and bounded boxes, got {actions}"));
        }
        self.space = Some(actions.clone());
        Ok(())
    }

    fn action(&mut self, action: &mut Element, rng: &mut Rng) {
        let random = rng.double() < self.probability;
        if let Some(space) = &self.space {
            draw(space, action, random, rng);
        }
    }
}

/// Whether every part of `space` has a uniform distribution.
fn is_finite(space: &Space) -> bool {
    match space {
        Space::Discrete { .. } | Space::MultiDiscrete(_) | Space::MultiBinary(_) => true,
        Space::Box(space) => space.low().iter().chain(space.high()).all(|bound| bound.to_f64().is_finite()),
        Space::Tuple(spaces) => spaces.iter().all(is_finite),
        Space::Dict(dict) => dict.spaces().values().all(is_finite),
        _ => false,
    }
}

/// Draws an element of `space` and writes it into `element` if it is to be `random`.
fn draw(space: &Space, element: &mut Element, random: bool, rng: &mut Rng) {
    match (space, element) {
        (Space::Discrete { n, start, .. }, Element::Discrete(action)) => {
            let other = integer(rng, *start, *start + (*n - 1));
            if random {
                *action = other;
            }
        }
        (Space::Box(space), Element::Array(array)) => {
            let numbers = bounds(space).map(|(low, high)| match (low, high) {
                (Scalar::Float(low), Scalar::Float(high)) => Scalar::Float(rng.uniform(low, high)),
                (low, high) => Scalar::Int(integer(rng, whole(low), whole(high))),
            });
            each!(array, items => write(items.iter_mut(), numbers, random));
        }
        (Space::MultiDiscrete(space), Element::Array(array)) => {
            let ranges = space.start().iter().zip(space.nvec());
            let numbers = ranges.map(|(start, n)| Scalar::Int(integer(rng, *start, *start + (*n - 1))));
            each!(array, items => write(items.iter_mut(), numbers, random));
        }
        (Space::MultiBinary(_), Element::Array(array)) => {
            let numbers = (0..array.len()).map(|_| Scalar::Int(integer(rng, 0, 1)));
            each!(array, items => write(items.iter_mut(), numbers, random));
        }
        (Space::Tuple(spaces), Element::Tuple(parts)) => {
            spaces.iter().zip(parts).for_each(|(space, part)| draw(space, part, random, rng));
        }
        (Space::Dict(dict), Element::Dict(parts)) => {
            dict.spaces().values().zip(parts.values_mut()).for_each(|(space, part)| draw(space, part, random, rng));
        }
        _ => {}
    }
}

fn bounds(space: &BoxSpace) -> impl Iterator<Item = (Scalar, Scalar)> {
    space.low().iter().copied().zip(space.high().iter().copied())
}

/// A bound of a box of integers or booleans.
fn whole(bound: Scalar) -> i64 {
    bound.to_i64().unwrap_or_default()
}

/// An integer from `low` to `high`, which may be all that 64 bits hold.
fn integer(rng: &mut Rng, low: i64, high: i64) -> i64 {
    match high.checked_add(1) {
        Some(beyond) => rng.integers(low, beyond),
        None => rng.integers(low.saturating_sub(1), high).saturating_add(1),
    }
}

/// Takes every number, and puts them in the place of `items` if they are to be.
fn write<'a, T: Item>(items: impl Iterator<Item = &'a mut T>, numbers: impl Iterator<Item = Scalar>, random: bool) {
    for (item, number) in items.zip(numbers) {
        if let (true, Some(number)) = (random, T::from_scalar(number)) {
            *item = number;
        }
    }
}
