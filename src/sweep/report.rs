//! A sweep as one HTML page: what it was, its table, and what its axes do to the metric.

use super::directory::{Directory, Header};
use super::error::SweepError;
use super::table::{self, Finished, Query, Scope, shown};
use super::{Goal, describe};
use crate::eval::output::{Block, document};
use crate::eval::plot::sweep::{Dimension, against, importance, parallel};
use crate::value::Value;

/// More rows than this are left out of the page's table.
const MOST_ROWS: usize = 200;
/// An axis of more different numbers than this is cut into [`PARTS`] for its importance.
const MOST_VALUES: usize = 8;
const PARTS: usize = 5;

/// The page of the sweep; trials that differ in the axis `over` only are repeats.
///
/// # Errors
/// When a file of the sweep cannot be read.
pub fn report(directory: &Directory, header: &Header, over: &str, scope: Scope) -> Result<String, SweepError> {
    let trials = table::finished(directory, header, scope)?;
    let definition = &header.definition;
    let (metric, higher) = (dimension(&trials, &definition.metric, true), definition.goal == Goal::Maximize);
    let names = table::axes(header, &trials);
    let axes: Vec<Dimension> =
        names.iter().map(|name| dimension(&trials, name, false)).filter(|axis| different(axis) > 1).collect();
    let sort = Some((definition.metric.clone(), higher));
    let ranked = Query { over: Some(over.to_owned()), sort, only: Vec::new(), scope };
    let ranked = table::table(directory, header, &ranked)?;
    let mut blocks = vec![
        Block::Paragraph(format!(
            "{} of {} trials finished; {} is to be as {} as possible.",
            trials.len(),
            header.totals.trials,
            definition.metric,
            if higher { "high" } else { "low" }
        )),
        Block::Heading("Results".to_owned()),
    ];
    if let Some((axes, repeats)) =
        table::best(&table::grouped(trials.clone(), over), &definition.metric, definition.goal)
    {
        let mean = table::summary(repeats, &definition.metric).1.unwrap_or(f64::NAN);
        blocks.push(Block::Paragraph(format!(
            "Best: {} with {mean:.6} over {} trials.",
            describe(axes),
            repeats.len()
        )));
    }
    let shown = |cell: &Value| if cell.is_null() { "\u{2014}".to_owned() } else { table::rounded(cell) };
    let rows = ranked.rows.iter().take(MOST_ROWS).map(|row| row.iter().map(shown).collect());
    blocks.push(Block::Table(ranked.columns.clone(), rows.collect()));
    if ranked.rows.len() > MOST_ROWS {
        let more = ranked.rows.len() - MOST_ROWS;
        blocks.push(Block::Paragraph(format!("{more} more rows; `skyfall sweep table` has them.")));
    }
    if !axes.is_empty() {
        blocks.push(Block::Heading("Axes".to_owned()));
        blocks.push(Block::Figure(parallel(&axes, &metric, higher)));
        let shares: Vec<_> = axes.iter().map(|axis| (axis.name.clone(), share(axis, &metric))).collect();
        blocks.push(Block::Figure(importance(&shares)));
        blocks.extend(axes.iter().map(|axis| Block::Figure(against(axis, &metric))));
    }
    Ok(document(&format!("Sweep {}", definition.name), &blocks))
}

/// An axis or a metric of the trials: by number where all its values are numbers, else by name.
fn dimension(trials: &[Finished], name: &str, metric: bool) -> Dimension {
    let cell = |trial: &Finished| {
        let values = if metric { &trial.metrics } else { &trial.axes };
        values.get(name).filter(|value| !value.is_null()).cloned()
    };
    let cells: Vec<Option<Value>> = trials.iter().map(cell).collect();
    if cells.iter().flatten().all(|value| value.as_float().is_some()) {
        let number = |value: &Value| value.as_float().filter(|number| number.is_finite());
        let places = cells.iter().map(|value| value.as_ref().and_then(number)).collect();
        return Dimension { name: name.to_owned(), places, names: None };
    }
    let mut names: Vec<String> = Vec::new();
    let mut place = |value: &Value| {
        let value = shown(value);
        let place = names.iter().position(|known| *known == value).unwrap_or_else(|| {
            names.push(value);
            names.len() - 1
        });
        #[expect(clippy::cast_precision_loss, reason = "a count of names")]
        let place = place as f64;
        place
    };
    let places = cells.iter().map(|value| value.as_ref().map(&mut place)).collect();
    Dimension { name: name.to_owned(), places, names: Some(names) }
}

fn different(axis: &Dimension) -> usize {
    let mut bits: Vec<u64> = axis.places.iter().map(|place| place.map_or(u64::MAX, f64::to_bits)).collect();
    bits.sort_unstable();
    bits.dedup();
    bits.len()
}

/// The share of the metric's variance that an axis explains by itself: omega squared (Hays 1963),
/// from 0 to 1; `None` where no two trials share a value.
fn share(axis: &Dimension, metric: &Dimension) -> Option<f64> {
    let pairs = axis.places.iter().zip(&metric.places);
    let mut pairs: Vec<(Option<f64>, f64)> = pairs.filter_map(|(place, value)| Some((*place, (*value)?))).collect();
    pairs.sort_by(|one, other| match (one.0, other.0) {
        (Some(one), Some(other)) => one.total_cmp(&other),
        (one, other) => one.is_some().cmp(&other.is_some()),
    });
    let whole = axis.names.is_none() && different(axis) > MOST_VALUES;
    let groups: Vec<&[(Option<f64>, f64)]> = if whole {
        pairs.chunks(pairs.len().div_ceil(PARTS).max(1)).collect()
    } else {
        pairs.chunk_by(|one, other| one.0.map(f64::to_bits) == other.0.map(f64::to_bits)).collect()
    };
    #[expect(clippy::cast_precision_loss, reason = "counts of trials")]
    let (n, k) = (pairs.len() as f64, groups.len() as f64);
    if k < 2.0 || n <= k {
        return None;
    }
    let mean = |group: &[(Option<f64>, f64)]| {
        #[expect(clippy::cast_precision_loss, reason = "a count of trials")]
        let count = group.len() as f64;
        group.iter().map(|(_, value)| value).sum::<f64>() / count
    };
    let squares =
        |group: &[(Option<f64>, f64)], about: f64| group.iter().map(|(_, value)| (value - about).powi(2)).sum::<f64>();
    let total = squares(&pairs, mean(&pairs));
    let within: f64 = groups.iter().map(|group| squares(group, mean(group))).sum();
    let error = within / (n - k);
    let share = (total - within - (k - 1.0) * error) / (total + error);
    share.is_finite().then(|| share.clamp(0.0, 1.0))
}
