//! Why traces could not be evaluated.

use crate::diagnostic::{Exit, Problem};

/// Why traces could not be evaluated.
#[derive(Debug, thiserror::Error)]
pub enum EvalError {
    /// No input holds a row with a step and a reward.
    #[error("no trace row in {inputs}: nothing to evaluate{why}")]
    NoRows {
        /// The inputs, as the user named them.
        inputs: String,
        /// What is wrong with the first line that is none, behind a semicolon, or nothing.
        why: String,
    },
    /// The selection leaves no row.
    #[error("no row of any run is within the steps, fractions and regimes asked for")]
    NothingSelected,
    /// The window is neither a count nor a share.
    #[error("window `{0}` is neither a number of rows nor a share such as 10% (at most 50%)")]
    Window(String),
    /// An option's value is not one for it.
    #[error("`{name}` must be {expected}, got {got}")]
    Option {
        /// The option, as the user wrote it.
        name: String,
        /// What it takes.
        expected: &'static str,
        /// What came.
        got: String,
    },
    /// There is no such option.
    #[error("unknown option `{name}`")]
    UnknownOption {
        /// The option, as the user wrote it.
        name: String,
        /// The nearest known one, or all of them.
        known: String,
    },
    /// A regime's bounds are not a range.
    #[error("the bounds of regime `{0}` must be {{\"min\": number, \"max\": number}}, either or both, min below max")]
    Bounds(String),
    /// A `fail-if` condition cannot be read.
    #[error("condition `{0}` must be a metric, one of > >= < <= == !=, and a number, such as forgetting>0.1")]
    Condition(String),
    /// There is no such metric.
    #[error("unknown metric `{name}`")]
    UnknownMetric {
        /// The metric, as the user wrote it.
        name: String,
        /// The nearest known one, or all of them.
        known: String,
    },
    /// No run has such a regime.
    #[error("no run has a regime `{name}`")]
    UnknownRegime {
        /// The regime, as the user wrote it.
        name: String,
        /// The nearest known one, or all of them.
        known: String,
    },
    /// No run has such a key to group by.
    #[error("no run has `{name}` to group by")]
    UnknownKey {
        /// The key, as the user wrote it.
        name: String,
        /// The nearest known one, or all of them.
        known: String,
    },
    /// A group to compare is none, or several.
    #[error("`{name}` names {found} of the groups, not one")]
    Group {
        /// The group, as the user wrote it.
        name: String,
        /// How many there are.
        found: usize,
        /// The groups' labels.
        known: String,
    },
    /// A step has several rows, and that was to be an error.
    #[error("step {step} of {run} has more than one row")]
    Duplicate {
        /// The run.
        run: String,
        /// The first such step.
        step: i64,
    },
    /// A user-defined metric failed.
    #[error("metric `{metric}` on {run}: {message}")]
    Metric {
        /// The metric.
        metric: String,
        /// The run.
        run: String,
        /// What it said.
        message: String,
    },
    /// A user-defined metric's name could not be typed in a condition.
    #[error("metric `{0}` must be named with letters, digits and _, a letter first")]
    MetricName(String),
    /// A user-defined metric has the name of another.
    #[error("there is a metric `{0}` already")]
    MetricTwice(String),
}

impl Problem for EvalError {
    fn code(&self) -> &'static str {
        match self {
            Self::NoRows { .. } => "eval/no-rows",
            Self::NothingSelected => "eval/nothing-selected",
            Self::Window(_) => "eval/window",
            Self::Option { .. } => "eval/option",
            Self::UnknownOption { .. } => "eval/unknown-option",
            Self::Bounds(_) => "eval/bounds",
            Self::Condition(_) => "eval/condition",
            Self::UnknownMetric { .. } => "eval/unknown-metric",
            Self::UnknownRegime { .. } => "eval/unknown-regime",
            Self::UnknownKey { .. } => "eval/unknown-key",
            Self::Group { .. } => "eval/group",
            Self::Duplicate { .. } => "eval/duplicate-step",
            Self::Metric { .. } => "eval/metric",
            Self::MetricName(_) => "eval/metric-name",
            Self::MetricTwice(_) => "eval/metric-twice",
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::NoRows { .. } | Self::NothingSelected | Self::Duplicate { .. } => Exit::Input,
            Self::Metric { .. } => Exit::Failure,
            _ => Exit::Usage,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::NoRows { .. } => {
                Some("a trace is JSON Lines; each row needs at least {\"step\": 0, \"reward\": 0.0}".to_owned())
            }
            Self::UnknownOption { known, .. }
            | Self::UnknownMetric { known, .. }
            | Self::UnknownRegime { known, .. }
            | Self::UnknownKey { known, .. }
            | Self::Group { known, .. } => Some(format!("known: {known}")),
            Self::Duplicate { .. } => Some("on-duplicate all, last or first says which rows count".to_owned()),
            _ => None,
        }
    }
}

/// What to tell of the `known` names to someone who wrote `given`: the nearest, or all.
pub(super) fn nearest_or_all<'a>(given: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    match crate::suggest::nearest(given, known.clone()) {
        Some(nearest) => nearest.to_owned(),
        None => known.into_iter().collect::<Vec<_>>().join(", "),
    }
}
