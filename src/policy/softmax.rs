//! Scores as probabilities: softmax, and drawing from it.

use super::menu::highest;
use crate::random::Rng;
use crate::snapshot::SnapshotError;
use crate::value::Value;

/// Turns `scores` into the probabilities of their softmax.
pub(crate) fn softmax(scores: &mut [f64]) {
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for score in scores.iter_mut() {
        *score = (*score - most).exp();
        sum += *score;
    }
    for score in scores {
        *score /= sum;
    }
}

/// A place drawn with the given probabilities.
pub(crate) fn draw(probabilities: &[f64], rng: &mut Rng) -> usize {
    let mut left = rng.double();
    for (place, probability) in probabilities.iter().enumerate() {
        left -= probability;
        if left < 0.0 {
            return place;
        }
    }
    // Rounding can leave a rest; it belongs to the last place that is possible at all.
    probabilities.iter().rposition(|probability| *probability > 0.0).unwrap_or(0)
}

/// Chooses by scores: the highest, or with a stream of its own by their softmax.
pub(super) struct Sampler {
    scores: Vec<f64>,
    rng: Option<Rng>,
}

impl Sampler {
    /// Where its stream stands.
    pub(super) fn snapshot(&self) -> Value {
        self.rng.as_ref().map(Rng::snapshot).into()
    }

    /// Goes back to a snapshot.
    ///
    /// # Errors
    /// When `state` is none.
    pub(super) fn restore(&mut self, state: &Value) -> Result<(), SnapshotError> {
        self.rng.as_mut().map_or(Ok(()), |rng| rng.restore_snapshot(state))
    }

    pub(super) fn new(n_actions: usize, rng: Option<Rng>) -> Self {
        Self { scores: vec![0.0; n_actions], rng }
    }

    /// The scores, to be written.
    pub(super) fn scores(&mut self) -> &mut [f64] {
        &mut self.scores
    }

    /// The place that the written scores choose.
    pub(super) fn choose(&mut self) -> usize {
        match &mut self.rng {
            Some(rng) => {
                softmax(&mut self.scores);
                draw(&self.scores, rng)
            }
            None => highest(self.scores.iter().copied()),
        }
    }
}
