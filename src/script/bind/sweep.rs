//! `skyfall.sweep`: spaces, and the sweep that a script returns.

mod read;
mod search;
mod space;
mod stop;

use std::path::PathBuf;
use std::rc::Rc;

use mlua::{Function, Lua, UserData, Value as LuaValue};

use self::search::LuaSearch;
use super::experiment::{ScriptedExperiment, of_given, window_table};
use super::{Fault, Module};
use crate::algorithm::Window;
use crate::diagnostic::Diagnostic;
use crate::digest::sha256_hex;
use crate::script::convert;
use crate::script::error::{LIBRARY_CHUNK, message};
use crate::script::host::Host;
use crate::sweep::plan::Resolved;
use crate::sweep::search::{Extent, Sampler};
use crate::sweep::space::Space;
use crate::sweep::{Definition, describe, flat};
use crate::trace::row::IDENTITY_KEYS;
use crate::unit::Unit;
use crate::value::{Map, Value};

/// A sweep in the host's hands: what is asked, which points there are, and what makes an
/// experiment of a point.
pub struct ScriptedSweep {
    lua: Lua,
    host: Rc<Host>,
    /// What is asked of every trial.
    pub definition: Definition,
    /// Which points there are.
    pub space: Space,
    maker: Maker,
    /// Axes that set a field of the configuration by its path.
    paths: Vec<String>,
    /// What the script makes of a window for the rule that ends trials.
    watch: Option<Function>,
    search: Option<LuaSearch>,
}

/// What makes an experiment of a point.
enum Maker {
    /// The script's function.
    Function(Function),
    /// One experiment, whose fields the point sets.
    Experiment(Box<ScriptedExperiment>),
}

impl std::fmt::Debug for ScriptedSweep {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("ScriptedSweep").field("definition", &self.definition).finish_non_exhaustive()
    }
}

impl UserData for ScriptedSweep {
    fn add_methods<M: mlua::UserDataMethods<Self>>(methods: &mut M) {
        crate::script::bind::named(methods, "skyfall.Sweep");
    }
}

pub(super) fn module(module: Module<'_>) -> mlua::Result<Module<'_>> {
    stop::module(search::module(space::module(module)?)?)?.function(
        "call",
        |lua, host, (_, given): (LuaValue, LuaValue)| {
            // Called as `sweep{...}` itself: a function of the library in between would take the place
            // of the script's own frame when the script returns the call.
            read::sweep(lua, host, &given)
        },
    )
}

impl ScriptedSweep {
    /// The sweep of one experiment, under its run's name; axes are added with
    /// [`ScriptedSweep::with_axis`].
    #[must_use]
    pub(crate) fn of_experiment(experiment: ScriptedExperiment) -> Self {
        let definition = Definition {
            name: experiment.name().to_owned(),
            metric: "mean_reward".to_owned(),
            goal: crate::sweep::Goal::Maximize,
            stopping: None,
        };
        let (lua, host) = experiment.machine();
        let (space, paths) = (Space::Product(Vec::new()), Vec::new());
        let maker = Maker::Experiment(Box::new(experiment));
        Self { lua, host, definition, space, maker, paths, watch: None, search: None }
    }

    /// The sweep with one more axis, the slowest of those added: the field at `path` of every
    /// configuration has each of `values`.
    #[must_use]
    pub(crate) fn with_axis(mut self, path: &str, values: Vec<Value>) -> Self {
        self.space = Space::Product(vec![self.space, Space::axis(path, values)]);
        self.paths.push(path.to_owned());
        self
    }

    /// The directory named after the sweep, where it stands unless the command says otherwise.
    ///
    /// # Errors
    /// When the script may not write there: the name is the script's word, not the user's.
    pub fn directory(&self) -> Result<PathBuf, Diagnostic> {
        self.host.named_directory(&self.definition.name)
    }

    /// The experiment at `point`, its axes among the metadata of its rows.
    ///
    /// # Errors
    /// One line: what the script raised, or what is wrong with the configuration.
    pub fn experiment(&self, point: &Map) -> Result<ScriptedExperiment, String> {
        self.experiment_inner(point).map_err(told)
    }

    fn experiment_inner(&self, point: &Map) -> Result<ScriptedExperiment, Fault> {
        let made = self.made(point)?;
        let named = made.identifies_itself().0;
        Ok(made.changed(|config| {
            if !named {
                config.run.name = format!("{} {}", self.definition.name, describe(point));
            }
            for (axis, value) in flat(point) {
                if !IDENTITY_KEYS.contains(&axis.as_str()) {
                    config.run.meta.entry(axis).or_insert(value);
                }
            }
        }))
    }

    /// The experiment at `point` without what only labels it: more axes leave the others' trials alone
    /// where they make no difference.
    fn made(&self, point: &Map) -> Result<ScriptedExperiment, Fault> {
        let set = |path: &String| point.get(path).map(|value| (path.clone(), value.clone()));
        let overrides: Vec<_> = self.paths.iter().filter_map(set).collect();
        let made = match &self.maker {
            Maker::Experiment(experiment) => experiment.overridden(&overrides)?,
            Maker::Function(function) => {
                let mut own = point.clone();
                own.retain(|axis, _| !self.paths.contains(axis));
                let given = function.call::<LuaValue>(convert::write_map(&self.lua, &own)?)?;
                of_given(&self.lua, &self.host, &given, &overrides)?
            }
        };
        let seeded = made.identifies_itself().1;
        let seed = point.get("seed").and_then(Value::as_count).filter(|_| !seeded);
        Ok(made.changed(|config| config.run.seed = seed.unwrap_or(config.run.seed)))
    }

    /// What `point` comes down to.
    ///
    /// # Errors
    /// As for [`ScriptedSweep::experiment`].
    pub fn resolve(&self, point: &Map) -> Result<Resolved, String> {
        let config = self.made(point).map_err(told)?.resolved()?;
        let (value, steps) = (config.to_value(), config.rollout.total_steps);
        let mut decides = vec![value];
        // What cannot be recorded by value is told apart by the script that it stands in, and by the
        // point that it may have seen.
        if decides.iter().any(holds_unrecorded) {
            decides.extend([self.digests(), Value::Map(point.clone())]);
        }
        // A rule cuts trials short.
        if let Some(stopping) = &self.definition.stopping {
            decides.push(stopping.to_value());
            decides.extend(self.watch.as_ref().map(|_| self.digests()));
        }
        let input = if decides.len() == 1 { decides.remove(0) } else { Value::List(decides) };
        Ok(Resolved { identity: Unit::new("", &input).identity().to_owned(), steps })
    }

    /// What proposes the points, if they are searched for, and how many.
    #[must_use]
    pub(crate) fn search(&self) -> Option<(Box<dyn Sampler>, Extent)> {
        let search = self.search.as_ref()?;
        Some((search.sampler(&self.lua, self.definition.goal), search.extent.clone()))
    }

    /// What the script makes of a window for the rule that ends trials; `None` where the rule's own
    /// value counts.
    ///
    /// # Errors
    /// One line: what the script raised, or that it returned no number.
    pub(crate) fn watched(&self, window: &Window) -> Result<Option<f64>, String> {
        let Some(function) = &self.watch else { return Ok(None) };
        let table = window_table(&self.lua, window);
        let value = table.and_then(|table| function.call::<LuaValue>(table)).map_err(|error| message(&error))?;
        convert::number(&value, "watch").map(Some)
    }

    /// The script and the modules it required, by name, with the SHA-256 of each.
    #[must_use]
    pub(crate) fn sources(&self) -> Vec<(String, String)> {
        let sources = &self.host.sources;
        let mut names = sources.names();
        names.retain(|name| !name.starts_with(LIBRARY_CHUNK));
        names.sort();
        let digest = |name: String| sources.text(&name).map(|text| (name, sha256_hex(text.as_bytes())));
        names.into_iter().filter_map(digest).collect()
    }

    /// The text of the source called `name`.
    #[must_use]
    pub(crate) fn source(&self, name: &str) -> Option<String> {
        self.host.sources.text(name).map(|text| text.to_string())
    }

    /// The texts that the sweep was made of, wherever they stand.
    fn digests(&self) -> Value {
        let mut digests: Vec<String> = self.sources().into_iter().map(|(_, digest)| digest).collect();
        digests.sort();
        digests.into_iter().map(Value::from).collect::<Vec<_>>().into()
    }
}

fn told(fault: Fault) -> String {
    match fault {
        Fault::Line(line) => line,
        Fault::Lua(error) => message(&error),
    }
}

/// Whether something in a configuration could not be recorded by value.
fn holds_unrecorded(value: &Value) -> bool {
    match value {
        Value::Map(map) => map.iter().any(|(key, value)| key == "unrecorded" || holds_unrecorded(value)),
        Value::List(items) => items.iter().any(holds_unrecorded),
        _ => false,
    }
}
