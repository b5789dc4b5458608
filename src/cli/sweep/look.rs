//! `skyfall sweep status`.

use crate::cli::Ending;
use crate::cli::args::SweepStatusArguments;
use crate::cli::console::Terminal;
use crate::diagnostic::{Diagnostic, Exit};
use crate::sweep::describe;
use crate::sweep::directory::Directory;
use crate::text::json;
use crate::value::{Map, Value};

/// Says how far a sweep is.
pub(super) fn status(arguments: &SweepStatusArguments, terminal: &Terminal) -> Ending {
    let read = || {
        let directory = Directory::open(&arguments.directory)?;
        Ok((directory.header()?, directory.units().finished()?, directory.plan()?, directory))
    };
    let (header, finished, plan, directory) =
        read().map_err(|problem: crate::sweep::SweepError| Diagnostic::from(problem))?;
    let (mut done, mut missing, mut failures) = (0_u64, 0_u64, Vec::new());
    for trial in plan {
        let trial = trial.map_err(Diagnostic::from)?;
        if finished.contains_key(trial.unit().short()) {
            done += 1;
        } else if let Some(failure) = directory.failure(&trial).map_err(Diagnostic::from)? {
            failures.push((trial, failure));
        } else {
            missing += 1;
        }
    }
    if arguments.json {
        let failed = failures.iter().map(|(trial, failure)| {
            let mut record = Map::from_iter([
                ("trial".to_owned(), trial.id.as_str().into()),
                ("point".to_owned(), Value::Map(trial.point.clone())),
            ]);
            record.extend(failure.to_map());
            Value::Map(record)
        });
        let entries: [(&str, Value); 5] = [
            ("name", header.definition.name.as_str().into()),
            ("trials", header.totals.trials.into()),
            ("finished", done.into()),
            ("missing", missing.into()),
            ("failed", failed.collect::<Vec<_>>().into()),
        ];
        let value = entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        terminal.print(&(json::to_canonical(&Value::Map(value)) + "\n"));
    } else {
        let mut text = format!(
            "{}: {done} of {} trials finished, {} failed, {missing} missing\n",
            header.definition.name,
            header.totals.trials,
            failures.len()
        );
        for (trial, failure) in &failures {
            text.push_str(&format!("failed {} ({}): {}\n", trial.id, describe(&trial.point), failure.message));
        }
        terminal.print(&text);
    }
    Ok(if failures.is_empty() && missing == 0 { Exit::Success } else { Exit::Failure })
}
