//! What a trial leaves beside its trace: its point and its metrics, and nothing that differs from
//! one run of it to the next.

use std::path::Path;

use super::error::SweepError;
use crate::atomic;
use crate::experiment::RunResult;
use crate::text::json;
use crate::value::{Map, Value};

/// The file of a finished trial's outcome.
pub const FILE: &str = "result.json";

/// The trace of a trial.
pub const TRACE: &str = "traces.jsonl";

/// How a finished trial came out.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The axes' values.
    pub point: Map,
    /// Numbers by name; null where one is not defined.
    pub metrics: Map,
    /// After how many steps a stopping rule ended it, if one did.
    pub stopped: Option<u64>,
}

impl Outcome {
    /// The outcome of a run at `point`.
    #[must_use]
    pub fn of_run(point: Map, run: &RunResult) -> Self {
        let metrics = [
            ("steps", run.steps.into()),
            ("episodes", run.episodes.into()),
            ("windows", run.windows.into()),
            ("total_reward", run.total_reward.into()),
            ("mean_reward", run.mean_reward.into()),
            ("mean_return", run.mean_return.into()),
        ];
        let metrics = metrics.into_iter().map(|(name, value): (&str, Value)| (name.to_owned(), value)).collect();
        Self { point, metrics, stopped: None }
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
        Value::Map(value)
    }

    fn from_value(value: &Value) -> Option<Self> {
        let field = |name: &str| value.as_map().and_then(|map| map.get(name));
        Some(Self {
            point: field("point")?.as_map()?.clone(),
            metrics: field("metrics")?.as_map()?.clone(),
            stopped: field("stopped").and_then(Value::as_count),
        })
    }

    /// Writes it into a trial's directory.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, directory: &Path) -> Result<(), SweepError> {
        let text = format!("{}\n", json::to_string(&self.to_value()));
        Ok(atomic::write_file(&directory.join(FILE), text.as_bytes())?)
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
