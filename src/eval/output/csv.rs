//! The report as tidy CSV files: one observation a row, the same columns whatever the traces held.
//!
//! RFC 4180 with LF: a header even without rows, `.` for decimals, an empty cell where nothing is
//! defined. Text that a spreadsheet would take for a formula gets an apostrophe in front; numbers
//! stay numbers.

use crate::eval::metrics::Measure;
use crate::eval::{Report, RunReport};
use crate::text::json;
use crate::value::{Map, Value};

/// The columns that say which run a row is about.
const IDENTITY: [&str; 6] = ["run_id", "seed", "policy_id", "task", "algorithm_id", "file"];
const LEVELS: [&str; 19] = [
    "regime",
    "labels",
    "first_row",
    "rows",
    "first_step",
    "last_step",
    "n",
    "w",
    "entry",
    "exit",
    "gain",
    "mean",
    "sd",
    "min",
    "max",
    "adaptation_rows",
    "threshold_rows",
    "invalid_action_rate",
    "entry_invalid_action_rate",
];
const PAIRS: [&str; 13] = [
    "regime",
    "encounters",
    "first",
    "second",
    "forgetting",
    "forgetting_max",
    "forgetting_norm",
    "retention",
    "jumpstart",
    "asymptote_gain",
    "stability_gap",
    "recovery_rows",
    "censored_at",
];
const SHIFTS: [&str; 4] = ["step", "from", "to", "drop"];
const COMPONENTS: [&str; 6] = ["name", "mean", "share", "coverage", "n", "reason"];
const SUMMARIES: [&str; 6] = ["mean", "sd", "median", "iqm", "min", "max"];

/// The files, by name.
pub(super) fn files(report: &Report) -> Vec<(&'static str, String)> {
    vec![
        ("runs.csv", runs(report)),
        ("encounters.csv", details(report, "encounters", &LEVELS)),
        ("pairs.csv", details(report, "pairs", &PAIRS)),
        ("shifts.csv", details(report, "shifts", &SHIFTS)),
        ("components.csv", details(report, "components", &COMPONENTS)),
        ("frozen.csv", frozen(report)),
        ("groups.csv", groups(report)),
        ("comparisons.csv", comparisons(report)),
    ]
}

/// A row a run and metric.
pub(super) fn runs(report: &Report) -> String {
    let mut table =
        Table::new(IDENTITY.into_iter().chain(["metric", "value", "n", "unit", "direction", "reason", "n_censored"]));
    for run in &report.runs {
        let identity = identity(run);
        for (name, outcome) in &run.metrics {
            let measure: Option<&Measure> = report.measures.get(name);
            let n_censored = outcome.n_censored.map_or(Value::Null, crate::eval::report::size);
            let own = [
                name.as_str().into(),
                outcome.value.clone().unwrap_or_default(),
                crate::eval::report::size(outcome.n),
                measure.map(|measure| measure.unit.as_str().into()).unwrap_or_default(),
                measure.map(|measure| measure.direction.name().into()).unwrap_or_default(),
                outcome.reason.as_deref().map(Value::from).unwrap_or_default(),
                n_censored,
            ];
            table.row(identity.iter().chain(&own));
        }
    }
    table.text
}

/// A row an encounter, a pair, a component.
fn details(report: &Report, list: &str, columns: &[&'static str]) -> String {
    let mut table = Table::new(IDENTITY.into_iter().chain(["place"]).chain(columns.iter().copied()));
    for run in &report.runs {
        let identity = identity(run);
        for (place, entry) in run.detail(list).enumerate() {
            let own = columns.iter().map(|column| entry.get(*column).cloned().unwrap_or_default());
            let cells: Vec<Value> = std::iter::once(crate::eval::report::size(place)).chain(own).collect();
            table.row(identity.iter().chain(&cells));
        }
    }
    table.text
}

fn identity(run: &RunReport) -> Vec<Value> {
    let cell = |key: &&str| match *key {
        "file" => run.identity.file.clone().into(),
        key => run.identity.fields.get(key).cloned().unwrap_or_default(),
    };
    IDENTITY.iter().map(cell).collect()
}

/// A row a run, checkpoint and regime.
fn frozen(report: &Report) -> String {
    let mut table = Table::new(IDENTITY.into_iter().chain(["checkpoint", "regime", "performance"]));
    for run in &report.runs {
        let list = |map: &Map, key: &str| map.get(key).and_then(Value::as_list).unwrap_or_default().to_vec();
        let Some(frozen) = run.frozen() else { continue };
        let regimes = list(frozen, "regimes");
        for (checkpoint, row) in list(frozen, "checkpoints").iter().zip(list(frozen, "performance")) {
            for (regime, value) in regimes.iter().zip(row.as_list().unwrap_or_default()) {
                table.row(identity(run).iter().chain([checkpoint, regime, value]));
            }
        }
    }
    table.text
}

/// A row a group and metric.
fn groups(report: &Report) -> String {
    let keys = &report.settings.group_by;
    let fixed = ["n_runs", "metric"].into_iter().chain(SUMMARIES).chain(["ci_low", "ci_high", "n", "n_missing"]);
    let mut table = Table::new(keys.iter().map(String::as_str).chain(fixed));
    for group in &report.groups {
        let tree = group.to_value();
        let of =
            |map: Option<&Value>, key: &str| map.and_then(|map| map.as_map()?.get(key).cloned()).unwrap_or_default();
        let summaries = of(Some(&tree), "metrics");
        for name in group.metrics.keys() {
            let summary = of(Some(&summaries), name);
            let own = |key: &str| of(Some(&summary), key);
            let mut cells: Vec<Value> =
                keys.iter().map(|key| group.key.get(key).cloned().unwrap_or_default()).collect();
            cells.extend([crate::eval::report::size(group.n_runs()), name.as_str().into()]);
            cells.extend(SUMMARIES.map(own));
            cells.extend(ends(&own("ci")));
            cells.extend([own("n"), own("n_missing")]);
            table.row(&cells);
        }
    }
    table.text
}

/// A row a comparison and metric.
fn comparisons(report: &Report) -> String {
    let columns = ["difference", "ci_low", "ci_high", "p_greater", "better", "n_a", "n_b", "n_pairs"];
    let mut table = Table::new(["a", "b", "metric"].into_iter().chain(columns));
    for comparison in &report.comparisons {
        let tree = comparison.to_value();
        let metrics = tree.as_map().and_then(|map| map.get("metrics")).and_then(Value::as_map);
        for (name, contrast) in metrics.into_iter().flatten() {
            let own = |key: &str| contrast.as_map().and_then(|map| map.get(key).cloned()).unwrap_or_default();
            let names = [comparison.a.as_str().into(), comparison.b.as_str().into(), name.as_str().into()];
            let mut cells: Vec<Value> = names.to_vec();
            cells.push(own("difference"));
            cells.extend(ends(&own("ci")));
            cells.extend(["p_greater", "better", "n_a", "n_b", "n_pairs"].map(own));
            table.row(&cells);
        }
    }
    table.text
}

/// The ends of an interval, or two empty cells.
fn ends(ci: &Value) -> [Value; 2] {
    match ci.as_list() {
        Some([low, high]) => [low.clone(), high.clone()],
        _ => [Value::Null, Value::Null],
    }
}

/// A file under construction.
struct Table {
    text: String,
}

impl Table {
    fn new<'a>(columns: impl Iterator<Item = &'a str>) -> Self {
        let mut table = Self { text: String::new() };
        let columns: Vec<Value> = columns.map(Value::from).collect();
        table.row(&columns);
        table
    }

    fn row<'a>(&mut self, cells: impl IntoIterator<Item = &'a Value>) {
        for (index, value) in cells.into_iter().enumerate() {
            if index > 0 {
                self.text.push(',');
            }
            self.text.push_str(&cell(value));
        }
        self.text.push('\n');
    }
}

/// A value as a cell. Lists and maps are JSON.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Text(text) => quoted(text),
        Value::List(_) | Value::Map(_) => quoted(&json::to_string(value)),
        number => json::to_string(number),
    }
}

/// Text as a cell.
fn quoted(text: &str) -> String {
    let guard = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { "'" } else { "" };
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{guard}{}\"", text.replace('"', "\"\""))
    } else {
        format!("{guard}{text}")
    }
}
