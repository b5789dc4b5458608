//! Adam (Kingma and Ba 2015, arXiv 1412.6980), with the paper's decay rates.

use crate::snapshot::{self, SnapshotError};
use crate::value::Value;

const BETA: [f64; 2] = [0.9, 0.999];
const EPSILON: f64 = 1e-8;

/// The moments of one parameter vector's gradient.
#[derive(Clone, Debug)]
pub(super) struct Adam {
    first: Vec<f64>,
    second: Vec<f64>,
    /// The products of the decay rates so far.
    decay: [f64; 2],
}

impl Adam {
    pub(super) fn new(size: usize) -> Self {
        Self { first: vec![0.0; size], second: vec![0.0; size], decay: [1.0; 2] }
    }

    pub(super) fn snapshot(&self) -> Value {
        snapshot::state([
            ("first", snapshot::numbers(&self.first)),
            ("second", snapshot::numbers(&self.second)),
            ("decay", snapshot::numbers(&self.decay)),
        ])
    }

    /// Goes back to a snapshot.
    ///
    /// # Errors
    /// When `state` is none of as many parameters.
    pub(super) fn restore(&mut self, state: &Value) -> Result<(), SnapshotError> {
        snapshot::read_numbers_into(state, "first", &mut self.first)?;
        snapshot::read_numbers_into(state, "second", &mut self.second)?;
        snapshot::read_numbers_into(state, "decay", &mut self.decay)
    }

    /// Steps `parameters` against `gradient`.
    pub(super) fn descend(&mut self, parameters: &mut [f64], gradient: &[f64], learning_rate: f64) {
        let [beta_first, beta_second] = BETA;
        self.decay = [self.decay[0] * beta_first, self.decay[1] * beta_second];
        let [first_share, second_share] = self.decay.map(|decay| 1.0 - decay);
        let moments = self.first.iter_mut().zip(&mut self.second);
        for ((parameter, slope), (first, second)) in parameters.iter_mut().zip(gradient).zip(moments) {
            *first = beta_first * *first + (1.0 - beta_first) * slope;
            *second = beta_second * *second + (1.0 - beta_second) * slope * slope;
            *parameter -= learning_rate * (*first / first_share) / ((*second / second_share).sqrt() + EPSILON);
        }
    }
}
