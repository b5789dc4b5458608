//! Row 26 of the table: what each reward component contributes.

use crate::eval::encounter::{Analysis, Encounter};
use crate::eval::report::size;
use crate::eval::series::{count, sum};
use crate::value::{Map, Value};

/// For each component, in order of first appearance: its mean over all rows (0 where a row does
/// not have it), its share of all components' absolute contributions, the share of rows that
/// have it, and how its mean changes across each shift.
pub(in crate::eval) fn components(run: &Analysis<'_>) -> Vec<Map> {
    let columns = &run.run.components;
    let absolute = |column: &[f64]| sum(present(column).map(f64::abs));
    let total: f64 = sum(columns.values().map(|column| absolute(column)));
    columns
        .iter()
        .map(|(name, column)| {
            let mut map = Map::new();
            let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
            let rows = column.len();
            put("name", name.as_str().into());
            put("mean", number((rows > 0).then(|| sum(present(column)) / count(rows))));
            put("share", number((total > 0.0).then(|| absolute(column) / total)));
            put("coverage", number((rows > 0).then(|| count(present(column).count()) / count(rows))));
            put("n", size(rows));
            put("delta", Value::List(deltas(run, column)));
            if total <= 0.0 {
                put("reason", "zero_total".into());
            }
            map
        })
        .collect()
}

/// The component's values where a row has it.
fn present(column: &[f64]) -> impl Iterator<Item = f64> + '_ {
    column.iter().copied().filter(|value| value.is_finite())
}

/// The change of the component's mean across each shift.
fn deltas(run: &Analysis<'_>, column: &[f64]) -> Vec<Value> {
    let mean = |encounter: &Encounter| {
        let (from, to) = encounter.span.rows;
        let rows = column.get(from..to).unwrap_or_default();
        (!rows.is_empty()).then(|| sum(present(rows)) / count(rows.len()))
    };
    let later = run.encounters.iter().skip(1);
    run.encounters
        .iter()
        .zip(later)
        .map(|(before, after)| number(mean(before).zip(mean(after)).map(|(a, b)| b - a)))
        .collect()
}

fn number(value: Option<f64>) -> Value {
    value.filter(|value| value.is_finite()).map_or(Value::Null, Value::Float)
}
