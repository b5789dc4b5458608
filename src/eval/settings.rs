//! What an evaluation is asked for.
//!
//! Every option has one name: the long flag of `skyfall eval`, the field of Lua's option table
//! (`_` for `-`), the entry of the report's `settings`. [`Settings::set`] takes an option by that
//! name as text (from a command line) or as a plain value (from Lua), so both refuse the same
//! things in the same words.

mod ask;
mod window;

use indexmap::IndexMap;

use super::bootstrap::Bootstrap;
use super::condition::Condition;
use super::error::EvalError;
use super::select::Selection;
use crate::trace::ReadOptions;
use crate::value::{Map, Value};
pub use window::Window;

/// What an evaluation is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The window at entry and exit.
    pub window: Window,
    /// The share of the way back to the level before that counts as recovered.
    pub recover: f64,
    /// The share of an encounter's gain that counts as adapted.
    pub adapt: f64,
    /// The reward level whose first reaching is timed.
    pub threshold: Option<f64>,
    /// What regret is measured against.
    pub regret_ref: RegretReference,
    /// The least and the greatest reward possible under a regime, for normalised metrics.
    pub bounds: IndexMap<String, Bounds>,
    /// Which rows count.
    pub selection: Selection,
    /// What the runs of one group have in common: identity fields or metadata keys.
    pub group_by: Vec<String>,
    /// The metrics to report; all of them when empty.
    pub metrics: Vec<String>,
    /// How intervals are drawn.
    pub bootstrap: Bootstrap,
    /// Two groups to compare, as their labels or one of their keys' values name them.
    pub compare: Option<(String, String)>,
    /// What makes the evaluation fail.
    pub fail_if: Vec<Condition>,
    /// Whether figures are drawn. No number depends on it.
    pub plots: bool,
    /// How traces are read.
    pub reading: ReadOptions,
}

/// What regret is measured against.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum RegretReference {
    /// The best exit level of the regime within the run.
    Run,
    /// The best exit level of the regime over all runs evaluated together.
    #[default]
    Set,
    /// Levels given by regime.
    Levels(IndexMap<String, f64>),
}

/// Bounds of a regime's reward.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bounds {
    /// The least reward.
    pub min: Option<f64>,
    /// The greatest reward.
    pub max: Option<f64>,
}

impl Bounds {
    /// Both bounds, where they are a range.
    #[must_use]
    pub fn range(self) -> Option<(f64, f64)> {
        self.min.zip(self.max)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            window: Window::default(),
            recover: 0.95,
            adapt: 0.9,
            threshold: None,
            regret_ref: RegretReference::default(),
            bounds: IndexMap::new(),
            selection: Selection::default(),
            group_by: ["policy_id", "task", "algorithm_id"].map(str::to_owned).to_vec(),
            metrics: Vec::new(),
            bootstrap: Bootstrap::default(),
            compare: None,
            fail_if: Vec::new(),
            plots: false,
            reading: ReadOptions::default(),
        }
    }
}

impl Settings {
    /// Sets the option called `name` (a long flag without its dashes; `-` and `_` are one).
    ///
    /// # Errors
    /// When there is no such option, or when `value` is not one for it.
    pub fn set(&mut self, name: &str, value: &Value) -> Result<(), EvalError> {
        ask::set(self, name, value)
    }

    /// Everything the numbers depend on beside the rows, defaults included.
    #[must_use]
    pub fn to_value(&self) -> Map {
        let texts = |texts: &[String]| Value::List(texts.iter().map(|text| text.as_str().into()).collect());
        let selection = &self.selection;
        let compare = self.compare.as_ref().map(|(a, b)| Value::List(vec![a.as_str().into(), b.as_str().into()]));
        let conditions = self.fail_if.iter().map(|condition| condition.text.as_str().into()).collect();
        let entries = [
            ("window", self.window.to_value()),
            ("recover", self.recover.into()),
            ("adapt", self.adapt.into()),
            ("threshold", self.threshold.into()),
            ("regret_ref", self.regret_ref.to_value()),
            ("bounds", bounds(&self.bounds)),
            ("from_step", selection.from_step.into()),
            ("until_step", selection.until_step.into()),
            ("from_frac", selection.from_frac.into()),
            ("until_frac", selection.until_frac.into()),
            ("regime", texts(&selection.regimes)),
            ("skip_null", selection.skip_null.into()),
            ("group_by", texts(&self.group_by)),
            ("metric", texts(&self.metrics)),
            ("ci", self.bootstrap.confidence.into()),
            ("reps", whole(self.bootstrap.reps as u64)),
            ("ci_seed", whole(self.bootstrap.seed)),
            ("compare", compare.into()),
            ("fail_if", Value::List(conditions)),
            ("on_duplicate", selection.duplicates.name().into()),
            ("resume", ask::restart_name(self.reading.on_restart).into()),
            ("strict", self.reading.strict.into()),
            ("version", env!("CARGO_PKG_VERSION").into()),
        ];
        entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }
}

impl RegretReference {
    fn to_value(&self) -> Value {
        match self {
            Self::Run => "run".into(),
            Self::Set => "set".into(),
            Self::Levels(levels) => {
                Value::Map(levels.iter().map(|(regime, level)| (regime.clone(), (*level).into())).collect())
            }
        }
    }
}

fn bounds(bounds: &IndexMap<String, Bounds>) -> Value {
    let entry = |bounds: &Bounds| {
        let mut map = Map::new();
        map.insert("min".to_owned(), bounds.min.into());
        map.insert("max".to_owned(), bounds.max.into());
        Value::Map(map)
    };
    Value::Map(bounds.iter().map(|(regime, bounds)| (regime.clone(), entry(bounds))).collect())
}

fn whole(number: u64) -> Value {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}
