//! `skyfall sweep task`: the part of a sweep that a cluster's task works on.

use std::cell::Cell;
use std::num::NonZeroUsize;
use std::path::Path;

use super::{launch, program};
use crate::cli::args::TaskArguments;
use crate::cli::console::Terminal;
use crate::cli::{Ending, cluster};
use crate::diagnostic::{Diagnostic, Exit};
use crate::launcher::Submitted;
use crate::script::Console;
use crate::sweep::plan::Trial;
use crate::sweep::pool::{Failure, Launcher};
use crate::sweep::run::{self, Measure, Next, Options, Progress, Source, Watcher};
use crate::sweep::{SweepError, describe};
use crate::value::Map;

/// What the submission says of each of its tasks.
struct Order {
    arguments: Vec<std::ffi::OsString>,
    directory: String,
    jobs: NonZeroUsize,
    retries: u64,
}

impl Order {
    fn of(about: &Map) -> Option<Self> {
        let words = about.get("arguments")?.as_list()?.iter();
        Some(Self {
            arguments: words.map(|word| Some(word.as_text()?.into())).collect::<Option<_>>()?,
            directory: about.get("directory")?.as_text()?.to_owned(),
            jobs: about.get("jobs")?.as_count().and_then(|jobs| NonZeroUsize::new(jobs.try_into().ok()?))?,
            retries: about.get("retries")?.as_count()?,
        })
    }
}

/// Runs a task's trials, each in a process of its own.
pub(super) fn task(arguments: &TaskArguments, terminal: &Terminal) -> Ending {
    let bad = |path: &Path, message: String| {
        let line = format!("{}: {message}", path.display());
        Box::new(Diagnostic::new("sweep/task", line, Exit::Input))
    };
    let path = &arguments.submission;
    let path = path.canonicalize().map_err(|cause| bad(path, cause.to_string()))?;
    let submitted = Submitted::open(&path).map_err(Diagnostic::from)?;
    let units = submitted.units_of(arguments.task).map_err(Diagnostic::from)?;
    let trials: Result<Vec<Trial>, String> = units.iter().map(|line| launch::trial_of(line)).collect();
    let trials = trials.map_err(|message| bad(&path, message))?;
    let order = Order::of(&submitted.about().map_err(Diagnostic::from)?)
        .ok_or_else(|| bad(&path, "it does not say how trials are run".to_owned()))?;
    let directory = launch::directory_of(&path).ok_or_else(|| bad(&path, "it is in no sweep".to_owned()))?;
    let header = directory.header().map_err(Diagnostic::from)?;
    cluster::go_to(Path::new(&order.directory))?;
    let total = trials.len();
    let watch = Watch { terminal, total, failures: Cell::new(0), of_config: Cell::new(0) };
    let mut source = Listed(trials.into_iter());
    let launcher = Launcher { program: program()?, arguments: order.arguments, input: directory.kept_script() };
    let options = Options { jobs: order.jobs, retries: order.retries, fail_fast: false };
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
    failures: Cell<u64>,
    /// How many of them failed because of their configuration.
    of_config: Cell<u64>,
}

impl Watcher for Watch<'_> {
    fn ended(&self, trial: &Trial, failure: Option<&Failure>, progress: &Progress) {
        let place = describe(&trial.point);
        let Some(failure) = failure else {
            self.terminal
                .info(&format!("trial {} ({place}) finished, {} of {}", trial.id, progress.finished, self.total));
            return;
        };
        self.failures.set(self.failures.get() + 1);
        self.of_config.set(self.of_config.get() + u64::from(failure.class == "config"));
        self.terminal.warn(&format!("trial {} ({place}) failed: {}", trial.id, failure.message));
    }

    fn interrupted(&self) -> bool {
        self.terminal.interrupted()
    }
}
