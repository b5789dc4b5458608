//! The report as one HTML file: no network, no script, light and dark.
//!
//! Everything is a table that stands without style. Labels pass through [`page::text`], which
//! makes them text and nothing else. The whole tree travels along as a data block. Long lists are
//! cut and say so; the numbers are always of all rows.

mod page;
mod plain;
mod run;

use super::cell::{self, Column};
use crate::eval::Report;
use crate::eval::metrics::Measure;
use crate::eval::plot;
use crate::text::json;
use crate::value::Value;
use page::{Page, prose, text};
pub(crate) use plain::{Block, document};

/// The page's looks.
const STYLE: &str = include_str!("html/style.css");
/// A data block of more bytes than this is left out: the page must open at once.
const LARGEST_DATA: usize = 2 << 20;
/// At most so many runs are shown one by one.
const MOST_RUNS: usize = 200;

/// `1 run`, `2 runs`.
fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// `report` as an HTML page.
pub(super) fn render(report: &Report) -> String {
    let mut page = Page::titled("Evaluation", &(STYLE.to_owned() + &plot::page_style()));
    let rows: u64 = report.inputs.iter().map(|input| input.rows).sum();
    page.heading(1, "Evaluation");
    page.paragraph(&format!(
        "{} in {}, {} from {}. Window {}; intervals hold {} % of {} bootstrap resamples.",
        counted(report.runs.len() as u64, "run"),
        counted(report.groups.len() as u64, "group"),
        counted(rows, "row"),
        counted(report.inputs.len() as u64, "file"),
        report.settings.window.words(),
        cell::number(report.settings.bootstrap.confidence * 100.0),
        report.settings.bootstrap.reps,
    ));
    warnings(&mut page, report);
    conditions(&mut page, report);
    page.heading(2, "Groups");
    let columns = cell::columns(report);
    groups(&mut page, report, &columns);
    comparisons(&mut page, report, &columns);
    for figure in plot::of_all(report) {
        page.figure(&figure.inline(), &prose(&figure.caption));
    }
    all_metrics(&mut page, report);
    page.heading(2, "Runs");
    if report.drawing.is_some() && report.runs.len() > plot::MOST_RUNS {
        page.paragraph(&format!("The first {} runs have figures of their own.", plot::MOST_RUNS));
    }
    for place in 0..report.runs.len().min(MOST_RUNS) {
        run::run(&mut page, report, place);
    }
    if report.runs.len() > MOST_RUNS {
        let more = report.runs.len() - MOST_RUNS;
        page.paragraph(&format!("{more} more runs are not shown one by one; runs.csv has them."));
    }
    inputs(&mut page, report);
    data(&mut page, report);
    page.finish()
}

fn warnings(page: &mut Page, report: &Report) {
    if report.warnings.is_empty() {
        return;
    }
    page.heading(2, "Warnings");
    let rows = report.warnings.iter().map(|warning| {
        let line = warning.line.map(|line| format!(":{line}")).unwrap_or_default();
        let place = warning.file.as_ref().map(|file| text(&(file.clone() + &line)));
        let place = place.unwrap_or_else(|| cell::UNDEFINED.to_owned());
        vec![text(warning.code), prose(&warning.message), place, warning.count.to_string()]
    });
    page.table(&["code", "what", "where", "times"], rows);
}

fn conditions(page: &mut Page, report: &Report) {
    if report.verdicts.is_empty() {
        return;
    }
    page.heading(2, "Conditions");
    let rows = report.verdicts.iter().map(|verdict| {
        let outcome = match verdict.holds {
            Some(true) => "holds",
            Some(false) => "does not hold",
            None => "undecided",
        };
        let value = verdict.shown().unwrap_or_else(|| cell::UNDEFINED.to_owned());
        vec![text(&verdict.condition.text), text(&verdict.group), value, outcome.to_owned()]
    });
    page.table(&["condition", "group", "value", "outcome"], rows);
}

fn groups(page: &mut Page, report: &Report, columns: &[Column]) {
    let headings = columns.iter().map(|column| format!("{} {}", column.heading, cell::arrow(column.direction)));
    let headings: Vec<String> = ["group", "n"].into_iter().map(str::to_owned).chain(headings).collect();
    let rows = report.groups.iter().map(|group| {
        let cells = columns.iter().map(|column| {
            let summary = group.metrics.get(&column.metric);
            summary.map_or_else(|| cell::optional(None), |summary| cell::summary(summary, group.n_runs()))
        });
        [text(&group.label()), group.n_runs().to_string()].into_iter().chain(cells).collect()
    });
    page.table(&headings.iter().map(String::as_str).collect::<Vec<_>>(), rows);
}

fn comparisons(page: &mut Page, report: &Report, columns: &[Column]) {
    for comparison in &report.comparisons {
        page.heading(2, &format!("{} against {}", text(&comparison.a), text(&comparison.b)));
        let rows = columns.iter().filter_map(|column| {
            let contrast = comparison.metrics.get(&column.metric)?;
            let interval = contrast.ci.map(|(low, high)| format!("[{}, {}]", cell::number(low), cell::number(high)));
            let n = match contrast.n_pairs {
                Some(pairs) => format!("{pairs} pairs"),
                None => format!("{} / {}", contrast.n.0, contrast.n.1),
            };
            Some(vec![
                column.heading.clone(),
                cell::optional(contrast.difference),
                interval.unwrap_or_else(|| cell::optional(None)),
                cell::optional(contrast.p_greater),
                contrast.better.as_deref().map(text).unwrap_or_default(),
                n,
            ])
        });
        page.table(&["metric", "difference", "interval", "P(first &gt; second)", "better", "n"], rows);
    }
}

/// Every metric over the runs of each group, with what it says.
fn all_metrics(page: &mut Page, report: &Report) {
    page.heading(2, "All metrics");
    for group in &report.groups {
        page.open_details(&text(&group.label()));
        let rows = group.metrics.iter().map(|(name, summary)| {
            let measure: Option<&Measure> = report.measures.get(name);
            let arrow = measure.map_or("", |measure| cell::arrow(measure.direction));
            let value = match summary.mean {
                Some(_) => cell::summary(summary, group.n_runs()),
                None => format!("{} {}", cell::UNDEFINED, text(cell::reason(report, name))),
            };
            vec![
                format!("{} {arrow}", text(name)),
                value,
                cell::optional(summary.median),
                cell::optional(summary.iqm),
                format!("{} of {}", summary.n, group.n_runs()),
                measure.map(|measure| text(&measure.unit)).unwrap_or_default(),
                measure.map(|measure| prose(&measure.about)).unwrap_or_default(),
            ]
        });
        page.table(&["metric", "mean [interval]", "median", "IQM", "runs", "unit", "what it says"], rows);
        page.close_details();
    }
}

fn inputs(page: &mut Page, report: &Report) {
    page.heading(2, "Inputs and settings");
    page.open_details(&format!("{} files", report.inputs.len()));
    let rows = report
        .inputs
        .iter()
        .map(|input| vec![text(&input.path), input.rows.to_string(), input.skipped.to_string(), text(&input.sha256)]);
    page.table(&["file", "rows", "skipped", "SHA-256"], rows);
    page.close_details();
    page.open_details("Settings");
    let rows = report.settings.to_value().into_iter().map(|(key, value)| {
        let shown = match &value {
            Value::Text(value) => value.clone(),
            value => json::to_string(value),
        };
        vec![text(&key), prose(&shown)]
    });
    page.table(&["setting", "value"], rows);
    page.close_details();
}

/// The tree, for programs that are given the page.
fn data(page: &mut Page, report: &Report) {
    let tree = json::to_string(&report.to_value());
    if tree.len() <= LARGEST_DATA {
        page.data(&tree);
    } else {
        page.paragraph("The data block is left out for its size; --format json has it.");
    }
}
