//! Random search: what `discrete_hill_climbing`, `ars` and `cem` share.
//!
//! A method puts parameters into the policy, is told what each of its episodes scored, and puts in
//! the next ones. When the regime shifts it begins anew, and in the end its centre is left.

use super::subject::Subject;
use super::{Algorithm, AlgorithmError, Episode};
use crate::policy::Policy;
use crate::random::Rng;
use crate::regime::Regime;
use crate::snapshot::{self, SnapshotError};
use crate::value::Value;

/// Who plays next, and what is made of the scores.
pub(super) trait Method {
    /// Gives the policy what is judged first.
    ///
    /// # Errors
    /// As [`Subject::play`].
    fn begin(&mut self, subject: &mut Subject, rng: &mut Rng) -> Result<(), AlgorithmError>;

    /// Takes the score of an episode and gives the policy what is judged next; minus infinity is
    /// that of a return that was not finite.
    ///
    /// # Errors
    /// As [`Subject::play`].
    fn judge(&mut self, score: f64, subject: &mut Subject, rng: &mut Rng) -> Result<(), AlgorithmError>;

    /// The regime shifted, and judging is about to begin anew.
    fn on_shift(&mut self) {}

    /// How many episodes are played for a comparison.
    fn needed(&self) -> usize;

    /// Everything that what comes next depends on, beside the subject and the stream.
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
    rng: Rng,
    method: M,
}

impl<M: Method> Search<M> {
    /// Begins to search with the stream `rng`.
    ///
    /// # Errors
    /// As [`Method::begin`].
    pub(super) fn new(subject: Subject, rng: Rng, method: M) -> Result<Self, String> {
        let mut search = Self { subject, rng, method };
        search.method.begin(&mut search.subject, &mut search.rng).map_err(|error| error.to_string())?;
        Ok(search)
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
        match self.subject.score(episode) {
            Some(score) => self.method.judge(score, &mut self.subject, &mut self.rng),
            None => Ok(()),
        }
    }

    fn on_shift(&mut self, _: &Regime) -> Result<(), AlgorithmError> {
        if !self.subject.shifted() {
            return Ok(());
        }
        self.method.on_shift();
        self.method.begin(&mut self.subject, &mut self.rng)
    }

    fn take_over(&mut self, within_episode: bool) {
        self.subject.take_over(within_episode);
    }

    fn finish(&mut self) -> Result<(), AlgorithmError> {
        self.subject.finish(self.method.needed())
    }

    fn snapshot(&self) -> Result<Value, SnapshotError> {
        Ok(snapshot::state([
            ("rng", self.rng.snapshot()),
            ("subject", self.subject.snapshot()),
            ("method", self.method.snapshot()),
        ]))
    }

    fn restore(&mut self, state: &Value) -> Result<(), SnapshotError> {
        self.rng.restore_snapshot(snapshot::entry(state, "rng")?)?;
        self.subject.restore(snapshot::entry(state, "subject")?)?;
        self.method.restore(snapshot::entry(state, "method")?)
    }

    fn take_warnings(&mut self) -> Vec<String> {
        self.subject.take_warnings()
    }
}
