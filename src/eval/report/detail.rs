//! The parts of a run in the report's tree: its encounters, segments and revisits.

use super::{number, size};
use crate::eval::encounter::{Analysis, Encounter, Pair, Segment, Span};
use crate::eval::metrics::{
    Recovery, adaptation_of, drop_of, normalised_drop, recovery_of, retention_of, rows_to, stability_gap_of,
};
use crate::eval::reference::Reference;
use crate::eval::series::count;
use crate::value::{Map, Value};

/// The encounters of a run, in order.
pub(super) fn encounters(run: &Analysis<'_>) -> Vec<Map> {
    run.encounters.iter().map(|visit| encounter(run, visit)).collect()
}

/// The segments of a run, in order.
pub(super) fn segments(run: &Analysis<'_>) -> Vec<Map> {
    run.segments.iter().map(segment).collect()
}

/// The revisits of a run, each with the visit before.
pub(super) fn pairs(run: &Analysis<'_>, reference: &Reference) -> Vec<Map> {
    run.pairs().iter().map(|each| pair(each, run.settings.recover, reference)).collect()
}

/// The changes from one encounter to the next.
pub(super) fn shifts(run: &Analysis<'_>) -> Vec<Map> {
    let shift = |(from, to): (usize, usize)| {
        let (before, after) = (run.encounters.get(from)?, run.encounters.get(to)?);
        let mut map = Map::new();
        map.insert("step".to_owned(), after.span.steps.0.into());
        map.insert("encounters".to_owned(), Value::List(vec![size(from), size(to)]));
        map.insert("from".to_owned(), before.labels.last().cloned().into());
        map.insert("to".to_owned(), after.labels.first().cloned().into());
        map.insert("drop".to_owned(), number(before.span.exit.zip(after.span.entry).map(|(exit, entry)| exit - entry)));
        Some(map)
    };
    run.shifts().filter_map(shift).collect()
}

fn span(span: &Span, map: &mut Map) {
    let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
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

fn encounter(run: &Analysis<'_>, visit: &Encounter<'_>) -> Map {
    let mut map = Map::new();
    map.insert("regime".to_owned(), visit.regime.clone().into());
    map.insert("labels".to_owned(), labels(visit));
    span(&visit.span, &mut map);
    map.insert("adaptation_rows".to_owned(), rows(adaptation_of(visit, run.settings.adapt)));
    if let Some(threshold) = run.settings.threshold {
        map.insert("threshold_rows".to_owned(), rows(rows_to(visit, threshold)));
    }
    let (all, entry) = refusals(run, &visit.span);
    map.insert("invalid_action_rate".to_owned(), number(all));
    map.insert("entry_invalid_action_rate".to_owned(), number(entry));
    map
}

/// The share of rows whose action was refused: of all rows, and of those in the entry window.
fn refusals(run: &Analysis<'_>, span: &Span) -> (Option<f64>, Option<f64>) {
    let within = |(from, to): (usize, usize)| {
        let refused = run.run.invalid_action.get(from..to).unwrap_or_default();
        refused.iter().copied().zip(run.run.reward.get(from..to).unwrap_or_default())
    };
    let share = |refused: usize, rows: usize| (rows > 0).then(|| count(refused) / count(rows));
    let all = within(span.rows).filter(|(refused, _)| *refused).count();
    let entry = within(span.rows).filter(|(_, reward)| reward.is_finite()).take(span.w);
    let entry_refused = entry.filter(|(refused, _)| *refused).count();
    (share(all, span.rows.1 - span.rows.0), share(entry_refused, span.w.min(span.n)))
}

fn labels(visit: &Encounter<'_>) -> Value {
    Value::List(visit.labels.iter().map(|label| label.as_str().into()).collect())
}

fn rows(rows: Option<usize>) -> Value {
    rows.map_or(Value::Null, size)
}

fn segment(segment: &Segment) -> Map {
    let mut map = Map::new();
    map.insert("label".to_owned(), segment.label.clone().into());
    map.insert("regime".to_owned(), segment.regime.clone().into());
    span(&segment.span, &mut map);
    map
}

fn pair(pair: &Pair<'_>, recover: f64, reference: &Reference) -> Map {
    let mut map = Map::new();
    let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
    let (before, after, first) = (&pair.before.span, &pair.after.span, &pair.first.span);
    let less = |a: Option<f64>, b: Option<f64>| number(a.zip(b).map(|(a, b)| a - b));
    put("regime", pair.after.regime.clone().into());
    put("encounters", Value::List(vec![size(pair.places.0), size(pair.places.1)]));
    put("first", labels(pair.before));
    put("second", labels(pair.after));
    put("forgetting", number(drop_of(pair)));
    put("forgetting_max", less(pair.best_exit, after.entry));
    put("forgetting_norm", number(normalised_drop(pair, reference)));
    put("retention", number(retention_of(pair)));
    put("jumpstart", less(after.entry, first.entry));
    put("asymptote_gain", less(after.exit, before.exit));
    put("stability_gap", number(stability_gap_of(pair)));
    let (recovered, censored) = match recovery_of(pair, recover) {
        Some(Recovery::After(rows)) => (Some(rows), None),
        Some(Recovery::Censored(at)) => (None, Some(at)),
        None => (None, None),
    };
    put("recovery_rows", rows(recovered));
    put("censored_at", rows(censored));
    map
}
