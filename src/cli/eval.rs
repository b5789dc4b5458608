//! `skyfall eval`.

use std::path::Path;
use std::rc::Rc;

use crate::diagnostic::{Diagnostic, Exit};
use crate::eval::output::{self, Format};
use crate::eval::{self, Material, Paths, Report, Settings};
use crate::script::{self, Console, Script, ScriptError, ScriptHost};
use crate::sweep::evaluation;
use crate::text::json;
use crate::trace::columns::Warning;
use crate::value::Value;

use super::Ending;
use super::args::EvalArguments;
use super::console::Terminal;

/// Evaluates traces.
pub(super) fn eval(arguments: &EvalArguments, terminal: &Rc<Terminal>) -> Ending {
    if arguments.schema {
        terminal.print(output::JSON_SCHEMA);
        return Ok(Exit::Success);
    }
    let paths =
        Paths { traces: arguments.traces(), frozen: arguments.frozen.clone(), baseline: arguments.baseline.clone() };
    for inputs in [&paths.traces, &paths.frozen, &paths.baseline] {
        super::check_output(arguments.output.as_deref(), inputs)?;
    }
    let format = match super::chosen((arguments.json, Format::Json), arguments.format, None)? {
        Some(format) => format,
        None => arguments.output.as_deref().map_or(Ok(Format::Text), of_ending)?,
    };
    if arguments.check {
        return super::trace::check(&paths.traces, false, format == Format::Json, terminal);
    }
    let mut settings = settings(arguments)?;
    let pictured = format == Format::Html && !arguments.no_plots;
    settings.plots = pictured || arguments.plots.is_some();
    let working = terminal.working("evaluating traces");
    let settings = evaluation::grouped_by_axes(settings, &paths.traces).map_err(Diagnostic::from)?;
    let mut material = Material::read(&paths, &settings).map_err(Diagnostic::from)?;
    evaluation::without_collisions_of_trials(&mut material);
    let report = match &arguments.metrics {
        None => eval::evaluate(material, &settings).map_err(Diagnostic::from)?,
        Some(script) => evaluate_by(script, material, &settings, terminal)?,
    };
    if let Some(directory) = &arguments.plots {
        output::write_plots(&report, directory).map_err(unwritten)?;
    }
    drop(working);
    for warning in &report.warnings {
        terminal.warn(&warning_line(warning));
    }
    match &arguments.output {
        None => terminal.print(&output::render(&report, format, terminal.width())),
        Some(path) => output::write(&report, format, path).map_err(unwritten)?,
    }
    for verdict in report.verdicts.iter().filter(|verdict| verdict.holds == Some(true)) {
        let value = verdict.shown().unwrap_or_default();
        let line = format!("fail-if {} holds: {} has {value}", verdict.condition, verdict.group);
        terminal.report(&Diagnostic::new("eval/fail-if", line, Exit::Failure));
    }
    Ok(if report.fails() { Exit::Failure } else { Exit::Success })
}

/// The format that a report's file has by its ending.
fn of_ending(path: &Path) -> Result<Format, Diagnostic> {
    match (Format::of_file(path), path.extension()) {
        (Some(format), _) => Ok(format),
        (None, None) => Ok(Format::Text),
        (None, Some(ending)) => {
            let line = format!("{}: no report has the ending `.{}`", path.display(), ending.display());
            let hint = format!("--format says which it is: {}", Format::ALL.map(Format::name).join(", "));
            Err(Diagnostic::new("eval/ending", line, Exit::Usage).with_hint(hint))
        }
    }
}

/// The evaluation by metrics of the user's own, too.
fn evaluate_by(
    script: &Path,
    material: Material,
    settings: &Settings,
    terminal: &Rc<Terminal>,
) -> Result<Report, Box<Diagnostic>> {
    let console = Rc::clone(terminal) as Rc<dyn Console>;
    let host = ScriptHost::new(Script::File(script.to_owned()), script::Settings::default(), console)?;
    host.evaluate(material, settings).map_err(|error| match error {
        ScriptError::Raised(diagnostic) => diagnostic,
        ScriptError::Exit(code) => {
            Box::new(Diagnostic::new("eval/exit", format!("the script ended with code {code}"), Exit::Failure))
        }
    })
}

fn unwritten(error: impl std::fmt::Display) -> Diagnostic {
    Diagnostic::new("eval/write", error.to_string(), Exit::Failure)
}

/// The settings that the flags ask for.
fn settings(arguments: &EvalArguments) -> Result<Settings, Box<Diagnostic>> {
    let mut settings = Settings::default();
    for (name, value) in arguments.options.values() {
        let value = match (name, value) {
            ("bounds", Value::Text(file)) => read_json(Path::new(&file))?,
            ("regret-ref", Value::Text(file)) if file != "run" && file != "set" => read_json(Path::new(&file))?,
            (_, value) => value,
        };
        settings.set(name, &value).map_err(Diagnostic::from)?;
    }
    Ok(settings)
}

/// A JSON file as plain data.
fn read_json(path: &Path) -> Result<Value, Box<Diagnostic>> {
    let refuse =
        |error: String| Box::new(Diagnostic::new("eval/json", format!("{}: {error}", path.display()), Exit::Input));
    let text = std::fs::read_to_string(path).map_err(|error| refuse(error.to_string()))?;
    json::parse(&text).map_err(|error| refuse(error.to_string()))
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
