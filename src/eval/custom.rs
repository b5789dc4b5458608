//! Metrics that users define: a function over a run's encounters, reported beside the table's.

use super::encounter::Analysis;
use super::error::EvalError;
use super::metrics::{Measure, Outcome, TABLE};
use super::report::RunReport;
use crate::value::Value;

/// What a user's metric says of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Judgement {
    /// A value over so many observations.
    Value(f64, usize),
    /// It is not defined, and why, in one word.
    Undefined(String),
}

/// The function behind a user's metric: given the run's numbers and its encounters.
pub type Judge<'a> = dyn Fn(&RunReport, &Analysis<'_>) -> Result<Judgement, String> + 'a;

/// A metric that a user defines.
pub struct Custom<'a> {
    /// Its name: letters, digits and `_`, beginning with a letter.
    pub name: String,
    /// What reports say of it.
    pub measure: Measure,
    /// Computes it.
    pub judge: Box<Judge<'a>>,
}

impl Custom<'_> {
    /// What it says of one run.
    pub(super) fn outcome(&self, report: &RunReport, run: &Analysis<'_>) -> Result<Outcome, EvalError> {
        let judged = (self.judge)(report, run).map_err(|message| EvalError::Metric {
            metric: self.name.clone(),
            run: report.label(),
            message,
        })?;
        Ok(match judged {
            Judgement::Value(value, n) if value.is_finite() => Outcome::of(Value::Float(value), n),
            Judgement::Value(..) => Outcome::undefined("not_finite"),
            Judgement::Undefined(reason) => Outcome::undefined(reason),
        })
    }
}

/// Checks that names can be told from each other and from the table's.
pub(super) fn check(customs: &[Custom<'_>]) -> Result<(), EvalError> {
    let mut names: Vec<&str> = TABLE.iter().map(|metric| metric.name).collect();
    for custom in customs {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if !custom.name.starts_with(|c: char| c.is_ascii_alphabetic()) || !custom.name.chars().all(plain) {
            return Err(EvalError::MetricName(custom.name.clone()));
        }
        if names.contains(&custom.name.as_str()) {
            return Err(EvalError::MetricTwice(custom.name.clone()));
        }
        names.push(&custom.name);
    }
    Ok(())
}
