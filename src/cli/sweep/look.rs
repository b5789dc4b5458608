//! `skyfall sweep status`, `table`, `best` and `report`.

use std::path::Path;

use super::launch;
use crate::atomic::{self, AtomicError};
use crate::cli::args::{
    SweepBestArguments, SweepReportArguments, SweepStatusArguments, SweepTableArguments, TableFormat,
};
use crate::cli::cluster::{self, Missing, Outlook};
use crate::cli::console::Terminal;
use crate::cli::findings::harmless;
use crate::cli::{self, Ending};
use crate::diagnostic::{Diagnostic, Exit};
use crate::script::Console;
use crate::sweep::directory::Directory;
use crate::sweep::plan::Trial;
use crate::sweep::table::{self, Finished, Query, Scope};
use crate::sweep::{self, SweepError, describe};
use crate::value::{self, Map, Value};

/// The best point's trials beyond these are counted.
const MOST_PATHS: usize = 20;

/// Says how far a sweep is.
pub(super) fn status(arguments: &SweepStatusArguments, terminal: &Terminal) -> Ending {
    let read = || {
        let directory = Directory::open(&arguments.directory)?;
        let header = directory.header()?;
        let plan = directory.plan()?.of(&header.totals);
        Ok((header, directory.units().finished()?, directory.earlier().finished()?.len() as u64, plan, directory))
    };
    let (header, finished, earlier, plan, directory) =
        read().map_err(|problem: SweepError| Diagnostic::from(problem))?;
    let (mut done, mut missing, mut failures) = (0_u64, Vec::new(), Vec::new());
    for trial in plan {
        let trial = trial.map_err(Diagnostic::from)?;
        if let Some(name) = finished.get(trial.unit().short()) {
            match directory.check_files(name) {
                Ok(()) => done += 1,
                Err(problem) => {
                    terminal.warn(&format!("trial {} is damaged; --resume runs it again: {problem}", trial.id));
                    missing.push(trial);
                }
            }
        } else if let Some(failure) = directory.failure(&trial).map_err(Diagnostic::from)? {
            failures.push((trial, failure));
        } else {
            missing.push(trial);
        }
    }
    let of_trial =
        |trial: &Trial| Missing { key: trial.unit().name(), id: trial.id.clone(), about: describe(&trial.point) };
    let missing: Vec<Missing> = missing.iter().map(of_trial).collect();
    let home = launch::submissions(&directory);
    let fates = if missing.is_empty() { None } else { cluster::ask(&home, &launch::key, terminal)? };
    let outlook = fates.as_ref().map(|fates| Outlook::of(&missing, fates));
    if arguments.json {
        let failed = failures.iter().map(|(trial, failure)| {
            let mut record = Map::from_iter([
                ("trial".to_owned(), trial.id.as_str().into()),
                ("point".to_owned(), Value::Map(trial.point.clone())),
            ]);
            record.extend(failure.to_map());
            Value::Map(record)
        });
        let mut value = value::map::<7>([
            ("name", header.definition.name.as_str().into()),
            ("trials", header.totals.trials.into()),
            ("finished", done.into()),
            ("failed", (failures.len() as u64).into()),
            ("missing", (missing.len() as u64).into()),
            ("earlier", earlier.into()),
            ("failures", failed.collect::<Vec<_>>().into()),
        ]);
        value.extend(outlook.map(|outlook| ("slurm".to_owned(), outlook.to_value("trial"))));
        terminal.print_json(value);
    } else {
        let mut text = format!(
            "{}: {done} of {} trials finished, {} failed, {} missing\n",
            header.definition.name,
            header.totals.trials,
            failures.len(),
            missing.len()
        );
        if earlier > 0 {
            text.push_str(&format!("{earlier} finished for earlier plans are kept; `sweep table --all` has them\n"));
        }
        for (trial, failure) in &failures {
            text.push_str(&format!("failed {} ({}): {}\n", trial.id, describe(&trial.point), failure.message));
        }
        text.extend(outlook.map(|outlook| outlook.text()));
        terminal.print(&harmless(&text));
    }
    let is_complete = failures.is_empty() && missing.is_empty();
    Ok(if arguments.require_complete && !is_complete { Exit::Failure } else { Exit::Success })
}

/// Prints a sweep's results.
pub(super) fn table(arguments: &SweepTableArguments, terminal: &Terminal) -> Ending {
    let only = arguments.only.iter().map(|only| {
        let (name, value) = only.split_once('=').ok_or_else(|| {
            let line = format!("--only {only}: it is not of the form COLUMN=VALUE");
            Box::new(Diagnostic::new("sweep/only", line, Exit::Usage))
        })?;
        Ok((name.to_owned(), value.to_owned()))
    });
    let sort = arguments.sort.as_deref().map(|sort| match sort.strip_prefix('-') {
        Some(name) => (name.to_owned(), true),
        None => (sort.to_owned(), false),
    });
    let over = (!arguments.each).then(|| arguments.over.clone());
    let only = only.collect::<Result<_, Box<Diagnostic>>>()?;
    let query = Query { over, sort, only, scope: scope(arguments.all) };
    let made = || {
        let directory = Directory::open(&arguments.directory)?;
        table::table(&directory, &directory.header()?, &query)
    };
    let working = terminal.working("reading the sweep");
    let table = made().map_err(|problem: SweepError| Diagnostic::from(problem))?;
    drop(working);
    let ending = arguments.output.as_deref().and_then(TableFormat::of_file);
    let format = cli::chosen((arguments.json, TableFormat::Json), arguments.format, ending)?;
    let format = format.unwrap_or(TableFormat::Text);
    let bytes = match format {
        TableFormat::Text => harmless(&table.to_text()).into_bytes(),
        TableFormat::Md => table.to_markdown().into_bytes(),
        TableFormat::Json => table.to_json().into_bytes(),
        TableFormat::Csv => crate::trace::csv_of(&table.columns, &table.rows),
        TableFormat::Parquet => {
            let made = crate::trace::parquet_of(&table.columns, &table.rows);
            made.map_err(|cause| Diagnostic::new("sweep/parquet", cause.to_string(), Exit::Failure))?
        }
    };
    match &arguments.output {
        Some(path) => put(path, &bytes)?,
        None if format == TableFormat::Parquet => {
            let line = "a Parquet file is not printed";
            return Err(Box::new(Diagnostic::new("sweep/parquet", line, Exit::Usage).with_hint("name it: -o FILE")));
        }
        None => terminal.print(&String::from_utf8_lossy(&bytes)),
    }
    Ok(Exit::Success)
}

/// Prints a sweep's best point.
pub(super) fn best(arguments: &SweepBestArguments, terminal: &Terminal) -> Ending {
    let read = || {
        let directory = Directory::open(&arguments.directory)?;
        let header = directory.header()?;
        let trials = table::finished(&directory, &header, scope(arguments.all))?;
        Ok((header.definition, table::grouped(trials, &arguments.over)))
    };
    let (definition, groups) = read().map_err(|problem: SweepError| Diagnostic::from(problem))?;
    let Some((axes, trials)) = table::best(&groups, &definition.metric, definition.goal) else {
        let line = format!("no finished trial has the metric `{}`", definition.metric);
        return Err(Box::new(Diagnostic::new("sweep/best", line, Exit::Failure)));
    };
    let (n, mean, interval) = table::summary(trials, &definition.metric);
    if arguments.json {
        let trial = |trial: &Finished| {
            let path = trial.path.display().to_string();
            Value::map([("trial", trial.id.as_str().into()), ("path", path.into())])
        };
        let entries: [(&str, Value); 6] = [
            ("point", Value::Map(axes.clone())),
            ("metric", definition.metric.as_str().into()),
            ("mean", mean.into()),
            ("ci", interval.map(|(low, high)| Value::List(vec![low.into(), high.into()])).into()),
            ("n", (n as u64).into()),
            ("trials", trials.iter().map(trial).collect::<Vec<_>>().into()),
        ];
        terminal.print_json(value::map(entries));
        return Ok(Exit::Success);
    }
    let interval = interval.map(|(low, high)| format!(" [{low:.6}, {high:.6}]")).unwrap_or_default();
    let mut text =
        format!("{}\n{}: {:.6}{interval}, n = {n}\n", describe(axes), definition.metric, mean.unwrap_or(f64::NAN));
    for trial in trials.iter().take(MOST_PATHS) {
        text.push_str(&format!("{}\n", trial.path.display()));
    }
    if trials.len() > MOST_PATHS {
        text.push_str(&format!("and {} more\n", trials.len() - MOST_PATHS));
    }
    terminal.print(&harmless(&text));
    Ok(Exit::Success)
}

/// Writes a sweep as a page.
pub(super) fn report(arguments: &SweepReportArguments, terminal: &Terminal) -> Ending {
    let made = || {
        let directory = Directory::open(&arguments.directory)?;
        sweep::report(&directory, &directory.header()?, &arguments.over, scope(arguments.all))
    };
    let working = terminal.working("reading the sweep");
    let page = made().map_err(|problem: SweepError| Diagnostic::from(problem))?;
    drop(working);
    put(&arguments.output, page.as_bytes())?;
    Ok(Exit::Success)
}

fn scope(all: bool) -> Scope {
    if all { Scope::All } else { Scope::Plan }
}

fn put(path: &Path, bytes: &[u8]) -> Result<(), Box<Diagnostic>> {
    let failed = |problem: AtomicError| Diagnostic::new("sweep/output", problem.to_string(), Exit::Failure);
    Ok(atomic::write_file(path, bytes).map_err(failed)?)
}
