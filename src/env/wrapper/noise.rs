//! Noise on numbers: `observation_noise` and `action_noise`.
//!
//! What is disturbed is clipped to the space's bounds, so that an observation stays in the space
//! that the agent, the bundle and Gymnasium's own checker were told. Widening the space instead
//! would change it for every strength, 0 included, because a regime may raise the strength at any
//! step and a space cannot change during a run. An element whose standard deviation is 0 is left
//! as it is, even where it lies outside its bounds.

use super::Wrapper;
use super::setting::{Distribution, Spread};
use crate::array::{DType, Item, Scalar, each};
use crate::env::setting::Field;
use crate::random::Rng;
use crate::space::{Element, Space};

/// Half the width of the uniform distribution whose standard deviation is 1.
const HALF_WIDTH: f64 = 1.732_050_807_568_877_2;

/// Independent noise on every number of the boxes in a space.
#[derive(Default)]
struct Noise {
    std: Spread,
    distribution: Distribution,
    space: Option<Space>,
    /// The bounds of each number.
    bounds: Vec<(f64, f64)>,
}

impl Noise {
    fn fields(&mut self) -> Vec<(&'static str, Field<'_>)> {
        vec![("std", Field::Other(&mut self.std)), ("distribution", Field::Other(&mut self.distribution))]
    }

    /// Takes the bounds of `space`, which `which` names.
    fn fit(&mut self, space: &Space, which: &str) -> Result<(), String> {
        collect_bounds(space, &mut self.bounds);
        if self.bounds.is_empty() {
            return Err(format!("needs a box of numbers as the {which} space or within it, got {space}"));
        }
        self.space = Some(space.clone());
        self.std.fit(self.bounds.len()).map_err(|message| format!("`std` {message}"))
    }

    /// Disturbs `element`; one draw for each number, in order, whatever the strength.
    fn disturb(&self, element: &mut Element, rng: &mut Rng) {
        if let Some(space) = &self.space {
            let mut numbers = self.std.each().zip(self.bounds.iter().copied());
            self.disturb_part(space, element, &mut numbers, rng);
        }
    }

    fn disturb_part(&self, space: &Space, element: &mut Element, numbers: &mut Numbers<'_>, rng: &mut Rng) {
        match (space, element) {
            (Space::Box(space), Element::Array(array)) if space.dtype() != DType::Bool => {
                each!(array, items => self.disturb_items(items.iter_mut(), numbers, rng));
            }
            (Space::Tuple(spaces), Element::Tuple(parts)) => {
                let parts = spaces.iter().zip(parts);
                parts.for_each(|(space, part)| self.disturb_part(space, part, numbers, rng));
            }
            (Space::Dict(dict), Element::Dict(parts)) => {
                let parts = dict.spaces().values().zip(parts.values_mut());
                parts.for_each(|(space, part)| self.disturb_part(space, part, numbers, rng));
            }
            _ => {}
        }
    }

    fn disturb_items<'a, T: Item>(
        &self,
        items: impl Iterator<Item = &'a mut T>,
        numbers: &mut Numbers<'_>,
        rng: &mut Rng,
    ) {
        for (item, (std, (low, high))) in items.zip(numbers) {
            let draw = match self.distribution {
                Distribution::Gaussian => rng.standard_normal(),
                Distribution::Uniform => rng.uniform(-HALF_WIDTH, HALF_WIDTH),
            };
            if std == 0.0 {
                continue;
            }
            let disturbed = item.to_f64() + std * draw;
            let disturbed = if T::DTYPE.is_float() { disturbed } else { disturbed.round_ties_even() };
            // NaN is no number to disturb, and what leaves a float's range has no bound to meet.
            if let Some(value) = T::from_scalar(Scalar::Float(disturbed.clamp(low, high))) {
                *item = value;
            }
        }
    }
}

/// The standard deviation and the bounds of each number that is still to come.
type Numbers<'a> = dyn Iterator<Item = (f64, (f64, f64))> + 'a;

/// Appends the bounds of every number in `space`, as its dtype can hold them.
fn collect_bounds(space: &Space, bounds: &mut Vec<(f64, f64)>) {
    match space {
        Space::Box(space) if space.dtype() != DType::Bool => {
            let (least, most) = match space.dtype().integer_range() {
                #[expect(clippy::cast_precision_loss, reason = "64 bits round outwards, where nothing is set")]
                Some((least, most)) => (least as f64, most as f64),
                None => (f64::NEG_INFINITY, f64::INFINITY),
            };
            let pairs = space.low().iter().zip(space.high());
            bounds.extend(pairs.map(|(low, high)| (low.to_f64().max(least), high.to_f64().min(most))));
        }
        Space::Tuple(spaces) => spaces.iter().for_each(|space| collect_bounds(space, bounds)),
        Space::Dict(dict) => dict.spaces().values().for_each(|space| collect_bounds(space, bounds)),
        _ => {}
    }
}

/// `observation_noise`: a blurred sensor.
#[derive(Default)]
pub(super) struct ObservationNoise(Noise);

impl Wrapper for ObservationNoise {
    fn fields(&mut self) -> Vec<(&'static str, Field<'_>)> {
        self.0.fields()
    }

    fn fit(&mut self, observations: &Space, _: &Space) -> Result<(), String> {
        self.0.fit(observations, "observation")
    }

    fn observation(&mut self, observation: &mut Element, rng: &mut Rng) {
        self.0.disturb(observation, rng);
    }
}

/// `action_noise`: an unsteady actuator.
#[derive(Default)]
pub(super) struct ActionNoise(Noise);

impl Wrapper for ActionNoise {
    fn fields(&mut self) -> Vec<(&'static str, Field<'_>)> {
        self.0.fields()
    }

    fn fit(&mut self, _: &Space, actions: &Space) -> Result<(), String> {
        self.0.fit(actions, "action")
    }

    fn action(&mut self, action: &mut Element, rng: &mut Rng) {
        self.0.disturb(action, rng);
    }
}
