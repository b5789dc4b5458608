//! One run on the page: its numbers, encounters, revisits, components, frozen matrix.

use super::page::{Page, prose, text};
use crate::eval::output::cell;
use crate::eval::plot;
use crate::eval::{Report, RunReport};
use crate::value::{Map, Value};

/// At most so many rows of a list are shown.
const MOST_ROWS: usize = 100;

/// The run at `place` in the report.
pub(super) fn run(page: &mut Page, report: &Report, place: usize) {
    let Some(run) = report.runs.get(place) else { return };
    let figures = plot::of_run(report, place);
    // One run alone is what the page is about.
    let open = report.runs.len() == 1;
    page.open_details_if(open, &text(&run.label()));
    for figure in &figures {
        page.figure(&figure.inline(), &prose(&figure.caption));
    }
    let rows = run.metrics.iter().map(|(name, outcome)| {
        let unit = report.measures.get(name).map(|measure| text(&measure.unit)).unwrap_or_default();
        let mut remark = outcome.reason.as_deref().map(text).unwrap_or_default();
        if let Some(censored) = outcome.n_censored.filter(|censored| *censored > 0) {
            remark.push_str(&format!(" {censored} never got there"));
        }
        vec![text(name), cell::optional(run.value(name)), outcome.n.to_string(), unit, remark]
    });
    page.table(&["metric", "value", "n", "unit", "remark"], rows);
    list(
        page,
        run,
        "encounters",
        &["regime", "first_step", "last_step", "n", "w", "entry", "exit", "mean", "adaptation_rows"],
    );
    list(page, run, "pairs", &["regime", "forgetting", "retention", "jumpstart", "recovery_rows", "censored_at"]);
    list(page, run, "components", &["name", "mean", "share", "coverage"]);
    frozen(page, run);
    page.close_details();
}

/// A list beside the metrics, if it has entries.
fn list(page: &mut Page, run: &RunReport, name: &str, columns: &[&str]) {
    let n = run.detail(name).count();
    if n == 0 {
        return;
    }
    page.heading(3, name);
    let row = |entry: &Map| columns.iter().map(|column| shown(entry.get(*column))).collect();
    page.table(columns, run.detail(name).take(MOST_ROWS).map(row));
    if n > MOST_ROWS {
        page.paragraph(&format!("{} more; {name}.csv has them.", n - MOST_ROWS));
    }
}

fn shown(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => cell::UNDEFINED.to_owned(),
        Some(Value::Int(value)) => value.to_string(),
        Some(Value::Float(value)) => cell::number(*value),
        Some(Value::Text(value)) => text(value),
        Some(other) => text(&crate::text::json::to_string(other)),
    }
}

/// The matrix R: a row a checkpoint, a column a regime.
fn frozen(page: &mut Page, run: &RunReport) {
    let Some(frozen) = run.frozen() else { return };
    let list = |key: &str| frozen.get(key).and_then(Value::as_list).unwrap_or_default();
    page.heading(3, "frozen performance");
    let regimes = list("regimes").iter().filter_map(Value::as_text).map(text);
    let headings: Vec<String> = std::iter::once("checkpoint".to_owned()).chain(regimes).collect();
    let rows = list("checkpoints").iter().zip(list("performance")).map(|(checkpoint, row)| {
        let name = checkpoint.as_int().map_or_else(|| "final".to_owned(), |step| step.to_string());
        let cells = row.as_list().unwrap_or_default().iter().map(|cell| shown(Some(cell)));
        std::iter::once(name).chain(cells).collect()
    });
    page.table(&headings.iter().map(String::as_str).collect::<Vec<_>>(), rows);
}
