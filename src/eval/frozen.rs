//! What a policy does with learning switched off: served traces paired with their training run.
//!
//! A served trace repeats its training run's identity. One served trace of the final bundle gives
//! the performance under every regime at the end of training; served traces of several
//! checkpoints, told apart by the metadata key `checkpoint_step`, give the matrix R of the
//! continual-learning literature: a row a checkpoint, a column a regime.

use indexmap::{IndexMap, IndexSet};

use super::canonical::Canonical;
use super::encounter::Analysis;
use super::series::count;
use crate::sum::Sum;
use crate::trace::columns::{RunColumns, Warning};
use crate::value::{Map, Value};

/// The metadata key that says after which step of training a served policy was taken.
const CHECKPOINT: &str = "checkpoint_step";

/// Performance with learning switched off.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frozen {
    /// After which training step each policy was taken, ascending; `None` for the final bundle,
    /// which is last.
    pub checkpoints: Vec<Option<i64>>,
    /// The regimes served: those trained on in order of first encounter, then others.
    pub regimes: Vec<String>,
    /// R: the mean reward by checkpoint and regime; `None` where a regime was not served.
    pub performance: Vec<Vec<Option<f64>>>,
}

impl Frozen {
    /// The mean reward under the regime `column` at the checkpoint `row`.
    #[must_use]
    pub fn at(&self, row: usize, column: usize) -> Option<f64> {
        self.performance.get(row)?.get(column).copied().flatten()
    }

    /// The mean reward under each regime served at the end of training.
    pub fn last(&self) -> impl Iterator<Item = (&String, f64)> {
        let row = self.performance.last().into_iter().flatten();
        self.regimes.iter().zip(row).filter_map(|(regime, value)| Some((regime, (*value)?)))
    }

    /// The checkpoints' steps with their rows.
    pub(super) fn steps(&self) -> impl DoubleEndedIterator<Item = (usize, i64)> + '_ {
        self.checkpoints.iter().enumerate().map(|(row, step)| (row, step.unwrap_or(i64::MAX)))
    }

    pub(super) fn to_value(&self) -> Value {
        let cells = |row: &Vec<Option<f64>>| Value::List(row.iter().map(|cell| super::report::number(*cell)).collect());
        let mut map = Map::new();
        let mut put = |key: &str, items: Vec<Value>| map.insert(key.to_owned(), Value::List(items));
        put("checkpoints", self.checkpoints.iter().map(|step| (*step).into()).collect());
        put("regimes", self.regimes.iter().map(|regime| regime.as_str().into()).collect());
        put("performance", self.performance.iter().map(cells).collect());
        Value::Map(map)
    }
}

/// Gives each training run what was served of it. Served traces of no training run are told of.
pub(super) fn pair(runs: &mut [Analysis<'_>], served: &[RunColumns]) -> Vec<Warning> {
    let mut alone: Vec<&RunColumns> = Vec::new();
    let mut own: Vec<Vec<&RunColumns>> = vec![Vec::new(); runs.len()];
    for trace in served {
        let matching: Vec<usize> = (0..runs.len())
            .filter(|place| runs.get(*place).is_some_and(|run| run.run.identity.fields == trace.identity.fields))
            .collect();
        if matching.is_empty() {
            alone.push(trace);
        }
        for place in matching {
            if let Some(own) = own.get_mut(place) {
                own.push(trace);
            }
        }
    }
    for (run, served) in runs.iter_mut().zip(own) {
        run.frozen = Some(matrix(run, &served)).filter(|frozen| !frozen.checkpoints.is_empty());
    }
    let warning = alone.first().map(|trace| Warning {
        code: "frozen_unpaired",
        message: format!(
            "no training run has the identity of the served trace ({})",
            super::report::run_label(&trace.identity)
        ),
        file: trace.files.first().cloned(),
        line: None,
        step: None,
        count: alone.len() as u64,
    });
    warning.into_iter().collect()
}

/// The matrix R of one training run; a checkpoint of which no regime was served has no row.
fn matrix(run: &Analysis<'_>, served: &[&RunColumns]) -> Frozen {
    let mut rows: IndexMap<Option<i64>, IndexMap<String, (Sum, usize)>> = IndexMap::new();
    let mut names: IndexSet<String> = IndexSet::new();
    for trace in served {
        let sums = rows.entry(trace.meta.get(CHECKPOINT).and_then(Value::as_int)).or_default();
        for (regime, sum, n) in totals(trace) {
            names.insert(regime.clone());
            let entry = sums.entry(regime).or_default();
            entry.0.add(sum);
            entry.1 += n;
        }
    }
    let trained = run.regimes.iter().map(|regime| regime.name.clone()).filter(|name| names.contains(name));
    let regimes: IndexSet<String> = trained.chain(names.clone()).collect();
    rows.retain(|_, sums| !sums.is_empty());
    rows.sort_by(|a, _, b, _| a.is_none().cmp(&b.is_none()).then(a.cmp(b)));
    let cell = |sums: &IndexMap<String, (Sum, usize)>, regime: &String| {
        sums.get(regime).map(|(sum, n)| sum.value() / count(*n))
    };
    Frozen {
        performance: rows.values().map(|sums| regimes.iter().map(|regime| cell(sums, regime)).collect()).collect(),
        checkpoints: rows.into_keys().collect(),
        regimes: regimes.into_iter().collect(),
    }
}

/// The sum and number of finite rewards under each regime that has some, in order of appearance.
fn totals(trace: &RunColumns) -> Vec<(String, f64, usize)> {
    let canonical = Canonical::of(trace);
    let mut totals: IndexMap<usize, (Sum, usize)> = IndexMap::new();
    for (label, reward) in trace.regime.iter().zip(&trace.reward).filter(|(_, reward)| reward.is_finite()) {
        if let Some(regime) = canonical.regime(*label) {
            let entry = totals.entry(regime).or_default();
            entry.0.add(*reward);
            entry.1 += 1;
        }
    }
    let named = totals
        .into_iter()
        .filter_map(|(regime, (sum, n))| Some((canonical.names.get(regime)?.clone(), sum.value(), n)));
    named.collect()
}
