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

/// Independent noise on every element of an array.
#[derive(Default)]
struct Noise {
    std: Spread,
    distribution: Distribution,
    low: Vec<f64>,
    high: Vec<f64>,
}

impl Noise {
    fn fields(&mut self) -> Vec<(&'static str, Field<'_>)> {
        vec![("std", Field::Other(&mut self.std)), ("distribution", Field::Other(&mut self.distribution))]
    }

    /// Takes the bounds of `space`, which `which` names.
    fn fit(&mut self, space: &Space, which: &str) -> Result<(), String> {
        let space = match space {
            Space::Box(space) if space.dtype() != DType::Bool => space,
            other => return Err(format!("needs a box of numbers as the {which} space, got {other}")),
        };
        self.std.fit(space.low().len()).map_err(|message| format!("`std` {message}"))?;
        let (least, most) = match space.dtype().integer_range() {
            #[expect(clippy::cast_precision_loss, reason = "bounds of 64 bits round outwards and saturate")]
            Some((least, most)) => (least as f64, most as f64),
            None => (f64::NEG_INFINITY, f64::INFINITY),
        };
        self.low = space.low().iter().map(|low| low.max(least)).collect();
        self.high = space.high().iter().map(|high| high.min(most)).collect();
        Ok(())
    }

    /// Disturbs `element`; one draw for each number, in C order, whatever the strength.
    fn disturb(&self, element: &mut Element, rng: &mut Rng) {
        let Element::Array(array) = element else { return };
        each!(array, items => self.disturb_items(items.iter_mut(), rng));
    }

    fn disturb_items<'a, T: Item>(&self, items: impl Iterator<Item = &'a mut T>, rng: &mut Rng) {
        let bounds = self.low.iter().zip(&self.high);
        for ((item, std), (low, high)) in items.zip(self.std.each()).zip(bounds) {
            let draw = match self.distribution {
                Distribution::Gaussian => rng.standard_normal(),
                Distribution::Uniform => rng.uniform(-HALF_WIDTH, HALF_WIDTH),
            };
            if std == 0.0 {
                continue;
            }
            let disturbed = item.to_f64() + std * draw;
            let disturbed = if T::DTYPE.is_float() { disturbed } else { disturbed.round_ties_even() };
            // NaN is no number to disturb, and what leaves a float16's range has no bound to meet.
            if let Some(value) = T::from_scalar(Scalar::Float(disturbed.clamp(*low, *high))) {
                *item = value;
            }
        }
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
