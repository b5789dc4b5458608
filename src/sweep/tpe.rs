//! The tree-structured Parzen estimator of Bergstra, Bardenet, Bengio and Kegl, "Algorithms for
//! Hyper-Parameter Optimization" (NIPS 2011), for axes without conditions.
//!
//! Trials are parted into the better ones and the others; each axis gets a density of either, and
//! of some draws from the better one's that point is tried next at which the two differ most. All
//! is done on the unit interval of each axis's distribution, so that what is likely at first is
//! what the distribution says.

use std::collections::VecDeque;

use super::Goal;
use super::distribution::Distribution;
use super::search::Sampler;
use crate::random::Rng;
use crate::value::Map;

/// How the estimator is set.
#[derive(Clone, Debug, PartialEq)]
pub struct Tpe {
    /// The axes, in order.
    pub axes: Vec<(String, Distribution)>,
    /// The seed.
    pub seed: u64,
    /// How many points are drawn from the distributions before any is estimated.
    pub startup: u64,
    /// Which share of the trials are the better ones; the paper's is 0.15.
    pub share: f64,
    /// How many points are drawn from the better ones' density to choose from.
    pub candidates: u64,
    /// Which end of the metric is the good one.
    pub goal: Goal,
    /// Places on the unit intervals that were asked for and are not told of yet.
    asked: VecDeque<Vec<f64>>,
    told: Vec<(Vec<f64>, f64)>,
}

impl Tpe {
    /// The estimator with its usual settings.
    #[must_use]
    pub fn new(axes: Vec<(String, Distribution)>, seed: u64, goal: Goal) -> Self {
        let (asked, told) = (VecDeque::new(), Vec::new());
        Self { axes, seed, startup: 10, share: 0.15, candidates: 24, goal, asked, told }
    }

    /// The next place.
    fn place(&self, rng: &mut Rng) -> Vec<f64> {
        if (self.told.len() as u64) < self.startup.max(2) {
            return self.axes.iter().map(|_| rng.double()).collect();
        }
        let mut ranked: Vec<&(Vec<f64>, f64)> = self.told.iter().collect();
        ranked.sort_by(|(_, one), (_, other)| {
            match (self.goal.is_better(*one, *other), self.goal.is_better(*other, *one)) {
                (true, _) => std::cmp::Ordering::Less,
                (_, true) => std::cmp::Ordering::Greater,
                _ => std::cmp::Ordering::Equal,
            }
        });
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a count"
        )]
        let better = ((self.share * ranked.len() as f64).ceil() as usize).clamp(1, ranked.len() - 1);
        let (good, bad) = ranked.split_at(better);
        self.axes
            .iter()
            .enumerate()
            .map(|(axis, (_, distribution))| {
                let density = |trials: &[&(Vec<f64>, f64)]| {
                    let places = trials.iter().filter_map(|(places, _)| places.get(axis).copied()).collect();
                    Density::new(distribution, places)
                };
                let (likely, unlikely) = (density(good), density(bad));
                let mut best = (f64::NEG_INFINITY, 0.5);
                for _ in 0..self.candidates.max(1) {
                    let place = likely.draw(rng);
                    let ratio = likely.at(place) / unlikely.at(place);
                    if ratio > best.0 {
                        best = (ratio, place);
                    }
                }
                best.1
            })
            .collect()
    }
}

impl Sampler for Tpe {
    fn ask(&mut self, index: u64) -> Result<Map, String> {
        let place = self.place(&mut Rng::named(self.seed, &format!("tpe/{index}")));
        let at =
            |((name, distribution), share): (&(String, Distribution), &f64)| (name.clone(), distribution.at(*share));
        let point = self.axes.iter().zip(&place).map(at).collect();
        self.asked.push_back(place);
        Ok(point)
    }

    fn tell(&mut self, _point: &Map, value: Option<f64>) -> Result<(), String> {
        if let Some(place) = self.asked.pop_front() {
            self.told.push((place, value.unwrap_or(f64::NAN)));
        }
        Ok(())
    }
}

/// A density on the unit interval.
enum Density {
    /// Of so many choices, each as likely as it was met, and once more.
    Choice(Vec<f64>),
    /// The uniform density, and at every place a normal one, cut to the interval, as wide as the
    /// farther of its neighbours is away.
    Places(Vec<(f64, f64)>),
}

impl Density {
    fn new(distribution: &Distribution, mut places: Vec<f64>) -> Self {
        if let Distribution::Choice(values) = distribution {
            let mut weights = vec![1.0; values.len()];
            for place in places {
                if let Some(weight) = weights.get_mut(cell(place, values.len())) {
                    *weight += 1.0;
                }
            }
            return Self::Choice(weights);
        }
        places.sort_by(f64::total_cmp);
        #[expect(clippy::cast_precision_loss, reason = "a count of trials")]
        let narrowest = 1.0 / (places.len() as f64 + 1.0).min(100.0);
        let width = |index: usize, place: f64| {
            let left = place - index.checked_sub(1).and_then(|left| places.get(left)).copied().unwrap_or(0.0);
            let right = places.get(index + 1).copied().unwrap_or(1.0) - place;
            left.max(right).clamp(narrowest, 1.0)
        };
        Self::Places(places.iter().enumerate().map(|(index, place)| (*place, width(index, *place))).collect())
    }

    fn draw(&self, rng: &mut Rng) -> f64 {
        match self {
            Self::Choice(weights) => {
                let total: f64 = weights.iter().sum();
                let mut left = rng.double() * total;
                let chosen = weights.iter().position(|weight| {
                    left -= weight;
                    left < 0.0
                });
                #[expect(clippy::cast_precision_loss, reason = "a count of choices")]
                let place = (chosen.unwrap_or(0) as f64 + 0.5) / weights.len() as f64;
                place
            }
            Self::Places(places) => match places.get(cell(rng.double(), places.len() + 1)) {
                None => rng.double(),
                Some((place, width)) => {
                    let drawn = (0..100).map(|_| place + width * rng.standard_normal());
                    drawn.into_iter().find(|drawn| (0.0..1.0).contains(drawn)).unwrap_or(*place)
                }
            },
        }
    }

    fn at(&self, place: f64) -> f64 {
        match self {
            Self::Choice(weights) => {
                let total: f64 = weights.iter().sum();
                weights.get(cell(place, weights.len())).map_or(0.0, |weight| weight / total)
            }
            Self::Places(places) => {
                let normal = |(mean, width): &(f64, f64)| {
                    let z = (place - mean) / width;
                    let mass = below((1.0 - mean) / width) - below(-mean / width);
                    pxfm::f_exp(-0.5 * z * z) / (width * (2.0 * std::f64::consts::PI).sqrt() * mass)
                };
                #[expect(clippy::cast_precision_loss, reason = "a count of trials")]
                let count = places.len() as f64 + 1.0;
                (1.0 + places.iter().map(normal).sum::<f64>()) / count
            }
        }
    }
}

/// The standard normal distribution below `z`.
fn below(z: f64) -> f64 {
    0.5 * (1.0 + pxfm::f_erf(z / std::f64::consts::SQRT_2))
}

/// Which of `count` equal parts of the unit interval holds `place`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "an index")]
fn cell(place: f64, count: usize) -> usize {
    ((place * count as f64) as usize).min(count.saturating_sub(1))
}
