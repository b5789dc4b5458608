//! `skyfall run`: one experiment from a configuration file.

use std::path::PathBuf;
use std::rc::Rc;

use crate::algorithm::Window;
use crate::bundle::{self, ExportOptions};
use crate::config::{self, ConfigErrors, ExperimentConfig, LoadError, PolicyConfig};
use crate::diagnostic::{Diagnostic, Exit};
use crate::experiment::{Catalog, Experiment, Observer, Parts, RunResult, checkpoint_path};
use crate::policy::registry;
use crate::regime::Regime;
use crate::script::{
    BareScripts, Console, Earlier, Outcome, RunOptions, Script, ScriptError, ScriptHost, ScriptedExperiment,
    module_function, programs,
};
use crate::sweep::outcome;
use crate::value::Map;

use super::Ending;
use super::args::RunArguments;
use super::console::Terminal;

/// Runs the experiment a configuration describes.
pub(super) fn run(arguments: &RunArguments, terminal: &Rc<Terminal>) -> Ending {
    terminal.bound(arguments.limits.limits());
    if arguments.config.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("lua")) {
        return run_script(arguments, terminal);
    }
    super::check_output(arguments.traces.as_deref(), std::slice::from_ref(&arguments.config))?;
    let mut document = config::document(&arguments.config).map_err(LoadError::into_diagnostic)?;
    for assignment in &arguments.overrides {
        config::set(&mut document, assignment).map_err(Diagnostic::from)?;
    }
    let file = arguments.config.display().to_string();
    let mut config = ExperimentConfig::from_value(&document)
        .map_err(|errors: ConfigErrors| Diagnostic::from(LoadError::Invalid { file, errors }))?;
    config.run.seed = arguments.seed.unwrap_or(config.run.seed);
    if names_a_module(&config) {
        return finish(&script_host(arguments, terminal)?.experiment(document)?, arguments, terminal);
    }
    let total = config.rollout.total_steps;
    // A configuration named on the command line is the user's own word; a script needs --allow-run.
    let programs = programs(Rc::clone(terminal) as Rc<dyn Console>).map_err(Diagnostic::from)?;
    let catalog = Catalog::native().with_scripts(BareScripts::new()?).with_programs(programs);
    let mut experiment = Experiment::new(config, &catalog, Parts::default()).map_err(Diagnostic::from)?;
    if arguments.dry_run {
        return Ok(resolved(&experiment.resolved(), arguments.json, terminal));
    }
    let export_options = ExportOptions { external: arguments.export_external };
    if let Some(directory) = &arguments.export {
        bundle::check_target(directory, export_options).map_err(Diagnostic::from)?;
    }
    let options = options(arguments);
    say_what_is_kept(&options, terminal);
    let mut observer = Training { progress: Progress { terminal, total }, earlier: options.earlier() };
    let (traces, checkpoints) = (arguments.traces.as_deref(), Some(arguments.checkpoints.checkpoints()));
    let result = experiment.run_with(traces, checkpoints, &mut observer).map_err(Diagnostic::from)?;
    for warning in &result.warnings {
        terminal.warn(warning);
    }
    if let Some(directory) = &arguments.export {
        bundle::export(&experiment, directory, export_options).map_err(Diagnostic::from)?;
    }
    if let Some(trace) = traces.filter(|_| !result.interrupted) {
        Experiment::discard_checkpoint(trace).map_err(Diagnostic::from)?;
    }
    Ok(told(&result, &options, arguments.json, terminal))
}

/// Says so where a run leaves nothing behind.
fn say_what_is_kept(options: &RunOptions, terminal: &Terminal) {
    if options.traces.is_none() && options.export.is_none() {
        terminal.info("nothing of this run is kept: --traces FILE keeps a trace, --export DIR a bundle");
    }
}

/// Where the run's artifacts go.
fn options(arguments: &RunArguments) -> RunOptions {
    RunOptions {
        external: arguments.export_external,
        checkpoints: Some(arguments.checkpoints.checkpoints()),
        tells_replaced: true,
        ..RunOptions::new(arguments.traces.clone(), arguments.export.clone())
    }
}

/// Whether the policy is made by a Lua module that has to be found.
fn names_a_module(config: &ExperimentConfig) -> bool {
    let by_module = |policy: &&PolicyConfig| policy.lua.is_none() && module_function(&policy.id).is_some();
    let policy = config.algorithm.policy.as_ref().filter(by_module);
    policy.is_some_and(|policy| !registry::IDS.contains(&&*policy.id))
}

/// A machine that has the modules beside the configuration.
fn script_host(arguments: &RunArguments, terminal: &Rc<Terminal>) -> Result<ScriptHost, Box<Diagnostic>> {
    let mut settings = super::script::settings(&arguments.permissions)?;
    settings.limits = arguments.limits.limits();
    settings.overrides.clone_from(&arguments.overrides);
    if let Some(seed) = arguments.seed {
        settings.overrides.push(format!("run.seed={seed}"));
    }
    let script = Script::File(arguments.config.clone());
    Ok(ScriptHost::new(script, settings, Rc::clone(terminal) as Rc<dyn Console>)?)
}

/// Runs a script's experiment, or prints it.
fn finish(experiment: &ScriptedExperiment, arguments: &RunArguments, terminal: &Terminal) -> Ending {
    if arguments.dry_run {
        return dry_run(experiment, arguments.json, terminal);
    }
    let options = options(arguments);
    say_what_is_kept(&options, terminal);
    let result = experiment.run(&options)?;
    Ok(told(&result, &options, arguments.json, terminal))
}

/// Runs the experiment a script returns.
fn run_script(arguments: &RunArguments, terminal: &Rc<Terminal>) -> Ending {
    match script_host(arguments, terminal)?.run() {
        Ok(Outcome::Experiment(experiment)) => finish(&experiment, arguments, terminal),
        Ok(Outcome::Sweep(_)) => Err(Box::new(
            Diagnostic::new(
                "run/sweep",
                format!("{} returned a sweep, not an experiment", arguments.config.display()),
                Exit::Failure,
            )
            .with_hint("run it with `skyfall sweep`"),
        )),
        Ok(Outcome::Done) => Err(Box::new(
            Diagnostic::new(
                "run/no-experiment",
                format!("{} returned no experiment", arguments.config.display()),
                Exit::Failure,
            )
            .with_hint("end it with `return skyfall.experiment { ... }`, or run it with `skyfall script`"),
        )),
        Err(ScriptError::Raised(diagnostic)) => Err(diagnostic),
        Err(ScriptError::Exit(code)) => {
            Err(Box::new(Diagnostic::new("run/exit", format!("the script ended with code {code}"), Exit::Failure)))
        }
    }
}

/// Prints the configuration that a script's experiment comes down to.
pub(super) fn dry_run(experiment: &ScriptedExperiment, as_json: bool, terminal: &Terminal) -> Ending {
    let config = experiment.resolved().map_err(|message| Diagnostic::new("run/failed", message, Exit::Failure))?;
    Ok(resolved(&config, as_json, terminal))
}

fn resolved(config: &ExperimentConfig, as_json: bool, terminal: &Terminal) -> Exit {
    if as_json {
        terminal.print_json(config.to_value());
    } else {
        terminal.print(&config.to_document());
    }
    Exit::Success
}

/// Says on stdout how a run went and where its artifacts are.
pub(super) fn told(result: &RunResult, options: &RunOptions, as_json: bool, terminal: &Terminal) -> Exit {
    let made = [("trace", &options.traces), ("bundle", &options.export)];
    if as_json {
        let mut found: Map = outcome::METRICS.into_iter().map(str::to_owned).zip(outcome::metrics(result)).collect();
        let place = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string()).into();
        found.extend(made.map(|(what, path)| (what.to_owned(), place(path))));
        terminal.print_json(found);
    } else {
        let mut text =
            format!("{} steps, {} episodes, mean reward {:.4}", result.steps, result.episodes, result.mean_reward);
        if let Some(mean_return) = result.mean_return {
            text.push_str(&format!(", mean return {mean_return:.2}"));
        }
        text.push('\n');
        for (what, path) in made {
            if let Some(path) = path {
                text.push_str(&format!("{what}: {}\n", path.display()));
            }
        }
        terminal.print(&text);
    }
    if !result.interrupted {
        return Exit::Success;
    }
    let resumable = options.traces.as_deref().is_some_and(|trace| checkpoint_path(trace).exists());
    if let Some(limit) = terminal.limit() {
        terminal.report(&if resumable { limit.with_hint("--resume goes on from here") } else { limit });
        return Exit::Input;
    }
    terminal.info(if resumable { "interrupted; --resume goes on from here" } else { "interrupted" });
    Exit::Interrupted
}

/// Shows a run's progress, and sees to what an earlier one left in its place.
struct Training<'a> {
    progress: Progress<'a>,
    earlier: Earlier,
}

impl Observer for Training<'_> {
    fn on_begin(&mut self, anew: bool) -> Result<(), String> {
        if anew { self.earlier.make_way(&|line| self.progress.terminal.info(line)) } else { Ok(()) }
    }

    fn on_window(&mut self, window: &Window, regime: &Regime) -> Result<(), String> {
        self.progress.on_window(window, regime)
    }

    fn interrupted(&self) -> bool {
        self.progress.interrupted()
    }
}

/// Shows a run's progress.
pub(super) struct Progress<'a> {
    pub(super) terminal: &'a Terminal,
    pub(super) total: u64,
}

impl Observer for Progress<'_> {
    fn on_window(&mut self, window: &Window, regime: &Regime) -> Result<(), String> {
        self.terminal.progress(regime.id.as_deref().unwrap_or(""), window.done, self.total);
        Ok(())
    }

    fn interrupted(&self) -> bool {
        self.terminal.interrupted()
    }
}
