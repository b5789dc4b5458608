//! Search: points that depend on how earlier trials came out.
//!
//! A [`Sampler`] is asked for points and told of values. When the point `n` is asked for, exactly
//! the trials up to `n - ahead` have been told, in their order, whatever runs how fast: the points
//! are the same for any number of jobs, and after a resume.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::Write;

use super::directory::Directory;
use super::error::SweepError;
use super::numbers::Numbers;
use super::outcome::Outcome;
use super::plan::{self, Resolved, Trial};
use super::run::{Next, Source};
use crate::text::json;
use crate::value::{Map, Value};

/// What proposes points.
pub trait Sampler {
    /// The point with the number `index`, from 0.
    ///
    /// # Errors
    /// One line.
    fn ask(&mut self, index: u64) -> Result<Map, String>;

    /// How a point came out; points are told in the order they were asked for. A trial that failed
    /// has no value.
    ///
    /// # Errors
    /// One line.
    fn tell(&mut self, point: &Map, value: Option<f64>) -> Result<(), String>;
}

/// How far a search goes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Extent {
    /// How many points are asked for.
    pub points: u64,
    /// How many points may be under way when one is asked for, it among them; at least 1.
    pub ahead: u64,
    /// The seeds that every point is tried with; none leaves it as it is.
    pub seeds: Vec<Value>,
}

impl Extent {
    /// How many trials there are at most.
    #[must_use]
    pub(crate) fn trials(&self) -> u64 {
        self.points.saturating_mul(self.seeds.len().max(1) as u64)
    }
}

/// A point that was asked for.
struct Asked {
    point: Map,
    /// Its trials' short identities, a seed each; they may be those of earlier points, too.
    trials: Vec<String>,
}

/// The trials of a search, in the order they are asked for; each is added to the plan.
pub(crate) struct Search<'a> {
    sampler: &'a mut dyn Sampler,
    resolve: &'a mut dyn FnMut(&Map) -> Result<Resolved, String>,
    metric: &'a str,
    extent: Extent,
    plan: File,
    directory: &'a Directory,
    asked: u64,
    /// The points that were not told yet.
    open: VecDeque<Asked>,
    /// Trials of the last point that are still to be run.
    next: VecDeque<Trial>,
    /// The trials' values by short identity, as they come.
    values: HashMap<String, Option<f64>>,
    numbers: Numbers,
}

impl<'a> Search<'a> {
    /// A search that begins, or is gone through again from its beginning.
    ///
    /// # Errors
    /// When the plan cannot be written.
    pub(crate) fn new(
        sampler: &'a mut dyn Sampler,
        resolve: &'a mut dyn FnMut(&Map) -> Result<Resolved, String>,
        metric: &'a str,
        extent: Extent,
        directory: &'a Directory,
        numbers: Numbers,
    ) -> Result<Self, SweepError> {
        let path = directory.plan_path();
        let plan = File::create(&path).map_err(SweepError::io(&path))?;
        Ok(Self {
            sampler,
            resolve,
            metric,
            extent,
            plan,
            directory,
            asked: 0,
            open: VecDeque::new(),
            next: VecDeque::new(),
            values: HashMap::new(),
            numbers,
        })
    }

    /// Tells the sampler of points in their order until fewer than `ahead` are not told; whether all
    /// of them have come out.
    fn tell_to(&mut self, ahead: u64) -> Result<bool, SweepError> {
        while let Some(asked) = self.open.front().filter(|_| self.open.len() as u64 >= ahead) {
            let values: Option<Vec<_>> = asked.trials.iter().map(|trial| self.values.get(trial).copied()).collect();
            let Some(values) = values else { return Ok(false) };
            self.sampler.tell(&asked.point, mean(&values)).map_err(SweepError::Space)?;
            self.open.pop_front();
        }
        Ok(true)
    }

    /// Asks for a point; what of it was not tried yet is next.
    fn ask(&mut self) -> Result<(), SweepError> {
        let point = self.sampler.ask(self.asked).map_err(SweepError::Space)?;
        self.asked += 1;
        let mut asked = Asked { point: point.clone(), trials: Vec::new() };
        for point in seeded(point, &self.extent.seeds)? {
            plan::check(&point)?;
            let resolved = (self.resolve)(&point);
            asked.trials.push(plan::unit("", &point, &resolved).short().to_owned());
            self.next.extend(Trial::numbered(&mut self.numbers, point, resolved));
        }
        self.open.push_back(asked);
        Ok(())
    }
}

/// The point with each of the seeds.
fn seeded(point: Map, seeds: &[Value]) -> Result<Vec<Map>, SweepError> {
    if seeds.is_empty() {
        return Ok(vec![point]);
    }
    if point.contains_key("seed") {
        return Err(SweepError::Space("a point has the axis `seed` from the search and from `repeats`".to_owned()));
    }
    let with = |seed: &Value| {
        let mut point = point.clone();
        point.insert("seed".to_owned(), seed.clone());
        point
    };
    Ok(seeds.iter().map(with).collect())
}

/// The mean of a point's values; none if one of its trials has none.
fn mean(values: &[Option<f64>]) -> Option<f64> {
    super::mean(&values.iter().copied().collect::<Option<Vec<f64>>>()?)
}

impl Source for Search<'_> {
    fn next(&mut self) -> Result<Next, SweepError> {
        loop {
            if let Some(trial) = self.next.pop_front() {
                let mut line = Vec::new();
                json::write(&mut line, &trial.to_value());
                line.push(b'\n');
                self.plan.write_all(&line).map_err(SweepError::io(&self.directory.plan_path()))?;
                return Ok(Next::Trial(trial));
            }
            if self.asked >= self.extent.points {
                return Ok(Next::End);
            }
            if !self.tell_to(self.extent.ahead)? {
                return Ok(Next::Wait);
            }
            self.ask()?;
        }
    }

    fn tell(&mut self, trial: &Trial, outcome: Option<&Outcome>) -> Result<(), SweepError> {
        let value = outcome.and_then(|outcome| outcome.metric(self.metric));
        self.values.insert(trial.unit().short().to_owned(), value);
        Ok(())
    }
}
