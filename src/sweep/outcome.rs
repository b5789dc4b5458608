//! What a trial leaves beside its trace: its point and its metrics, and nothing that differs from
//! one run of it to the next.

use std::path::Path;

use super::Goal;
use super::error::SweepError;
use super::stopping::Decision;
use crate::eval::{self, metrics::Direction};
use crate::experiment::RunResult;
use crate::text::json;
use crate::value::{Map, Value};

/// The file of a finished trial's outcome.
pub(crate) const FILE: &str = "result.json";

/// The trace of a trial.
pub(crate) const TRACE: &str = "traces.jsonl";

/// The metrics that every trial has.
pub(crate) const METRICS: [&str; 6] = ["steps", "episodes", "windows", "total_reward", "mean_reward", "mean_return"];

/// The values of [`METRICS`] for a run.
#[must_use]
pub(crate) fn metrics(run: &RunResult) -> [Value; METRICS.len()] {
    [
        run.steps.into(),
        run.episodes.into(),
        run.windows.into(),
        run.total_reward.into(),
        run.mean_reward.into(),
        run.mean_return.into(),
    ]
}

/// The goal that a metric has unless the sweep says otherwise; `None` where there is no such metric:
/// one of [`METRICS`], or one that evaluation has.
#[must_use]
pub(crate) fn goal_of(metric: &str) -> Option<Goal> {
    if METRICS.contains(&metric) {
        return Some(Goal::Maximize);
    }
    let known = crate::eval::metrics::TABLE.iter().find(|known| known.name == metric)?;
    Some(if known.direction == Direction::Lower { Goal::Minimize } else { Goal::Maximize })
}

/// The value of evaluation's `metric` on the trace of a trial in `directory`, where it is defined.
///
/// # Errors
/// When the trace cannot be evaluated.
pub(crate) fn evaluated(directory: &Path, metric: &str) -> Result<Option<f64>, String> {
    let settings = eval::Settings { metrics: vec![metric.to_owned()], ..eval::Settings::default() };
    let paths = eval::Paths { traces: vec![directory.join(TRACE)], ..eval::Paths::default() };
    let material = eval::Material::read(&paths, &settings).map_err(|error| error.to_string())?;
    let report = eval::evaluate(material, &settings).map_err(|error| error.to_string())?;
    Ok(report.runs.first().and_then(|run| run.value(metric)))
}

/// How a finished trial came out.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The axes' values.
    pub point: Map,
    /// Numbers by name; null where one is not defined.
    pub metrics: Map,
    /// After how many steps a stopping rule ended it, if one did.
    pub stopped: Option<u64>,
    /// What the rule decided on the way.
    pub decisions: Vec<Decision>,
}

impl Outcome {
    /// The outcome of a run at `point`.
    #[must_use]
    pub(crate) fn of_run(point: Map, run: &RunResult) -> Self {
        let metrics = METRICS.into_iter().map(str::to_owned).zip(metrics(run)).collect();
        Self { point, metrics, stopped: None, decisions: Vec::new() }
    }

    /// The metric's value, where there is one.
    #[must_use]
    pub fn metric(&self, name: &str) -> Option<f64> {
        self.metrics.get(name).and_then(Value::as_float)
    }

    /// The outcome as plain data.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut value = Map::from_iter([
            ("point".to_owned(), Value::Map(self.point.clone())),
            ("metrics".to_owned(), Value::Map(self.metrics.clone())),
        ]);
        if let Some(steps) = self.stopped {
            value.insert("stopped".to_owned(), steps.into());
        }
        if !self.decisions.is_empty() {
            let decisions: Vec<Value> = self.decisions.iter().map(Decision::to_value).collect();
            value.insert("rungs".to_owned(), decisions.into());
        }
        Value::Map(value)
    }

    fn from_value(value: &Value) -> Option<Self> {
        let field = |name: &str| value.as_map().and_then(|map| map.get(name));
        Some(Self {
            point: field("point")?.as_map()?.clone(),
            metrics: field("metrics")?.as_map()?.clone(),
            stopped: field("stopped").and_then(Value::as_count),
            decisions: match field("rungs") {
                Some(rungs) => rungs.as_list()?.iter().map(Decision::from_value).collect::<Option<_>>()?,
                None => Vec::new(),
            },
        })
    }

    /// Writes it into a trial's directory.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn write(&self, directory: &Path) -> Result<(), SweepError> {
        let text = format!("{}\n", json::to_string(&self.to_value()));
        let path = directory.join(FILE);
        // The directory is nobody else's, and is flushed as a whole before it is put in place.
        std::fs::write(&path, text).map_err(SweepError::io(&path))
    }

    /// As [`Outcome::read`], with the value of `metric`, which is computed where the trial was run for
    /// another one.
    ///
    /// # Errors
    /// As for [`Outcome::read`]; when the trace cannot be evaluated.
    pub(crate) fn measured(directory: &Path, metric: &str) -> Result<Self, SweepError> {
        let mut outcome = Self::read(directory)?;
        if !outcome.metrics.contains_key(metric) {
            let path = directory.join(TRACE).display().to_string();
            let value = evaluated(directory, metric);
            let value = value.map_err(|message| SweepError::Malformed { path, line: None, message })?;
            outcome.metrics.insert(metric.to_owned(), value.into());
        }
        Ok(outcome)
    }

    /// Reads the outcome in a trial's directory.
    ///
    /// # Errors
    /// When the file is missing or is no outcome.
    pub fn read(directory: &Path) -> Result<Self, SweepError> {
        let path = directory.join(FILE);
        let text = std::fs::read_to_string(&path).map_err(SweepError::io(&path))?;
        let malformed =
            |message: String| SweepError::Malformed { path: path.display().to_string(), line: None, message };
        let value = json::parse(&text).map_err(|error| malformed(error.to_string()))?;
        Self::from_value(&value).ok_or_else(|| malformed("it is no trial's outcome".to_owned()))
    }
}
