//! A sweep's directory: what is where, and what it says of the sweep.
//!
//! ```text
//! sweep.json                  what the sweep is and where it comes from
//! trials/0003-1a2b…/          a finished trial: traces.jsonl, its configuration, result.json
//! failed/0004-5c6d….json      a trial that failed, and how
//! .plan.jsonl                 the trials in order, a row each
//! .script.lua                 the script, if it was read from standard input
//! trials/.attempts/           trials under way
//! .rungs/20/0003-1a2b…        how well a trial did after 20 windows, where a rule ends trials early
//! .damaged/                   finished trials whose files could not be read any more
//! .earlier/                   what was made for earlier plans and is not part of this one
//! ```
//! Nothing in it says when or where it was made.

use std::path::{Path, PathBuf};

use super::error::SweepError;
use super::outcome::Outcome;
use super::plan::{Rows, Totals, Trial};
use super::pool::Failure;
use super::stopping::Stopping;
use super::{Definition, Goal};
use crate::atomic;
use crate::text::json;
use crate::unit::Units;
use crate::value::{Map, Value};

/// The script, where it came on standard input.
const SCRIPT: &str = ".script.lua";

/// The file that makes a directory a sweep's.
pub(crate) const HEADER: &str = "sweep.json";

/// What a sweep is and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// What is asked of every trial.
    pub definition: Definition,
    /// What the plan holds.
    pub totals: Totals,
    /// Where it comes from: script, modules, version, command.
    pub provenance: Map,
}

impl Header {
    pub(super) fn to_value(&self) -> Value {
        let totals = &self.totals;
        let axes: Vec<Value> = totals.axes.iter().map(|axis| axis.as_str().into()).collect();
        let entries: [(&str, Value); 10] = [
            ("name", self.definition.name.as_str().into()),
            ("metric", self.definition.metric.as_str().into()),
            ("goal", self.definition.goal.name().into()),
            ("stop", self.definition.stopping.as_ref().map(Stopping::to_value).into()),
            ("axes", axes.into()),
            ("trials", totals.trials.into()),
            ("duplicates", totals.duplicates.into()),
            ("steps", totals.steps.into()),
            ("plan_sha256", totals.sha256.as_str().into()),
            ("provenance", Value::Map(self.provenance.clone())),
        ];
        Value::Map(entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    fn from_value(value: &Value) -> Option<Self> {
        let field = |name: &str| value.as_map().and_then(|map| map.get(name));
        let text = |name: &str| field(name)?.as_text().map(str::to_owned);
        let goal = text("goal")?;
        let axes = field("axes")?.as_list()?.iter().map(|axis| axis.as_text().map(str::to_owned));
        Some(Self {
            definition: Definition {
                name: text("name")?,
                metric: text("metric")?,
                goal: Goal::ALL.into_iter().find(|known| known.name() == goal)?,
                stopping: match field("stop")? {
                    Value::Null => None,
                    stop => Some(Stopping::from_value(stop)?),
                },
            },
            totals: Totals {
                trials: field("trials")?.as_count()?,
                duplicates: field("duplicates")?.as_count()?,
                steps: field("steps")?.as_count()?,
                axes: axes.collect::<Option<_>>()?,
                sha256: text("plan_sha256")?,
                idle: Vec::new(),
            },
            provenance: field("provenance")?.as_map()?.clone(),
        })
    }
}

/// A sweep's directory.
#[derive(Clone, Debug)]
pub struct Directory {
    path: PathBuf,
    units: Units,
}

impl Directory {
    /// The directory `path`, which need not exist yet.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self { units: Units::new(path.join("trials")), path }
    }

    /// The directory, which must hold a sweep.
    ///
    /// # Errors
    /// When it does not.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, SweepError> {
        let directory = Self::new(path);
        if directory.holds_sweep() {
            Ok(directory)
        } else {
            Err(SweepError::Missing { path: directory.path.display().to_string() })
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a sweep was begun here.
    #[must_use]
    pub(crate) fn holds_sweep(&self) -> bool {
        self.path.join(HEADER).exists()
    }

    /// Refuses a directory that holds what a single run left.
    ///
    /// # Errors
    /// When there is a run's trace or bundle in it.
    pub fn check_no_run(&self) -> Result<(), SweepError> {
        match ["traces.jsonl", "bundle"].into_iter().find(|file| self.path.join(file).exists()) {
            Some(file) => Err(SweepError::Run { path: self.path.display().to_string(), file }),
            None => Ok(()),
        }
    }

    /// Its trials.
    #[must_use]
    pub(crate) fn units(&self) -> &Units {
        &self.units
    }

    /// The file of the plan.
    #[must_use]
    pub(crate) fn plan_path(&self) -> PathBuf {
        self.path.join(".plan.jsonl")
    }

    /// Where trials tell each other how they do.
    #[must_use]
    pub(crate) fn rungs_path(&self) -> PathBuf {
        self.path.join(".rungs")
    }

    /// Keeps a script that stands in no file; where it is.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn keep_script(&self, text: &str) -> Result<PathBuf, SweepError> {
        let path = self.path.join(SCRIPT);
        atomic::write_file(&path, text.as_bytes())?;
        Ok(path)
    }

    /// The script that was kept, if one was.
    #[must_use]
    pub(crate) fn kept_script(&self) -> Option<PathBuf> {
        Some(self.path.join(SCRIPT)).filter(|path| path.is_file())
    }

    /// The sweep's directory of a trial that works in `attempt`.
    #[must_use]
    pub(crate) fn of_attempt(attempt: &Path) -> Option<Self> {
        // OUT/trials/.attempts/ATTEMPT
        attempt.ancestors().nth(3).map(Self::new)
    }

    /// The planned trials, in order.
    ///
    /// # Errors
    /// When there is no plan that can be read.
    pub fn plan(&self) -> Result<Rows, SweepError> {
        Rows::open(&self.plan_path())
    }

    /// What the sweep is.
    ///
    /// # Errors
    /// When the header cannot be read, or is none.
    pub fn header(&self) -> Result<Header, SweepError> {
        let path = self.path.join(HEADER);
        let text = std::fs::read_to_string(&path).map_err(SweepError::io(&path))?;
        let malformed =
            |message: String| SweepError::Malformed { path: path.display().to_string(), line: None, message };
        let value = json::parse(&text).map_err(|error| malformed(error.to_string()))?;
        Header::from_value(&value).ok_or_else(|| malformed("it does not describe a sweep".to_owned()))
    }

    /// The outcome of the finished trial in the directory called `name`, with its value of `metric`:
    /// the sweep may have been run for another one.
    ///
    /// # Errors
    /// When it cannot be read, or its trace cannot be evaluated.
    pub fn outcome(&self, name: &str, metric: &str) -> Result<Outcome, SweepError> {
        Outcome::measured(&self.units.home().join(name), metric)
    }

    /// Where failures are recorded.
    pub(super) fn failures_path(&self) -> PathBuf {
        self.path.join("failed")
    }

    fn failure_path(&self, trial: &Trial) -> PathBuf {
        self.failures_path().join(format!("{}.json", trial.unit().name()))
    }

    /// How `trial` failed, if it did.
    ///
    /// # Errors
    /// When the record is there and cannot be read.
    pub fn failure(&self, trial: &Trial) -> Result<Option<Failure>, SweepError> {
        let path = self.failure_path(trial);
        let text = match std::fs::read_to_string(&path) {
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            text => text.map_err(SweepError::io(&path))?,
        };
        let failure = json::parse(&text).ok().and_then(|value| Failure::from_value(&value));
        let message = "it is no record of a failure".to_owned();
        failure.map(Some).ok_or(SweepError::Malformed { path: path.display().to_string(), line: None, message })
    }

    /// Records how `trial` failed.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub(crate) fn record_failure(&self, trial: &Trial, failure: &Failure) -> Result<(), SweepError> {
        let mut record = Map::from_iter([
            ("trial".to_owned(), trial.id.as_str().into()),
            ("point".to_owned(), Value::Map(trial.point.clone())),
        ]);
        record.extend(failure.to_map());
        let text = json::to_canonical(&Value::Map(record)) + "\n";
        Ok(atomic::write_file(&self.failure_path(trial), text.as_bytes())?)
    }

    /// Forgets that `trial` failed before.
    pub(crate) fn forget_failure(&self, trial: &Trial) {
        // A record that stays is no harm: a finished trial is finished.
        let _ = std::fs::remove_file(self.failure_path(trial));
    }
}
