//! `skyfall trace stats`.

use crate::cli::Ending;
use crate::cli::args::TraceStatsArguments;
use crate::cli::console::Terminal;
use crate::diagnostic::{Diagnostic, Exit};
use crate::script::Console;
use crate::text::json;
use crate::trace::stats::RunStats;
use crate::trace::{self, ReadOptions, Tally};

/// Sums up traces.
pub(super) fn stats(arguments: &TraceStatsArguments, terminal: &Terminal) -> Ending {
    let options = ReadOptions { digest: false, strict: arguments.strict, ..ReadOptions::default() };
    let working = terminal.working("reading traces");
    let stats = trace::stats(&arguments.paths, &options).map_err(Diagnostic::from)?;
    drop(working);
    for warning in &stats.warnings {
        terminal.warn(&crate::cli::eval::warning_line(warning));
    }
    if arguments.json {
        terminal.print_json(stats.to_value());
    } else {
        let rows: u64 = stats.runs.iter().map(|run| run.rows).sum();
        let mut text = format!("{} file(s), {} run(s), {rows} row(s)\n", stats.inputs.len(), stats.runs.len());
        stats.runs.iter().for_each(|run| write_run(&mut text, run));
        terminal.print(&text);
    }
    Ok(if stats.runs.is_empty() { Exit::Failure } else { Exit::Success })
}

fn write_run(text: &mut String, run: &RunStats) {
    text.push_str(&format!("\n{}\n", name(run)));
    let (first, last) = run.steps;
    text.push_str(&format!("  rows {}, steps {first} to {last}, segments {}\n", run.rows, run.n_segments));
    text.push_str(&format!("  reward {}\n", summary(&run.reward)));
    if run.reward.count() < run.rows {
        text.push_str(&format!("  rewards that are not finite {}\n", run.rows - run.reward.count()));
    }
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
    let percent = 100.0 * run.invalid_actions as f64 / run.rows.max(1) as f64;
    text.push_str(&format!("  invalid actions {} ({percent:.1}%)\n", run.invalid_actions));
    if run.effective_rank.count() > 0 {
        let count = run.effective_rank.count();
        text.push_str(&format!("  effective rank {}, measured in {count} row(s)\n", summary(&run.effective_rank)));
    }
    if let Some((first, last)) = &run.observed_at {
        text.push_str(&format!("  observed {first} to {last}, {} row(s)\n", run.observed));
    }
    let keys: Vec<String> = run.meta.iter().map(|(key, value)| format!("{key}={}", json::to_string(value))).collect();
    if !keys.is_empty() {
        text.push_str(&format!("  metadata {}\n", keys.join(" ")));
    }
    if !run.per_step.is_empty() {
        text.push_str(&format!("  further keys {}\n", run.per_step.join(" ")));
    }
    let regimes: Vec<[String; 4]> = run
        .regimes
        .iter()
        .map(|regime| {
            let label = regime.label.clone().unwrap_or_else(|| "(unlabelled)".to_owned());
            let label = regime.origin.as_ref().map_or(label.clone(), |origin| format!("{label} (as {origin})"));
            [label, regime.segments.to_string(), regime.rows.to_string(), summary(&regime.reward)]
        })
        .collect();
    write_table(text, ["regime", "segments", "rows", "reward"], &regimes);
    let components: Vec<[String; 3]> =
        run.components.iter().map(|(name, tally)| [name.clone(), tally.count().to_string(), summary(tally)]).collect();
    write_table(text, ["component", "rows", "value"], &components);
}

fn name(run: &RunStats) -> String {
    let text = run.identity.label();
    match &run.identity.file {
        Some(file) if text.is_empty() => format!("(no identity) {file}"),
        Some(file) => format!("{text} #{file}"),
        None => text,
    }
}

fn summary(tally: &Tally) -> String {
    match (tally.mean(), tally.range()) {
        (Some(mean), Some((least, greatest))) => format!("mean {mean:.4}, {least:.4} to {greatest:.4}"),
        _ => "\u{2014}".to_owned(),
    }
}

fn write_table<const N: usize>(text: &mut String, heading: [&str; N], rows: &[[String; N]]) {
    if rows.is_empty() {
        return;
    }
    let heading = heading.map(str::to_owned);
    let lines = || std::iter::once(&heading).chain(rows);
    let width = |column: usize| lines().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..N).map(|column| width(column).unwrap_or(0)).collect();
    for line in lines() {
        let cells: Vec<String> = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        text.push_str(&format!("  {}\n", cells.join("  ").trim_end()));
    }
}
