//! `cem`: the cross-entropy method for policies (Rubinstein 1999), with the decaying noise of
//! Szita and Lorincz 2006 ("Learning Tetris using the noisy cross-entropy method").
//!
//! A generation is a `population` of parameters drawn from independent normal distributions. Mean
//! and variance of its `elite` best become the next generation's, the variance increased by
//! `noise` squared, which falls linearly to nothing over `noise_generations`: without it the
//! distribution narrows before it has found anything.
//!
//! When the regime shifts, the distribution is widened to where it began, around its present
//! mean: a narrow one could not follow.

use super::subject::{Subject, number};
use super::{Algorithm, AlgorithmError, Episode};
use crate::policy::Policy;
use crate::policy::settings::Settings;
use crate::random::Rng;
use crate::regime::Regime;

pub(super) struct CrossEntropy {
    subject: Subject,
    rng: Rng,
    initial: f64,
    elite: usize,
    episodes: usize,
    noise: f64,
    noise_generations: usize,
    /// Generations since the distribution was last widened.
    generation: usize,
    /// The deviation of each parameter.
    deviations: Vec<f64>,
    /// The candidates' offsets from the mean, one after the other, and their returns.
    offsets: Vec<f64>,
    returns: Vec<f64>,
    candidate: usize,
    played: usize,
    total: f64,
    /// Scratch: the generation's order, best first.
    order: Vec<usize>,
}

impl CrossEntropy {
    pub(super) fn new(
        name: &str,
        mut settings: Settings<'_>,
        policy: Box<dyn Policy>,
        seed: u64,
    ) -> Result<Self, String> {
        let rng = Rng::named(settings.seed(seed), "algorithm");
        let population = settings.count("population", 2, 40);
        let elite = settings.count("elite", 1, (population / 5).max(1));
        if elite > population {
            settings.note(format!("`params.elite` is {elite}, but the population is {population}"));
        }
        let initial = settings.positive("deviation", 1.0);
        let noise = settings.non_negative("noise", 0.7);
        let noise_generations = settings.count("noise_generations", 1, 10);
        let episodes = settings.count("episodes", 1, 1);
        let subject = Subject::new(name, &mut settings, policy);
        let subject = settings.finish(subject)?;
        let size = subject.centre.len();
        let mut method = Self {
            subject,
            rng,
            initial,
            elite,
            episodes,
            noise,
            noise_generations,
            generation: 0,
            deviations: vec![initial; size],
            offsets: vec![0.0; population.saturating_mul(size)],
            returns: vec![0.0; population],
            candidate: 0,
            played: 0,
            total: 0.0,
            order: Vec::with_capacity(population),
        };
        method.begin_generation().map_err(|error| error.to_string())?;
        Ok(method)
    }

    fn begin_generation(&mut self) -> Result<(), AlgorithmError> {
        for offsets in self.offsets.chunks_exact_mut(self.deviations.len().max(1)) {
            for (offset, deviation) in offsets.iter_mut().zip(&self.deviations) {
                *offset = deviation * self.rng.standard_normal();
            }
        }
        self.candidate = 0;
        self.play()
    }

    /// Gives the policy the candidate's parameters.
    fn play(&mut self) -> Result<(), AlgorithmError> {
        (self.played, self.total) = (0, 0.0);
        let offsets = self.offsets.iter().skip(self.candidate * self.deviations.len());
        self.subject.play(offsets.copied())
    }

    /// Fits the distribution to the elite.
    fn fit(&mut self) {
        let score = |index: &usize| self.returns.get(*index).copied().unwrap_or(f64::NEG_INFINITY);
        self.order.clear();
        self.order.extend(0..self.returns.len());
        self.order.sort_by(|left, right| score(right).total_cmp(&score(left)));
        self.order.truncate(self.elite);
        self.generation += 1;
        let left = 1.0 - number(self.generation) / number(self.noise_generations);
        let extra = (self.noise * left.max(0.0)).powi(2);
        let size = self.deviations.len();
        let count = number(self.order.len());
        for (place, (centre, deviation)) in self.subject.centre.iter_mut().zip(&mut self.deviations).enumerate() {
            let offsets = || self.order.iter().filter_map(|index| self.offsets.get(index * size + place));
            let mean = offsets().sum::<f64>() / count;
            let variance = offsets().map(|offset| (offset - mean).powi(2)).sum::<f64>() / count;
            *centre += mean;
            *deviation = (variance + extra).sqrt();
        }
        self.subject.moved();
    }
}

impl Algorithm for CrossEntropy {
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
        if let Some(slot) = self.returns.get_mut(self.candidate) {
            *slot = self.total / number(self.episodes);
        }
        self.candidate += 1;
        if self.candidate < self.returns.len() {
            return self.play();
        }
        self.fit();
        self.begin_generation()
    }

    fn on_shift(&mut self, _: &Regime) -> Result<(), AlgorithmError> {
        if !self.subject.shifted() {
            return Ok(());
        }
        self.generation = 0;
        self.deviations.fill(self.initial);
        self.begin_generation()
    }

    fn take_over(&mut self, within_episode: bool) {
        self.subject.take_over(within_episode);
    }

    fn finish(&mut self) -> Result<(), AlgorithmError> {
        self.subject.finish(self.returns.len().saturating_mul(self.episodes))
    }

    fn take_warnings(&mut self) -> Vec<String> {
        self.subject.take_warnings()
    }
}
