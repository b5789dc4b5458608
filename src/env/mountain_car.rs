//! Mountain Car (Moore 1990), bit for bit Gymnasium's `MountainCar-v0`: push left (0), coast (1) or
//! push right (2). All arithmetic is float64; every step pays -1.

use super::math::Math;
use super::setting::Field;
use super::snapshot::Slot;
use super::world::{Outcome, World, narrow};
use crate::array::DType;
use crate::random::Rng;
use crate::space::{BoxSpace, Space, SpaceError};

/// A car in a valley.
#[derive(Clone, Copy)]
pub(super) struct MountainCar {
    force: f64,
    gravity: f64,
    goal_position: f64,
    goal_velocity: f64,
    valley: Valley,
    math: Math,
    position: f64,
    velocity: f64,
}

/// What both mountain cars have in common: where they can be and where they begin.
#[derive(Clone, Copy)]
pub(super) struct Valley {
    pub(super) min_position: f64,
    pub(super) max_position: f64,
    pub(super) max_speed: f64,
    /// Between which positions an episode begins.
    low: f64,
    high: f64,
}

impl Default for MountainCar {
    fn default() -> Self {
        Self {
            force: 0.001,
            gravity: 0.0025,
            goal_position: 0.5,
            goal_velocity: 0.0,
            valley: Valley::default(),
            math: Math::default(),
            position: 0.0,
            velocity: 0.0,
        }
    }
}

impl Default for Valley {
    fn default() -> Self {
        Self { min_position: -1.2, max_position: 0.6, max_speed: 0.07, low: -0.6, high: -0.4 }
    }
}

impl Valley {
    /// Positions and velocities.
    pub(super) fn observation_space(&self) -> Result<Space, SpaceError> {
        let (low, high) = ([self.min_position, -self.max_speed], [self.max_position, self.max_speed]);
        Ok(Space::Box(BoxSpace::new(&[2], DType::F32, &low, &high)?))
    }

    pub(super) fn fields(&mut self) -> [(&'static str, Field<'_>); 5] {
        [
            ("min_position", Field::Number(&mut self.min_position)),
            ("max_position", Field::Number(&mut self.max_position)),
            ("max_speed", Field::Positive(&mut self.max_speed)),
            ("low", Field::Number(&mut self.low)),
            ("high", Field::Number(&mut self.high)),
        ]
    }

    /// The position at which an episode begins.
    pub(super) fn start(&self, rng: &mut Rng) -> f64 {
        rng.uniform(self.low, self.high)
    }
}

impl World for MountainCar {
    const ARGUMENTS: &'static [&'static str] = &["goal_velocity", "math"];
    const OPTIONS: &'static [&'static str] = &["low", "high"];

    type Action = i64;
    type Observation = [f32; 2];

    fn spaces(&self) -> Result<(Space, Space), SpaceError> {
        Ok((self.valley.observation_space()?, Space::discrete(3, 0)?))
    }

    fn fields(&mut self) -> Vec<(&'static str, Field<'_>)> {
        let own = [
            ("force", Field::Number(&mut self.force)),
            ("gravity", Field::Number(&mut self.gravity)),
            ("goal_position", Field::Number(&mut self.goal_position)),
            ("goal_velocity", Field::Number(&mut self.goal_velocity)),
            ("math", Field::Other(&mut self.math)),
        ];
        own.into_iter().chain(self.valley.fields()).collect()
    }

    fn state(&mut self) -> Option<Vec<Slot<'_>>> {
        Some(vec![Slot::Number(&mut self.position), Slot::Number(&mut self.velocity)])
    }

    fn start(&mut self, rng: &mut Rng) {
        self.position = self.valley.start(rng);
        self.velocity = 0.0;
    }

    fn advance(&mut self, action: i64, _: &mut Rng) -> Outcome {
        let Valley { min_position, max_position, max_speed, .. } = self.valley;
        #[expect(clippy::cast_precision_loss, reason = "-1, 0 or 1")]
        let push = (action - 1) as f64 * self.force;
        let velocity = self.velocity + (push + self.math.cos(3.0 * self.position) * -self.gravity);
        self.velocity = velocity.clamp(-max_speed, max_speed);
        self.position = (self.position + self.velocity).max(min_position).min(max_position);
        if self.position <= min_position && self.velocity < 0.0 {
            self.velocity = 0.0;
        }
        let terminated = self.position >= self.goal_position && self.velocity >= self.goal_velocity;
        Outcome { reward: -1.0, terminated }
    }

    fn observe(&self) -> [f32; 2] {
        narrow([self.position, self.velocity])
    }
}
