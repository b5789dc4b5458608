//! The report: a tree that JSON prints and Lua gets, the same for both.

mod detail;

use indexmap::IndexMap;

use super::encounter::Analysis;
use super::group::{self, Group};
use super::metrics::{ADAPT, Metric, Outcome, RECOVER, Reference, TABLE, component};
use super::{Settings, Window};
use crate::trace::columns::{Identity, Input, Warning};
use crate::value::{Map, Value};

/// The name and version of the tree's form.
const SCHEMA: &str = "skyfall.eval/1";

/// An evaluation.
#[derive(Debug)]
pub struct Report {
    /// What was asked for.
    pub settings: Settings,
    /// The files read.
    pub inputs: Vec<Input>,
    /// The runs, in order of first appearance.
    pub runs: Vec<RunReport>,
    /// Runs that differ only in seed or run id, summed up.
    pub groups: Vec<Group>,
    /// What was odd.
    pub warnings: Vec<Warning>,
}

/// One run's numbers.
#[derive(Debug)]
pub struct RunReport {
    /// Which run.
    pub identity: Identity,
    /// Its files.
    pub files: Vec<String>,
    /// Every metric of the table, in its order.
    pub metrics: IndexMap<&'static str, (&'static Metric, Outcome)>,
    /// The rest of the tree: encounters, segments, pairs, components.
    details: Map,
}

impl RunReport {
    /// The numbers of one analysed run.
    #[must_use]
    pub fn new(run: &Analysis<'_>, reference: &Reference) -> Self {
        let metrics = TABLE.iter().map(|metric| (metric.name, (metric, (metric.compute)(run, reference)))).collect();
        let mut details = Map::new();
        let list = |items: Vec<Map>| Value::List(items.into_iter().map(Value::Map).collect());
        details.insert("encounters".to_owned(), list(detail::encounters(run)));
        details.insert("segments".to_owned(), list(detail::segments(run)));
        details.insert("pairs".to_owned(), list(detail::pairs(run, reference)));
        details.insert("components".to_owned(), list(component::components(run)));
        Self { identity: run.run.identity.clone(), files: run.run.files.clone(), metrics, details }
    }

    /// The value of a metric, if it is defined on this run.
    #[must_use]
    pub fn value(&self, metric: &str) -> Option<f64> {
        self.metrics.get(metric).and_then(|(_, outcome)| outcome.value.as_ref()).and_then(Value::as_float)
    }

    /// A short name for messages and tables.
    #[must_use]
    pub fn label(&self) -> String {
        let fields = self.identity.fields.iter();
        let named: Vec<String> = fields
            .map(|(key, value)| match value {
                Value::Text(text) => text.clone(),
                other => format!("{key}={}", crate::text::json::to_string(other)),
            })
            .chain(self.identity.file.clone())
            .collect();
        if named.is_empty() { "(anonymous)".to_owned() } else { named.join(" ") }
    }

    fn to_value(&self) -> Value {
        let mut tree = Map::new();
        tree.insert("identity".to_owned(), identity(&self.identity));
        tree.insert("files".to_owned(), Value::List(self.files.iter().map(|file| file.as_str().into()).collect()));
        let metrics = self.metrics.iter().map(|(name, (metric, outcome))| {
            let mut entry = Map::new();
            entry.insert("value".to_owned(), outcome.value.clone().unwrap_or_default());
            entry.insert("n".to_owned(), size(outcome.n));
            entry.insert("unit".to_owned(), metric.unit.into());
            entry.insert("direction".to_owned(), metric.direction.name().into());
            if let Some(reason) = outcome.reason {
                entry.insert("reason".to_owned(), reason.into());
            }
            if let Some(censored) = outcome.n_censored {
                entry.insert("n_censored".to_owned(), size(censored));
            }
            if let Some(own) = &outcome.by_regime {
                entry.insert("by_regime".to_owned(), strict(Value::Map(own.clone())));
            }
            ((*name).to_owned(), Value::Map(entry))
        });
        tree.insert("metrics".to_owned(), Value::Map(metrics.collect()));
        tree.extend(self.details.clone());
        Value::Map(tree)
    }
}

impl Report {
    /// The tree (`skyfall.eval/1`): strict JSON once printed, in a fixed order, without a clock.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut tree = Map::new();
        tree.insert("schema".to_owned(), SCHEMA.into());
        tree.insert("settings".to_owned(), Value::Map(settings(&self.settings)));
        let list = |items: Vec<Value>| Value::List(items);
        tree.insert(
            "inputs".to_owned(),
            list(self.inputs.iter().map(|input| account(input, &self.warnings)).collect()),
        );
        tree.insert("runs".to_owned(), list(self.runs.iter().map(RunReport::to_value).collect()));
        tree.insert("groups".to_owned(), list(self.groups.iter().map(Group::to_value).collect()));
        tree.insert("comparisons".to_owned(), list(Vec::new()));
        tree.insert("warnings".to_owned(), list(self.warnings.iter().map(warning).collect()));
        Value::Map(tree)
    }
}

/// The identity fields a run has, and the file that tells it from a namesake.
pub(super) fn identity(identity: &Identity) -> Value {
    let fields = identity.fields.iter().map(|(key, value)| ((*key).to_owned(), value.clone()));
    let file = identity.file.iter().map(|file| ("file".to_owned(), file.as_str().into()));
    strict(Value::Map(fields.chain(file).collect()))
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

/// Everything the numbers depend on beside the rows, defaults included.
fn settings(settings: &Settings) -> Map {
    let window = match settings.window {
        Window::Rows(rows) => count(rows),
        Window::Percent(percent) => Value::Text(format!("{percent}%")),
    };
    let keys = group::KEYS.iter().map(|key| (*key).into()).collect();
    let entries = [
        ("window", window),
        ("recover", RECOVER.into()),
        ("adapt", ADAPT.into()),
        ("threshold", number(settings.threshold)),
        ("regret_ref", "set".into()),
        ("group_by", Value::List(keys)),
        ("ci", group::CONFIDENCE.into()),
        ("reps", size(group::RESAMPLES)),
        ("ci_seed", count(group::SEED)),
        ("version", env!("CARGO_PKG_VERSION").into()),
    ];
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn count(count: u64) -> Value {
    Value::Int(i64::try_from(count).unwrap_or(i64::MAX))
}

/// One input's account, with the codes of the warnings about it.
fn account(input: &Input, warnings: &[Warning]) -> Value {
    let own = warnings.iter().filter(|warning| warning.file.as_deref() == Some(input.path.as_str()));
    let mut codes: Vec<&'static str> = own.map(|warning| warning.code).collect();
    codes.sort_unstable();
    codes.dedup();
    let mut map = Map::new();
    map.insert("path".to_owned(), input.path.as_str().into());
    map.insert("bytes".to_owned(), count(input.bytes));
    map.insert("sha256".to_owned(), input.sha256.as_str().into());
    map.insert("rows".to_owned(), count(input.rows));
    map.insert("skipped".to_owned(), count(input.skipped));
    if input.rows == 0 {
        // A copy of another input is not read again; a file of other lines is no trace.
        let known = ["duplicate_file", "not_a_trace"].into_iter().find(|code| codes.contains(code));
        map.insert("reason".to_owned(), known.unwrap_or("empty").into());
    }
    map.insert("warnings".to_owned(), Value::List(codes.into_iter().map(Value::from).collect()));
    Value::Map(map)
}

/// A warning as plain data.
fn warning(warning: &Warning) -> Value {
    let mut map = Map::new();
    map.insert("code".to_owned(), warning.code.into());
    map.insert("message".to_owned(), warning.message.as_str().into());
    map.insert("file".to_owned(), warning.file.clone().into());
    map.insert("line".to_owned(), warning.line.map_or(Value::Null, size));
    map.insert("step".to_owned(), warning.step.into());
    map.insert("count".to_owned(), Value::Int(i64::try_from(warning.count).unwrap_or(i64::MAX)));
    Value::Map(map)
}
