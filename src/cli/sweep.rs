//! `skyfall sweep`: running sweeps, and looking at them.

mod launch;
mod look;
mod screen;
mod task;
mod trial;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::config::{self, LoadError, set};
use crate::diagnostic::{Diagnostic, Exit};
use crate::script::{Console, Outcome, Script, ScriptError, ScriptHost, ScriptedSweep};
use crate::sweep::begin::Begun;
use crate::sweep::directory::{Directory, Header};
use crate::sweep::numbers::Numbers;
use crate::sweep::plan::{self, Totals, Trial};
use crate::sweep::pool::Launcher;
use crate::sweep::run::{self, Measure, Options, Progress, Source};
use crate::sweep::search::Search;
use crate::sweep::{SweepError, axis, describe};
use crate::value::{self, Map, Value};

use screen::Screen;

use super::args::{LauncherArguments, PoolArguments, SweepArguments, SweepCommand, SweepLook};
use super::console::Terminal;
use super::{Ending, Process, child, cluster};

/// Runs a sweep, or looks at one.
pub(super) fn sweep(command: &SweepCommand, own: &Process, terminal: &Rc<Terminal>) -> Ending {
    match &command.look {
        Some(SweepLook::Status(arguments)) => look::status(arguments, terminal),
        Some(SweepLook::Table(arguments)) => look::table(arguments, terminal),
        Some(SweepLook::Best(arguments)) => look::best(arguments, terminal),
        Some(SweepLook::Report(arguments)) => look::report(arguments, terminal),
        Some(SweepLook::Task(arguments)) => task::task(arguments, terminal),
        None => start(&command.run, own, terminal),
    }
}

/// What is to be done with a sweep.
pub(super) struct Order {
    /// Where its script was read, if it is not all in the command.
    pub(super) file: Option<PathBuf>,
    pub(super) out: Option<PathBuf>,
    pub(super) resume: bool,
    pub(super) dry_run: bool,
    /// What is said on stdout is JSON.
    pub(super) json: bool,
    pub(super) pool: PoolArguments,
    /// Who starts the trials, if not this command, and how many a task.
    pub(super) launcher: Option<(LauncherArguments, NonZeroUsize)>,
}

fn start(arguments: &SweepArguments, own: &Process, terminal: &Rc<Terminal>) -> Ending {
    let order = Order {
        file: arguments.file.clone(),
        out: arguments.out.clone(),
        resume: arguments.resume,
        dry_run: arguments.dry_run,
        json: arguments.json,
        pool: arguments.pool,
        launcher: cluster::elsewhere(&arguments.launcher).map(|_| (arguments.launcher.clone(), arguments.batch)),
    };
    drive(read(arguments, terminal)?, &order, own, terminal)
}

/// The sweep that a file describes, with the axes that were typed.
fn read(arguments: &SweepArguments, terminal: &Rc<Terminal>) -> Result<ScriptedSweep, Box<Diagnostic>> {
    let file = arguments.file.clone().unwrap_or_default();
    check_file(&file)?;
    let axes = arguments.axes.iter().map(|axis| axis::parse(axis)).collect::<Result<Vec<_>, _>>();
    let axes = axes.map_err(Diagnostic::from)?;
    axis::check(&axes, &arguments.overrides).map_err(Diagnostic::from)?;
    let mut settings = super::script::settings(&arguments.permissions)?;
    settings.arguments.clone_from(&arguments.arguments);
    let is_script =
        file == Path::new("-") || file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("lua"));
    let sweep = if is_script {
        settings.overrides.clone_from(&arguments.overrides);
        let host = ScriptHost::new(super::script::named(&file)?, settings, Rc::clone(terminal) as Rc<dyn Console>)?;
        match host.run() {
            Ok(Outcome::Sweep(sweep)) => *sweep,
            Ok(Outcome::Experiment(experiment)) if !axes.is_empty() => ScriptedSweep::of_experiment(*experiment),
            Ok(Outcome::Experiment(_)) => return Err(no_sweep(&file, "an experiment, and no --axis was named")),
            Ok(Outcome::Done) => return Err(no_sweep(&file, "nothing to sweep")),
            Err(ScriptError::Raised(diagnostic)) => return Err(diagnostic),
            Err(ScriptError::Exit(code)) => {
                return Err(no_sweep(&file, &format!("nothing: it ended with code {code}")));
            }
        }
    } else {
        if axes.is_empty() {
            return Err(no_sweep(&file, "an experiment, and no --axis was named"));
        }
        let mut document = config::document(&file).map_err(LoadError::into_diagnostic)?;
        for assignment in &arguments.overrides {
            set(&mut document, assignment).map_err(Diagnostic::from)?;
        }
        let host = ScriptHost::new(Script::File(file), settings, Rc::clone(terminal) as Rc<dyn Console>)?;
        ScriptedSweep::of_experiment(host.experiment(document)?)
    };
    Ok(axes.into_iter().fold(sweep, |sweep, (path, values)| sweep.with_axis(&path, values)))
}

/// Refuses what cannot be read again.
fn check_file(file: &Path) -> Result<(), Box<Diagnostic>> {
    if !file.exists() || file.is_file() {
        return Ok(());
    }
    if file.is_dir() {
        let line = format!("{} is a directory, not a script", file.display());
        return Err(Box::new(Diagnostic::new("sweep/script", line, Exit::Input)));
    }
    let line = format!("{} is read once only, and every trial of a sweep reads its script", file.display());
    let hint = "name a file, or `-` for standard input, which is kept for them";
    Err(Box::new(Diagnostic::new("sweep/script", line, Exit::Usage).with_hint(hint)))
}

fn no_sweep(file: &Path, what: &str) -> Box<Diagnostic> {
    let line = format!("{} returned {what}", file.display());
    let hint = "end it with `return skyfall.sweep { ... }`, or name an axis: --axis algorithm.params.noise=0.1,0.2";
    Box::new(Diagnostic::new("sweep/none", line, Exit::Failure).with_hint(hint))
}

/// Runs a sweep; in a trial's process, that trial.
pub(super) fn drive(sweep: ScriptedSweep, order: &Order, own: &Process, terminal: &Rc<Terminal>) -> Ending {
    if let Some(file) = &order.file {
        check_file(file)?;
    }
    if let Some(attempt) = &own.attempt {
        return Ok(trial::run(&Rc::new(sweep), attempt, terminal));
    }
    let mut resolve = |point: &Map| sweep.resolve(point);
    let mut search = sweep.search();
    if order.launcher.is_some() {
        launch::check(order.pool, search.is_some())?;
    }
    if order.dry_run && search.is_some() {
        let line = "a search's points depend on how its trials come out; there is nothing to list";
        return Err(Box::new(Diagnostic::new("sweep/search", line, Exit::Usage)));
    }
    if order.dry_run {
        let there = Directory::new(out_of(order, &sweep)?);
        let finished = there.units().finished().map_err(SweepError::from).map_err(Diagnostic::from)?;
        let mut numbers = Numbers::of(&there).map_err(Diagnostic::from)?;
        let mut listed = Vec::new();
        let mut list = |trial: &Trial| -> Result<(), SweepError> {
            let unit = trial.unit();
            let is_finished = finished.contains_key(unit.short());
            if order.json {
                let entries: [(&str, Value); 5] = [
                    ("trial", trial.id.as_str().into()),
                    ("directory", unit.name().into()),
                    ("point", Value::Map(trial.point.clone())),
                    ("finished", (trial.resolved.is_ok() && is_finished).into()),
                    ("error", trial.resolved.as_ref().err().map(String::as_str).map(Value::from).unwrap_or_default()),
                ];
                listed.push(Value::map(entries));
                return Ok(());
            }
            let what = match &trial.resolved {
                Ok(_) if is_finished => "  finished".to_owned(),
                Ok(_) => String::new(),
                Err(why) => format!("  error: {why}"),
            };
            terminal.print(&format!("{}  {}{what}\n", unit.name(), describe(&trial.point)));
            Ok(())
        };
        let totals = plan::each(&sweep.space, &mut numbers, &mut resolve, &mut list).map_err(Diagnostic::from)?;
        if order.json {
            terminal.print_json(listed);
        }
        let (Totals { trials, steps, .. }, again) = (&totals, again(&totals));
        terminal.info(&format!("{trials} trials, {steps} steps at most; {again}"));
        return Ok(Exit::Success);
    }
    let out = out_of(order, &sweep)?;
    let directory = Directory::new(&out);
    if directory.holds_sweep() && !order.resume {
        return Err(Box::new(SweepError::Exists { path: out.display().to_string() }.into()));
    }
    directory.check_no_run().map_err(Diagnostic::from)?;
    let searched = search.as_ref().map(|(_, extent)| extent.trials());
    let begun =
        directory.begin(sweep.definition.clone(), provenance(&sweep, own), &sweep.space, &mut resolve, searched);
    let Begun { header, numbers, set_aside, lock } = begun.map_err(Diagnostic::from)?;
    if header.totals.duplicates > 0 {
        terminal.info(&again(&header.totals));
    }
    if set_aside > 0 && search.is_none() {
        terminal
            .info(&format!("{set_aside} finished trials are not part of this plan; they are kept out of its results"));
    }
    let typed = order.file.as_ref().filter(|file| *file == Path::new("-"));
    let input = typed.and_then(|_| sweep.source(super::script::STDIN)).map(|text| directory.keep_script(&text));
    let input = input.transpose().map_err(Diagnostic::from)?;
    if let Some((asked, batch)) = &order.launcher {
        return launch::launch(&directory, &header, (asked, *batch, order), own, terminal);
    }
    let launcher = Launcher { program: child::program()?, arguments: own.words.clone(), input };
    let jobs = order.pool.jobs.or(std::thread::available_parallelism().ok()).unwrap_or(std::num::NonZeroUsize::MIN);
    let options = Options { jobs, retries: order.pool.retries, fail_fast: order.pool.fail_fast };
    let screen = Screen::new(terminal, header.totals.trials, &header.definition.metric);
    let measure = Measure { metric: &header.definition.metric, goal: header.definition.goal };
    let mut source: Box<dyn Source> = match &mut search {
        None => Box::new(directory.plan().map_err(Diagnostic::from)?),
        Some((sampler, extent)) => {
            let search = Search::new(&mut **sampler, &mut resolve, measure.metric, extent.clone(), &directory, numbers);
            Box::new(search.map_err(Diagnostic::from)?)
        }
    };
    let progress =
        run::run(&directory, &mut *source, &launcher, &options, &measure, &screen).map_err(Diagnostic::from)?;
    drop(lock);
    Ok(told(&header, &progress, &out, order.json, terminal))
}

fn again(Totals { duplicates, idle, .. }: &Totals) -> String {
    let mut text = format!("{duplicates} points came to a configuration that was there already");
    if !idle.is_empty() {
        let names: Vec<String> = idle.iter().map(|axis| format!("`{axis}`")).collect();
        text.push_str(&format!(": {} made no difference to them", names.join(", ")));
    }
    text
}

fn out_of(order: &Order, sweep: &ScriptedSweep) -> Result<PathBuf, Diagnostic> {
    order.out.clone().map_or_else(|| sweep.directory(), Ok)
}

/// Where a sweep comes from.
fn provenance(sweep: &ScriptedSweep, own: &Process) -> Map {
    let sources = sweep.sources().into_iter().map(|(name, digest)| (name, digest.into())).collect();
    let words = own.words.iter().map(|word| Value::Text(word.to_string_lossy().into_owned()));
    let command: Vec<Value> = std::iter::once("skyfall".into()).chain(words).collect();
    Map::from_iter([
        ("command".to_owned(), command.into()),
        ("sources_sha256".to_owned(), Value::Map(sources)),
        ("version".to_owned(), env!("CARGO_PKG_VERSION").into()),
    ])
}

/// Says on stdout how a sweep went.
fn told(header: &Header, progress: &Progress, out: &Path, as_json: bool, terminal: &Terminal) -> Exit {
    let Progress { finished, before, failed, .. } = progress;
    if as_json {
        let best = progress.best.as_ref().map(|best| {
            Value::map([
                ("point", Value::Map(best.axes.clone())),
                ("metric", header.definition.metric.as_str().into()),
                ("mean", best.mean.into()),
                ("n", best.trials.into()),
            ])
        });
        let entries: [(&str, Value); 7] = [
            ("name", header.definition.name.as_str().into()),
            ("directory", out.display().to_string().into()),
            ("trials", header.totals.trials.into()),
            ("finished", (*finished).into()),
            ("finished_before", (*before).into()),
            ("failed", (*failed).into()),
            ("best", best.unwrap_or_default()),
        ];
        terminal.print_json(value::map(entries));
        return ended(progress, terminal);
    }
    let mut text = format!("{finished} of {} trials finished", header.totals.trials);
    if *before > 0 {
        text.push_str(&format!(" ({before} of them before)"));
    }
    if *failed > 0 {
        text.push_str(&format!(", {failed} failed"));
    }
    text.push('\n');
    if let Some(best) = &progress.best {
        text.push_str(&screen::best_line(&header.definition.metric, best));
        text.push('\n');
    }
    text.push_str(&format!("sweep: {}\n", out.display()));
    terminal.print(&text);
    ended(progress, terminal)
}

fn ended(progress: &Progress, terminal: &Terminal) -> Exit {
    if progress.interrupted {
        terminal.info("interrupted; --resume runs what is missing");
        return Exit::Interrupted;
    }
    if progress.failed > 0 || !progress.complete { Exit::Failure } else { Exit::Success }
}
