//! The report as text: a row a group, then a row a run where there are few, fitted to a width.
//! Every number shows over how many runs it was taken; what is undefined is a dash.

use super::group::{Group, Summary};
use super::report::RunReport;
use super::{Report, Window};

/// A column: heading, metric, decimals.
type Column = (&'static str, &'static str, usize);

/// The columns, the most wanted first.
const COLUMNS: [Column; 7] = [
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

/// `report` as text of at most `width` columns where the columns can be dropped to fit; what is
/// dropped is named.
#[must_use]
pub fn render(report: &Report, width: usize) -> String {
    let defined = |metric: &str| report.runs.iter().any(|run| run.value(metric).is_some());
    let shown: Vec<Column> = COLUMNS.into_iter().filter(|(_, metric, _)| defined(metric)).collect();
    let mut text = String::new();
    let rows = report.groups.iter().map(|group| (group.label(), group.n_runs, group_cells(group, &shown))).collect();
    let mut narrow = table(&mut text, width, "group", &shown, rows);
    if report.runs.len() <= MOST_RUNS {
        text.push('\n');
        let rows = report.runs.iter().map(|run| (run.label(), steps(run), run_cells(run, &shown))).collect();
        narrow = narrow.max(table(&mut text, width, "run", &shown, rows));
    }
    let window = match report.settings.window {
        Window::Rows(rows) => format!("{rows} rows"),
        Window::Percent(percent) => format!("{percent}%"),
    };
    text.push('\n');
    note(&mut text, width, &format!("window {window}; a group's n is its runs, a run's n its rows"));
    if report.groups.iter().any(|group| group.n_runs > 1) {
        note(&mut text, width, "[low, high] is the 95 % bootstrap interval of the mean over runs");
    }
    let undefined: Vec<String> = COLUMNS
        .iter()
        .filter(|(_, metric, _)| !defined(metric))
        .map(|(heading, metric, _)| format!("{heading} ({})", reason(report, metric)))
        .collect();
    if !undefined.is_empty() {
        note(&mut text, width, &format!("not defined on any run: {}", undefined.join(", ")));
    }
    if narrow > 0 {
        let left: Vec<&str> = shown.iter().rev().take(narrow).rev().map(|(heading, ..)| *heading).collect();
        note(&mut text, width, &format!("left out of a table for want of width: {}", left.join(", ")));
    }
    text
}

/// Why a metric has no value, by the first run.
fn reason(report: &Report, metric: &str) -> &'static str {
    report.runs.first().and_then(|run| run.metrics.get(metric)?.1.reason).unwrap_or("undefined")
}

/// A line of remarks, broken between words at `width`.
fn note(text: &mut String, width: usize, remark: &str) {
    let mut used = 0;
    for word in remark.split(' ') {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > width {
            text.push_str("\n  ");
            used = 2;
        } else if used > 0 {
            text.push(' ');
            used += 1;
        }
        text.push_str(word);
        used += length;
    }
    text.push('\n');
}

fn steps(run: &RunReport) -> usize {
    run.metrics.get("n_steps").map_or(0, |(_, outcome)| outcome.n)
}

fn group_cells(group: &Group, columns: &[Column]) -> Vec<String> {
    columns
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

fn run_cells(run: &RunReport, columns: &[Column]) -> Vec<String> {
    columns
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

/// A table with a heading. Its last columns give way to the width; how many did is returned.
fn table(
    text: &mut String,
    width: usize,
    kind: &str,
    shown: &[Column],
    rows: Vec<(String, usize, Vec<String>)>,
) -> usize {
    let mut columns: Vec<Vec<String>> = vec![vec![kind.to_owned()], vec!["n".to_owned()]];
    columns.extend(shown.iter().map(|(heading, ..)| vec![(*heading).to_owned()]));
    for (name, n, cells) in rows {
        let row = [shortened(&name), n.to_string()].into_iter().chain(cells);
        for (column, cell) in columns.iter_mut().zip(row) {
            column.push(cell);
        }
    }
    let all = columns.len();
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
    all - columns.len()
}

/// `name` on one line, cut where it is too long. Characters that would move a terminal's cursor or
/// turn the direction of its text are replaced.
fn shortened(name: &str) -> String {
    let moves = |c: char| {
        c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let plain: String = name.chars().map(|c| if moves(c) { '\u{fffd}' } else { c }).collect();
    if plain.chars().count() <= LONGEST_NAME {
        return plain;
    }
    plain.chars().take(LONGEST_NAME - 1).chain(['\u{2026}']).collect()
}
