//! `skyfall.experiment` and `skyfall.run_experiment`.

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::rc::Rc;

use mlua::{Function, Lua, Table, UserData, UserDataFields, Value as LuaValue};

use super::regime::LuaProviderHandle;
use super::reward::LuaComposition;
use super::{Fault, Module, allowed, line, random, reward};
use crate::algorithm::{Episode, Window};
use crate::bundle::{self, Bundle};
use crate::config::{self, ExperimentConfig};
use crate::diagnostic::Diagnostic;
use crate::experiment::{Checkpoints, Experiment, Observer, Parts, RunResult};
use crate::regime::Regime;
use crate::reward::StepView;
use crate::script::bare::BareScripts;
use crate::script::convert;
use crate::script::error::{Raise, caught, fail, message, report};
use crate::script::host::{Console, Host};
use crate::value::{Map, Value};

/// A checked experiment in a script's hands; a script that returns it has it run.
pub struct ScriptedExperiment {
    lua: Lua,
    host: Rc<Host>,
    config: ExperimentConfig,
    given: Table,
}

impl std::fmt::Debug for ScriptedExperiment {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("ScriptedExperiment").field("config", &self.config).finish_non_exhaustive()
    }
}

/// Where a run's artifacts go, and what is called meanwhile.
#[derive(Default)]
pub struct RunOptions {
    /// The trace.
    pub traces: Option<PathBuf>,
    /// The bundle.
    pub export: Option<PathBuf>,
    /// Whether the bundle's checkpoint stays outside of it.
    pub external: bool,
    /// How the run is made resumable.
    pub checkpoints: Option<Checkpoints>,
    /// What the script wants to hear of.
    pub(crate) callbacks: Callbacks,
    /// Whether the user is told that results of an earlier run are replaced.
    pub tells_replaced: bool,
    /// Is told of every window; the run ends with the one it answers `true` to.
    pub watch: Option<Watch>,
}

/// Is told of windows, and says whether the run is to end.
pub type Watch = Box<dyn Fn(&Window) -> Result<bool, String>>;

impl RunOptions {
    /// Options that only say where the artifacts go.
    #[must_use]
    pub fn new(traces: Option<PathBuf>, export: Option<PathBuf>) -> Self {
        Self { traces, export, ..Self::default() }
    }

    /// What an earlier run left where this one's results will stand.
    pub(crate) fn earlier(&self) -> Earlier {
        let bundle =
            self.export.clone().map(|directory| (directory, bundle::ExportOptions { external: self.external }));
        Earlier { bundle, line: self.replaced().filter(|_| self.tells_replaced) }
    }

    /// What the user is told where the run will replace an earlier one's results.
    fn replaced(&self) -> Option<String> {
        let trace = self.traces.as_ref().filter(|path| path.is_file());
        let bundle = self.export.as_ref().filter(|directory| Bundle::open(directory).is_ok());
        let names: Vec<String> = [trace, bundle].into_iter().flatten().map(|path| path.display().to_string()).collect();
        (!names.is_empty()).then(|| format!("this replaces an earlier run's {}", names.join(" and ")))
    }
}

/// What an earlier run left in the places of a run that begins.
pub(crate) struct Earlier {
    /// Where the bundle will stand, and how.
    bundle: Option<(PathBuf, bundle::ExportOptions)>,
    /// What the user is told of results that are replaced.
    line: Option<String>,
}

impl Earlier {
    /// Says through `say` what is replaced, and removes the bundle: the new trace is not of it.
    ///
    /// # Errors
    /// One line, when the bundle cannot be removed.
    pub(crate) fn make_way(&self, say: &dyn Fn(&str)) -> Result<(), String> {
        if let Some(line) = &self.line {
            say(line);
        }
        let Some((directory, options)) = &self.bundle else { return Ok(()) };
        bundle::discard(directory, *options).map_err(|error| error.to_string())
    }
}

/// The script's functions that a run calls.
#[derive(Default)]
pub(crate) struct Callbacks {
    step: Option<Function>,
    window: Option<Function>,
    episode: Option<Function>,
}

impl ScriptedExperiment {
    /// The run's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.config.run.name
    }

    /// The directory named after the run, where its artifacts go unless the command says otherwise.
    ///
    /// # Errors
    /// When the script may not write there: the name is the script's word, not the user's.
    pub fn directory(&self) -> Result<PathBuf, Diagnostic> {
        self.host.named_directory(self.name())
    }

    /// The configuration with everything that the script defined in it by value.
    ///
    /// # Errors
    /// One line: what cannot be made.
    pub fn resolved(&self) -> Result<ExperimentConfig, String> {
        self.build().map(|experiment| experiment.resolved()).map_err(told)
    }

    /// What it was given as its reward.
    pub(super) fn given_reward(&self) -> mlua::Result<LuaValue> {
        self.given.raw_get("reward")
    }

    /// Runs the experiment once more from its beginning.
    ///
    /// # Errors
    /// What failed, at which step, where in the script.
    pub fn run(&self, options: &RunOptions) -> Result<RunResult, Diagnostic> {
        self.run_inner(options).map_err(|fault| {
            let raise = Raise::said(told(fault));
            let frames = self.host.failed.take().frames_of(&raise, &LuaValue::Nil);
            Diagnostic { code: "run/failed".to_owned(), ..report(&raise, frames, &self.host.sources) }
        })
    }

    /// Runs it with `math.random` drawing under its seed; what the script draws afterwards goes on
    /// from what it drew before.
    fn run_inner(&self, options: &RunOptions) -> Result<RunResult, Fault> {
        let next = random::reseed(&self.lua, self.config.run.seed.cast_signed())?;
        let result = self.run_seeded(options);
        random::reseed(&self.lua, next)?;
        result
    }

    fn run_seeded(&self, options: &RunOptions) -> Result<RunResult, Fault> {
        let mut experiment = self.build()?;
        let export_options = bundle::ExportOptions { external: options.external };
        if let Some(directory) = &options.export {
            // What cannot travel, or has no place, is told before the run, not after it.
            bundle::check_target(directory, export_options).map_err(line)?;
            experiment.reward_record().map_err(line)?;
            experiment.regime_record().map_err(line)?;
            experiment.env_code().map_err(line)?;
            experiment.policy_code().map_err(line)?;
        }
        let mut observer = ScriptObserver {
            lua: &self.lua,
            console: &*self.host.console,
            callbacks: &options.callbacks,
            total: self.config.rollout.total_steps,
            watch: options.watch.as_ref(),
            over: false,
            earlier: options.earlier(),
        };
        let traces = options.traces.as_deref();
        let result = experiment.run_with(traces, options.checkpoints, &mut observer).map_err(line)?;
        for warning in &result.warnings {
            self.host.console.warn(warning);
        }
        if let Some(directory) = &options.export {
            bundle::export(&experiment, directory, export_options).map_err(line)?;
        }
        if let Some(trace) = traces.filter(|_| !result.interrupted) {
            Experiment::discard_checkpoint(trace).map_err(line)?;
        }
        Ok(result)
    }

    /// Every part made anew.
    fn build(&self) -> Result<Experiment, Fault> {
        let mut parts = Parts::default();
        if let Some(composition) = handle::<LuaComposition>(&self.given, "reward")? {
            parts.reward = Some(composition.borrow::<LuaComposition>()?.build(&self.lua)?);
        }
        if let Some(provider) = handle::<LuaProviderHandle>(&self.given, "regime")? {
            parts.provider = Some(provider.borrow::<LuaProviderHandle>()?.build(&self.lua, self.config.run.seed)?);
        }
        let scripts = BareScripts::new().map_err(|problem| Fault::Line(problem.message))?;
        let catalog = self.host.catalog.borrow().clone().with_scripts(scripts);
        Experiment::new(self.config.clone(), &catalog, parts).map_err(line)
    }
}

/// A fault as one line.
fn told(fault: Fault) -> String {
    match fault {
        Fault::Line(line) => line,
        Fault::Lua(error) => message(&error),
    }
}

/// The object of type `T` in a field, if one is there.
fn handle<T: 'static>(table: &Table, field: &str) -> mlua::Result<Option<mlua::AnyUserData>> {
    Ok(match table.raw_get::<LuaValue>(field)? {
        LuaValue::UserData(data) if data.is::<T>() => Some(data),
        _ => None,
    })
}

pub(super) fn module(module: Module<'_>) -> mlua::Result<Module<'_>> {
    module.table.raw_set("version", env!("CARGO_PKG_VERSION"))?;
    module.function("experiment", |lua, host, given: LuaValue| experiment(lua, host, &given, (None, &[])))?.function(
        "run_experiment",
        |lua, host, (given, options): (LuaValue, LuaValue)| {
            if host.dry_run {
                let line = "--dry-run prints an experiment that a script returns; this script runs one itself";
                return Err(Fault::Line(line.to_owned()));
            }
            let (options, seed) = read_options(host, &options)?;
            let made = match &given {
                LuaValue::UserData(data) if data.is::<ScriptedExperiment>() => {
                    data.borrow::<ScriptedExperiment>()?.reseeded(seed)
                }
                given => experiment(lua, host, given, (seed, &[]))?,
            };
            let result = made.run_inner(&options)?;
            result_table(lua, &result, made.name(), &options).map_err(Fault::from)
        },
    )
}

impl ScriptedExperiment {
    /// The same experiment, under another seed if one is given.
    fn reseeded(&self, seed: Option<u64>) -> Self {
        let mut config = self.config.clone();
        config.run.seed = seed.unwrap_or(config.run.seed);
        Self { lua: self.lua.clone(), host: Rc::clone(&self.host), config, given: self.given.clone() }
    }

    /// The same experiment with other values of some fields, each named by its path.
    pub(super) fn overridden(&self, overrides: &[(String, Value)]) -> Result<Self, Fault> {
        configured(&self.lua, &self.host, self.config.to_value(), self.given.clone(), (None, overrides))
    }

    /// The same experiment with another configuration, of the same parts.
    pub(super) fn changed(mut self, change: impl FnOnce(&mut ExperimentConfig)) -> Self {
        change(&mut self.config);
        self
    }

    /// Whether its run was given a name, and a seed.
    pub(super) fn identifies_itself(&self) -> (bool, bool) {
        let given = |field| {
            let run = self.given.raw_get::<Table>("run").ok();
            run.is_some_and(|run| run.contains_key(field).unwrap_or(false))
        };
        (given("name"), given("seed"))
    }

    /// The machine that it lives in.
    pub(super) fn machine(&self) -> (Lua, Rc<Host>) {
        (self.lua.clone(), Rc::clone(&self.host))
    }
}

/// What a script gives as an experiment, a checked one or its configuration, with more overrides.
pub(super) fn of_given(
    lua: &Lua,
    host: &Rc<Host>,
    given: &LuaValue,
    overrides: &[(String, Value)],
) -> Result<ScriptedExperiment, Fault> {
    match given {
        LuaValue::UserData(data) if data.is::<ScriptedExperiment>() => {
            data.borrow::<ScriptedExperiment>()?.overridden(overrides)
        }
        given => experiment(lua, host, given, (None, overrides)),
    }
}

/// Checks a configuration and makes an experiment of it.
fn experiment(
    lua: &Lua,
    host: &Rc<Host>,
    given: &LuaValue,
    replaced: (Option<u64>, &[(String, Value)]),
) -> Result<ScriptedExperiment, Fault> {
    let LuaValue::Table(given) = given else {
        return Err(Fault::Line(format!("the configuration must be a table, got {}", convert::describe(given))));
    };
    let mut document = Map::new();
    for (key, value) in convert::entries(given, "config")? {
        let name = convert::key_text(&key);
        let object = match (&value, name.as_str()) {
            (LuaValue::UserData(data), "reward") => data.is::<LuaComposition>(),
            (LuaValue::UserData(data), "regime") => data.is::<LuaProviderHandle>(),
            _ => false,
        };
        let meant = if name == "reward" { reward::meant(&value) } else { None };
        if let Some(what) = meant {
            return Err(Fault::Line(format!(
                "`reward` is {what}, not a composition: reward = reward.compose {{ {{ term, weight = 1.0 }} }}"
            )));
        }
        if !object {
            document.insert(name.clone(), convert::read(&value, &name)?);
        }
    }
    configured(lua, host, Value::Map(document), given.clone(), replaced)
}

/// An experiment of the configuration `document`, beside the objects in `given`.
fn configured(
    lua: &Lua,
    host: &Rc<Host>,
    mut document: Value,
    given: Table,
    (seed, overrides): (Option<u64>, &[(String, Value)]),
) -> Result<ScriptedExperiment, Fault> {
    for (path, value) in overrides {
        refuse_object(&given, "axis", path)?;
        config::set_value(&mut document, path, value.clone()).map_err(line)?;
    }
    for assignment in &host.overrides {
        refuse_object(&given, "set", assignment)?;
        config::set(&mut document, assignment).map_err(line)?;
    }
    let mut config = ExperimentConfig::from_value(&document).map_err(line)?;
    config.run.seed = seed.unwrap_or(config.run.seed);
    super::factory::define(lua, host, &config)?;
    let made = ScriptedExperiment { lua: lua.clone(), host: Rc::clone(host), config, given };
    made.build()?;
    Ok(made)
}

/// A section that the script made by calls cannot be changed from outside.
fn refuse_object(given: &Table, flag: &str, assignment: &str) -> Result<(), Fault> {
    let section = assignment.split(['.', '=']).next().unwrap_or_default();
    if matches!(given.raw_get::<LuaValue>(section)?, LuaValue::UserData(_)) {
        return Err(Fault::Line(format!(
            "--{flag} {assignment}: the script makes its `{section}` by calls, which --{flag} does not reach; change the \
             script, or `skyfall run` the configuration that --dry-run prints"
        )));
    }
    Ok(())
}

/// The experiment of a configuration that is plain data.
///
/// # Errors
/// One line: what is wrong with it, or what cannot be made.
pub(in crate::script) fn of_document(
    lua: &Lua,
    host: &Rc<Host>,
    document: Value,
) -> Result<ScriptedExperiment, String> {
    let given = lua.create_table().map_err(|error| message(&error))?;
    configured(lua, host, document, given, (None, &[])).map_err(told)
}

/// The options of a run, and the seed among them.
fn read_options(host: &Rc<Host>, options: &LuaValue) -> Result<(RunOptions, Option<u64>), Fault> {
    const KEYS: [&str; 9] = [
        "traces",
        "export_dir",
        "export_external",
        "seed",
        "resume",
        "checkpoint_every",
        "on_step",
        "on_window",
        "on_episode",
    ];
    let mut read = RunOptions::default();
    let mut checkpoints = host.checkpoints;
    let mut seed = None;
    let given = match options {
        LuaValue::Nil => Vec::new(),
        LuaValue::Table(table) => convert::entries(table, "options")?,
        other => return Err(Fault::Line(format!("the options must be a table, got {}", convert::describe(other)))),
    };
    for (key, value) in given {
        let name = convert::key_text(&key);
        let function = |value: LuaValue| match value {
            LuaValue::Function(function) => Ok(Some(function)),
            other => Err(Fault::Line(format!("`{name}` must be a function, got {}", convert::describe(&other)))),
        };
        match name.as_str() {
            "traces" => read.traces = Some(allowed(host, &convert::text(&value, &name)?)?),
            "export_dir" => read.export = Some(allowed(host, &convert::text(&value, &name)?)?),
            "seed" => {
                let given = u64::try_from(convert::integer(&value, &name)?).ok();
                seed = Some(given.ok_or_else(|| Fault::Line("`seed` must not be negative".to_owned()))?);
            }
            "export_external" => read.external = flag(&value, &name)?,
            "resume" => checkpoints.resume = flag(&value, &name)?,
            "checkpoint_every" => {
                let every = u64::try_from(convert::integer(&value, &name)?).ok().and_then(NonZeroU64::new);
                checkpoints.every = Some(every.ok_or_else(|| Fault::Line(format!("`{name}` must be at least 1")))?);
            }
            "on_step" => read.callbacks.step = function(value)?,
            "on_window" => read.callbacks.window = function(value)?,
            "on_episode" => read.callbacks.episode = function(value)?,
            _ => {
                let hint = crate::suggest::hint(&name, "it takes", KEYS);
                return Err(Fault::Line(format!("run_experiment: unknown option `{name}`; {hint}")));
            }
        }
    }
    if read.external && read.export.is_none() {
        return Err(Fault::Line("`export_external` needs `export_dir`".to_owned()));
    }
    read.checkpoints = Some(checkpoints);
    Ok((read, seed))
}

fn flag(value: &LuaValue, name: &str) -> Result<bool, Fault> {
    value
        .as_boolean()
        .ok_or_else(|| Fault::Line(format!("`{name}` must be a boolean, got {}", convert::describe(value))))
}

fn result_table(lua: &Lua, result: &RunResult, name: &str, options: &RunOptions) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    table.raw_set("run_id", name)?;
    table.raw_set("steps", result.steps)?;
    table.raw_set("episodes", result.episodes)?;
    table.raw_set("windows", result.windows)?;
    table.raw_set("total_reward", result.total_reward)?;
    table.raw_set("mean_reward", result.mean_reward)?;
    table.raw_set("mean_return", result.mean_return)?;
    table.raw_set("interrupted", result.interrupted)?;
    let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
    table.raw_set("traces", path(&options.traces))?;
    table.raw_set("bundle", path(&options.export))?;
    Ok(table)
}

impl UserData for ScriptedExperiment {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("config", |lua, this| {
            let config = this.resolved().map_err(|line| fail(lua, line))?;
            convert::write(lua, &config.to_value())
        });
    }

    fn add_methods<M: mlua::UserDataMethods<Self>>(methods: &mut M) {
        crate::script::bind::named(methods, "skyfall.Experiment");
    }
}

/// An episode as callbacks see it.
pub(super) fn episode_table(lua: &Lua, episode: &Episode) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    table.raw_set("episode", episode.index)?;
    table.raw_set("steps", episode.steps)?;
    table.raw_set("total_reward", episode.total_reward)?;
    table.raw_set("terminated", episode.terminated)?;
    table.raw_set("truncated", episode.truncated)?;
    Ok(table)
}

/// A window as callbacks see it.
pub(super) fn window_table(lua: &Lua, window: &Window) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    table.raw_set("window", window.index)?;
    table.raw_set("steps", window.steps)?;
    table.raw_set("done", window.done)?;
    table.raw_set("total_reward", window.total_reward)?;
    Ok(table)
}

/// Hands the run's events to the script and its progress to the terminal.
struct ScriptObserver<'a> {
    lua: &'a Lua,
    console: &'a dyn Console,
    callbacks: &'a Callbacks,
    total: u64,
    watch: Option<&'a Watch>,
    /// Whether the watcher has ended the run.
    over: bool,
    earlier: Earlier,
}

impl ScriptObserver<'_> {
    fn call(&self, function: &Function, argument: mlua::Result<Table>) -> Result<(), String> {
        argument.and_then(|table| function.call::<()>(table)).map_err(|error| caught(self.lua, &error))
    }
}

impl Observer for ScriptObserver<'_> {
    fn on_begin(&mut self, anew: bool) -> Result<(), String> {
        if anew { self.earlier.make_way(&|line| self.console.info(line)) } else { Ok(()) }
    }

    fn on_step(&mut self, step: &StepView<'_>, reward: f64) -> Result<(), String> {
        let Some(function) = &self.callbacks.step else { return Ok(()) };
        let summary = || -> mlua::Result<Table> {
            let table = self.lua.create_table()?;
            table.raw_set("step", step.step)?;
            table.raw_set("reward", reward)?;
            table.raw_set("terminated", step.terminated)?;
            table.raw_set("truncated", step.truncated)?;
            table.raw_set("regime_id", step.regime_id)?;
            Ok(table)
        };
        self.call(function, summary())
    }

    fn on_episode(&mut self, episode: &Episode) -> Result<(), String> {
        let Some(function) = &self.callbacks.episode else { return Ok(()) };
        self.call(function, episode_table(self.lua, episode))
    }

    fn on_window(&mut self, window: &Window, regime: &Regime) -> Result<(), String> {
        self.console.progress(regime.id.as_deref().unwrap_or(""), window.done, self.total);
        if let Some(watch) = self.watch {
            self.over |= watch(window)?;
        }
        let Some(function) = &self.callbacks.window else { return Ok(()) };
        let table = window_table(self.lua, window);
        let labelled = |table: Table| table.raw_set("regime_id", regime.id.as_deref()).map(|()| table);
        self.call(function, table.and_then(labelled))
    }

    fn interrupted(&self) -> bool {
        self.over || self.console.interrupted()
    }
}
