//! Row 26 of the table: what each reward component contributes.

use crate::eval::encounter::{Analysis, Encounter};
use crate::eval::report::{number, size};
use crate::eval::series::{count, sum};
use crate::sum::Sum;
use crate::value::{Map, Value};

/// For each component, in order of first appearance: its mean over all rows (0 where a row does
/// not have it), its share of all components' absolute contributions, the share of rows that
/// have it, and how its mean changes across each
/// shift and from each visit of a regime to the next.
pub(in crate::eval) fn components(run: &Analysis<'_>) -> Vec<Map> {
    let columns = &run.run.components;
    let weights: Vec<Weight> = columns.values().map(|column| Weight::of(column)).collect();
    let total: f64 = sum(weights.iter().map(|weight| weight.absolute));
    columns
        .iter()
        .zip(&weights)
        .map(|((name, column), weight)| {
            let mut map = Map::new();
            let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
            let rows = column.len();
            put("name", name.as_str().into());
            put("mean", number((rows > 0).then(|| weight.sum / count(rows))));
            put("share", number((total > 0.0).then(|| weight.absolute / total)));
            put("coverage", number((rows > 0).then(|| count(weight.present) / count(rows))));
            put("n", size(rows));
            let means = encounter_means(run, column);
            let change = |(from, to): (usize, usize)| {
                let level = |place: usize| means.get(place).copied().flatten();
                number(level(from).zip(level(to)).map(|(before, after)| after - before))
            };
            put("delta", run.shifts().map(change).collect::<Vec<_>>().into());
            put("pair_delta", run.pairs().iter().map(|pair| change(pair.places)).collect::<Vec<_>>().into());
            if total <= 0.0 {
                put("reason", "zero_total".into());
            }
            map
        })
        .collect()
}

/// A component summed up.
struct Weight {
    sum: f64,
    /// The sum of the sizes.
    absolute: f64,
    /// The rows that have it.
    present: usize,
}

impl Weight {
    fn of(column: &[f64]) -> Self {
        let (mut total, mut absolute, mut rows) = (Sum::default(), Sum::default(), 0);
        for value in present(column) {
            total.add(value);
            absolute.add(value.abs());
            rows += 1;
        }
        Self { sum: total.value(), absolute: absolute.value(), present: rows }
    }
}

/// The component's values where a row has it.
fn present(column: &[f64]) -> impl Iterator<Item = f64> + '_ {
    column.iter().copied().filter(|value| value.is_finite())
}

/// The component's mean within each encounter.
fn encounter_means(run: &Analysis<'_>, column: &[f64]) -> Vec<Option<f64>> {
    let mean = |visit: &Encounter<'_>| {
        let rows = column.get(visit.span.rows.0..visit.span.rows.1).unwrap_or_default();
        (!rows.is_empty()).then(|| sum(present(rows)) / count(rows.len()))
    };
    run.encounters.iter().map(mean).collect()
}
