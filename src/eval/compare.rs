//! Two groups side by side, metric by metric.
//!
//! Runs of both groups with one seed and task form a pair, whose difference leaves out what the
//! seed did; where there are none, the groups are independent samples. A metric is marked better
//! only if it has a direction and the interval of the difference leaves out zero.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::bootstrap::{Bootstrap, Strata};
use super::error::EvalError;
use super::group::{Group, pairing_key, task_of};
use super::metrics::{Direction, Measure};
use super::report::{RunReport, number, size};
use super::series::{count, mean};
use crate::value::{Map, Value};

/// Fewer pairs than this are no pairing.
const FEWEST_PAIRS: usize = 2;

/// Group `a` against group `b`.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The label of the first group.
    pub a: String,
    /// The label of the second group.
    pub b: String,
    /// Each metric, in the report's order.
    pub metrics: IndexMap<String, Contrast>,
}

/// One metric of two groups.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contrast {
    /// The runs of `a` and of `b` on which it is defined.
    pub n: (usize, usize),
    /// Pairs of one seed and task, where the groups are paired.
    pub n_pairs: Option<usize>,
    /// The mean of `a` less that of `b`; of pairs, the mean difference.
    pub difference: Option<f64>,
    /// The bootstrap interval of the difference.
    pub ci: Option<(f64, f64)>,
    /// How often a run of `a` has more than one of `b`, ties counting half; within a pair where
    /// there are pairs, else within each task, averaged over tasks.
    pub p_greater: Option<f64>,
    /// The label of the better group, where the interval leaves no doubt.
    pub better: Option<String>,
}

/// Compares the groups that `names` name.
pub(super) fn compare(
    names: &(String, String),
    groups: &[Group],
    runs: &[RunReport],
    measures: &IndexMap<String, Measure>,
    bootstrap: &Bootstrap,
) -> Result<Comparison, EvalError> {
    let (a, b) = (find(&names.0, groups)?, find(&names.1, groups)?);
    let metrics = measures.iter().map(|(metric, measure)| {
        let mut contrast = contrast(&values(a, runs, metric), &values(b, runs, metric), bootstrap);
        contrast.better = better(measure.direction, contrast.ci).map(|a_is| if a_is { a.label() } else { b.label() });
        (metric.clone(), contrast)
    });
    Ok(Comparison { a: a.label(), b: b.label(), metrics: metrics.collect() })
}

/// The group with this label, or the only one with this value of a key.
fn find<'a>(name: &str, groups: &'a [Group]) -> Result<&'a Group, EvalError> {
    if let Some(group) = groups.iter().find(|group| group.label() == name) {
        return Ok(group);
    }
    let named = |group: &&Group| group.key.values().any(|value| super::report::plain(value) == name);
    let found: Vec<&Group> = groups.iter().filter(named).collect();
    match found.as_slice() {
        [only] => Ok(only),
        _ => {
            let known: Vec<String> = groups.iter().map(Group::label).collect();
            Err(EvalError::Group { name: name.to_owned(), found: found.len(), known: known.join(", ") })
        }
    }
}

/// A run's value with what pairs it and its task.
struct Observed<'a> {
    pair: Option<String>,
    task: &'a str,
    value: f64,
}

fn values<'a>(group: &'a Group, runs: &'a [RunReport], metric: &str) -> Vec<Observed<'a>> {
    let members = group.members.iter().filter_map(|place| runs.get(*place));
    let of =
        |run: &'a RunReport| Some(Observed { pair: pairing_key(run), task: task_of(run), value: run.value(metric)? });
    members.filter_map(of).collect()
}

fn contrast(a: &[Observed<'_>], b: &[Observed<'_>], bootstrap: &Bootstrap) -> Contrast {
    let n = (a.len(), b.len());
    let pairs = pairs(a, b);
    if pairs.len() >= FEWEST_PAIRS {
        let differences: Vec<f64> = pairs.iter().map(|(a, b)| a - b).collect();
        let wins = pairs.iter().map(|(a, b)| win(*a, *b)).sum::<f64>();
        return Contrast {
            n,
            n_pairs: Some(pairs.len()),
            difference: mean(&differences),
            ci: bootstrap.mean(&Strata::single(&differences)),
            p_greater: Some(wins / count(pairs.len())),
            better: None,
        };
    }
    let level = |side: &[Observed<'_>]| mean(&side.iter().map(|run| run.value).collect::<Vec<_>>());
    let strata = |side: &[Observed<'_>]| Strata::new(side.iter().map(|run| (run.task, run.value)).collect::<Vec<_>>());
    Contrast {
        n,
        n_pairs: None,
        difference: level(a).zip(level(b)).map(|(a, b)| a - b),
        ci: bootstrap.difference(&strata(a), &strata(b)),
        p_greater: p_greater(a, b),
        better: None,
    }
}

/// The values of runs that both sides have once under one pairing key, in the order of the keys.
fn pairs(a: &[Observed<'_>], b: &[Observed<'_>]) -> Vec<(f64, f64)> {
    let once = |side: &[Observed<'_>]| -> Option<BTreeMap<String, f64>> {
        let mut seen = BTreeMap::new();
        for run in side {
            if let Some(key) = &run.pair
                && seen.insert(key.clone(), run.value).is_some()
            {
                return None;
            }
        }
        Some(seen)
    };
    let (Some(a), Some(b)) = (once(a), once(b)) else { return Vec::new() };
    a.iter().filter_map(|(key, value)| Some((*value, *b.get(key)?))).collect()
}

fn win(a: f64, b: f64) -> f64 {
    match a.total_cmp(&b) {
        _ if a == b => 0.5,
        std::cmp::Ordering::Greater => 1.0,
        _ => 0.0,
    }
}

/// The Mann-Whitney statistic over the product of the counts, averaged over tasks of both sides.
fn p_greater(a: &[Observed<'_>], b: &[Observed<'_>]) -> Option<f64> {
    let tasks: std::collections::BTreeSet<&str> = a.iter().map(|run| run.task).collect();
    let of = |task: &&str| {
        let own = |side: &[Observed<'_>]| -> Vec<f64> {
            side.iter().filter(|run| run.task == *task).map(|run| run.value).collect()
        };
        let (a, b) = (own(a), own(b));
        let wins: f64 = a.iter().flat_map(|a| b.iter().map(|b| win(*a, *b))).sum();
        (!b.is_empty()).then(|| wins / (count(a.len()) * count(b.len())))
    };
    mean(&tasks.iter().filter_map(of).collect::<Vec<_>>())
}

/// Whether the first group is better, where there is no doubt.
fn better(direction: Direction, ci: Option<(f64, f64)>) -> Option<bool> {
    let (low, high) = ci?;
    let above = if low > 0.0 {
        true
    } else if high < 0.0 {
        false
    } else {
        return None;
    };
    match direction {
        Direction::Higher => Some(above),
        Direction::Lower => Some(!above),
        Direction::Neutral => None,
    }
}

impl Comparison {
    pub(super) fn to_value(&self) -> Value {
        let metrics = self.metrics.iter().map(|(name, contrast)| (name.clone(), contrast.to_value()));
        let mut map = Map::new();
        map.insert("a".to_owned(), self.a.as_str().into());
        map.insert("b".to_owned(), self.b.as_str().into());
        map.insert("metrics".to_owned(), Value::Map(metrics.collect()));
        Value::Map(map)
    }
}

impl Contrast {
    fn to_value(&self) -> Value {
        let mut map = Map::new();
        let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
        put("difference", number(self.difference));
        put("ci", super::group::interval(self.ci));
        put("p_greater", number(self.p_greater));
        put("better", self.better.clone().into());
        put("n_a", size(self.n.0));
        put("n_b", size(self.n.1));
        put("n_pairs", self.n_pairs.map_or(Value::Null, size));
        Value::Map(map)
    }
}
