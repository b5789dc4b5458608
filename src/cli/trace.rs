//! `skyfall trace check`.

use std::path::PathBuf;

use crate::diagnostic::{Diagnostic, Exit};
use crate::trace::{self, ReadOptions};

use super::Ending;
use super::args::TraceCheckArguments;
use super::console::Terminal;

/// Says what is odd about traces, a line each; fails when rows are lost or there are none.
pub(super) fn check(arguments: &TraceCheckArguments, terminal: &Terminal) -> Ending {
    check_paths(&arguments.paths, terminal)
}

/// The same for paths, however they were given.
pub(super) fn check_paths(paths: &[PathBuf], terminal: &Terminal) -> Ending {
    let options = ReadOptions { digest: false, every_fault: true, ..ReadOptions::default() };
    let columns = trace::read_columns(paths, &options).map_err(Diagnostic::from)?;
    let mut text = String::new();
    for warning in &columns.warnings {
        text.push_str(&super::eval::warning_line(warning));
        text.push('\n');
    }
    let rows: u64 = columns.inputs.iter().map(|input| input.rows).sum();
    let skipped: u64 = columns.inputs.iter().map(|input| input.skipped).sum();
    text.push_str(&format!(
        "{} file(s), {} run(s), {rows} row(s), {skipped} line(s) lost\n",
        columns.inputs.len(),
        columns.runs.len()
    ));
    terminal.print(&text);
    Ok(if skipped > 0 || rows == 0 { Exit::Failure } else { Exit::Success })
}
