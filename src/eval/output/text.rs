//! The report as text: a row a group, then a row a run where there are few, fitted to a width.
//! Every number shows over how many runs it was taken; what is undefined is a dash.

use super::cell::{self, Column};
use crate::eval::Report;
use crate::eval::compare::Comparison;

/// Beyond so many runs only groups are listed.
const MOST_RUNS: usize = 12;
/// Names longer than this are cut.
const LONGEST_NAME: usize = 40;
/// No table is narrower than this: a name and a number.
const NARROWEST: usize = 20;

/// `report` as text of at most `width` columns where columns can be dropped to fit; what is
/// dropped is named.
pub(super) fn render(report: &Report, width: usize) -> String {
    let width = width.max(NARROWEST);
    let all = cell::columns(report);
    let (shown, undefined): (Vec<Column>, Vec<Column>) =
        all.into_iter().partition(|column| cell::defined(report, column));
    let mut text = String::new();
    let mut narrow = table(&mut text, width, headings("group", &shown), groups(report, &shown));
    if report.runs.len() <= MOST_RUNS {
        text.push('\n');
        narrow = narrow.max(table(&mut text, width, headings("run", &shown), runs(report, &shown)));
    }
    for comparison in &report.comparisons {
        text.push('\n');
        comparison_table(&mut text, width, comparison, &shown);
    }
    text.push('\n');
    for verdict in &report.verdicts {
        let outcome = match verdict.holds {
            Some(true) => "holds",
            Some(false) => "does not hold",
            None => "is not decided",
        };
        let group = cell::name(&verdict.group, LONGEST_NAME);
        note(
            &mut text,
            width,
            &format!(
                "{} {outcome}: {group} has {}",
                verdict.condition,
                verdict.shown().unwrap_or_else(|| cell::UNDEFINED.to_owned())
            ),
        );
    }
    notes(&mut text, width, report, &undefined);
    if narrow > 0 {
        let left: Vec<&str> = shown.iter().rev().take(narrow).rev().map(|column| column.heading.as_str()).collect();
        let remark = format!(
            "left out of a table for want of width: {} (--metric NAME or --format csv shows them)",
            left.join(", ")
        );
        note(&mut text, width, &remark);
    }
    text
}

fn notes(text: &mut String, width: usize, report: &Report, undefined: &[Column]) {
    let window = report.settings.window.words();
    note(text, width, &format!("window {window}; a group's n is its runs, a run's n its rows"));
    if report.groups.iter().any(|group| group.n_runs() > 1) {
        let share = cell::number(report.settings.bootstrap.confidence * 100.0);
        note(text, width, &format!("[low, high] is the {share} % bootstrap interval of the mean over runs"));
    }
    if !undefined.is_empty() {
        let reasons =
            undefined.iter().map(|column| format!("{} ({})", column.heading, cell::reason(report, &column.metric)));
        note(text, width, &format!("not defined on any run: {}", reasons.collect::<Vec<_>>().join(", ")));
    }
}

fn headings(kind: &str, shown: &[Column]) -> Vec<String> {
    let fixed = [kind.to_owned(), "n".to_owned()];
    let headed = shown.iter().map(|column| match cell::arrow(column.direction) {
        "" => column.heading.clone(),
        arrow => format!("{}{arrow}", column.heading),
    });
    fixed.into_iter().chain(headed).collect()
}

fn groups(report: &Report, shown: &[Column]) -> Vec<Vec<String>> {
    let row = |group: &crate::eval::group::Group| {
        let cells = shown.iter().map(|column| {
            let summary = group.metrics.get(&column.metric);
            summary.map_or_else(|| cell::optional(None), |summary| cell::summary(summary, group.n_runs()))
        });
        [cell::name(&group.label(), LONGEST_NAME), group.n_runs().to_string()].into_iter().chain(cells).collect()
    };
    report.groups.iter().map(row).collect()
}

fn runs(report: &Report, shown: &[Column]) -> Vec<Vec<String>> {
    let row = |run: &crate::eval::RunReport| {
        let rows = run.detail("segments").filter_map(|segment| segment.get("rows")?.as_int()).sum::<i64>();
        let cells = shown.iter().map(|column| cell::optional(run.value(&column.metric)));
        [cell::name(&run.label(), LONGEST_NAME), rows.to_string()].into_iter().chain(cells).collect()
    };
    report.runs.iter().map(row).collect()
}

/// A row a metric: `a` less `b`.
fn comparison_table(text: &mut String, width: usize, comparison: &Comparison, shown: &[Column]) {
    let (a, b) = (cell::name(&comparison.a, LONGEST_NAME), cell::name(&comparison.b, LONGEST_NAME));
    note(text, width, &format!("a = {a}, b = {b}"));
    let headings = ["metric", "n", "a - b", "interval", "P(a > b)", "better"].map(str::to_owned).to_vec();
    let rows = shown.iter().filter_map(|column| {
        let contrast = comparison.metrics.get(&column.metric)?;
        let n = match contrast.n_pairs {
            Some(pairs) => format!("{pairs} pairs"),
            None => format!("{}, {}", contrast.n.0, contrast.n.1),
        };
        let interval = contrast.ci.map(|(low, high)| format!("[{}, {}]", cell::number(low), cell::number(high)));
        let better = contrast.better.as_ref().map(|better| if *better == comparison.a { "a" } else { "b" });
        Some(vec![
            column.heading.clone(),
            n,
            cell::optional(contrast.difference),
            interval.unwrap_or_else(|| cell::optional(None)),
            cell::optional(contrast.p_greater),
            better.unwrap_or("").to_owned(),
        ])
    });
    table(text, width, headings, rows.collect());
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

/// A table. Its last columns give way to the width, then its names; how many columns did is
/// returned.
fn table(text: &mut String, width: usize, headings: Vec<String>, rows: Vec<Vec<String>>) -> usize {
    const GAP: usize = 2;
    let mut columns: Vec<Vec<String>> = headings.into_iter().map(|heading| vec![heading]).collect();
    for row in rows {
        for (column, cell) in columns.iter_mut().zip(row) {
            column.push(cell);
        }
    }
    let all = columns.len();
    let breadth = |column: &Vec<String>| column.iter().map(|cell| cell.chars().count()).max().unwrap_or(0);
    let total = |columns: &[Vec<String>]| columns.iter().map(|column| breadth(column) + GAP).sum::<usize>() - GAP;
    while columns.len() > 3 && total(&columns) > width {
        columns.pop();
    }
    let excess = total(&columns).saturating_sub(width);
    if let Some(names) = columns.first_mut().filter(|_| excess > 0) {
        let most = breadth(names).saturating_sub(excess).max(4);
        names.iter_mut().for_each(|text| *text = cell::name(text, most));
    }
    let breadths: Vec<usize> = columns.iter().map(breadth).collect();
    for line in 0..columns.first().map_or(0, Vec::len) {
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
