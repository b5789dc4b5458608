//! A panel for people: a column of labels, tables of coverage, bars of shares.

use crate::text::json;
use crate::value::{Map, Value};

const LABEL: usize = 14;
/// Rows of a table before the rest is counted.
const ROWS: usize = 12;
const BAR: f64 = 20.0;

pub(super) fn panel(tree: &Value) -> String {
    let empty = Map::new();
    let section = |path: &[&str]| -> &Map {
        let found = path.iter().try_fold(tree, |value, key| value.as_map()?.get(*key));
        found.and_then(Value::as_map).unwrap_or(&empty)
    };
    let mut out = String::new();
    let root = section(&["root_attrs"]);
    for (label, key) in [
        ("schema", "schema_version"),
        ("created", "created_at_utc"),
        ("split", "source_split"),
        ("protocol", "target_protocol_version"),
        ("supervision", "label_support_semantics"),
        ("sources", "num_sources"),
        ("targets", "num_targets"),
        ("rollouts", "num_rollouts"),
        ("steps", "num_steps"),
        ("candidates", "num_candidates"),
        ("widest shell", "q_h_max_candidates"),
        ("discount", "discount_gamma"),
        ("depth", "selected_depth_enabled"),
        ("crops", "target_eval_crops_enabled"),
        ("manifest", "manifest_sha256"),
    ] {
        line(&mut out, label, &printed(root.get(key)));
    }
    let invocation = section(&["manifest", "generation", "invocation"]);
    for (label, key) in [("mode", "mode"), ("config", "config_path"), ("toml sha256", "raw_toml_sha256")] {
        line(
            &mut out,
            label,
            &invocation.get(key).filter(|value| !value.is_null()).map_or("-".to_owned(), |value| printed(Some(value))),
        );
    }
    let coverage = section(&["manifest", "source_coverage"]);
    table(&mut out, "scenes", coverage.get("scene_counts"));
    table(&mut out, "splits", coverage.get("split_counts"));
    let stats = section(&["stats"]);
    if !stats.is_empty() {
        statistics(&mut out, stats);
    }
    let validation = section(&["validation"]);
    if let Some(errors) = validation.get("errors").and_then(Value::as_list) {
        out.push_str(if errors.is_empty() { "\nvalid: nothing is wrong\n" } else { "\nnot valid\n" });
        errors.iter().filter_map(Value::as_text).for_each(|error| out.push_str(&format!("  {}\n", one_line(error))));
    }
    let preflight = section(&["preflight"]);
    if !preflight.is_empty() {
        let go = preflight.get("go") == Some(&Value::Bool(true));
        out.push_str(&format!(
            "\npreflight ({}): {}\n",
            printed(preflight.get("profile")),
            if go { "go" } else { "no go" }
        ));
        for (label, key) in [("blocker", "blockers"), ("warning", "warnings")] {
            for text in
                preflight.get(key).and_then(Value::as_list).unwrap_or_default().iter().filter_map(Value::as_text)
            {
                line(&mut out, &format!("  {label}"), text);
            }
        }
        let storage = section(&["preflight", "storage"]);
        line(&mut out, "  files", &printed(storage.get("file_count")));
        line(&mut out, "  bytes", &printed(storage.get("total_bytes")));
    }
    out
}

fn statistics(out: &mut String, stats: &Map) {
    let section = |key: &str| stats.get(key).and_then(Value::as_map);
    let number = |map: Option<&Map>, key: &str| map.and_then(|map| map.get(key)).and_then(Value::as_float);
    if let Some(validity) = section("candidate_validity") {
        let share =
            number(Some(validity), "fraction").map_or("-".to_owned(), |share| format!("{:.1} %", share * 100.0));
        out.push_str("\nvalidity\n");
        line(out, "  valid", &format!("{share} of {}", printed(validity.get("total"))));
        line(out, "  trainable", &printed(validity.get("trainable")));
        let each = validity.get("valid_per_step").and_then(Value::as_map);
        line(out, "  per step", &range(each));
        table(out, "why not", validity.get("invalid_reasons"));
    }
    if let Some(selected) = section("selected") {
        out.push_str("\nselected\n");
        line(out, "  steps", &printed(selected.get("total")));
        line(out, "  path, m", &range(selected.get("path_length_m").and_then(Value::as_map)));
        table(out, "strategies", selected.get("strategy_counts"));
        table(out, "components", selected.get("component_counts"));
    }
    table(out, "policies", stats.get("policy_counts"));
}

/// A distribution in three numbers.
fn range(distribution: Option<&Map>) -> String {
    let number = |key: &str| {
        let number = distribution.and_then(|map| map.get(key)).and_then(Value::as_float);
        number.map_or("-".to_owned(), |number| format!("{number:.3}"))
    };
    format!("{} .. {} .. {} (least, median, most)", number("min"), number("median"), number("max"))
}

/// `text` with what would end the line or move the cursor spelled out.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        match character.is_control() {
            true => line.extend(character.escape_unicode()),
            false => line.push(character),
        }
    }
    line
}

fn line(out: &mut String, label: &str, text: &str) {
    out.push_str(&format!("{label:<LABEL$}{}\n", one_line(text)));
}

/// Counts with a bar each, the largest first.
fn table(out: &mut String, title: &str, counts: Option<&Value>) {
    let mut rows: Vec<(String, i64)> = counts
        .and_then(Value::as_map)
        .into_iter()
        .flatten()
        .filter_map(|(name, count)| Some((one_line(name), count.as_int()?)))
        .collect();
    if rows.is_empty() {
        return;
    }
    rows.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let total: i64 = rows.iter().map(|(_, count)| count).sum();
    let width = rows.iter().take(ROWS).map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    out.push_str(&format!("\n{title}\n"));
    for (name, count) in rows.iter().take(ROWS) {
        #[expect(clippy::cast_precision_loss, reason = "a share")]
        let share = *count as f64 / total.max(1) as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and the bar's length")]
        let bar = "#".repeat((share * BAR).round() as usize);
        out.push_str(&format!("  {name:<width$}  {count:>9}  {:>5.1} %  {bar}\n", share * 100.0));
    }
    if rows.len() > ROWS {
        out.push_str(&format!("  and {} more\n", rows.len() - ROWS));
    }
}

fn printed(value: Option<&Value>) -> String {
    match value {
        Some(Value::Text(text)) => text.to_string(),
        Some(other) => json::to_string(other),
        None => "missing".to_owned(),
    }
}
