//! CartPole (Barto, Sutton and Anderson 1983), bit for bit Gymnasium's `CartPole-v1`.
//!
//! The state is float64 and advances by Euler's rule: positions move by the *old* velocities. An
//! observation is the state rounded to float32 once. Every step pays 1, the last included.

use super::{Env, EnvError, Info, Transition};
use crate::array::{Array, DType};
use crate::random::Rng;
use crate::space::{BoxSpace, Element, Space};
use crate::value::{Map, Value};

/// A pole on a cart: push left (0) or right (1).
pub(super) struct CartPole {
    id: &'static str,
    observation_space: Space,
    action_space: Space,
    limit: u64,
    sutton_barto_reward: bool,
    physics: Physics,
    rng: Option<Rng>,
    /// Position (m), velocity (m/s), angle (rad), angular velocity (rad/s).
    state: [f64; 4],
    elapsed: u64,
    phase: Phase,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Unstarted,
    Running,
    Ended,
}

/// What regimes can shift. SI units, radians.
#[derive(Clone, Copy)]
struct Physics {
    gravity: f64,
    masscart: f64,
    masspole: f64,
    /// Half the pole's length.
    length: f64,
    force_mag: f64,
    tau: f64,
    x_threshold: f64,
    theta_threshold_radians: f64,
}

impl Default for Physics {
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
        }
    }
}

impl Physics {
    /// Every parameter with its name, in a fixed order.
    fn fields(&mut self) -> [(&'static str, &mut f64); 8] {
        [
            ("gravity", &mut self.gravity),
            ("masscart", &mut self.masscart),
            ("masspole", &mut self.masspole),
            ("length", &mut self.length),
            ("force_mag", &mut self.force_mag),
            ("tau", &mut self.tau),
            ("x_threshold", &mut self.x_threshold),
            ("theta_threshold_radians", &mut self.theta_threshold_radians),
        ]
    }

    fn advance(&self, [x, x_dot, theta, theta_dot]: [f64; 4], force: f64) -> [f64; 4] {
        let total_mass = self.masspole + self.masscart;
        let polemass_length = self.masspole * self.length;
        let (cos, sin) = (theta.cos(), theta.sin());
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

    fn fallen(&self, [x, _, theta, _]: [f64; 4]) -> bool {
        x < -self.x_threshold
            || x > self.x_threshold
            || theta < -self.theta_threshold_radians
            || theta > self.theta_threshold_radians
    }
}

impl CartPole {
    /// The environment registered as `id`, truncated after `limit` steps.
    ///
    /// # Errors
    /// When `kwargs` holds anything but a boolean `sutton_barto_reward`.
    pub(super) fn new(id: &'static str, limit: u64, kwargs: &Map) -> Result<Self, EnvError> {
        let argument = |message: String| EnvError::Argument { id: id.to_owned(), message };
        let mut sutton_barto_reward = false;
        for (name, value) in kwargs {
            match (name.as_str(), value) {
                ("sutton_barto_reward", Value::Bool(value)) => sutton_barto_reward = *value,
                ("sutton_barto_reward", other) => {
                    return Err(argument(format!("`sutton_barto_reward` must be a boolean, got {}", other.kind())));
                }
                _ => {
                    return Err(argument(format!("takes no argument `{name}`; it takes `sutton_barto_reward`")));
                }
            }
        }
        let physics = Physics::default();
        let high = [physics.x_threshold * 2.0, f64::INFINITY, physics.theta_threshold_radians * 2.0, f64::INFINITY];
        let space = BoxSpace::new(&[4], DType::F32, &high.map(|bound| -bound), &high)
            .map_err(|problem| argument(problem.to_string()))?;
        Ok(Self {
            id,
            observation_space: Space::Box(space),
            action_space: Space::Discrete { n: 2, start: 0 },
            limit,
            sutton_barto_reward,
            physics,
            rng: None,
            state: [0.0; 4],
            elapsed: 0,
            phase: Phase::Unstarted,
        })
    }

    #[expect(clippy::cast_possible_truncation, reason = "observations are float32")]
    fn observe(&self, observation: &mut Element) {
        match observation {
            Element::Array(array) if array.shape() == [4] && array.as_f32().is_some() => {
                for (slot, value) in array.as_f32_mut().into_iter().flatten().zip(self.state) {
                    *slot = value as f32;
                }
            }
            _ => {
                *observation = Element::Array(Array::zeros(DType::F32, &[4]));
                self.observe(observation);
            }
        }
    }
}

impl Env for CartPole {
    fn id(&self) -> &str {
        self.id
    }

    fn observation_space(&self) -> &Space {
        &self.observation_space
    }

    fn action_space(&self) -> &Space {
        &self.action_space
    }

    fn reset(&mut self, seed: Option<u64>, observation: &mut Element) -> Result<Info, EnvError> {
        if let Some(seed) = seed {
            self.rng = Some(Rng::new(seed));
        }
        // Gymnasium draws from the system without a first seed; a run here is always repeatable.
        let rng = self.rng.get_or_insert_with(|| Rng::new(0));
        self.state = [(); 4].map(|()| rng.uniform(-0.05, 0.05));
        self.elapsed = 0;
        self.phase = Phase::Running;
        self.observe(observation);
        Ok(Info::default())
    }

    fn step(&mut self, action: &Element, observation: &mut Element) -> Result<Transition, EnvError> {
        match self.phase {
            Phase::Running => {}
            Phase::Unstarted | Phase::Ended => {
                let message = "stepped before a reset, or after its episode ended; call reset first".to_owned();
                return Err(EnvError::Failed { id: self.id.to_owned(), message });
            }
        }
        let force = match action {
            Element::Discrete(0) => -self.physics.force_mag,
            Element::Discrete(1) => self.physics.force_mag,
            other => {
                return Err(EnvError::Action {
                    id: self.id.to_owned(),
                    action: format!("{other:?}"),
                    space: self.action_space.to_string(),
                });
            }
        };
        self.state = self.physics.advance(self.state, force);
        self.elapsed += 1;
        let terminated = self.physics.fallen(self.state);
        let truncated = self.elapsed >= self.limit;
        if terminated || truncated {
            self.phase = Phase::Ended;
        }
        let reward = match (self.sutton_barto_reward, terminated) {
            (false, _) => 1.0,
            (true, false) => 0.0,
            (true, true) => -1.0,
        };
        self.observe(observation);
        Ok(Transition { reward, terminated, truncated, info: Info::default() })
    }

    fn parameters(&self) -> Map {
        let mut physics = self.physics;
        physics.fields().into_iter().map(|(name, value)| (name.to_owned(), Value::Float(*value))).collect()
    }

    fn set_parameter(&mut self, name: &str, value: &Value) -> Result<(), EnvError> {
        let id = self.id;
        let problem = |message: String| EnvError::Parameter { id: id.to_owned(), name: name.to_owned(), message };
        let number = value
            .as_float()
            .filter(|number| number.is_finite())
            .ok_or_else(|| problem(format!("must be a finite number, got {}", value.kind())))?;
        let mut names = Vec::new();
        for (known, slot) in self.physics.fields() {
            if known == name {
                *slot = number;
                return Ok(());
            }
            names.push(known);
        }
        let near = crate::suggest::nearest(name, names).map(|near| format!("; did you mean `{near}`?"));
        Err(problem(format!("does not exist{}", near.unwrap_or_default())))
    }
}
