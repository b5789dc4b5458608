//! Mountain Car with a continuous force, bit for bit Gymnasium's `MountainCarContinuous-v0` under
//! NumPy 2.
//!
//! The reference keeps its state as float32 from the first step on, and NumPy then rounds Python
//! floats to float32 before it computes with them. A force within its bounds is a float32 as
//! well; a clipped one is a Python float. Which width each operation has is part of the dynamics.

use super::math::Math;
use super::mountain_car::Valley;
use super::setting::Field;
use super::snapshot::Slot;
use super::world::{Outcome, World, narrow};
use crate::array::DType;
use crate::random::Rng;
use crate::space::{BoxSpace, Space, SpaceError};

/// A car in a valley, pushed by a force from -1 to 1.
#[derive(Clone, Copy)]
pub(super) struct MountainCarContinuous {
    power: f64,
    gravity: f64,
    goal_position: f64,
    goal_velocity: f64,
    valley: Valley,
    math: Math,
    /// Position and velocity; float64 until the first step, float32 values then.
    state: [f64; 2],
    fresh: bool,
}

impl Default for MountainCarContinuous {
    fn default() -> Self {
        let (power, gravity, goal_position, goal_velocity) = (0.0015, 0.0025, 0.45, 0.0);
        let (valley, math) = (Valley::default(), Math::default());
        Self { power, gravity, goal_position, goal_velocity, valley, math, state: [0.0; 2], fresh: true }
    }
}

/// `value` rounded to float32.
fn rounded(value: f64) -> f32 {
    let [value] = narrow([value]);
    value
}

impl MountainCarContinuous {
    /// What the engine and the slope add to the velocity.
    fn acceleration(&self, force: f32, position: f64) -> f64 {
        let pull = self.gravity * self.math.cos(position);
        if force.abs() > 1.0 {
            return f64::from(force.signum()) * self.power - pull;
        }
        f64::from(force * rounded(self.power) - rounded(pull))
    }

    /// The state after one step, and whether it is the goal.
    fn moved(&self, force: f32) -> ([f64; 2], bool) {
        let [mut position, mut velocity] = self.state;
        // After the first step every intermediate result is rounded to float32.
        let round = |value: f64| if self.fresh { value } else { f64::from(rounded(value)) };
        velocity = round(velocity + round(self.acceleration(force, round(3.0 * position))));
        velocity = velocity.min(round(self.valley.max_speed)).max(round(-self.valley.max_speed));
        position = round(position + velocity).min(round(self.valley.max_position)).max(round(self.valley.min_position));
        if position <= round(self.valley.min_position) && velocity < 0.0 {
            velocity = 0.0;
        }
        let arrived = position >= round(self.goal_position) && velocity >= round(self.goal_velocity);
        ([position, velocity], arrived)
    }
}

impl World for MountainCarContinuous {
    const ARGUMENTS: &'static [&'static str] = &["goal_velocity", "math"];
    const OPTIONS: &'static [&'static str] = &["low", "high"];

    type Action = f32;
    type Observation = [f32; 2];

    fn spaces(&self) -> Result<(Space, Space), SpaceError> {
        let action = BoxSpace::new(&[1], DType::F32, &[-1.0], &[1.0])?;
        Ok((self.valley.observation_space()?, Space::Box(action)))
    }

    fn fields(&mut self) -> Vec<(&'static str, Field<'_>)> {
        let own = [
            ("power", Field::Number(&mut self.power)),
            ("gravity", Field::Number(&mut self.gravity)),
            ("goal_position", Field::Number(&mut self.goal_position)),
            ("goal_velocity", Field::Number(&mut self.goal_velocity)),
            ("math", Field::Other(&mut self.math)),
        ];
        own.into_iter().chain(self.valley.fields()).collect()
    }

    fn state(&mut self) -> Option<Vec<Slot<'_>>> {
        let [position, velocity] = &mut self.state;
        Some(vec![Slot::Number(position), Slot::Number(velocity), Slot::Flag(&mut self.fresh)])
    }

    fn start(&mut self, rng: &mut Rng) {
        self.state = [self.valley.start(rng), 0.0];
        self.fresh = true;
    }

    fn advance(&mut self, force: f32, _: &mut Rng) -> Outcome {
        let (state, terminated) = self.moved(force);
        self.state = state.map(|value| f64::from(rounded(value)));
        self.fresh = false;
        let goal = if terminated { 100.0 } else { 0.0 };
        Outcome { reward: goal - self.math.square(f64::from(force)) * 0.1, terminated }
    }

    fn observe(&self) -> [f32; 2] {
        narrow(self.state)
    }
}
