//! Acrobot (Sutton 1996), bit for bit Gymnasium's `Acrobot-v1` with the book's dynamics: a torque
//! of -1, 0 or 1 on the joint between two links that should swing above the bar.
//!
//! An episode begins at a float32 state, whose observation NumPy computes with its own float32
//! sine and cosine; from the first step on all is float64, integrated by Runge and Kutta's rule.

use std::f64::consts::PI;

use super::math::{Math, single};
use super::setting::Field;
use super::snapshot::Slot;
use super::world::{Outcome, World, narrow};
use crate::array::DType;
use crate::random::Rng;
use crate::space::{BoxSpace, Space, SpaceError};

/// Two links hanging from a bar. SI units, radians; angles are 0 when the links hang down.
#[derive(Clone, Copy)]
pub(super) struct Acrobot {
    gravity: f64,
    link_length_1: f64,
    link_mass_1: f64,
    link_mass_2: f64,
    link_com_pos_1: f64,
    link_com_pos_2: f64,
    link_moi: f64,
    max_vel_1: f64,
    max_vel_2: f64,
    dt: f64,
    torque_noise_max: f64,
    /// Between which numbers each of the first state's lies.
    low: f64,
    high: f64,
    math: Math,
    /// The joints' angles, then their speeds.
    state: [f64; 4],
    fresh: bool,
}

impl Default for Acrobot {
    fn default() -> Self {
        Self {
            gravity: 9.8,
            link_length_1: 1.0,
            link_mass_1: 1.0,
            link_mass_2: 1.0,
            link_com_pos_1: 0.5,
            link_com_pos_2: 0.5,
            link_moi: 1.0,
            max_vel_1: 4.0 * PI,
            max_vel_2: 9.0 * PI,
            dt: 0.2,
            torque_noise_max: 0.0,
            low: -0.1,
            high: 0.1,
            math: Math::default(),
            state: [0.0; 4],
            fresh: true,
        }
    }
}

impl Acrobot {
    /// The state's time derivative under `torque`; the squares are those of the first link's
    /// length and of both centres of mass, which a step need not compute four times.
    fn slope(&self, state: [f64; 4], torque: f64, [l1_squared, lc1_squared, lc2_squared]: [f64; 3]) -> [f64; 4] {
        let [theta1, theta2, speed1, speed2] = state;
        let (m1, m2, l1) = (self.link_mass_1, self.link_mass_2, self.link_length_1);
        let (lc1, lc2, inertia, g) = (self.link_com_pos_1, self.link_com_pos_2, self.link_moi, self.gravity);
        let square = |x| self.math.square(x);
        let (sin2, cos2) = self.math.sin_cos(theta2);
        let d1 = m1 * lc1_squared + m2 * (l1_squared + lc2_squared + 2.0 * l1 * lc2 * cos2) + inertia + inertia;
        let d2 = m2 * (lc2_squared + l1 * lc2 * cos2) + inertia;
        let phi2 = m2 * lc2 * g * self.math.cos(theta1 + theta2 - PI / 2.0);
        let phi1 = -m2 * l1 * lc2 * square(speed2) * sin2 - 2.0 * m2 * l1 * lc2 * speed2 * speed1 * sin2
            + (m1 * lc1 + m2 * l1) * g * self.math.cos(theta1 - PI / 2.0)
            + phi2;
        let acceleration2 = (torque + d2 / d1 * phi1 - m2 * l1 * lc2 * square(speed1) * sin2 - phi2)
            / (m2 * lc2_squared + inertia - square(d2) / d1);
        let acceleration1 = -(d2 * acceleration2 + phi1) / d1;
        [speed1, speed2, acceleration1, acceleration2]
    }

    /// The state one time step later.
    fn moved(&self, torque: f64) -> [f64; 4] {
        let start = self.state;
        let squares = [self.link_length_1, self.link_com_pos_1, self.link_com_pos_2].map(|x| self.math.square(x));
        let ahead = |slope: [f64; 4], time: f64| zip(start, slope, |value, slope| value + time * slope);
        let k1 = self.slope(start, torque, squares);
        let k2 = self.slope(ahead(k1, self.dt / 2.0), torque, squares);
        let k3 = self.slope(ahead(k2, self.dt / 2.0), torque, squares);
        let k4 = self.slope(ahead(k3, self.dt), torque, squares);
        let sum = zip(k1, k2, |sum, slope| sum + 2.0 * slope);
        let sum = zip(sum, k3, |sum, slope| sum + 2.0 * slope);
        let sum = zip(sum, k4, |sum, slope| sum + slope);
        zip(start, sum, |value, sum| value + self.dt / 6.0 * sum)
    }
}

/// `function` of the elements of `left` and `right`, pair by pair.
fn zip(left: [f64; 4], right: [f64; 4], function: impl Fn(f64, f64) -> f64) -> [f64; 4] {
    let ([a, b, c, d], [e, f, g, h]) = (left, right);
    [function(a, e), function(b, f), function(c, g), function(d, h)]
}

/// `angle` brought between -pi and pi by whole turns.
fn wrapped(mut angle: f64) -> f64 {
    if !angle.is_finite() || angle.abs() > 1e6 {
        // Parameters far from the physical ones; the loops below would take forever.
        return (angle + PI).rem_euclid(2.0 * PI) - PI;
    }
    while angle > PI {
        angle -= 2.0 * PI;
    }
    while angle < -PI {
        angle += 2.0 * PI;
    }
    angle
}

impl World for Acrobot {
    const ARGUMENTS: &'static [&'static str] = &["math"];
    const OPTIONS: &'static [&'static str] = &["low", "high"];

    type Action = i64;
    type Observation = [f32; 6];

    fn spaces(&self) -> Result<(Space, Space), SpaceError> {
        let high = [1.0, 1.0, 1.0, 1.0, self.max_vel_1, self.max_vel_2];
        let observation = BoxSpace::new(&[6], DType::F32, &high.map(|bound| -bound), &high)?;
        Ok((Space::Box(observation), Space::discrete(3, 0)?))
    }

    fn fields(&mut self) -> Vec<(&'static str, Field<'_>)> {
        vec![
            ("gravity", Field::Number(&mut self.gravity)),
            ("link_length_1", Field::Positive(&mut self.link_length_1)),
            ("link_mass_1", Field::Positive(&mut self.link_mass_1)),
            ("link_mass_2", Field::Positive(&mut self.link_mass_2)),
            ("link_com_pos_1", Field::Positive(&mut self.link_com_pos_1)),
            ("link_com_pos_2", Field::Positive(&mut self.link_com_pos_2)),
            ("link_moi", Field::Positive(&mut self.link_moi)),
            ("max_vel_1", Field::Positive(&mut self.max_vel_1)),
            ("max_vel_2", Field::Positive(&mut self.max_vel_2)),
            ("dt", Field::Positive(&mut self.dt)),
            ("torque_noise_max", Field::Number(&mut self.torque_noise_max)),
            ("low", Field::Number(&mut self.low)),
            ("high", Field::Number(&mut self.high)),
            ("math", Field::Other(&mut self.math)),
        ]
    }

    fn state(&mut self) -> Option<Vec<Slot<'_>>> {
        let [a, b, c, d] = &mut self.state;
        Some(vec![Slot::Number(a), Slot::Number(b), Slot::Number(c), Slot::Number(d), Slot::Flag(&mut self.fresh)])
    }

    fn start(&mut self, rng: &mut Rng) {
        self.state = narrow([(); 4].map(|()| rng.uniform(self.low, self.high))).map(f64::from);
        self.fresh = true;
    }

    fn advance(&mut self, action: i64, rng: &mut Rng) -> Outcome {
        #[expect(clippy::cast_precision_loss, reason = "-1, 0 or 1")]
        let mut torque = (action - 1) as f64;
        if self.torque_noise_max > 0.0 {
            torque += rng.uniform(-self.torque_noise_max, self.torque_noise_max);
        }
        let [theta1, theta2, speed1, speed2] = self.moved(torque);
        let (top1, top2) = (self.max_vel_1, self.max_vel_2);
        self.state = [wrapped(theta1), wrapped(theta2), speed1.clamp(-top1, top1), speed2.clamp(-top2, top2)];
        self.fresh = false;
        let [theta1, theta2, ..] = self.state;
        let terminated = -self.math.cos(theta1) - self.math.cos(theta2 + theta1) > 1.0;
        Outcome { reward: if terminated { 0.0 } else { -1.0 }, terminated }
    }

    fn observe(&self) -> [f32; 6] {
        let [theta1, theta2, speed1, speed2] = self.state;
        if self.fresh {
            let [first, second, speed1, speed2] = narrow(self.state);
            return [single::cos(first), single::sin(first), single::cos(second), single::sin(second), speed1, speed2];
        }
        let ((sin1, cos1), (sin2, cos2)) = (self.math.sin_cos(theta1), self.math.sin_cos(theta2));
        narrow([cos1, sin1, cos2, sin2, speed1, speed2])
    }
}
