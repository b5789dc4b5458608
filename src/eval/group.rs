//! Runs that differ only in seed or run id, summed up: a group a (policy, task, algorithm).
//!
//! Each run counts once, with its own number; a run on which a metric is not defined lowers `n`
//! and is never filled in.

use indexmap::IndexMap;

use super::metrics::TABLE;
use super::report::{RunReport, number, size, strict};
use super::series::{count, deviation, mean, median};
use crate::value::{Map, Value};

/// What a group's runs have in common.
pub const KEYS: [&str; 3] = ["policy_id", "task", "algorithm_id"];

/// Resamples behind an interval, and the seed they are drawn with.
pub(super) const RESAMPLES: usize = 2000;
pub(super) const SEED: u64 = 0;
/// The share of resampled means that an interval holds.
pub(super) const CONFIDENCE: f64 = 0.95;

/// One group of runs.
#[derive(Debug)]
pub struct Group {
    /// The keys' values, those that are present.
    pub key: Map,
    /// How many runs there are.
    pub n_runs: usize,
    /// Each metric over the runs, in the table's order.
    pub metrics: IndexMap<&'static str, Summary>,
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
    /// The 95 % percentile-bootstrap interval of the mean; of two runs and more.
    pub ci: Option<(f64, f64)>,
}

/// The groups, in order of first appearance.
#[must_use]
pub fn groups(runs: &[RunReport]) -> Vec<Group> {
    let mut grouped: IndexMap<String, (Map, Vec<&RunReport>)> = IndexMap::new();
    for run in runs {
        let key: Map =
            KEYS.iter().filter_map(|name| Some(((*name).to_owned(), run.identity.fields.get(name)?.clone()))).collect();
        let text = crate::text::json::to_string(&Value::Map(key.clone()));
        grouped.entry(text).or_insert_with(|| (key, Vec::new())).1.push(run);
    }
    grouped
        .into_values()
        .map(|(key, runs)| {
            let metrics = TABLE.iter().map(|metric| {
                let values: Vec<f64> = runs.iter().filter_map(|run| run.value(metric.name)).collect();
                (metric.name, Summary::of(&values, runs.len()))
            });
            Group { key, n_runs: runs.len(), metrics: metrics.collect() }
        })
        .collect()
}

impl Summary {
    fn of(values: &[f64], runs: usize) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let trim = sorted.len() / 4;
        Self {
            n: values.len(),
            n_missing: runs - values.len(),
            mean: mean(values),
            sd: deviation(values),
            median: median(values),
            iqm: mean(sorted.get(trim..sorted.len() - trim).unwrap_or_default()),
            min: sorted.first().copied(),
            max: sorted.last().copied(),
            ci: interval(&sorted),
        }
    }
}

/// The percentile bootstrap of the mean: runs drawn with replacement by a generator of our own,
/// so that the interval is the same wherever it is computed.
fn interval(values: &[f64]) -> Option<(f64, f64)> {
    let (first, last) = (*values.first()?, *values.last()?);
    if values.len() < 2 {
        return None;
    }
    if first.to_bits() == last.to_bits() {
        return Some((first, last));
    }
    let mut state = SEED;
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let sample: Vec<f64> = values.iter().map(|_| pick(values, &mut state)).collect();
            mean(&sample).unwrap_or_default()
        })
        .collect();
    means.sort_by(f64::total_cmp);
    let tail = (1.0 - CONFIDENCE) / 2.0;
    Some((quantile(&means, tail)?, quantile(&means, 1.0 - tail)?))
}

/// One of `values`, by `SplitMix64` and multiply-shift.
fn pick(values: &[f64], state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut bits = *state;
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^= bits >> 31;
    let index = (u128::from(bits) * values.len() as u128) >> 64;
    usize::try_from(index).ok().and_then(|index| values.get(index)).copied().unwrap_or_default()
}

/// The quantile of sorted values by linear interpolation (type 7).
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let position = share * count(sorted.len().checked_sub(1)?);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index below the length")]
    let below = position.floor() as usize;
    let low = *sorted.get(below)?;
    let high = sorted.get(below + 1).copied().unwrap_or(low);
    Some(low + (position - position.floor()) * (high - low))
}

impl Group {
    /// A short name for tables.
    #[must_use]
    pub fn label(&self) -> String {
        let parts: Vec<String> = self
            .key
            .values()
            .map(|value| match value {
                Value::Text(text) => text.clone(),
                other => crate::text::json::to_string(other),
            })
            .collect();
        if parts.is_empty() { "(all runs)".to_owned() } else { parts.join(" ") }
    }

    pub(super) fn to_value(&self) -> Value {
        let metrics = self.metrics.iter().map(|(name, summary)| {
            let mut map = Map::new();
            let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
            put("mean", number(summary.mean));
            put("sd", number(summary.sd));
            put("median", number(summary.median));
            put("iqm", number(summary.iqm));
            put("min", number(summary.min));
            put("max", number(summary.max));
            put("ci", summary.ci.map(|(low, high)| Value::List(vec![number(Some(low)), number(Some(high))])).into());
            put("n", size(summary.n));
            put("n_missing", size(summary.n_missing));
            ((*name).to_owned(), Value::Map(map))
        });
        let mut tree = Map::new();
        tree.insert("key".to_owned(), strict(Value::Map(self.key.clone())));
        tree.insert("n_runs".to_owned(), size(self.n_runs));
        tree.insert("metrics".to_owned(), Value::Map(metrics.collect()));
        Value::Map(tree)
    }
}
