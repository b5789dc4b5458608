//! The report: a tree that JSON prints and Lua gets, the same for both.

use indexmap::IndexMap;

use super::encounter::{Analysis, Encounter, Pair, Segment, Span};
use super::group::Group;
use super::metrics::{Metric, Outcome, Reference, TABLE, component};
use super::{Settings, Window};
use crate::trace::columns::{Identity, Input, Warning};
use crate::value::{Map, Value};

/// The name and version of the tree's form.
pub const SCHEMA: &str = "skyfall.eval/1";

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
        details.insert("encounters".to_owned(), list(run.encounters.iter().map(encounter).collect()));
        details.insert("segments".to_owned(), list(run.segments.iter().map(segment).collect()));
        details.insert("pairs".to_owned(), list(run.pairs().iter().map(pair).collect()));
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
            entry.insert("value".to_owned(), outcome.value.clone().map_or(Value::Null, strict));
            entry.insert("n".to_owned(), size(outcome.n));
            entry.insert("unit".to_owned(), metric.unit.into());
            entry.insert("direction".to_owned(), metric.direction.name().into());
            if let Some(reason) = outcome.reason {
                entry.insert("reason".to_owned(), reason.into());
            }
            if let Some(censored) = outcome.n_censored {
                entry.insert("n_censored".to_owned(), size(censored));
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
        let mut settings = Map::new();
        settings.insert("window".to_owned(), window(self.settings.window));
        settings.insert("version".to_owned(), env!("CARGO_PKG_VERSION").into());
        let mut tree = Map::new();
        tree.insert("schema".to_owned(), SCHEMA.into());
        tree.insert("settings".to_owned(), Value::Map(settings));
        let list = |items: Vec<Value>| Value::List(items);
        tree.insert("inputs".to_owned(), list(self.inputs.iter().map(input).collect()));
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
    Value::Map(fields.chain(file).collect())
}

/// `value`, with `null` for what strict JSON cannot hold.
pub(super) fn strict(value: Value) -> Value {
    match value {
        Value::Float(number) if !number.is_finite() => Value::Null,
        value => value,
    }
}

pub(super) fn size(n: usize) -> Value {
    Value::Int(i64::try_from(n).unwrap_or(i64::MAX))
}

fn window(window: Window) -> Value {
    match window {
        Window::Rows(rows) => Value::Int(i64::try_from(rows).unwrap_or(i64::MAX)),
        Window::Percent(percent) => Value::Text(format!("{percent}%")),
    }
}

fn span(span: &Span, map: &mut Map) {
    let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
    let number = |value: Option<f64>| value.map_or(Value::Null, |value| strict(Value::Float(value)));
    put("first_row", size(span.rows.0));
    put("rows", size(span.rows.1 - span.rows.0));
    put("first_step", span.steps.0.into());
    put("last_step", span.steps.1.into());
    put("n", size(span.n));
    put("w", size(span.w));
    put("entry", number(span.entry));
    put("exit", number(span.exit));
    put("gain", number(span.gain()));
    put("mean", number(span.mean));
    put("sd", number(span.sd));
    put("min", number(span.min));
    put("max", number(span.max));
    if span.n == 1 {
        put("short", Value::Bool(true));
    }
}

fn encounter(encounter: &Encounter) -> Map {
    let mut map = Map::new();
    map.insert("regime".to_owned(), encounter.regime.clone().into());
    let labels = encounter.labels.iter().map(|label| label.as_str().into()).collect();
    map.insert("labels".to_owned(), Value::List(labels));
    span(&encounter.span, &mut map);
    map
}

fn segment(segment: &Segment) -> Map {
    let mut map = Map::new();
    map.insert("label".to_owned(), segment.label.clone().into());
    map.insert("regime".to_owned(), segment.regime.clone().into());
    span(&segment.span, &mut map);
    map
}

fn pair(pair: &Pair<'_>) -> Map {
    use super::metrics::{Recovery, recovery_of};
    let mut map = Map::new();
    let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
    let number = |value: Option<f64>| value.map_or(Value::Null, |value| strict(Value::Float(value)));
    let labels = |visit: &Encounter| Value::List(visit.labels.iter().map(|label| label.as_str().into()).collect());
    let (before, after, first) = (&pair.before.span, &pair.after.span, &pair.first.span);
    let less = |a: Option<f64>, b: Option<f64>| number(a.zip(b).map(|(a, b)| a - b));
    put("regime", pair.after.regime.clone().into());
    put("first", labels(pair.before));
    put("second", labels(pair.after));
    put("forgetting", less(before.exit, after.entry));
    put("forgetting_max", less(pair.best_exit, after.entry));
    put("jumpstart", less(after.entry, first.entry));
    put("asymptote_gain", less(after.exit, before.exit));
    let (rows, censored) = match recovery_of(pair) {
        Some(Recovery::After(rows)) => (size(rows), Value::Null),
        Some(Recovery::Censored(at)) => (Value::Null, size(at)),
        None => (Value::Null, Value::Null),
    };
    put("recovery_rows", rows);
    put("censored_at", censored);
    map
}

fn input(input: &Input) -> Value {
    let mut map = Map::new();
    let count = |count: u64| Value::Int(i64::try_from(count).unwrap_or(i64::MAX));
    map.insert("path".to_owned(), input.path.as_str().into());
    map.insert("bytes".to_owned(), count(input.bytes));
    map.insert("sha256".to_owned(), input.sha256.as_str().into());
    map.insert("rows".to_owned(), count(input.rows));
    map.insert("skipped".to_owned(), count(input.skipped));
    if input.rows == 0 {
        map.insert("reason".to_owned(), "empty".into());
    }
    Value::Map(map)
}

/// A warning as plain data.
#[must_use]
pub fn warning(warning: &Warning) -> Value {
    let mut map = Map::new();
    map.insert("code".to_owned(), warning.code.into());
    map.insert("message".to_owned(), warning.message.as_str().into());
    map.insert("file".to_owned(), warning.file.clone().into());
    map.insert("line".to_owned(), warning.line.map_or(Value::Null, size));
    map.insert("step".to_owned(), warning.step.into());
    map.insert("count".to_owned(), Value::Int(i64::try_from(warning.count).unwrap_or(i64::MAX)));
    Value::Map(map)
}
