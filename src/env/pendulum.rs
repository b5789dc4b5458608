//! The pendulum to be swung up, bit for bit Gymnasium's `Pendulum-v1` under NumPy 2.
//!
//! The state is float64; the torque is a float32, and so are its products with Python floats.
//! It never terminates.

use std::f64::consts::PI;

use super::math::Math;
use super::setting::Field;
use super::snapshot::Slot;
use super::world::{Outcome, World, narrow};
use crate::array::DType;
use crate::random::Rng;
use crate::space::{BoxSpace, Space, SpaceError};

/// A pendulum driven by a torque. SI units, radians; angle 0 is upright.
#[derive(Clone, Copy)]
pub(super) struct Pendulum {
    g: f64,
    m: f64,
    l: f64,
    dt: f64,
    max_speed: f64,
    max_torque: f64,
    /// The bounds of the first angle and of the first speed.
    x_init: f64,
    y_init: f64,
    math: Math,
    angle: f64,
    speed: f64,
}

impl Default for Pendulum {
    fn default() -> Self {
        Self {
            g: 10.0,
            m: 1.0,
            l: 1.0,
            dt: 0.05,
            max_speed: 8.0,
            max_torque: 2.0,
            x_init: PI,
            y_init: 1.0,
            math: Math::default(),
            angle: 0.0,
            speed: 0.0,
        }
    }
}

impl World for Pendulum {
    const ARGUMENTS: &'static [&'static str] = &["g", "math"];
    const OPTIONS: &'static [&'static str] = &["x_init", "y_init"];

    type Action = f32;
    type Observation = [f32; 3];

    fn spaces(&self) -> Result<(Space, Space), SpaceError> {
        let high = [1.0, 1.0, self.max_speed];
        let observation = BoxSpace::new(&[3], DType::F32, &high.map(|bound| -bound), &high)?;
        let action = BoxSpace::new(&[1], DType::F32, &[-self.max_torque], &[self.max_torque])?;
        Ok((Space::Box(observation), Space::Box(action)))
    }

    fn fields(&mut self) -> Vec<(&'static str, Field<'_>)> {
        vec![
            ("g", Field::Number(&mut self.g)),
            ("m", Field::Positive(&mut self.m)),
            ("l", Field::Positive(&mut self.l)),
            ("dt", Field::Positive(&mut self.dt)),
            ("max_speed", Field::Positive(&mut self.max_speed)),
            ("max_torque", Field::Positive(&mut self.max_torque)),
            ("x_init", Field::Number(&mut self.x_init)),
            ("y_init", Field::Number(&mut self.y_init)),
            ("math", Field::Other(&mut self.math)),
        ]
    }

    fn state(&mut self) -> Option<Vec<Slot<'_>>> {
        Some(vec![Slot::Number(&mut self.angle), Slot::Number(&mut self.speed)])
    }

    fn start(&mut self, rng: &mut Rng) {
        self.angle = rng.uniform(-self.x_init, self.x_init);
        self.speed = rng.uniform(-self.y_init, self.y_init);
    }

    #[expect(clippy::cast_possible_truncation, reason = "NumPy rounds Python floats to the torque's float32")]
    fn advance(&mut self, torque: f32, _: &mut Rng) -> Outcome {
        let bound = self.max_torque as f32;
        let torque = torque.clamp(-bound, bound);
        let deviation = (self.angle + PI).rem_euclid(2.0 * PI) - PI;
        let effort = f64::from(0.001_f32 * (torque * torque));
        let cost = self.math.square(deviation) + 0.1 * self.math.square(self.speed) + effort;
        let inertia = 3.0 / (self.m * self.math.square(self.l));
        let push = f64::from(inertia as f32 * torque);
        let speed = self.speed + (3.0 * self.g / (2.0 * self.l) * self.math.sin(self.angle) + push) * self.dt;
        self.speed = speed.clamp(-self.max_speed, self.max_speed);
        self.angle += self.speed * self.dt;
        Outcome { reward: -cost, terminated: false }
    }

    fn observe(&self) -> [f32; 3] {
        let (sin, cos) = self.math.sin_cos(self.angle);
        narrow([cos, sin, self.speed])
    }
}
