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

use super::generations::{Generation, Generations, best};
use super::moments::number;
use super::search::Search;
use super::subject::Subject;
use crate::policy::Policy;
use crate::policy::settings::Settings;
use crate::random::Rng;
use crate::snapshot::{self, SnapshotError};
use crate::value::Value;

pub(super) struct CrossEntropy {
    population: usize,
    elite: usize,
    initial: f64,
    noise: f64,
    noise_generations: usize,
    /// Generations since the distribution was last widened.
    generation: usize,
    /// The deviation of each parameter.
    deviations: Vec<f64>,
    /// The candidates' offsets from the mean, one after the other.
    offsets: Vec<f64>,
    /// Scratch: the generation's order, best first.
    order: Vec<usize>,
}

impl CrossEntropy {
    pub(super) fn search(
        name: &str,
        mut settings: Settings<'_>,
        policy: Box<dyn Policy>,
        seed: u64,
    ) -> Result<Search<Generations<Self>>, String> {
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
        let subject = Subject::new(name, &mut settings, policy, population);
        let subject = settings.finish(subject)?;
        let size = subject.centre.len();
        let present = Self {
            population,
            elite,
            initial,
            noise,
            noise_generations,
            generation: 0,
            deviations: vec![initial; size],
            offsets: vec![0.0; population * size],
            order: Vec::new(),
        };
        Search::new(subject, rng, Generations::new(present, episodes))
    }
}

impl Generation for CrossEntropy {
    fn candidates(&self) -> usize {
        self.population
    }

    fn draw(&mut self, rng: &mut Rng) {
        for (offset, deviation) in self.offsets.iter_mut().zip(self.deviations.iter().cycle()) {
            *offset = deviation * rng.standard_normal();
        }
    }

    fn offsets(&self, index: usize) -> impl Iterator<Item = f64> {
        let size = self.deviations.len();
        self.offsets.get(index * size..(index + 1) * size).unwrap_or_default().iter().copied()
    }

    fn learn(&mut self, centre: &mut [f64], scores: &[f64]) {
        let score = |index: usize| scores.get(index).copied().unwrap_or(f64::NEG_INFINITY);
        best(&mut self.order, self.elite, scores.len(), score);
        // A candidate with a return that is not finite is no example to follow.
        self.order.retain(|index| score(*index).is_finite());
        self.generation += 1;
        if self.order.is_empty() {
            return;
        }
        let left = 1.0 - number(self.generation) / number(self.noise_generations);
        let extra = (self.noise * left.max(0.0)).powi(2);
        let size = self.deviations.len();
        let count = number(self.order.len());
        for (place, (centre, deviation)) in centre.iter_mut().zip(&mut self.deviations).enumerate() {
            let offsets = || self.order.iter().filter_map(|index| self.offsets.get(index * size + place));
            let mean = offsets().sum::<f64>() / count;
            let variance = offsets().map(|offset| (offset - mean).powi(2)).sum::<f64>() / count;
            *centre += mean;
            *deviation = (variance + extra).sqrt();
        }
    }

    fn on_shift(&mut self) {
        self.generation = 0;
        self.deviations.fill(self.initial);
    }

    fn snapshot(&self) -> Value {
        snapshot::state([
            ("generation", snapshot::index(self.generation)),
            ("deviations", snapshot::numbers(&self.deviations)),
            ("offsets", snapshot::numbers(&self.offsets)),
        ])
    }

    fn restore(&mut self, state: &Value) -> Result<(), SnapshotError> {
        self.generation = snapshot::read_index(state, "generation", usize::MAX)?;
        snapshot::read_numbers_into(state, "deviations", &mut self.deviations)?;
        snapshot::read_numbers_into(state, "offsets", &mut self.offsets)
    }
}
