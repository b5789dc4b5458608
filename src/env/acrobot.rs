//! Acrobot (Sutton 1996), bit for bit Gymnasium's `Acrobot-v1` with the book's dynamics: a torque
//! of -1, 0 or 1 on the joint between two links that should swing above the bar.
//!
//! An episode begins at a float32 state, whose observation NumPy computes with its own float32
//! sine and cosine; from the first step on all is float64, integrated by Runge and Kutta's rule.

use std::f64::consts::PI;

use super::native::{Action, Outcome, World, square, write_floats};
use super::setting::Field;
use super::snapshot::Slot;
use crate::array::DType;
use crate::random::Rng;
use crate::space::{BoxSpace, Element, Space, SpaceError};

const TIME_STEP: f64 = 0.2;
const TOP_SPEEDS: [f64; 2] = [4.0 * PI, 9.0 * PI];

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
    torque_noise_max: f64,
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
            torque_noise_max: 0.0,
            state: [0.0; 4],
            fresh: true,
        }
    }
}

impl Acrobot {
    /// The state's time derivative under `torque`.
    fn slope(&self, [theta1, theta2, speed1, speed2]: [f64; 4], torque: f64) -> [f64; 4] {
        let (m1, m2, l1) = (self.link_mass_1, self.link_mass_2, self.link_length_1);
        let (lc1, lc2, inertia, g) = (self.link_com_pos_1, self.link_com_pos_2, self.link_moi, self.gravity);
        let (sin2, cos2) = (theta2.sin(), theta2.cos());
        let d1 = m1 * square(lc1) + m2 * (square(l1) + square(lc2) + 2.0 * l1 * lc2 * cos2) + inertia + inertia;
        let d2 = m2 * (square(lc2) + l1 * lc2 * cos2) + inertia;
        let phi2 = m2 * lc2 * g * (theta1 + theta2 - PI / 2.0).cos();
        let phi1 = -m2 * l1 * lc2 * square(speed2) * sin2 - 2.0 * m2 * l1 * lc2 * speed2 * speed1 * sin2
            + (m1 * lc1 + m2 * l1) * g * (theta1 - PI / 2.0).cos()
            + phi2;
        let acceleration2 = (torque + d2 / d1 * phi1 - m2 * l1 * lc2 * square(speed1) * sin2 - phi2)
            / (m2 * square(lc2) + inertia - square(d2) / d1);
        let acceleration1 = -(d2 * acceleration2 + phi1) / d1;
        [speed1, speed2, acceleration1, acceleration2]
    }

    /// The state one time step later.
    fn moved(&self, torque: f64) -> [f64; 4] {
        let start = self.state;
        let ahead = |slope: [f64; 4], time: f64| zip(start, slope, |value, slope| value + time * slope);
        let k1 = self.slope(start, torque);
        let k2 = self.slope(ahead(k1, TIME_STEP / 2.0), torque);
        let k3 = self.slope(ahead(k2, TIME_STEP / 2.0), torque);
        let k4 = self.slope(ahead(k3, TIME_STEP), torque);
        let sum = zip(k1, k2, |sum, slope| sum + 2.0 * slope);
        let sum = zip(sum, k3, |sum, slope| sum + 2.0 * slope);
        let sum = zip(sum, k4, |sum, slope| sum + slope);
        zip(start, sum, |value, sum| value + TIME_STEP / 6.0 * sum)
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
        return angle.sin().atan2(angle.cos());
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
    fn spaces(&self) -> Result<(Space, Space), SpaceError> {
        let [first, second] = TOP_SPEEDS;
        let high = [1.0, 1.0, 1.0, 1.0, first, second];
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
            ("torque_noise_max", Field::Number(&mut self.torque_noise_max)),
        ]
    }

    #[expect(clippy::cast_possible_truncation, reason = "the reference begins at a float32 state")]
    fn state(&mut self) -> Vec<Slot<'_>> {
        let [a, b, c, d] = &mut self.state;
        vec![Slot::Number(a), Slot::Number(b), Slot::Number(c), Slot::Number(d), Slot::Flag(&mut self.fresh)]
    }

    fn start(&mut self, rng: &mut Rng) {
        self.state = [(); 4].map(|()| f64::from(rng.uniform(-0.1, 0.1) as f32));
        self.fresh = true;
    }

    fn advance(&mut self, action: Action, rng: &mut Rng) -> Outcome {
        #[expect(clippy::cast_precision_loss, reason = "-1, 0 or 1")]
        let mut torque = (action.index() - 1) as f64;
        if self.torque_noise_max > 0.0 {
            torque += rng.uniform(-self.torque_noise_max, self.torque_noise_max);
        }
        let [theta1, theta2, speed1, speed2] = self.moved(torque);
        let [top1, top2] = TOP_SPEEDS;
        self.state = [wrapped(theta1), wrapped(theta2), speed1.clamp(-top1, top1), speed2.clamp(-top2, top2)];
        self.fresh = false;
        let [theta1, theta2, ..] = self.state;
        let terminated = -theta1.cos() - (theta2 + theta1).cos() > 1.0;
        Outcome { reward: if terminated { 0.0 } else { -1.0 }, terminated }
    }

    fn observe(&self, observation: &mut Element) {
        let [theta1, theta2, speed1, speed2] = self.state;
        let (sin, cos): (fn(f64) -> f64, fn(f64) -> f64) =
            if self.fresh { (small_sin, small_cos) } else { (f64::sin, f64::cos) };
        write_floats(observation, &[cos(theta1), sin(theta1), cos(theta2), sin(theta2), speed1, speed2]);
    }
}

/// The sine of a float32 below pi/4 as NumPy's float32 loops compute it: a polynomial in fused
/// steps, whose last bit is not always the rounded sine's.
#[expect(clippy::cast_possible_truncation, reason = "the argument is a float32 value")]
fn small_sin(angle: f64) -> f64 {
    const TERMS: [u32; 3] = [0xb950_35dd, 0x3c08_88cd, 0xbe2a_aaab];
    let x = angle as f32;
    let sum = polynomial(0x363e_9dde, TERMS, x * x);
    f64::from((sum * (x * x)).mul_add(x, x))
}

/// The cosine of a float32 below pi/4 as NumPy's float32 loops compute it.
#[expect(clippy::cast_possible_truncation, reason = "the argument is a float32 value")]
fn small_cos(angle: f64) -> f64 {
    const TERMS: [u32; 4] = [0xbab6_036e, 0x3d2a_aa9e, 0xbf00_0000, 0x3f80_0000];
    let x = angle as f32;
    f64::from(polynomial(0x37cc_730b, TERMS, x * x))
}

/// Horner's rule in fused steps; coefficients as bits, the highest first.
fn polynomial<const N: usize>(first: u32, rest: [u32; N], x: f32) -> f32 {
    rest.into_iter().fold(f32::from_bits(first), |sum, term| sum.mul_add(x, f32::from_bits(term)))
}
