//! `skyfall trace check`, `stats`, `cat` and `rescore`.

mod cat;
mod rescore;
mod stats;

use std::path::PathBuf;

use crate::diagnostic::{Diagnostic, Exit};
use crate::trace::columns::Warning;
use crate::trace::{self, ReadOptions};
use crate::value::{self, Value};

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

/// Says what is odd about traces, a line each or as JSON, and what was done about
/// it; fails when rows are lost or there are none, with `strict` also when values are.
pub(super) fn check(paths: &[PathBuf], strict: bool, as_json: bool, terminal: &Terminal) -> Ending {
    let options = ReadOptions { digest: false, every_fault: true, ..ReadOptions::default() };
    let working = terminal.working("reading traces");
    let stats = trace::stats(paths, &options).map_err(Diagnostic::from)?;
    drop(working);
    let near = trace::near_fields(&stats);
    let rows: u64 = stats.inputs.iter().map(|input| input.rows).sum();
    let skipped: u64 = stats.inputs.iter().map(|input| input.skipped).sum();
    let (files, runs) = (stats.inputs.len(), stats.runs.len());
    if as_json {
        let warnings: Vec<Value> = stats.warnings.iter().map(Warning::to_value).collect();
        let hint = |(key, field): &(&str, &str)| value::map([("key", (*key).into()), ("near", (*field).into())]);
        let found: [(&str, Value); 6] = [
            ("files", (files as u64).into()),
            ("runs", (runs as u64).into()),
            ("rows", rows.into()),
            ("skipped", skipped.into()),
            ("warnings", warnings.into()),
            ("near_keys", near.iter().map(|found| Value::Map(hint(found))).collect::<Vec<_>>().into()),
        ];
        terminal.print_json(value::map(found));
    } else {
        let lines = stats.warnings.iter().map(|warning| super::eval::warning_line(warning) + "\n");
        let last = format!("{files} file(s), {runs} run(s), {rows} row(s), {skipped} line(s) lost\n");
        let hints = near.iter().map(|(key, field)| {
            format!("`{key}` is no field of a row, but kept as metadata; did you mean `{field}`?\n")
        });
        terminal.print(&lines.chain(hints).chain([last]).collect::<String>());
    }
    let cut = |code: &str| code.starts_with("truncated_") || code.starts_with("corrupt_");
    let lost = stats.warnings.iter().any(|warning| cut(warning.code) || (strict && warning.is_loss()));
    let failed = lost || skipped > 0 || rows == 0;
    Ok(if failed { Exit::Failure } else { Exit::Success })
}
