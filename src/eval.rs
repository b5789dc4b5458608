//! Evaluation: the numbers of a continual-RL paper, from trace files alone.
//!
//! [`evaluate`] turns a reading of traces into a [`Report`]: each run is cut into segments and
//! encounters ([`encounter`]), every metric of the table ([`metrics`]) is computed from those,
//! and runs that differ only in seed or run id are summed up in groups ([`group`]). A metric that
//! is not defined on a run has no value and says why; it is never 0 for want of data.

mod canonical;
mod caution;
pub mod encounter;
pub mod group;
mod instant;
pub mod metrics;
mod render;
mod report;
mod series;

use std::str::FromStr;

use crate::diagnostic::{Exit, Problem};
use crate::trace::columns::{RunColumns, TraceColumns};
pub use render::render;
pub use report::{Report, RunReport};

/// The rows at an encounter's entry and exit that its levels are taken from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Window {
    /// So many rows.
    Rows(u64),
    /// A share of the encounter's rows, in percent, rounded up.
    Percent(f64),
}

impl Default for Window {
    fn default() -> Self {
        Self::Percent(10.0)
    }
}

impl Window {
    /// The window for an encounter of `n` finite rows: at least 1, at most half of them.
    #[must_use]
    pub fn rows(self, n: usize) -> usize {
        let asked = match self {
            Self::Rows(rows) => usize::try_from(rows).unwrap_or(usize::MAX),
            #[expect(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a share of a row count, between 0 and the count"
            )]
            Self::Percent(percent) => (n as f64 * percent / 100.0).ceil() as usize,
        };
        asked.clamp(1, (n / 2).max(1))
    }
}

impl FromStr for Window {
    type Err = EvalError;

    fn from_str(text: &str) -> Result<Self, EvalError> {
        let refuse = || EvalError::Window(text.to_owned());
        if let Some(percent) = text.strip_suffix('%') {
            let percent: f64 = percent.trim().parse().map_err(|_| refuse())?;
            return if percent > 0.0 && percent <= 50.0 { Ok(Self::Percent(percent)) } else { Err(refuse()) };
        }
        match text.trim().parse() {
            Ok(rows) if rows > 0 => Ok(Self::Rows(rows)),
            _ => Err(refuse()),
        }
    }
}

/// What an evaluation is asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// The window at entry and exit.
    pub window: Window,
    /// The reward level whose first reaching is timed.
    pub threshold: Option<f64>,
}

impl Settings {
    /// Checks what the types leave open.
    ///
    /// # Errors
    /// When the threshold is not a finite number.
    pub fn check(&self) -> Result<(), EvalError> {
        match self.threshold {
            Some(threshold) if !threshold.is_finite() => Err(EvalError::Threshold(threshold)),
            _ => Ok(()),
        }
    }
}

/// Why traces could not be evaluated.
#[derive(Debug, thiserror::Error)]
pub enum EvalError {
    /// No input holds a row with a step and a reward.
    #[error("no trace row in {inputs}: nothing to evaluate")]
    NoRows {
        /// The inputs, as the user named them.
        inputs: String,
    },
    /// The window is neither a count nor a share.
    #[error("window `{0}` is neither a number of rows nor a share such as 10% (at most 50%)")]
    Window(String),
    /// The threshold is no number to be reached.
    #[error("threshold {0} is not a finite number")]
    Threshold(f64),
}

impl Problem for EvalError {
    fn code(&self) -> &'static str {
        match self {
            Self::NoRows { .. } => "eval/no-rows",
            Self::Window(_) => "eval/window",
            Self::Threshold(_) => "eval/threshold",
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::NoRows { .. } => Exit::Input,
            Self::Window(_) | Self::Threshold(_) => Exit::Usage,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::NoRows { .. } => {
                Some("a trace is JSON Lines; each row needs at least {\"step\": 0, \"reward\": 0.0}".to_owned())
            }
            Self::Window(_) | Self::Threshold(_) => None,
        }
    }
}

/// Evaluates every run of a reading.
///
/// # Errors
/// When no input holds a usable row.
pub fn evaluate(traces: TraceColumns, settings: &Settings) -> Result<Report, EvalError> {
    if traces.runs.iter().all(|run| run.step.is_empty()) {
        let inputs: Vec<&str> = traces.inputs.iter().map(|input| input.path.as_str()).collect();
        return Err(EvalError::NoRows { inputs: inputs.join(", ") });
    }
    let runs: Vec<RunColumns> = traces.runs.into_iter().filter(|run| !run.step.is_empty()).collect();
    let analysed: Vec<encounter::Analysis<'_>> =
        runs.iter().map(|run| encounter::Analysis::new(run, settings)).collect();
    let reference = metrics::Reference::of(&analysed);
    let reports: Vec<RunReport> = analysed.iter().map(|analysis| RunReport::new(analysis, &reference)).collect();
    let groups = group::groups(&reports);
    let mut warnings = traces.warnings;
    warnings.extend(analysed.iter().flat_map(|analysis| analysis.warnings.clone()));
    warnings.extend(caution::cautions(&reports, &groups));
    Ok(Report { settings: settings.clone(), inputs: traces.inputs, runs: reports, groups, warnings })
}
