//! Search: points that depend on how earlier trials came out.
//!
//! A [`Sampler`] is asked for points and told of values. When the point `n` is asked for, exactly
//! the trials up to `n - ahead` have been told, in their order, whatever runs how fast: the points
//! are the same for any number of jobs, and after a resume.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::Write;

use super::directory::Directory;
use super::error::SweepError;
use super::numbers::Numbers;
use super::outcome::Outcome;
use super::plan::{self, Resolved, Trial};
use super::run::{Next, Source};
use crate::text::json;
use crate::value::Map;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// How many points are asked for.
    pub trials: u64,
    /// How many points may be under way when one is asked for, it among them; at least 1.
    pub ahead: u64,
}

/// What became of a point.
enum Fate {
    /// It is under way; its place among the trials.
    Tried(Map),
    /// It came to the configuration of an earlier point.
    Again(Map, u64),
}

/// The trials of a search, in the order they are asked for; each is added to the plan.
pub struct Search<'a> {
    sampler: &'a mut dyn Sampler,
    resolve: &'a mut dyn FnMut(&Map) -> Result<Resolved, String>,
    metric: &'a str,
    extent: Extent,
    plan: File,
    directory: &'a Directory,
    asked: u64,
    told: u64,
    fates: BTreeMap<u64, Fate>,
    values: BTreeMap<u64, Option<f64>>,
    /// The number of a trial by the identity of its configuration.
    known: HashMap<String, u64>,
    /// The number of the asking by the trial's id.
    askings: HashMap<String, u64>,
    numbers: Numbers,
}

impl<'a> Search<'a> {
    /// A search that begins, or is gone through again from its beginning.
    ///
    /// # Errors
    /// When the plan cannot be written.
    pub fn new(
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
            told: 0,
            fates: BTreeMap::new(),
            values: BTreeMap::new(),
            known: HashMap::new(),
            askings: HashMap::new(),
            numbers,
        })
    }

    /// Tells the sampler of every point up to `last`; whether all of them have come out.
    fn tell_up_to(&mut self, last: u64) -> Result<bool, SweepError> {
        while self.told <= last {
            let (point, source) = match self.fates.get(&self.told) {
                Some(Fate::Tried(point)) => (point, self.told),
                Some(Fate::Again(point, first)) => (point, *first),
                None => return Ok(false),
            };
            let Some(value) = self.values.get(&source) else { return Ok(false) };
            self.sampler.tell(point, *value).map_err(SweepError::Space)?;
            self.told += 1;
        }
        Ok(true)
    }
}

impl Source for Search<'_> {
    fn next(&mut self) -> Result<Next, SweepError> {
        while self.asked < self.extent.trials {
            if let Some(last) = self.asked.checked_sub(self.extent.ahead)
                && !self.tell_up_to(last)?
            {
                return Ok(Next::Wait);
            }
            let index = self.asked;
            let point = self.sampler.ask(index).map_err(SweepError::Space)?;
            let resolved = (self.resolve)(&point);
            self.asked += 1;
            let short = plan::unit("", &point, &resolved).short().to_owned();
            if let Some(first) = self.known.get(&short) {
                self.fates.insert(index, Fate::Again(point, *first));
                continue;
            }
            let Some(trial) = Trial::numbered(&mut self.numbers, point.clone(), resolved) else { continue };
            self.known.insert(short, index);
            self.askings.insert(trial.id.clone(), index);
            self.fates.insert(index, Fate::Tried(point));
            let mut line = Vec::new();
            json::write(&mut line, &trial.to_value());
            line.push(b'\n');
            self.plan.write_all(&line).map_err(SweepError::io(&self.directory.plan_path()))?;
            return Ok(Next::Trial(trial));
        }
        Ok(Next::End)
    }

    fn tell(&mut self, trial: &Trial, outcome: Option<&Outcome>) -> Result<(), SweepError> {
        if let Some(index) = self.askings.get(&trial.id) {
            self.values.insert(*index, outcome.and_then(|outcome| outcome.metric(self.metric)));
        }
        Ok(())
    }
}
