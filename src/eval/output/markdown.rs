//! The report as Markdown: the group table of a paper, best values in bold, then notes.

use super::cell::{self, Column};
use crate::eval::Report;
use crate::eval::group::{Group, Summary};
use crate::eval::metrics::Direction;

/// Names longer than this are cut.
const LONGEST_NAME: usize = 80;

/// `report` as Markdown.
pub(super) fn render(report: &Report) -> String {
    let columns = cell::columns(report);
    let mut text = String::new();
    let headings = columns.iter().map(|column| format!("{} {}", column.heading, cell::arrow(column.direction)));
    let headings: Vec<String> = headings.map(|heading| heading.trim_end().replace('_', "\\_")).collect();
    line(&mut text, ["group".to_owned(), "n".to_owned()].iter().chain(&headings));
    line(&mut text, std::iter::repeat_n(&"---".to_owned(), columns.len() + 2));
    let best: Vec<Option<f64>> = columns.iter().map(|column| best(report, column)).collect();
    for group in &report.groups {
        let cells = columns.iter().zip(&best).map(|(column, best)| {
            let summary = group.metrics.get(&column.metric);
            summary.map_or_else(|| cell::optional(None), |summary| value(summary, group, *best))
        });
        let fixed = [escaped(&group.label()), group.n_runs().to_string()];
        line(&mut text, fixed.into_iter().chain(cells).collect::<Vec<_>>().iter());
    }
    text.push('\n');
    for comparison in &report.comparisons {
        text.push_str(&format!("{} against {}:\n\n", escaped(&comparison.a), escaped(&comparison.b)));
        let headings = ["metric", "difference", "P(first > second)", "n"].map(str::to_owned);
        line(&mut text, &headings);
        line(&mut text, std::iter::repeat_n(&"---".to_owned(), headings.len()));
        for column in &columns {
            let Some(contrast) = comparison.metrics.get(&column.metric) else { continue };
            let interval = contrast.ci.map(|(low, high)| format!(" [{}, {}]", cell::number(low), cell::number(high)));
            let difference = cell::optional(contrast.difference) + &interval.unwrap_or_default();
            let n = match contrast.n_pairs {
                Some(pairs) => format!("{pairs} pairs"),
                None => format!("{} / {}", contrast.n.0, contrast.n.1),
            };
            let bold = if contrast.better.is_some() { format!("**{difference}**") } else { difference };
            let heading = column.heading.replace('_', "\\_");
            line(&mut text, &[heading, bold, cell::optional(contrast.p_greater), n]);
        }
        text.push('\n');
    }
    notes(&mut text, report, &columns);
    text
}

/// The best mean of a column, where there are several to choose from.
fn best(report: &Report, column: &Column) -> Option<f64> {
    let means = report.groups.iter().filter_map(|group| group.metrics.get(&column.metric)?.mean);
    let means: Vec<f64> = means.collect();
    let best = match column.direction {
        Direction::Higher => means.iter().copied().reduce(f64::max),
        Direction::Lower => means.iter().copied().reduce(f64::min),
        Direction::Neutral => None,
    };
    best.filter(|_| means.len() > 1)
}

fn value(summary: &Summary, group: &Group, best: Option<f64>) -> String {
    let text = cell::summary(summary, group.n_runs());
    let is_best = summary.mean.zip(best).is_some_and(|(mean, best)| mean.to_bits() == best.to_bits());
    if is_best { format!("**{text}**") } else { text }
}

fn notes(text: &mut String, report: &Report, columns: &[Column]) {
    let share = cell::number(report.settings.bootstrap.confidence * 100.0);
    let window = report.settings.window.words();
    let mut note = |remark: String| text.push_str(&format!("* {remark}\n"));
    note(format!("Mean over runs [{share} % bootstrap interval]; window {window}; n is the number of runs."));
    for column in columns {
        let heading = column.heading.replace('_', "\\_");
        if !cell::defined(report, column) {
            let reason = cell::reason(report, &column.metric);
            note(format!("{heading}: not defined on any run ({}).", escaped(reason)));
        }
        let outcomes = report.runs.iter().filter_map(|run| run.metrics.get(&column.metric)?.n_censored);
        let censored: usize = outcomes.sum();
        if censored > 0 {
            note(format!("{heading}: {censored} visits never got there and have no value."));
        }
    }
    for warning in &report.warnings {
        note(format!("{} ({})", sentence(&warning.message), warning.code.replace('_', "\\_")));
    }
}

fn line<'a>(text: &mut String, cells: impl IntoIterator<Item = &'a String>) {
    for cell in cells {
        text.push_str("| ");
        text.push_str(cell);
        text.push(' ');
    }
    text.push_str("|\n");
}

/// Text as Markdown shows it: no markup, no HTML, no second line.
fn escaped(text: &str) -> String {
    sentence(&cell::name(text, LONGEST_NAME))
}

fn sentence(text: &str) -> String {
    let mut escaped = String::new();
    for c in cell::name(text, usize::MAX).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '$' | '!' => escaped.extend(['\\', c]),
            c => escaped.push(c),
        }
    }
    escaped
}
