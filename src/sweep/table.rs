//! A sweep as a table: a row a trial, or one for all that differ in their seeds only.
//!
//! Rows come from the plan and the finished trials, so that a table is the same however often the
//! sweep was killed on the way to it.

use std::path::PathBuf;

use indexmap::IndexMap;

use super::best::is_repeats;
use super::directory::{Directory, Header};
use super::error::SweepError;
use super::outcome::Outcome;
use super::{Goal, flat};
use crate::eval::Bootstrap;
use crate::text::json;
use crate::value::{Map, Value};

/// What a table is asked for.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// The axis whose values are repeats, which rows are taken over; `None` has a row a trial.
    pub over: Option<String>,
    /// The column to sort by, and whether from the greatest; else the plan's order.
    pub sort: Option<(String, bool)>,
    /// Values that rows must have, by column, as text.
    pub only: Vec<(String, String)>,
    /// Which trials.
    pub scope: Scope,
}

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows, a cell for each column.
    pub rows: Vec<Vec<Value>>,
}

/// A finished trial.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// Its id.
    pub id: String,
    /// Its directory.
    pub path: PathBuf,
    /// Its axes' values, flat.
    pub axes: Map,
    /// Its metrics.
    pub metrics: Map,
    /// After how many steps a rule stopped it, if one did.
    pub stopped: Option<u64>,
    /// Whether it is part of the present plan.
    pub planned: bool,
}

/// Which finished trials are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// Those of the present plan.
    #[default]
    Plan,
    /// Those of earlier plans after them.
    All,
}

/// The finished trials in scope: the plan's in its order, then those of earlier plans by number.
///
/// # Errors
/// When a file of the sweep cannot be read.
pub fn finished(directory: &Directory, header: &Header, scope: Scope) -> Result<Vec<Finished>, SweepError> {
    let (names, metric) = (directory.units().finished()?, &header.definition.metric);
    let mut found = Vec::new();
    for trial in directory.plan()?.of(&header.totals) {
        let trial = trial?;
        let Some(name) = names.get(trial.unit().short()) else { continue };
        let outcome = directory.outcome(name, metric)?;
        found.push(Finished {
            id: trial.id,
            path: directory.units().home().join(name),
            axes: flat(&trial.point),
            metrics: outcome.metrics,
            stopped: outcome.stopped,
            planned: true,
        });
    }
    if scope == Scope::All {
        let earlier = directory.earlier();
        let mut names: Vec<String> = earlier.finished()?.into_values().collect();
        names.sort();
        for name in names {
            let path = earlier.home().join(&name);
            let outcome = Outcome::measured(&path, metric)?;
            found.push(Finished {
                id: name.split_once('-').map_or(&*name, |(id, _)| id).to_owned(),
                path,
                axes: flat(&outcome.point),
                metrics: outcome.metrics,
                stopped: outcome.stopped,
                planned: false,
            });
        }
    }
    Ok(found)
}

/// Finished trials that differ in nothing but the axis `over`, in the order of their first ones;
/// those of earlier plans by themselves.
#[must_use]
pub(crate) fn grouped(trials: Vec<Finished>, over: &str) -> Vec<(Map, Vec<Finished>)> {
    let mut groups: IndexMap<(bool, String), (Map, Vec<Finished>)> = IndexMap::new();
    for trial in trials {
        let mut axes = trial.axes.clone();
        axes.retain(|axis, _| !is_repeats(axis, over));
        let key = json::to_canonical(&Value::Map(axes.clone()));
        groups.entry((trial.planned, key)).or_insert_with(|| (axes, Vec::new())).1.push(trial);
    }
    groups.into_values().collect()
}

/// The metric over several trials: how many have it, its mean, and the mean's interval.
#[must_use]
pub(crate) fn summary(trials: &[Finished], metric: &str) -> (usize, Option<f64>, Option<(f64, f64)>) {
    let values: Vec<f64> = trials.iter().filter_map(|trial| trial.metrics.get(metric)?.as_float()).collect();
    (values.len(), super::mean(&values), Bootstrap::default().mean_of(&values))
}

/// The sweep's axes, those that a search met on its way among them.
pub(super) fn axes(header: &Header, trials: &[Finished]) -> Vec<String> {
    let mut axes = header.totals.axes.clone();
    for axis in trials.iter().flat_map(|trial| trial.axes.keys()) {
        if !axes.contains(axis) {
            axes.push(axis.clone());
        }
    }
    axes
}

/// The table of the sweep.
///
/// # Errors
/// When a file of the sweep cannot be read, or a column that is asked for is not there.
pub fn table(directory: &Directory, header: &Header, query: &Query) -> Result<Table, SweepError> {
    let trials = finished(directory, header, query.scope)?;
    let metric = &header.definition.metric;
    let axes = axes(header, &trials);
    let mut table = match &query.over {
        None => each(&axes, &trials, query.scope),
        Some(over) => {
            let kept: Vec<&String> = axes.iter().filter(|axis| !is_repeats(axis, over)).collect();
            let mut columns: Vec<String> = kept.iter().map(|axis| (*axis).clone()).collect();
            let plan = (query.scope == Scope::All).then_some(PLAN);
            for name in plan.into_iter().chain(["n", metric, &format!("{metric}_low"), &format!("{metric}_high")]) {
                add(&mut columns, &axes, name);
            }
            let rows = grouped(trials, over).into_iter().map(|(axes, trials)| {
                let (n, mean, interval) = summary(&trials, metric);
                let mut row: Vec<Value> =
                    kept.iter().map(|axis| axes.get(*axis).cloned().unwrap_or_default()).collect();
                row.extend(trials.first().filter(|_| query.scope == Scope::All).map(plan_of));
                row.push((n as u64).into());
                row.extend([mean, interval.map(|(low, _)| low), interval.map(|(_, high)| high)].map(Value::from));
                row
            });
            Table { columns, rows: rows.collect() }
        }
    };
    for (name, wanted) in &query.only {
        let place = column(&table, name)?;
        table.rows.retain(|row| row.get(place).is_some_and(|cell| is(cell, wanted)));
    }
    if let Some((name, descending)) = &query.sort {
        let place = column(&table, name)?;
        table.rows.sort_by(|one, other| order(one.get(place), other.get(place), *descending));
    }
    Ok(table)
}

/// The column that says to which plan a trial belongs.
const PLAN: &str = "plan";

fn plan_of(trial: &Finished) -> Value {
    if trial.planned { "present" } else { "earlier" }.into()
}

fn each(axes: &[String], trials: &[Finished], scope: Scope) -> Table {
    let mut metrics: Vec<String> = Vec::new();
    for name in trials.iter().flat_map(|trial| trial.metrics.keys()) {
        if !metrics.contains(name) {
            metrics.push(name.clone());
        }
    }
    let stopped = trials.iter().any(|trial| trial.stopped.is_some());
    let mut columns = Vec::new();
    add(&mut columns, axes, "trial");
    columns.extend(axes.iter().cloned());
    let plan = (scope == Scope::All).then_some(PLAN);
    let names = plan.into_iter().chain(metrics.iter().map(String::as_str)).chain(stopped.then_some("stopped"));
    names.for_each(|name| add(&mut columns, axes, name));
    let rows = trials.iter().map(|trial| {
        let mut row = vec![trial.id.as_str().into()];
        row.extend(axes.iter().map(|axis| trial.axes.get(axis).cloned().unwrap_or_default()));
        row.extend((scope == Scope::All).then(|| plan_of(trial)));
        row.extend(metrics.iter().map(|name| trial.metrics.get(name).cloned().unwrap_or_default()));
        row.extend(stopped.then(|| trial.stopped.into()));
        row
    });
    Table { columns, rows: rows.collect() }
}

fn column(table: &Table, name: &str) -> Result<usize, SweepError> {
    table.columns.iter().position(|column| column == name).ok_or_else(|| {
        let known = table.columns.iter().map(String::as_str);
        SweepError::Column { name: name.to_owned(), known: crate::suggest::hint(name, "there are", known) }
    })
}

/// Numbers by size, then texts; what is not there is last either way.
fn order(one: Option<&Value>, other: Option<&Value>, descending: bool) -> std::cmp::Ordering {
    let absent = |cell: Option<&Value>| cell.is_none_or(Value::is_null);
    let order = match (one.and_then(Value::as_float), other.and_then(Value::as_float)) {
        (Some(one), Some(other)) => one.total_cmp(&other),
        (Some(_), None) => std::cmp::Ordering::Less,
        (None, Some(_)) => std::cmp::Ordering::Greater,
        (None, None) => one.map(shown).cmp(&other.map(shown)),
    };
    absent(one).cmp(&absent(other)).then(if descending { order.reverse() } else { order })
}

/// Whether a cell is what was typed: as text, or by its size.
fn is(cell: &Value, typed: &str) -> bool {
    let number = || cell.as_float().zip(typed.trim().parse::<f64>().ok());
    shown(cell) == typed || number().is_some_and(|(cell, typed)| cell == typed)
}

/// A cell for people to read, numbers in six digits.
pub(super) fn rounded(cell: &Value) -> String {
    match cell {
        Value::Float(number) => crate::text::number::float_text(six_digits(*number)),
        other => one_line(&shown(other)),
    }
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r', '\t'], " ")
}

/// Adds a column that is called `name`, unless an axis or another column is called so.
fn add(columns: &mut Vec<String>, axes: &[String], name: &str) {
    let mut name = name.to_owned();
    while axes.contains(&name) || columns.contains(&name) {
        name.insert_str(0, "result.");
    }
    columns.push(name);
}

/// A cell as text.
#[must_use]
pub(crate) fn shown(cell: &Value) -> String {
    match cell {
        Value::Null => String::new(),
        Value::Text(text) => text.clone(),
        other => json::to_compact(other),
    }
}

/// The best of some groups by the mean of the metric, ties to the first.
#[must_use]
pub(crate) fn best<'a>(
    groups: &'a [(Map, Vec<Finished>)],
    metric: &str,
    goal: Goal,
) -> Option<&'a (Map, Vec<Finished>)> {
    let mut best: Option<(f64, &(Map, Vec<Finished>))> = None;
    for group in groups {
        let Some(mean) = summary(&group.1, metric).1 else { continue };
        if best.is_none_or(|(before, _)| goal.is_better(mean, before)) {
            best = Some((mean, group));
        }
    }
    best.map(|(_, group)| group)
}

impl Table {
    /// As text in columns, numbers in six digits.
    #[must_use]
    pub fn to_text(&self) -> String {
        let body = self.rows.iter().map(|row| row.iter().map(rounded).collect::<Vec<_>>());
        let lines: Vec<Vec<String>> =
            std::iter::once(self.columns.iter().map(|name| one_line(name)).collect()).chain(body).collect();
        let mut widths = vec![0; self.columns.len()];
        for line in &lines {
            for (width, cell) in widths.iter_mut().zip(line) {
                *width = cell.chars().count().max(*width);
            }
        }
        let mut text = String::new();
        for line in &lines {
            let cells = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}"));
            text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
            text.push('\n');
        }
        text
    }

    /// As a table of Markdown.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let cell = |value: &Value| rounded(value).replace('|', "\\|");
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let head = line(self.columns.iter().map(|name| one_line(name).replace('|', "\\|")).collect());
        let rule = line(self.columns.iter().map(|_| "---".to_owned()).collect());
        let rows = self.rows.iter().map(|row| line(row.iter().map(cell).collect()));
        [head, rule].into_iter().chain(rows).collect()
    }

    /// As JSON: a list of objects.
    #[must_use]
    pub fn to_json(&self) -> String {
        let row = |row: &Vec<Value>| Value::Map(self.columns.iter().cloned().zip(row.iter().cloned()).collect());
        json::to_string(&Value::List(self.rows.iter().map(row).collect())) + "\n"
    }
}

/// `number` rounded to six significant digits.
fn six_digits(number: f64) -> f64 {
    format!("{number:.5e}").parse().unwrap_or(number)
}
