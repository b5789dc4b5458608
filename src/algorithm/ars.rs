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

use super::generations::{Generation, Generations, best};
use super::moments::{moments, number};
use super::search::Search;
use super::subject::Subject;
use crate::policy::Policy;
use crate::policy::settings::Settings;
use crate::random::Rng;
use crate::snapshot::{self, SnapshotError};
use crate::value::Value;

pub(super) struct Ars {
    learning_rate: f64,
    noise: f64,
    directions: usize,
    top: usize,
    /// The directions of this round, one after the other.
    deltas: Vec<f64>,
    /// Scratch: the round's order, best first, and the returns that count.
    order: Vec<usize>,
    counted: Vec<f64>,
}

impl Ars {
    pub(super) fn search(
        name: &str,
        mut settings: Settings<'_>,
        policy: Box<dyn Policy>,
        seed: u64,
    ) -> Result<Search<Generations<Self>>, String> {
        let rng = Rng::named(settings.seed(seed), "algorithm");
        let learning_rate = settings.positive("learning_rate", 0.2);
        let noise = settings.positive("noise", 0.5);
        let directions = settings.count("directions", 1, 2);
        let top = settings.count("top", 1, directions);
        if top > directions {
            settings.note(format!("`params.top` is {top}, but there are {directions} directions"));
        }
        let episodes = settings.count("episodes", 1, 1);
        let subject = Subject::new(name, &mut settings, policy, directions);
        let subject = settings.finish(subject)?;
        let deltas = vec![0.0; directions * subject.centre.len()];
        let present = Self { learning_rate, noise, directions, top, deltas, order: Vec::new(), counted: Vec::new() };
        Search::new(subject, rng, Generations::new(present, episodes))
    }

    /// The numbers of the direction at `index`.
    fn direction(&self, index: usize) -> &[f64] {
        let size = self.deltas.len() / self.directions;
        self.deltas.get(index * size..(index + 1) * size).unwrap_or_default()
    }
}

impl Generation for Ars {
    /// Forwards along direction 0, backwards along it, forwards along 1...
    fn candidates(&self) -> usize {
        2 * self.directions
    }

    fn draw(&mut self, rng: &mut Rng) {
        self.deltas.fill_with(|| rng.standard_normal());
    }

    fn offsets(&self, index: usize) -> impl Iterator<Item = f64> {
        let factor = if index.is_multiple_of(2) { self.noise } else { -self.noise };
        self.direction(index / 2).iter().map(move |delta| factor * delta)
    }

    fn learn(&mut self, centre: &mut [f64], scores: &[f64]) {
        let (pairs, _) = scores.as_chunks::<2>();
        let better = |index: usize| pairs.get(index).map_or(f64::NEG_INFINITY, |[plus, minus]| plus.max(*minus));
        best(&mut self.order, self.top, pairs.len(), better);
        // A direction with a return that is not finite says nothing.
        let told = |index: &usize| pairs.get(*index).filter(|pair| pair.iter().all(|score| score.is_finite()));
        self.counted.clear();
        self.counted.extend(self.order.iter().filter_map(told).flatten());
        let [_, deviation] = moments(self.counted.iter().copied());
        if deviation > 0.0 {
            let rate = self.learning_rate / (number(self.order.len()) * deviation);
            for index in &self.order {
                let Some([plus, minus]) = told(index) else { continue };
                for (centre, delta) in centre.iter_mut().zip(self.direction(*index)) {
                    *centre += rate * (plus - minus) * delta;
                }
            }
        }
    }

    fn snapshot(&self) -> Value {
        snapshot::state([("directions", snapshot::numbers(&self.deltas))])
    }

    fn restore(&mut self, state: &Value) -> Result<(), SnapshotError> {
        snapshot::read_numbers_into(state, "directions", &mut self.deltas)
    }
}
