//! Runs summed up: a group has one value of each key it is grouped by, whatever the seed.
//!
//! Each run counts once, with its own number; a run on which a metric is not defined lowers `n`
//! and is never filled in.

use indexmap::IndexMap;
use rayon::prelude::*;

use super::bootstrap::{Bootstrap, Strata};
use super::error::{EvalError, nearest_or_all};
use super::metrics::Measure;
use super::report::{RunReport, number, plain, size, strict};
use super::series::{deviation, mean, median};
use super::settings::Settings;
use crate::text::json;
use crate::value::{Map, Value};

/// One group of runs.
#[derive(Debug)]
pub struct Group {
    /// The keys' values, those that are present.
    pub key: Map,
    /// The places of its runs among the report's.
    pub members: Vec<usize>,
    /// Each metric over the runs, in the report's order.
    pub metrics: IndexMap<String, Summary>,
}

/// One metric over a group's runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Runs on which it is defined.
    pub n: usize,
    /// Runs on which it is not.
    pub n_missing: usize,
    /// The mean.
    pub mean: Option<f64>,
    /// The sample standard deviation; of two runs and more.
    pub sd: Option<f64>,
    /// The median.
    pub median: Option<f64>,
    /// The interquartile mean: a quarter of the runs trimmed at each end.
    pub iqm: Option<f64>,
    /// The least value.
    pub min: Option<f64>,
    /// The greatest value.
    pub max: Option<f64>,
    /// The percentile-bootstrap interval of the mean; of two runs and more.
    pub ci: Option<(f64, f64)>,
}

/// The value of a key to group by: a field of the identity or a metadata key.
fn key_of(run: &RunReport, key: &str) -> Option<Value> {
    run.identity.fields.get(key).or_else(|| run.meta.get(key)).cloned().map(strict)
}

/// What runs of one seed and task have in common; `None` where the run has no seed.
pub(super) fn pairing_key(run: &RunReport) -> Option<String> {
    let seed = run.identity.fields.get("seed")?;
    let task = run.identity.fields.get("task").cloned().unwrap_or_default();
    Some(json::to_string(&Value::List(vec![seed.clone(), task])))
}

/// The run's task as text; empty where it has none.
pub(super) fn task_of(run: &RunReport) -> &str {
    run.identity.fields.get("task").and_then(Value::as_text).unwrap_or_default()
}

/// The groups, in order of first appearance.
///
/// # Errors
/// When no run has a key that was asked for.
pub(super) fn groups(
    runs: &[RunReport],
    measures: &IndexMap<String, Measure>,
    settings: &Settings,
) -> Result<Vec<Group>, EvalError> {
    check(&settings.group_by, runs)?;
    let mut grouped: IndexMap<String, (Map, Vec<usize>)> = IndexMap::new();
    for (place, run) in runs.iter().enumerate() {
        let keys = settings.group_by.iter();
        let key: Map = keys.filter_map(|name| Some((name.clone(), key_of(run, name)?))).collect();
        let text = json::to_string(&Value::Map(key.clone()));
        grouped.entry(text).or_insert_with(|| (key, Vec::new())).1.push(place);
    }
    let names: Vec<&String> = measures.keys().collect();
    let group = |(key, members): (Map, Vec<usize>)| {
        let own: Vec<&RunReport> = members.iter().filter_map(|place| runs.get(*place)).collect();
        let summaries = names.par_iter().map(|name| ((*name).clone(), summarise(&own, name, &settings.bootstrap)));
        let summaries: Vec<(String, Summary)> = summaries.collect();
        Group { key, members, metrics: summaries.into_iter().collect() }
    };
    Ok(grouped.into_values().map(group).collect())
}

/// Refuses a key that no run has; the usual ones may be missing.
fn check(keys: &[String], runs: &[RunReport]) -> Result<(), EvalError> {
    let usual = Settings::default().group_by;
    let is_missing = |key: &&String| !usual.contains(key) && runs.iter().all(|run| key_of(run, key).is_none());
    let Some(name) = keys.iter().find(is_missing) else { return Ok(()) };
    let mut known: Vec<&str> = Vec::new();
    for run in runs {
        known.extend(run.identity.fields.keys().copied().chain(run.meta.keys().map(String::as_str)));
    }
    known.sort_unstable();
    known.dedup();
    Err(EvalError::UnknownKey { name: name.clone(), known: nearest_or_all(name, known) })
}

fn summarise(runs: &[&RunReport], metric: &str, bootstrap: &Bootstrap) -> Summary {
    let defined: Vec<(&str, f64)> = runs.iter().filter_map(|run| Some((task_of(run), run.value(metric)?))).collect();
    let mut sorted: Vec<f64> = defined.iter().map(|(_, value)| *value).collect();
    sorted.sort_by(f64::total_cmp);
    let trim = sorted.len() / 4;
    Summary {
        n: sorted.len(),
        n_missing: runs.len() - sorted.len(),
        mean: mean(&sorted),
        sd: deviation(&sorted),
        median: median(&sorted),
        iqm: mean(sorted.get(trim..sorted.len() - trim).unwrap_or_default()),
        min: sorted.first().copied(),
        max: sorted.last().copied(),
        ci: bootstrap.mean(&Strata::new(defined)),
    }
}

impl Group {
    /// How many runs there are.
    #[must_use]
    pub fn n_runs(&self) -> usize {
        self.members.len()
    }

    /// A short name for tables and for comparisons.
    #[must_use]
    pub fn label(&self) -> String {
        let parts: Vec<String> = self.key.values().map(plain).collect();
        if parts.is_empty() { "(all runs)".to_owned() } else { parts.join(" ") }
    }

    pub(super) fn to_value(&self) -> Value {
        let metrics = self.metrics.iter().map(|(name, summary)| (name.clone(), summary.to_value()));
        let mut map = Map::new();
        map.insert("key".to_owned(), Value::Map(self.key.clone()));
        map.insert("n_runs".to_owned(), size(self.n_runs()));
        map.insert("metrics".to_owned(), Value::Map(metrics.collect()));
        Value::Map(map)
    }
}

impl Summary {
    fn to_value(&self) -> Value {
        let mut map = Map::new();
        let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
        put("mean", number(self.mean));
        put("sd", number(self.sd));
        put("median", number(self.median));
        put("iqm", number(self.iqm));
        put("min", number(self.min));
        put("max", number(self.max));
        put("ci", interval(self.ci));
        put("n", size(self.n));
        put("n_missing", size(self.n_missing));
        Value::Map(map)
    }
}

/// An interval as a list of its ends.
pub(super) fn interval(ci: Option<(f64, f64)>) -> Value {
    ci.map_or(Value::Null, |(low, high)| Value::List(vec![number(Some(low)), number(Some(high))]))
}
