//! CartPole (Barto, Sutton and Anderson 1983), bit for bit Gymnasium's `CartPole-v1`.
//!
//! The state is float64 and advances by Euler's rule: positions move by the *old* velocities. An
//! observation is the state rounded to float32 once. Every step pays 1, the last included, unless
//! the rewards of Sutton and Barto's book are asked for: -1 for the fall, 0 else.

use super::math::Math;
use super::setting::Field;
use super::snapshot::Slot;
use super::world::{Outcome, World, narrow};
use crate::array::DType;
use crate::random::Rng;
use crate::space::{BoxSpace, Space, SpaceError};

/// A pole on a cart: push left (0) or right (1). SI units, radians.
#[derive(Clone, Copy)]
pub(super) struct CartPole {
    gravity: f64,
    masscart: f64,
    masspole: f64,
    /// Half the pole's length.
    length: f64,
    force_mag: f64,
    tau: f64,
    x_threshold: f64,
    theta_threshold_radians: f64,
    sutton_barto_reward: bool,
    /// Between which numbers each of the first state's lies.
    low: f64,
    high: f64,
    math: Math,
    /// Position, velocity, angle, angular velocity.
    state: [f64; 4],
}

impl Default for CartPole {
    fn default() -> Self {
        Self {
            gravity: 9.8,
            masscart: 1.0,
            masspole: 0.1,
            length: 0.5,
            force_mag: 10.0,
            tau: 0.02,
            x_threshold: 2.4,
            theta_threshold_radians: 12.0 * 2.0 * std::f64::consts::PI / 360.0,
            sutton_barto_reward: false,
            low: -0.05,
            high: 0.05,
            math: Math::default(),
            state: [0.0; 4],
        }
    }
}

impl CartPole {
    fn moved(&self, force: f64) -> [f64; 4] {
        let [x, x_dot, theta, theta_dot] = self.state;
        let total_mass = self.masspole + self.masscart;
        let polemass_length = self.masspole * self.length;
        let (sin, cos) = self.math.sin_cos(theta);
        let push = (force + polemass_length * (theta_dot * theta_dot) * sin) / total_mass;
        let theta_acceleration =
            (self.gravity * sin - cos * push) / (self.length * (4.0 / 3.0 - self.masspole * (cos * cos) / total_mass));
        let x_acceleration = push - polemass_length * theta_acceleration * cos / total_mass;
        [
            x + self.tau * x_dot,
            x_dot + self.tau * x_acceleration,
            theta + self.tau * theta_dot,
            theta_dot + self.tau * theta_acceleration,
        ]
    }
}

impl World for CartPole {
    const ARGUMENTS: &'static [&'static str] = &["sutton_barto_reward", "math"];
    const OPTIONS: &'static [&'static str] = &["low", "high"];

    type Action = i64;
    type Observation = [f32; 4];

    fn spaces(&self) -> Result<(Space, Space), SpaceError> {
        let high = [self.x_threshold * 2.0, f64::INFINITY, self.theta_threshold_radians * 2.0, f64::INFINITY];
        let observation = BoxSpace::new(&[4], DType::F32, &high.map(|bound| -bound), &high)?;
        Ok((Space::Box(observation), Space::discrete(2, 0)?))
    }

    fn fields(&mut self) -> Vec<(&'static str, Field<'_>)> {
        vec![
            ("gravity", Field::Number(&mut self.gravity)),
            ("masscart", Field::Positive(&mut self.masscart)),
            ("masspole", Field::Positive(&mut self.masspole)),
            ("length", Field::Positive(&mut self.length)),
            ("force_mag", Field::Number(&mut self.force_mag)),
            ("tau", Field::Positive(&mut self.tau)),
            ("x_threshold", Field::Positive(&mut self.x_threshold)),
            ("theta_threshold_radians", Field::Positive(&mut self.theta_threshold_radians)),
            ("sutton_barto_reward", Field::Flag(&mut self.sutton_barto_reward)),
            ("low", Field::Number(&mut self.low)),
            ("high", Field::Number(&mut self.high)),
            ("math", Field::Other(&mut self.math)),
        ]
    }

    fn state(&mut self) -> Option<Vec<Slot<'_>>> {
        Some(self.state.iter_mut().map(Slot::Number).collect())
    }

    fn start(&mut self, rng: &mut Rng) {
        self.state = [(); 4].map(|()| rng.uniform(self.low, self.high));
    }

    fn advance(&mut self, action: i64, _: &mut Rng) -> Outcome {
        self.state = self.moved(if action == 1 { self.force_mag } else { -self.force_mag });
        let [x, _, theta, _] = self.state;
        let terminated = x.abs() > self.x_threshold || theta.abs() > self.theta_threshold_radians;
        let reward = match (self.sutton_barto_reward, terminated) {
            (false, _) => 1.0,
            (true, false) => 0.0,
            (true, true) => -1.0,
        };
        Outcome { reward, terminated }
    }

    fn observe(&self) -> [f32; 4] {
        narrow(self.state)
    }
}
