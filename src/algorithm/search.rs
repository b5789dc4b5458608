//! Search by generations: what `ars` and `cem` share.
//!
//! Every candidate of a generation plays some episodes and scores their mean return. Once all have
//! a score, the method moves the centre by them and draws the next generation.

use super::moments::number;
use super::subject::Subject;
use super::{Algorithm, AlgorithmError, Episode};
use crate::policy::Policy;
use crate::random::Rng;
use crate::regime::Regime;
use crate::snapshot::{self, SnapshotError};
use crate::value::Value;

/// How a generation is drawn and what is made of its scores.
pub(super) trait Method {
    /// How many candidates a generation has, at least 1.
    fn candidates(&self) -> usize;

    /// Draws a generation.
    fn draw(&mut self, rng: &mut Rng);

    /// How far the candidate at `index` lies from the centre, parameter by parameter.
    fn offsets(&self, index: usize) -> impl Iterator<Item = f64>;

    /// Moves `centre` by the candidates' scores; minus infinity is that of one whose returns were
    /// not all finite.
    fn learn(&mut self, centre: &mut [f64], scores: &[f64]);

    /// The regime shifted, and a new generation will be drawn.
    fn on_shift(&mut self) {}

    /// The generation, and what else its successors depend on.
    fn snapshot(&self) -> Value;

    /// Goes back to a snapshot.
    ///
    /// # Errors
    /// When `state` is none of a method like this one.
    fn restore(&mut self, state: &Value) -> Result<(), SnapshotError>;
}

/// A policy searched by a method.
pub(super) struct Search<M> {
    subject: Subject,
    method: M,
    rng: Rng,
    episodes: usize,
    /// The scores of this generation's candidates so far; the next one plays.
    scores: Vec<f64>,
    /// Its episodes so far, and the sum of their returns.
    played: usize,
    total: f64,
}

impl<M: Method> Search<M> {
    /// Begins with the first candidate, each of which plays `episodes`.
    pub(super) fn new(subject: Subject, method: M, rng: Rng, episodes: usize) -> Result<Self, String> {
        let scores = Vec::with_capacity(method.candidates());
        let mut search = Self { subject, method, rng, episodes, scores, played: 0, total: 0.0 };
        search.begin().map_err(|error| error.to_string())?;
        Ok(search)
    }

    fn begin(&mut self) -> Result<(), AlgorithmError> {
        self.method.draw(&mut self.rng);
        self.scores.clear();
        self.play()
    }

    /// The next candidate plays.
    fn play(&mut self) -> Result<(), AlgorithmError> {
        (self.played, self.total) = (0, 0.0);
        self.subject.play(self.method.offsets(self.scores.len()))
    }
}

impl<M: Method> Algorithm for Search<M> {
    fn policy(&self) -> &dyn Policy {
        self.subject.policy()
    }

    fn policy_mut(&mut self) -> &mut dyn Policy {
        self.subject.policy_mut()
    }

    fn on_episode(&mut self, episode: &Episode) -> Result<(), AlgorithmError> {
        let Some(score) = self.subject.score(episode) else { return Ok(()) };
        self.played += 1;
        self.total += score;
        if self.played < self.episodes {
            return Ok(());
        }
        self.scores.push(self.total / number(self.episodes));
        if self.scores.len() < self.method.candidates() {
            return self.play();
        }
        self.method.learn(&mut self.subject.centre, &self.scores);
        self.subject.compared();
        self.begin()
    }

    fn on_shift(&mut self, _: &Regime) -> Result<(), AlgorithmError> {
        if !self.subject.shifted() {
            return Ok(());
        }
        self.method.on_shift();
        self.begin()
    }

    fn take_over(&mut self, within_episode: bool) {
        self.subject.take_over(within_episode);
    }

    fn finish(&mut self) -> Result<(), AlgorithmError> {
        self.subject.finish(self.method.candidates().saturating_mul(self.episodes))
    }

    fn snapshot(&self) -> Result<Value, SnapshotError> {
        Ok(snapshot::state([
            ("rng", self.rng.snapshot()),
            ("subject", self.subject.snapshot()),
            ("method", self.method.snapshot()),
            ("scores", snapshot::numbers(&self.scores)),
            ("played", snapshot::index(self.played)),
            ("total", self.total.into()),
        ]))
    }

    fn restore(&mut self, state: &Value) -> Result<(), SnapshotError> {
        let scores = snapshot::read_numbers(state, "scores")?;
        if scores.len() >= self.method.candidates() {
            return Err(snapshot::damaged("scores"));
        }
        self.rng.restore_snapshot(snapshot::entry(state, "rng")?)?;
        self.subject.restore(snapshot::entry(state, "subject")?)?;
        self.method.restore(snapshot::entry(state, "method")?)?;
        self.scores = scores;
        self.played = snapshot::read_index(state, "played", self.episodes)?;
        self.total = snapshot::read_number(state, "total")?;
        Ok(())
    }

    fn take_warnings(&mut self) -> Vec<String> {
        self.subject.take_warnings()
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
