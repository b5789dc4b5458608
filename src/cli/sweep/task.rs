//! `skyfall sweep task`: the part of a sweep that a cluster's task works on.

use std::cell::Cell;
use std::path::Path;

use super::launch;
use super::screen::damaged_line;
use crate::cli::args::TaskArguments;
use crate::cli::cluster::{Task, malformed};
use crate::cli::console::Terminal;
use crate::cli::{Ending, child};
use crate::diagnostic::{Diagnostic, Exit};
use crate::script::Console;
use crate::sweep::plan::Trial;
use crate::sweep::pool::{Failure, Launcher};
use crate::sweep::run::{self, Measure, Next, Options, Progress, Source, UnderWay, Watcher};
use crate::sweep::{SweepError, describe};
use crate::value::Value;

/// Runs a task's trials, each in a process of its own.
pub(super) fn task(arguments: &TaskArguments, terminal: &Terminal) -> Ending {
    let Task { submission, units, arguments, cpus, about } = Task::begin(arguments)?;
    let trials: Result<Vec<Trial>, String> = units.iter().map(|line| launch::trial_of(line)).collect();
    let trials = trials.map_err(|message| malformed(&submission, &message))?;
    let retries = about.get("retries").and_then(Value::as_count).unwrap_or_default();
    let directory = launch::directory_of(&submission).ok_or_else(|| malformed(&submission, "it is in no sweep"))?;
    let header = directory.header().map_err(Diagnostic::from)?;
    let total = trials.len();
    let watch = Watch { terminal, total, finished: Cell::new(0), failures: Cell::new(0), of_config: Cell::new(0) };
    let mut source = Listed(trials.into_iter());
    let launcher = Launcher { program: child::program()?, arguments, input: directory.kept_script() };
    let options = Options { jobs: cpus, retries, fail_fast: false };
    let measure = Measure { metric: &header.definition.metric, goal: header.definition.goal };
    let progress =
        run::run(&directory, &mut source, &launcher, &options, &measure, &watch).map_err(Diagnostic::from)?;
    terminal.info(&format!("{} of {total} trials finished, {} failed", progress.finished, progress.failed));
    Ok(match progress {
        Progress { interrupted: true, .. } => Exit::Interrupted,
        Progress { failed: 0, .. } => Exit::Success,
        _ if watch.of_config.get() == watch.failures.get() => Exit::BadConfig,
        _ => Exit::Failure,
    })
}

/// The trials of a task.
struct Listed(std::vec::IntoIter<Trial>);

impl Source for Listed {
    fn next(&mut self) -> Result<Next, SweepError> {
        Ok(self.0.next().map_or(Next::End, Next::Trial))
    }
}

/// Says in the task's log how its trials end.
struct Watch<'a> {
    terminal: &'a Terminal,
    total: usize,
    finished: Cell<usize>,
    failures: Cell<u64>,
    /// How many of them failed because of their configuration.
    of_config: Cell<u64>,
}

impl Watcher for Watch<'_> {
    fn ended(&self, trial: &Trial, failure: Option<&Failure>) {
        let place = describe(&trial.point);
        let Some(failure) = failure else {
            self.finished.set(self.finished.get() + 1);
            let count = format!("{} of {}", self.finished.get(), self.total);
            self.terminal.info(&format!("trial {} ({place}) finished, {count}", trial.id));
            return;
        };
        self.failures.set(self.failures.get() + 1);
        self.of_config.set(self.of_config.get() + u64::from(failure.class == "config"));
        self.terminal.warn(&format!("trial {} ({place}) failed: {}", trial.id, failure.message));
    }

    fn damaged(&self, trial: &Trial, problem: &SweepError, place: &Path) {
        self.terminal.warn(&damaged_line(trial, problem, place));
    }

    fn is_watching(&self) -> bool {
        false
    }

    fn goes(&self, _: &Progress, _: &[UnderWay]) {}

    fn interrupted(&self) -> bool {
        self.terminal.interrupted()
    }
}
