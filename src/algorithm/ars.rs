//! `ars`: augmented random search (Mania, Guy and Recht 2018, arXiv 1803.07055), version V1-t.
//!
//! In each round `directions` random directions are tried, each forwards and backwards by
//! `noise`. The centre then moves along the `top` best of them, judged by the better of the two
//! returns, each weighted by the difference of its returns, by
//! `learning_rate / (top * deviation of those returns)`.
//!
//! A policy that takes the highest of linear scores does not know the scale of its weights:
//! from weights of 0, only the ratio of `learning_rate` to `noise` matters to it. The paper's
//! normalisation of observations (V2) is not done.

use super::subject::{Subject, moments, number};
use super::{Algorithm, AlgorithmError, Episode};
use crate::policy::Policy;
use crate::policy::settings::Settings;
use crate::random::Rng;
use crate::regime::Regime;

pub(super) struct Ars {
    subject: Subject,
    rng: Rng,
    learning_rate: f64,
    noise: f64,
    top: usize,
    episodes: usize,
    /// The directions of this round, one after the other.
    deltas: Vec<f64>,
    /// Their returns, forwards and backwards.
    returns: Vec<[f64; 2]>,
    /// The candidate that plays: forwards along direction 0, backwards along it, forwards along 1...
    candidate: usize,
    /// Its episodes so far, and the sum of their returns.
    played: usize,
    total: f64,
    /// Scratch: the round's order, best first, and the returns that count.
    order: Vec<usize>,
    counted: Vec<f64>,
}

impl Ars {
    pub(super) fn new(
        name: &str,
        mut settings: Settings<'_>,
        policy: Box<dyn Policy>,
        seed: u64,
    ) -> Result<Self, String> {
        let rng = Rng::named(settings.seed(seed), "algorithm");
        let learning_rate = settings.positive("learning_rate", 0.2);
        let noise = settings.positive("noise", 0.5);
        let directions = settings.count("directions", 1, 2);
        let top = settings.count("top", 1, directions);
        if top > directions {
            settings.note(format!("`params.top` is {top}, but there are {directions} directions"));
        }
        let episodes = settings.count("episodes", 1, 1);
        let subject = Subject::new(name, &mut settings, policy);
        let subject = settings.finish(subject)?;
        let size = subject.centre.len();
        let mut ars = Self {
            subject,
            rng,
            learning_rate,
            noise,
            top,
            episodes,
            deltas: vec![0.0; directions.saturating_mul(size)],
            returns: vec![[0.0; 2]; directions],
            candidate: 0,
            played: 0,
            total: 0.0,
            order: Vec::with_capacity(directions),
            counted: Vec::with_capacity(2 * top),
        };
        ars.begin_round().map_err(|error| error.to_string())?;
        Ok(ars)
    }

    fn begin_round(&mut self) -> Result<(), AlgorithmError> {
        for delta in &mut self.deltas {
            *delta = self.rng.standard_normal();
        }
        self.candidate = 0;
        self.play()
    }

    /// Gives the policy the candidate's parameters.
    fn play(&mut self) -> Result<(), AlgorithmError> {
        (self.played, self.total) = (0, 0.0);
        let size = self.subject.centre.len();
        let factor = if self.candidate.is_multiple_of(2) { self.noise } else { -self.noise };
        let deltas = self.deltas.iter().skip(self.candidate / 2 * size);
        self.subject.play(deltas.map(|delta| factor * delta))
    }

    fn update(&mut self) {
        let best = |index: &usize| self.returns.get(*index).map_or(f64::NEG_INFINITY, |[plus, minus]| plus.max(*minus));
        self.order.clear();
        self.order.extend(0..self.returns.len());
        self.order.sort_by(|left, right| best(right).total_cmp(&best(left)));
        self.order.truncate(self.top);
        // A direction with a return that is not finite says nothing.
        let told = |index: &usize| self.returns.get(*index).filter(|pair| pair.iter().all(|score| score.is_finite()));
        self.counted.clear();
        self.counted.extend(self.order.iter().filter_map(told).flatten());
        let [_, deviation] = moments(self.counted.iter().copied());
        if deviation > 0.0 {
            let size = self.subject.centre.len();
            let rate = self.learning_rate / (number(self.order.len()) * deviation);
            for index in &self.order {
                let Some([plus, minus]) = told(index) else { continue };
                let deltas = self.deltas.iter().skip(index * size);
                for (centre, delta) in self.subject.centre.iter_mut().zip(deltas) {
                    *centre += rate * (plus - minus) * delta;
                }
            }
        }
        self.subject.moved();
    }
}

impl Algorithm for Ars {
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
        let slot = self.returns.get_mut(self.candidate / 2).and_then(|pair| pair.get_mut(self.candidate % 2));
        if let Some(slot) = slot {
            *slot = self.total / number(self.episodes);
        }
        self.candidate += 1;
        if self.candidate < 2 * self.returns.len() {
            return self.play();
        }
        self.update();
        self.begin_round()
    }

    fn on_shift(&mut self, _: &Regime) -> Result<(), AlgorithmError> {
        if self.subject.shifted() { self.begin_round() } else { Ok(()) }
    }

    fn take_over(&mut self, within_episode: bool) {
        self.subject.take_over(within_episode);
    }

    fn finish(&mut self) -> Result<(), AlgorithmError> {
        self.subject.finish((2 * self.returns.len()).saturating_mul(self.episodes))
    }

    fn take_warnings(&mut self) -> Vec<String> {
        self.subject.take_warnings()
    }
}
