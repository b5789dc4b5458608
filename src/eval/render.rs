//! The report as text: a row a group, then a row a run where there are few, fitted to a width.
//! Every number shows over how many runs it was taken; what is undefined is a dash.

use super::Report;
use super::group::{Group, Summary};
use super::report::RunReport;

/// The columns: heading, metric, decimals.
const COLUMNS: [(&str, &str, usize); 7] = [
    ("reward/step", "mean_reward", 4),
    ("forgetting", "forgetting", 4),
    ("adaptation", "adaptation_rows", 0),
    ("recovery", "recovery_rows", 0),
    ("worst regime", "worst_regime", 4),
    ("invalid", "invalid_action_rate", 4),
    ("rank change", "erank_change", 3),
];

/// Beyond so many runs only groups are listed.
const MOST_RUNS: usize = 12;
/// Names longer than this are cut.
const LONGEST_NAME: usize = 40;

/// `report` as text of at most `width` columns where the columns can be dropped to fit.
#[must_use]
pub fn render(report: &Report, width: usize) -> String {
    let mut text = String::new();
    table(
        &mut text,
        width,
        "group",
        report.groups.iter().map(|group| (group.label(), group.n_runs, group_cells(group))).collect(),
    );
    if report.runs.len() <= MOST_RUNS {
        text.push('\n');
        let rows = report.runs.iter().map(|run| (run.label(), rows(run), run_cells(run))).collect();
        table(&mut text, width, "run", rows);
    }
    text.push_str(&format!(
        "\nwindow {}; a group's n is its runs, a run's n its rows; [low, high] is the 95 % bootstrap interval of the mean\n",
        match report.settings.window {
            super::Window::Rows(rows) => format!("{rows} rows"),
            super::Window::Percent(percent) => format!("{percent}%"),
        }
    ));
    text
}

fn rows(run: &RunReport) -> usize {
    run.metrics.get("n_steps").map_or(0, |(_, outcome)| outcome.n)
}

fn group_cells(group: &Group) -> Vec<String> {
    COLUMNS
        .iter()
        .map(|(_, metric, decimals)| {
            group.metrics.get(metric).map_or_else(dash, |summary| summarised(summary, group.n_runs, *decimals))
        })
        .collect()
}

/// `mean [low, high]`, and over how many runs where not over all.
fn summarised(summary: &Summary, runs: usize, decimals: usize) -> String {
    let Some(mean) = summary.mean else { return dash() };
    let mut cell = fixed(mean, decimals);
    if let Some((low, high)) = summary.ci {
        cell.push_str(&format!(" [{}, {}]", fixed(low, decimals), fixed(high, decimals)));
    }
    if summary.n < runs {
        cell.push_str(&format!(" ({} of {runs})", summary.n));
    }
    cell
}

fn run_cells(run: &RunReport) -> Vec<String> {
    COLUMNS
        .iter()
        .map(|(_, metric, decimals)| run.value(metric).map_or_else(dash, |value| fixed(value, *decimals)))
        .collect()
}

fn dash() -> String {
    "\u{2014}".to_owned()
}

fn fixed(value: f64, decimals: usize) -> String {
    format!("{value:.decimals$}")
}

/// A table with a heading; columns that are all dashes, then the last ones, give way to the width.
fn table(text: &mut String, width: usize, kind: &str, rows: Vec<(String, usize, Vec<String>)>) {
    let mut columns: Vec<Vec<String>> = vec![vec![kind.to_owned()], vec!["n".to_owned()]];
    columns.extend(COLUMNS.iter().map(|(heading, ..)| vec![(*heading).to_owned()]));
    for (name, n, cells) in rows {
        let row = [shortened(&name), n.to_string()].into_iter().chain(cells);
        for (column, cell) in columns.iter_mut().zip(row) {
            column.push(cell);
        }
    }
    columns.retain(|column| column.iter().skip(1).any(|cell| *cell != dash()));
    let breadth = |column: &Vec<String>| column.iter().map(|cell| cell.chars().count()).max().unwrap_or(0);
    while columns.len() > 3 && columns.iter().map(|column| breadth(column) + 2).sum::<usize>() > width + 2 {
        columns.pop();
    }
    let breadths: Vec<usize> = columns.iter().map(breadth).collect();
    let height = columns.first().map_or(0, Vec::len);
    for line in 0..height {
        let cells = columns.iter().zip(&breadths).enumerate().map(|(index, (column, breadth))| {
            let cell = column.get(line).map_or("", String::as_str);
            let pad = " ".repeat(breadth - cell.chars().count());
            if index == 0 { format!("{cell}{pad}") } else { format!("{pad}{cell}") }
        });
        let joined = cells.collect::<Vec<_>>().join("  ");
        text.push_str(joined.trim_end());
        text.push('\n');
    }
}

/// `name` on one line, cut where it is too long; control characters do not reach a terminal.
fn shortened(name: &str) -> String {
    let plain: String = name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if plain.chars().count() <= LONGEST_NAME {
        return plain;
    }
    plain.chars().take(LONGEST_NAME - 1).chain(['\u{2026}']).collect()
}
