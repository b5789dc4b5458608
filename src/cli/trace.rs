//! `skyfall trace check`, `stats`, `cat` and `rescore`.

mod cat;
mod rescore;
mod stats;

use std::path::PathBuf;

use crate::diagnostic::{Diagnostic, Exit};
use crate::text::json;
use crate::trace::{self, ReadOptions};

use super::Ending;
use super::args::TraceCommand;
use super::console::Terminal;

/// Looks at traces.
pub(super) fn trace(command: &TraceCommand, terminal: &Terminal) -> Ending {
    match command {
        TraceCommand::Check(arguments) => check(&arguments.paths, arguments.strict, arguments.json, terminal),
        TraceCommand::Stats(arguments) => stats::stats(arguments, terminal),
        TraceCommand::Cat(arguments) => cat::cat(arguments, terminal),
        TraceCommand::Rescore(arguments) => rescore::rescore(arguments, terminal),
    }
}

/// Says what is odd about traces, a line each (`as_json`: an object each), and what was done about
/// it; fails when rows are lost or there are none, with `strict` also when values are.
pub(super) fn check(paths: &[PathBuf], strict: bool, as_json: bool, terminal: &Terminal) -> Ending {
    let options = ReadOptions { digest: false, every_fault: true, ..ReadOptions::default() };
    let stats = trace::stats(paths, &options).map_err(Diagnostic::from)?;
    let mut text = String::new();
    for warning in &stats.warnings {
        text.push_str(&if as_json { json::to_string(&warning.to_value()) } else { super::eval::warning_line(warning) });
        text.push('\n');
    }
    if !as_json {
        for (key, field) in trace::near_fields(&stats) {
            text.push_str(&format!("`{key}` is no field of a row, but kept as metadata; did you mean `{field}`?\n"));
        }
    }
    let rows: u64 = stats.inputs.iter().map(|input| input.rows).sum();
    let skipped: u64 = stats.inputs.iter().map(|input| input.skipped).sum();
    if !as_json {
        let (files, runs) = (stats.inputs.len(), stats.runs.len());
        text.push_str(&format!("{files} file(s), {runs} run(s), {rows} row(s), {skipped} line(s) lost\n"));
    }
    terminal.print(&text);
    let cut = |code: &str| code.starts_with("truncated_") || code.starts_with("corrupt_");
    let lost = stats.warnings.iter().any(|warning| cut(warning.code) || (strict && warning.is_loss()));
    let failed = lost || skipped > 0 || rows == 0;
    Ok(if failed { Exit::Failure } else { Exit::Success })
}
