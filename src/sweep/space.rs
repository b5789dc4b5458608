//! Spaces: which points a sweep goes through, in which order.
//!
//! A space is gone through with the point so far in hand, so that what stands later in a product
//! may depend on what stands before it: that is all a condition needs. The order is that of
//! declaration, the last factor fastest; nothing depends on a map's order or on the machine.

use std::rc::Rc;

use super::distribution::Distribution;
use super::error::SweepError;
use super::sobol;
use crate::random::Rng;
use crate::value::{Map, Value};

/// No sweep has more points: going through them would take hours before the first trial.
pub(crate) const MOST_POINTS: u64 = 10_000_000;

/// Decides on a point; the error is one line.
type Test = dyn Fn(&Map) -> Result<bool, String>;

/// Whether a point fulfils something; a script's function, or some values that it must have.
#[derive(Clone)]
pub struct Condition(Rc<Test>);

impl Condition {
    /// The condition that `holds` decides.
    pub fn new(holds: impl Fn(&Map) -> Result<bool, String> + 'static) -> Self {
        Self(Rc::new(holds))
    }

    /// That a point has all of these values; a list stands for any of its items.
    #[must_use]
    pub fn has(values: Map) -> Self {
        Self::new(move |point| {
            Ok(values.iter().all(|(name, wanted)| match (point.get(name), wanted) {
                (Some(found), Value::List(several)) => {
                    several.iter().any(|one| same(found, one)) || same(found, wanted)
                }
                (Some(found), wanted) => same(found, wanted),
                (None, _) => false,
            }))
        })
    }

    fn holds(&self, point: &Map) -> Result<bool, SweepError> {
        (self.0)(point).map_err(SweepError::Space)
    }
}

impl std::fmt::Debug for Condition {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Condition")
    }
}

/// `1` and `1.0` are the same value to a reader.
fn same(one: &Value, other: &Value) -> bool {
    one == other || matches!((one.as_float(), other.as_float()), (Some(one), Some(other)) if one == other)
}

/// How the points of drawn axes fill the unit cube.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Independent draws; more of them leave the first ones as they are.
    Random,
    /// Every axis is cut into as many equal parts as there are points, and each part is met once
    /// (`McKay`, Beckman and Conover 1979).
    LatinHypercube,
    /// Sobol's sequence: as even as can be, best at powers of two. Shifted by the seed, unless there
    /// is none ([`Draws::seed`]); more points leave the first ones as they are.
    Sobol,
}

/// Axes whose values are drawn together.
#[derive(Clone, Debug, PartialEq)]
pub struct Draws {
    /// How.
    pub method: Method,
    /// How many points.
    pub count: u64,
    /// The seed; Sobol's points without one are the plain ones, the first of them the origin.
    pub seed: Option<u64>,
    /// The axes, in order.
    pub axes: Vec<(String, Distribution)>,
}

impl Draws {
    /// Goes through the points.
    fn each(&self, take: &mut dyn FnMut(&Map) -> Result<(), SweepError>) -> Result<(), SweepError> {
        if self.method == Method::Sobol && (self.axes.len() > sobol::DIMENSIONS || self.count > 1 << 32) {
            let most = sobol::DIMENSIONS;
            return Err(SweepError::Space(format!("sobol: there are at most {most} axes and 2^32 points")));
        }
        let seed = self.seed.unwrap_or(0);
        let strata: Vec<Vec<u64>> = match self.method {
            Method::LatinHypercube => self.axes.iter().map(|(name, _)| permutation(seed, name, self.count)).collect(),
            _ => Vec::new(),
        };
        (0..self.count).try_for_each(|index| {
            let at = |(place, (name, distribution)): (usize, &(String, Distribution))| {
                let draw = || Rng::named(seed, &format!("sweep/{name}/{index}")).double();
                let share = match self.method {
                    Method::Random => draw(),
                    Method::LatinHypercube => {
                        let part = strata.get(place).and_then(|parts| parts.get(usize::try_from(index).ok()?));
                        stratum(part.copied().unwrap_or_default(), draw(), self.count)
                    }
                    Method::Sobol => {
                        let shift = self.seed.map(|seed| Rng::named(seed, &format!("sweep/{name}")).next_u32());
                        sobol::point(place, index, shift)
                    }
                };
                (name.clone(), distribution.at(share))
            };
            take(&self.axes.iter().enumerate().map(at).collect())
        })
    }
}

/// `0..count` in an order that the seed and the axis's name decide.
fn permutation(seed: u64, name: &str, count: u64) -> Vec<u64> {
    let mut rng = Rng::named(seed, &format!("sweep/{name}"));
    let mut keyed: Vec<(u64, u64)> = (0..count).map(|part| (rng.next_u64(), part)).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, part)| part).collect()
}

/// The place `share` within the part `part` of `[0, 1)` cut into `count`.
#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 points")]
fn stratum(part: u64, share: f64, count: u64) -> f64 {
    ((part as f64 + share) / count as f64).min(1.0_f64.next_down())
}

/// Which points there are.
#[derive(Clone, Debug)]
pub enum Space {
    /// These.
    Points(Vec<Map>),
    /// One axis with these values.
    Axis(String, Vec<Value>),
    /// Drawn ones.
    Draws(Draws),
    /// Every combination, the last factor fastest; a later factor sees the earlier ones' values.
    Product(Vec<Space>),
    /// One after the other.
    Chain(Vec<Space>),
    /// The space's points as one axis each, a map of their own axes.
    Under(String, Box<Space>),
    /// The space where the point so far fulfils the condition; elsewhere one point without axes.
    When(Condition, Box<Space>),
    /// The space without the points that fulfil the condition.
    Except(Condition, Box<Space>),
}

impl Space {
    /// One axis with these values.
    #[must_use]
    pub fn axis(name: &str, values: impl IntoIterator<Item = Value>) -> Self {
        Self::Axis(name.to_owned(), values.into_iter().collect())
    }

    /// Goes through the points in order.
    ///
    /// # Errors
    /// What `take` says; as for [`Space::check`]; when a condition fails, or a point would have one
    /// axis twice.
    pub fn each(&self, take: &mut dyn FnMut(&Map) -> Result<(), SweepError>) -> Result<(), SweepError> {
        self.check()?;
        let mut points = 0;
        self.expand(&Map::new(), &mut |point| {
            points += 1;
            bounded(points)?;
            take(point)
        })
    }

    /// Refuses a space that is too large to be gone through.
    ///
    /// # Errors
    /// When it has more than [`MOST_POINTS`] points, those that are left out again among them.
    pub fn check(&self) -> Result<(), SweepError> {
        bounded(self.extent())
    }

    /// How many points there are, as far as conditions do not add to them: only going through them
    /// tells which of several spaces under conditions are met together.
    fn extent(&self) -> u64 {
        match self {
            Self::Points(points) => points.len() as u64,
            Self::Axis(_, values) => values.len() as u64,
            Self::Draws(draws) => draws.count,
            Self::Product(factors) => factors.iter().map(Self::extent).fold(1, u64::saturating_mul),
            Self::Chain(parts) => parts.iter().map(Self::extent).fold(0, u64::saturating_add),
            Self::Under(_, space) | Self::Except(_, space) => space.extent(),
            Self::When(..) => 1,
        }
    }

    /// Goes through the points that go on from `so_far`.
    fn expand(&self, so_far: &Map, take: &mut dyn FnMut(&Map) -> Result<(), SweepError>) -> Result<(), SweepError> {
        match self {
            Self::Points(points) => points.iter().try_for_each(|point| take(&joined(so_far, point)?)),
            Self::Axis(name, values) => values.iter().try_for_each(|value| {
                let mut point = so_far.clone();
                put(&mut point, name, value)?;
                take(&point)
            }),
            Self::Draws(draws) => draws.each(&mut |point| take(&joined(so_far, point)?)),
            Self::Product(factors) => product(factors, so_far, take),
            Self::Chain(parts) => parts.iter().try_for_each(|part| part.expand(so_far, take)),
            Self::Under(name, space) => space.each(&mut |inner| {
                let nested = Map::from_iter([(name.clone(), Value::Map(inner.clone()))]);
                take(&joined(so_far, &nested)?)
            }),
            Self::When(condition, space) if condition.holds(so_far)? => space.expand(so_far, take),
            Self::When(..) => take(so_far),
            Self::Except(condition, space) => {
                space.expand(so_far, &mut |point| if condition.holds(point)? { Ok(()) } else { take(point) })
            }
        }
    }
}

fn bounded(points: u64) -> Result<(), SweepError> {
    if points <= MOST_POINTS {
        return Ok(());
    }
    Err(SweepError::Space(format!("the sweep's space has {points} points or more; there are at most {MOST_POINTS}")))
}

fn product(
    factors: &[Space],
    so_far: &Map,
    take: &mut dyn FnMut(&Map) -> Result<(), SweepError>,
) -> Result<(), SweepError> {
    match factors.split_first() {
        None => take(so_far),
        Some((first, rest)) => first.expand(so_far, &mut |point| product(rest, point, take)),
    }
}

fn joined(so_far: &Map, more: &Map) -> Result<Map, SweepError> {
    let mut point = so_far.clone();
    more.iter().try_for_each(|(name, value)| put(&mut point, name, value)).map(|()| point)
}

fn put(point: &mut Map, name: &str, value: &Value) -> Result<(), SweepError> {
    match point.insert(name.to_owned(), value.clone()) {
        None => Ok(()),
        Some(_) => Err(SweepError::Space(format!("a point has the axis `{name}` twice"))),
    }
}
