//! Search by generations: what `ars` and `cem` share.
//!
//! Every candidate of a generation plays some episodes and scores their mean return. Once all have
//! a score, the centre is moved by them and the next generation is drawn.

use super::AlgorithmError;
use super::moments::number;
use super::search::Method;
use super::subject::Subject;
use crate::random::Rng;
use crate::snapshot::{self, SnapshotError};
use crate::value::Value;

/// How a generation is drawn and what is made of its scores.
pub(super) trait Generation {
    /// How many candidates there are, at least 1.
    fn candidates(&self) -> usize;

    /// Draws the next one.
    fn draw(&mut self, rng: &mut Rng);

    /// How far the candidate at `index` lies from the centre, parameter by parameter.
    fn offsets(&self, index: usize) -> impl Iterator<Item = f64>;

    /// Moves `centre` by the candidates' scores; minus infinity is that of one whose returns were
    /// not all finite.
    fn learn(&mut self, centre: &mut [f64], scores: &[f64]);

    /// The regime shifted, and the next one is about to be drawn.
    fn on_shift(&mut self) {}

    /// What was drawn, and what else its successors depend on.
    fn snapshot(&self) -> Value;

    /// Goes back to a snapshot.
    ///
    /// # Errors
    /// When `state` is none of a generation like this one.
    fn restore(&mut self, state: &Value) -> Result<(), SnapshotError>;
}

/// One generation after the other.
pub(super) struct Generations<G> {
    present: G,
    /// What each candidate plays.
    episodes: usize,
    /// The scores of the candidates so far; the next one plays.
    scores: Vec<f64>,
    /// Its episodes so far, and the sum of their returns.
    played: usize,
    total: f64,
}

impl<G: Generation> Generations<G> {
    /// Generations whose candidates play `episodes` each.
    pub(super) fn new(present: G, episodes: usize) -> Self {
        let scores = Vec::with_capacity(present.candidates());
        Self { present, episodes, scores, played: 0, total: 0.0 }
    }

    /// The next candidate plays.
    fn play(&mut self, subject: &mut Subject) -> Result<(), AlgorithmError> {
        (self.played, self.total) = (0, 0.0);
        subject.play(self.present.offsets(self.scores.len()))
    }
}

impl<G: Generation> Method for Generations<G> {
    fn begin(&mut self, subject: &mut Subject, rng: &mut Rng) -> Result<(), AlgorithmError> {
        self.present.draw(rng);
        self.scores.clear();
        self.play(subject)
    }

    fn judge(&mut self, score: f64, subject: &mut Subject, rng: &mut Rng) -> Result<(), AlgorithmError> {
        self.played += 1;
        self.total += score;
        if self.played < self.episodes {
            return Ok(());
        }
        self.scores.push(self.total / number(self.episodes));
        if self.scores.len() < self.present.candidates() {
            return self.play(subject);
        }
        self.present.learn(&mut subject.centre, &self.scores);
        subject.compared();
        self.begin(subject, rng)
    }

    fn on_shift(&mut self) {
        self.present.on_shift();
    }

    fn needed(&self) -> usize {
        self.present.candidates().saturating_mul(self.episodes)
    }

    fn snapshot(&self) -> Value {
        snapshot::state([
            ("present", self.present.snapshot()),
            ("scores", snapshot::numbers(&self.scores)),
            ("played", snapshot::index(self.played)),
            ("total", self.total.into()),
        ])
    }

    fn restore(&mut self, state: &Value) -> Result<(), SnapshotError> {
        let scores = snapshot::read_numbers(state, "scores")?;
        if scores.len() >= self.present.candidates() {
            return Err(snapshot::damaged("scores"));
        }
        self.present.restore(snapshot::entry(state, "present")?)?;
        self.scores = scores;
        self.played = snapshot::read_index(state, "played", self.episodes)?;
        self.total = snapshot::read_number(state, "total")?;
        Ok(())
    }
}

/// Writes the places of the `count` best of `n` over `order`: the best first, and of several equal
/// ones the first.
pub(super) fn best(order: &mut Vec<usize>, count: usize, n: usize, score: impl Fn(usize) -> f64) {
    order.clear();
    order.extend(0..n);
    order.sort_by(|left, right| score(*right).total_cmp(&score(*left)));
    order.truncate(count);
}
