//! Mountain Car with a continuous force, bit for bit Gymnasium's `MountainCarContinuous-v0` under
//! NumPy 2.
//!
//! The reference keeps its state as float32 from the first step on, and NumPy then rounds Python
//! floats to float32 before it computes with them. A force within its bounds is a float32 as
//! well; a clipped one is a Python float. Which width each operation has is part of the dynamics.

use super::mountain_car::{POSITIONS, TOP_SPEED, observation_space};
use super::native::{Action, Outcome, World, square, write_floats};
use super::setting::Field;
use super::snapshot::Slot;
use crate::array::DType;
use crate::random::Rng;
use crate::space::{BoxSpace, Element, Space, SpaceError};

/// A car in a valley, pushed by a force from -1 to 1.
#[derive(Clone, Copy)]
pub(super) struct MountainCarContinuous {
    power: f64,
    gravity: f64,
    goal_position: f64,
    goal_velocity: f64,
    /// Position and velocity; float64 until the first step, float32 values then.
    state: [f64; 2],
    fresh: bool,
}

impl Default for MountainCarContinuous {
    fn default() -> Self {
        let (power, gravity, goal_position, goal_velocity) = (0.0015, 0.0025, 0.45, 0.0);
        Self { power, gravity, goal_position, goal_velocity, state: [0.0; 2], fresh: true }
    }
}

/// `value` rounded to float32.
#[expect(clippy::cast_possible_truncation, reason = "rounding is the point")]
fn narrow(value: f64) -> f32 {
    value as f32
}

impl MountainCarContinuous {
    /// What the engine and the slope add to the velocity.
    fn acceleration(&self, force: f32, position: f64) -> f64 {
        let pull = self.gravity * position.cos();
        if force.abs() > 1.0 {
            return f64::from(force.signum()) * self.power - pull;
        }
        f64::from(force * narrow(self.power) - narrow(pull))
    }

    /// The state after one step, and whether it is the goal.
    fn moved(&self, force: f32) -> ([f64; 2], bool) {
        let [left, right] = POSITIONS;
        let [mut position, mut velocity] = self.state;
        // After the first step every intermediate result is rounded to float32.
        let round = |value: f64| if self.fresh { value } else { f64::from(narrow(value)) };
        velocity = round(velocity + round(self.acceleration(force, round(3.0 * position))));
        velocity = velocity.clamp(round(-TOP_SPEED), round(TOP_SPEED));
        position = round(position + velocity).clamp(round(left), round(right));
        if position <= round(left) && velocity < 0.0 {
            velocity = 0.0;
        }
        let arrived = position >= round(self.goal_position) && velocity >= round(self.goal_velocity);
        ([position, velocity], arrived)
    }
}

impl World for MountainCarContinuous {
    const ARGUMENTS: &'static [&'static str] = &["goal_velocity"];

    fn spaces(&self) -> Result<(Space, Space), SpaceError> {
        Ok((observation_space()?, Space::Box(BoxSpace::new(&[1], DType::F32, &[-1.0], &[1.0])?)))
    }

    fn fields(&mut self) -> Vec<(&'static str, Field<'_>)> {
        vec![
            ("power", Field::Number(&mut self.power)),
            ("gravity", Field::Number(&mut self.gravity)),
            ("goal_position", Field::Number(&mut self.goal_position)),
            ("goal_velocity", Field::Number(&mut self.goal_velocity)),
        ]
    }

    fn state(&mut self) -> Vec<Slot<'_>> {
        let [position, velocity] = &mut self.state;
        vec![Slot::Number(position), Slot::Number(velocity), Slot::Flag(&mut self.fresh)]
    }

    fn start(&mut self, rng: &mut Rng) {
        self.state = [rng.uniform(-0.6, -0.4), 0.0];
        self.fresh = true;
    }

    fn advance(&mut self, action: Action, _: &mut Rng) -> Outcome {
        let force = action.force();
        let (state, terminated) = self.moved(force);
        self.state = state.map(|value| f64::from(narrow(value)));
        self.fresh = false;
        let goal = if terminated { 100.0 } else { 0.0 };
        Outcome { reward: goal - square(f64::from(force)) * 0.1, terminated }
    }

    fn observe(&self, observation: &mut Element) {
        write_floats(observation, &self.state);
    }
}
