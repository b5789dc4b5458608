//! The report: a tree that JSON prints and Lua gets, the same for both.

mod account;
mod detail;
mod order;

use indexmap::IndexMap;
use rayon::prelude::*;

use super::compare::Comparison;
use super::condition::Verdict;
use super::encounter::Analysis;
use super::group::Group;
use super::metrics::{Measure, Metric, Outcome, component};
use super::plot::Drawing;
use super::reference::Reference;
use super::settings::Settings;
use crate::trace::columns::{Identity, Input, Warning};
use crate::value::{Map, Value};
pub(super) use order::by_identity;

/// The name and version of the tree's form.
pub const SCHEMA: &str = "skyfall.eval/1";

/// An evaluation.
#[derive(Debug)]
pub struct Report {
    /// What was asked for.
    pub settings: Settings,
    /// The files read: the traces, then served and baseline ones.
    pub inputs: Vec<Input>,
    /// What is reported, in order.
    pub measures: IndexMap<String, Measure>,
    /// The runs, ordered by identity: in whatever order the files were named.
    pub runs: Vec<RunReport>,
    /// Runs that differ only in what they are not grouped by, summed up.
    pub groups: Vec<Group>,
    /// Groups side by side.
    pub comparisons: Vec<Comparison>,
    /// What became of the conditions asked for.
    pub verdicts: Vec<Verdict>,
    /// What was odd.
    pub warnings: Vec<Warning>,
    /// What its figures are drawn from, where they were asked for.
    pub drawing: Option<Drawing>,
}

/// One run's numbers.
#[derive(Debug)]
pub struct RunReport {
    /// Which run.
    pub identity: Identity,
    /// Other keys that are the same in every row.
    pub meta: Map,
    /// Its files.
    pub files: Vec<String>,
    /// Every metric reported, in order.
    pub metrics: IndexMap<String, Outcome>,
    /// The rest of the tree: encounters, segments, pairs, components, the frozen matrix.
    details: Map,
}

impl RunReport {
    /// The numbers of one analysed run.
    pub(super) fn new(run: &Analysis<'_>, reference: &Reference, wanted: &[&'static Metric]) -> Self {
        let metrics: Vec<(String, Outcome)> =
            wanted.par_iter().map(|metric| (metric.name.to_owned(), (metric.compute)(run, reference))).collect();
        let list = |items: Vec<Map>| Value::List(items.into_iter().map(Value::Map).collect());
        let entries = [
            ("encounters", list(detail::encounters(run))),
            ("segments", list(detail::segments(run))),
            ("pairs", list(detail::pairs(run, reference))),
            ("shifts", list(detail::shifts(run))),
            ("components", list(component::components(run))),
            ("frozen", run.frozen.as_ref().map_or(Value::Null, super::frozen::Frozen::to_value)),
        ];
        Self {
            identity: run.run.identity.clone(),
            meta: run.run.meta.clone(),
            files: run.run.files.clone(),
            metrics: metrics.into_iter().collect(),
            details: entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
        }
    }

    /// The value of a metric, if it is defined on this run.
    #[must_use]
    pub fn value(&self, metric: &str) -> Option<f64> {
        self.metrics.get(metric).and_then(|outcome| outcome.value.as_ref()).and_then(Value::as_float)
    }

    /// One of the lists beside the metrics: `encounters`, `segments`, `pairs`, `shifts`,
    /// `components`.
    pub fn detail(&self, name: &str) -> impl Iterator<Item = &Map> {
        self.details.get(name).and_then(Value::as_list).unwrap_or_default().iter().filter_map(Value::as_map)
    }

    /// The matrix of frozen performance, if there is one.
    #[must_use]
    pub fn frozen(&self) -> Option<&Map> {
        self.details.get("frozen").and_then(Value::as_map)
    }

    /// A short name for messages and tables.
    #[must_use]
    pub fn label(&self) -> String {
        run_label(&self.identity)
    }

    /// The run as plain data; the units and directions of its metrics are those of `measures`.
    #[must_use]
    pub fn to_value(&self, measures: &IndexMap<String, Measure>) -> Value {
        let mut tree = Map::new();
        tree.insert("identity".to_owned(), identity(&self.identity));
        tree.insert("meta".to_owned(), strict(Value::Map(self.meta.clone())));
        tree.insert("files".to_owned(), Value::List(self.files.iter().map(|file| file.as_str().into()).collect()));
        let metrics = self.metrics.iter().map(|(name, outcome)| {
            let entry = measures.get(name).map(|measure| entry(outcome, measure)).unwrap_or_default();
            (name.clone(), Value::Map(entry))
        });
        tree.insert("metrics".to_owned(), Value::Map(metrics.collect()));
        tree.extend(self.details.clone());
        Value::Map(tree)
    }
}

fn entry(outcome: &Outcome, measure: &Measure) -> Map {
    let mut entry = Map::new();
    let mut put = |key: &str, value: Value| entry.insert(key.to_owned(), value);
    put("value", outcome.value.clone().unwrap_or_default());
    put("n", size(outcome.n));
    put("unit", measure.unit.as_str().into());
    put("direction", measure.direction.name().into());
    if let Some(reason) = &outcome.reason {
        put("reason", reason.as_ref().into());
    }
    if let Some(censored) = outcome.n_censored {
        put("n_censored", size(censored));
    }
    if let Some(own) = &outcome.by_regime {
        put("by_regime", strict(Value::Map(own.clone())));
    }
    entry
}

impl Report {
    /// Whether one of the conditions asked for holds.
    #[must_use]
    pub fn fails(&self) -> bool {
        self.verdicts.iter().any(|verdict| verdict.holds == Some(true))
    }

    /// The tree (`skyfall.eval/1`): strict JSON once printed, in a fixed order, without a clock.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let entries = [
            ("schema", SCHEMA.into()),
            ("settings", Value::Map(self.settings.to_value())),
            (
                "inputs",
                self.inputs.iter().map(|input| account::input(input, &self.warnings)).collect::<Vec<_>>().into(),
            ),
            ("runs", self.runs.iter().map(|run| run.to_value(&self.measures)).collect::<Vec<_>>().into()),
            ("groups", self.groups.iter().map(Group::to_value).collect::<Vec<_>>().into()),
            ("comparisons", self.comparisons.iter().map(Comparison::to_value).collect::<Vec<_>>().into()),
            ("conditions", self.verdicts.iter().map(Verdict::to_value).collect::<Vec<_>>().into()),
            ("warnings", self.warnings.iter().map(account::warning).collect::<Vec<_>>().into()),
        ];
        Value::Map(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }
}

/// The identity fields a run has, and the file that tells it from a namesake.
pub(super) fn identity(identity: &Identity) -> Value {
    let fields = identity.fields.iter().map(|(key, value)| ((*key).to_owned(), value.clone()));
    let file = identity.file.iter().map(|file| ("file".to_owned(), file.as_str().into()));
    strict(Value::Map(fields.chain(file).collect()))
}

/// A short name of a run: its identity's values.
pub(super) fn run_label(identity: &Identity) -> String {
    let named = identity.fields.iter().map(|(key, value)| match value {
        Value::Text(text) => text.clone(),
        other => format!("{key}={}", plain(other)),
    });
    let named: Vec<String> = named.chain(identity.file.clone()).collect();
    if named.is_empty() { "(anonymous)".to_owned() } else { named.join(" ") }
}

/// A value as text without quotes.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        other => crate::text::json::to_string(other),
    }
}

/// `value`, with `null` for what strict JSON cannot hold.
pub(super) fn strict(value: Value) -> Value {
    match value {
        Value::Float(number) if !number.is_finite() => Value::Null,
        Value::List(items) => Value::List(items.into_iter().map(strict).collect()),
        Value::Map(map) => Value::Map(map.into_iter().map(|(key, value)| (key, strict(value))).collect()),
        value => value,
    }
}

/// `value`, with `null` where it is not defined or not finite.
pub(super) fn number(value: Option<f64>) -> Value {
    value.map_or(Value::Null, |value| strict(Value::Float(value)))
}

pub(super) fn size(n: usize) -> Value {
    Value::Int(i64::try_from(n).unwrap_or(i64::MAX))
}
