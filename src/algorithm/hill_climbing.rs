//! `discrete_hill_climbing`: random local search over a policy's parameters, judged by episodes.
//!
//! A candidate is the incumbent plus normal noise. It plays whole episodes, and its score is
//! their mean return under the composed reward; a window's reward sum would not do, since on a
//! task that pays 1 a step it is the same for every policy. A candidate that scores higher
//! becomes the incumbent.
//!
//! Three rules keep a score from meaning something else than it says:
//! * A candidate is dropped as soon as an episode is worse than all the incumbent's (a race): a
//!   poor one costs one episode, a good one is judged over all of them.
//! * After every few failures the incumbent plays again and its score is the mean of all it
//!   played: a lucky score does not stick.
//! * When the regime shifts, what was judged before counts no longer: the incumbent is judged
//!   anew, then candidates against it. Where shifts come faster than one such comparison, they
//!   are taken as part of the task until it is made, so that learning goes on.
//!
//! The noise is adapted: halved after a success, doubled after a failure, within bounds relative
//! to the initial one.

use super::AlgorithmError;
use super::moments::moments;
use super::search::{Method, Search};
use super::subject::Subject;
use crate::policy::Policy;
use crate::policy::settings::Settings;
use crate::random::Rng;
use crate::snapshot::{self, SnapshotError};
use crate::value::Value;

/// The bounds of the adapted noise, relative to the initial one.
const NOISE_RANGE: [f64; 2] = [0.01, 2.0];
/// After how many failed candidates in a row the incumbent plays again.
const PATIENCE: u64 = 5;
/// The most episodes that an incumbent's score looks back on, in judgings.
const MEMORY: usize = 6;

pub(super) struct HillClimbing {
    episodes: usize,
    noise: f64,
    range: [f64; 2],
    /// The incumbent's returns in the present regime.
    incumbent_returns: Vec<f64>,
    /// Whose episodes are played now.
    playing: Player,
    /// The returns of this judging.
    returns: Vec<f64>,
    failures: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Player {
    /// The best judged parameters: the subject's centre.
    Incumbent,
    Candidate,
}

impl HillClimbing {
    pub(super) fn search(
        name: &str,
        mut settings: Settings<'_>,
        policy: Box<dyn Policy>,
        seed: u64,
    ) -> Result<Search<Self>, String> {
        let rng = Rng::named(settings.seed(seed), "algorithm");
        let noise = settings.positive("noise", 1.0);
        let episodes = settings.count("episodes", 1, 5);
        let subject = Subject::new(name, &mut settings, policy, 1);
        let subject = settings.finish(subject)?;
        let method = Self {
            episodes,
            noise,
            range: NOISE_RANGE.map(|bound| bound * noise),
            incumbent_returns: Vec::new(),
            playing: Player::Incumbent,
            returns: Vec::new(),
            failures: 0,
        };
        Search::new(subject, rng, method)
    }

    /// Gives the policy the incumbent's parameters, perturbed by noise.
    fn play_candidate(&mut self, subject: &mut Subject, rng: &mut Rng) -> Result<(), AlgorithmError> {
        self.playing = Player::Candidate;
        self.returns.clear();
        subject.play(std::iter::repeat_with(|| self.noise * rng.standard_normal()))
    }

    fn end_incumbent(&mut self, subject: &mut Subject, rng: &mut Rng) -> Result<(), AlgorithmError> {
        self.incumbent_returns.append(&mut self.returns);
        let memory = self.episodes.saturating_mul(MEMORY);
        let surplus = self.incumbent_returns.len().saturating_sub(memory);
        self.incumbent_returns.drain(..surplus);
        self.play_candidate(subject, rng)
    }

    fn end_candidate(&mut self, better: bool, subject: &mut Subject, rng: &mut Rng) -> Result<(), AlgorithmError> {
        subject.compared();
        let [least, most] = self.range;
        if better {
            self.failures = 0;
            self.noise = (self.noise / 2.0).max(least);
            subject.adopt();
            self.incumbent_returns.clear();
            self.incumbent_returns.append(&mut self.returns);
        } else {
            self.failures += 1;
            self.noise = (self.noise * 2.0).min(most);
        }
        if self.failures >= PATIENCE {
            self.failures = 0;
            return self.begin(subject, rng);
        }
        self.play_candidate(subject, rng)
    }
}

impl Method for HillClimbing {
    /// The incumbent plays.
    fn begin(&mut self, subject: &mut Subject, _: &mut Rng) -> Result<(), AlgorithmError> {
        self.playing = Player::Incumbent;
        self.returns.clear();
        subject.play_centre()
    }

    fn judge(&mut self, score: f64, subject: &mut Subject, rng: &mut Rng) -> Result<(), AlgorithmError> {
        self.returns.push(score);
        let complete = self.returns.len() >= self.episodes;
        match self.playing {
            Player::Incumbent if complete => self.end_incumbent(subject, rng),
            Player::Candidate if complete => {
                let better = beats(mean(&self.returns), mean(&self.incumbent_returns));
                self.end_candidate(better, subject, rng)
            }
            Player::Candidate if self.incumbent_returns.iter().all(|least| beats(*least, score)) => {
                self.end_candidate(false, subject, rng)
            }
            _ => Ok(()),
        }
    }

    fn on_shift(&mut self) {
        self.incumbent_returns.clear();
        self.failures = 0;
        self.noise = self.noise.max(self.range[1] / 2.0);
    }

    fn needed(&self) -> usize {
        self.episodes.saturating_mul(2)
    }

    fn snapshot(&self) -> Value {
        snapshot::state([
            ("noise", self.noise.into()),
            ("incumbent_returns", snapshot::numbers(&self.incumbent_returns)),
            ("candidate", (self.playing == Player::Candidate).into()),
            ("returns", snapshot::numbers(&self.returns)),
            ("failures", snapshot::count(self.failures)),
        ])
    }

    fn restore(&mut self, state: &Value) -> Result<(), SnapshotError> {
        self.noise = snapshot::read_number(state, "noise")?;
        self.incumbent_returns = snapshot::read_numbers(state, "incumbent_returns")?;
        let candidate = snapshot::read_flag(state, "candidate")?;
        self.playing = if candidate { Player::Candidate } else { Player::Incumbent };
        self.returns = snapshot::read_numbers(state, "returns")?;
        self.failures = snapshot::read_count(state, "failures")?;
        Ok(())
    }
}

/// Whether `score` is finite and above `other`; any finite score beats one that is not.
fn beats(score: f64, other: f64) -> bool {
    score.is_finite() && (!other.is_finite() || score > other)
}

fn mean(returns: &[f64]) -> f64 {
    let [mean, _] = moments(returns.iter().copied());
    mean
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use std::path::Path;

    use super::super::registry::make;
    use super::super::{Algorithm, Episode};
    use super::*;
    use crate::policy::{Checkpoint, Context, PolicyError};
    use crate::regime::Regime;
    use crate::space::{Element, Space};
    use crate::value::{Map, Value};

    struct Scalar([f64; 1]);

    impl Policy for Scalar {
        fn act(&mut self, _: &Element, _: &mut Element) -> Result<(), PolicyError> {
            Ok(())
        }

        fn save(&self, _: &Path) -> Result<Checkpoint, PolicyError> {
            Ok(Checkpoint::Nothing)
        }

        fn load(&mut self, _: &Path) -> Result<(), PolicyError> {
            Ok(())
        }

        fn parameters(&self) -> Option<&[f64]> {
            Some(&self.0)
        }

        fn parameters_mut(&mut self) -> Option<&mut [f64]> {
            Some(&mut self.0)
        }
    }

    fn climber(seed: u64) -> Box<dyn Algorithm> {
        let space = Space::discrete(2, 0).unwrap();
        let context = Context { observation_space: &space, action_space: &space, seed };
        make("discrete_hill_climbing", &Map::new(), Some(Box::new(Scalar([0.0]))), context).unwrap()
    }

    /// Plays `episodes` episodes whose return is `score` of the parameter and the episode.
    fn play(climber: &mut dyn Algorithm, episodes: u64, score: impl Fn(f64, u64) -> f64) {
        for index in 0..episodes {
            let total_reward = score(parameter(climber), index);
            climber.on_episode(&Episode { index, steps: 1, total_reward, ..Episode::default() }).unwrap();
        }
    }

    fn parameter(climber: &dyn Algorithm) -> f64 {
        climber.policy().parameters().unwrap()[0]
    }

    #[test]
    fn the_best_judged_parameters_are_left() {
        let mut climber = climber(1);
        play(&mut *climber, 500, |x, _| -(x - 2.0).abs());
        climber.finish().unwrap();
        assert!((parameter(&*climber) - 2.0).abs() < 0.1, "{}", parameter(&*climber));
    }

    #[test]
    fn a_lucky_score_does_not_stick() {
        let mut climber = climber(1);
        // The first policy is lucky once: its episodes score far above what it is worth.
        play(&mut *climber, 5, |_, _| 100.0);
        play(&mut *climber, 2_000, |x, _| -(x - 2.0).abs());
        climber.finish().unwrap();
        assert!((parameter(&*climber) - 2.0).abs() < 0.5, "{}", parameter(&*climber));
    }

    #[test]
    fn a_score_from_another_regime_does_not_count() {
        let mut climber = climber(1);
        play(&mut *climber, 300, |x, _| 1000.0 - (x - 2.0).abs());
        climber.on_shift(&Regime::default()).unwrap();
        play(&mut *climber, 500, |x, _| -(x + 2.0).abs());
        climber.finish().unwrap();
        assert!((parameter(&*climber) + 2.0).abs() < 0.1, "{}", parameter(&*climber));
    }

    #[test]
    fn shifts_faster_than_a_comparison_do_not_stop_learning() {
        let mut climber = climber(1);
        for _ in 0..3_000 {
            climber.on_shift(&Regime::default()).unwrap();
            play(&mut *climber, 1, |x, _| -(x - 2.0).abs());
        }
        climber.finish().unwrap();
        assert!((parameter(&*climber) - 2.0).abs() < 0.5, "{}", parameter(&*climber));
    }

    #[test]
    fn scores_that_are_not_finite_never_win() {
        let mut climber = climber(1);
        play(&mut *climber, 500, |x, index| if index > 4 && x < 1.0 { f64::INFINITY } else { -(x - 2.0).abs() });
        climber.finish().unwrap();
        assert!((parameter(&*climber) - 2.0).abs() < 0.2, "{}", parameter(&*climber));
    }

    #[test]
    fn too_few_episodes_are_told() {
        let mut climber = climber(1);
        play(&mut *climber, 4, |_, _| 0.0);
        climber.finish().unwrap();
        assert_eq!(parameter(&*climber), 0.0);
        assert_eq!(climber.take_warnings().len(), 1);
        let space = Space::discrete(2, 0).unwrap();
        let context = Context { observation_space: &space, action_space: &space, seed: 0 };
        let wrong = Map::from_iter([("noise".to_owned(), Value::Int(0))]);
        let error = make("discrete_hill_climbing", &wrong, Some(Box::new(Scalar([0.0]))), context).err().unwrap();
        assert!(error.to_string().contains("`params.noise` must be a number above 0"), "{error}");
    }
}
