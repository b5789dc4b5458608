//! `skyfall eval`.

use crate::atomic;
use crate::diagnostic::{Diagnostic, Exit};
use crate::eval::{self, Settings};
use crate::script::Console;
use crate::text::json;
use crate::trace::columns::Warning;
use crate::trace::{self, ReadOptions};

use super::Ending;
use super::args::{EvalArguments, Format};
use super::console::Terminal;

/// Evaluates traces.
pub(super) fn eval(arguments: &EvalArguments, terminal: &Terminal) -> Ending {
    let window = arguments.window.parse().map_err(Diagnostic::from)?;
    let settings = Settings { window, threshold: arguments.threshold };
    settings.check().map_err(Diagnostic::from)?;
    let columns = trace::read_columns(&arguments.traces, &ReadOptions::default()).map_err(Diagnostic::from)?;
    let report = eval::evaluate(columns, &settings).map_err(Diagnostic::from)?;
    for warning in &report.warnings {
        terminal.warn(&warning_line(warning));
    }
    let text = match arguments.format {
        Format::Text => eval::render(&report, terminal.width()),
        Format::Json => {
            let mut text = json::to_string(&report.to_value());
            text.push('\n');
            text
        }
    };
    match &arguments.output {
        None => terminal.print(&text),
        Some(path) => atomic::write_file(path, text.as_bytes())
            .map_err(|error| Diagnostic::new("eval/write", error.to_string(), Exit::Failure))?,
    }
    Ok(Exit::Success)
}

/// A warning on one line.
pub(super) fn warning_line(warning: &Warning) -> String {
    let place = match (&warning.file, warning.line) {
        (Some(file), Some(line)) => format!("{file}:{line}: "),
        (Some(file), None) => format!("{file}: "),
        _ => String::new(),
    };
    let times = if warning.count > 1 { format!(" ({} times)", warning.count) } else { String::new() };
    format!("{place}{} [{}]{times}", warning.message, warning.code)
}
