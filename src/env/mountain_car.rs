//! Mountain Car (Moore 1990), bit for bit Gymnasium's `MountainCar-v0`: push left (0), coast (1) or
//! push right (2). All arithmetic is float64; every step pays -1.

use super::native::{Action, Outcome, World, write_floats};
use super::setting::Field;
use super::snapshot::Slot;
use crate::array::DType;
use crate::random::Rng;
use crate::space::{BoxSpace, Element, Space, SpaceError};

/// A car in a valley.
#[derive(Clone, Copy)]
pub(super) struct MountainCar {
    force: f64,
    gravity: f64,
    goal_position: f64,
    goal_velocity: f64,
    position: f64,
    velocity: f64,
}

/// The valley's ends and the top speed, per step.
pub(super) const POSITIONS: [f64; 2] = [-1.2, 0.6];
pub(super) const TOP_SPEED: f64 = 0.07;

impl Default for MountainCar {
    fn default() -> Self {
        Self { force: 0.001, gravity: 0.0025, goal_position: 0.5, goal_velocity: 0.0, position: 0.0, velocity: 0.0 }
    }
}

/// Positions and velocities, the observation of both mountain cars.
pub(super) fn observation_space() -> Result<Space, SpaceError> {
    let [left, right] = POSITIONS;
    Ok(Space::Box(BoxSpace::new(&[2], DType::F32, &[left, -TOP_SPEED], &[right, TOP_SPEED])?))
}

impl World for MountainCar {
    const ARGUMENTS: &'static [&'static str] = &["goal_velocity"];

    fn spaces(&self) -> Result<(Space, Space), SpaceError> {
        Ok((observation_space()?, Space::discrete(3, 0)?))
    }

    fn fields(&mut self) -> Vec<(&'static str, Field<'_>)> {
        vec![
            ("force", Field::Number(&mut self.force)),
            ("gravity", Field::Number(&mut self.gravity)),
            ("goal_position", Field::Number(&mut self.goal_position)),
            ("goal_velocity", Field::Number(&mut self.goal_velocity)),
        ]
    }

    fn state(&mut self) -> Vec<Slot<'_>> {
        vec![Slot::Number(&mut self.position), Slot::Number(&mut self.velocity)]
    }

    fn start(&mut self, rng: &mut Rng) {
        self.position = rng.uniform(-0.6, -0.4);
        self.velocity = 0.0;
    }

    fn advance(&mut self, action: Action, _: &mut Rng) -> Outcome {
        let [left, right] = POSITIONS;
        #[expect(clippy::cast_precision_loss, reason = "-1, 0 or 1")]
        let push = (action.index() - 1) as f64 * self.force;
        let velocity = self.velocity + (push + (3.0 * self.position).cos() * -self.gravity);
        self.velocity = velocity.clamp(-TOP_SPEED, TOP_SPEED);
        self.position = (self.position + self.velocity).clamp(left, right);
        if self.position <= left && self.velocity < 0.0 {
            self.velocity = 0.0;
        }
        let terminated = self.position >= self.goal_position && self.velocity >= self.goal_velocity;
        Outcome { reward: -1.0, terminated }
    }

    fn observe(&self, observation: &mut Element) {
        write_floats(observation, &[self.position, self.velocity]);
    }
}
