//! One Lua virtual machine and what surrounds it: where the script lives, what it may touch,
//! where its messages go.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use mlua::{Function, Lua, LuaOptions, MultiValue, StdLib, Value};

use crate::diagnostic::{Diagnostic, Exit};
use crate::eval::{self, Material, Report};
use crate::experiment::{Catalog, Checkpoints};
use crate::object::Address;
use crate::reward::Composition;
use crate::script::error::{self, Frame, ScriptError};
use crate::script::known::Known;
use crate::script::limits::{self, Deadline, Limits, Stop};
use crate::script::loader::{self, Sources};
use crate::script::locked;
use crate::script::output::{self, Lost};
use crate::script::permissions::{Confinement, Permissions};
use crate::script::programs::programs;
use crate::script::{bind, standard};
use bind::test::Tests;

/// Where a script's messages go; the command line implements it.
pub trait Console {
    /// Something the user should know; goes to stderr.
    fn warn(&self, message: &str);

    /// Something the user may want to know; goes to stderr unless quiet.
    fn info(&self, message: &str);

    /// Long work is at `done` of `total` steps; shown on a terminal only.
    fn progress(&self, what: &str, done: u64, total: u64);

    /// Whether the user asked to stop (Ctrl-C).
    fn interrupted(&self) -> bool {
        false
    }
}

pub(super) use crate::script::permissions::Access;

/// What a script is run with.
#[derive(Default)]
pub struct Settings {
    /// What it may touch.
    pub permissions: Permissions,
    /// What it may spend.
    pub limits: Limits,
    /// Its arguments: `...` and `arg`.
    pub arguments: Vec<String>,
    /// `--set` overrides for every experiment the script runs, each `a.b.c=VALUE`.
    pub overrides: Vec<String>,
    /// The checkpoints of every experiment the script runs, unless it says otherwise.
    pub checkpoints: Checkpoints,
    /// Whether experiments are only to be looked at: the script may not run any.
    pub dry_run: bool,
    /// The clock of store manifests (seconds since the epoch), if fixed from outside.
    pub source_date_epoch: Option<u64>,
    /// Where the directories of its tests are made, and their seed, if it is a file of tests.
    pub tests: Option<(PathBuf, u64)>,
    /// Whether it is typed line by line: new names may then be global, and Ctrl-C stops one line.
    pub interactive: bool,
}

/// A script's text and where it comes from.
#[derive(Clone, Debug)]
pub enum Script {
    /// A file.
    File(PathBuf),
    /// Text given on the command line (`-e`) or standard input; `name` is how messages call it.
    Text {
        /// How messages call it.
        name: String,
        /// The code.
        code: String,
    },
}

/// What a script that ended well left to do.
#[derive(Debug)]
pub enum Outcome {
    /// Nothing.
    Done,
    /// It returned an experiment, which the caller may run.
    Experiment(Box<bind::experiment::ScriptedExperiment>),
    /// It returned a sweep, which the caller may run.
    Sweep(Box<bind::sweep::ScriptedSweep>),
}

/// The message and the frames of an error nobody caught.
pub(super) type Raised = Rc<RefCell<Option<(error::Raise, Vec<Frame>)>>>;

/// What the whole host shares.
pub(super) struct Host {
    pub(super) console: Rc<dyn Console>,
    pub(super) permissions: Permissions,
    pub(super) script_directory: PathBuf,
    pub(super) sources: Rc<Sources>,
    pub(super) overrides: Vec<String>,
    pub(super) checkpoints: Checkpoints,
    pub(super) dry_run: bool,
    pub(super) source_date_epoch: Option<u64>,
    /// Why the script is ended from outside its own course; nothing may catch it.
    pub(super) stop: Cell<Option<Stop>>,
    /// Until when it may run.
    pub(super) deadline: Option<Deadline>,
    /// How many bytes its values may take, and its arrays as many again.
    pub(super) memory: Option<usize>,
    /// What the recorder of functions looks into captured variables with; the bare sandbox has none.
    pub(super) upvalues: Option<Upvalues>,
    /// What recorded code may name.
    pub(super) known: RefCell<Known>,
    /// While a policy saves or loads itself: the one directory it may touch.
    pub(super) confinement: RefCell<Option<Confinement>>,
    /// What the arrays of this thread's scripts may hold at once, in bytes.
    pub(super) array_bytes: usize,
    /// What the script's own names stand for.
    pub(super) catalog: RefCell<Catalog>,
    /// The tests it registers, if it is a file of tests.
    pub(super) tests: Option<Tests>,
    /// What failed last in a coroutine, and where.
    pub(super) failed: RefCell<error::Failed>,
    /// What of its output was lost.
    pub(super) lost: Lost,
    /// What it was let write.
    pub(super) written: RefCell<BTreeSet<PathBuf>>,
}

/// `debug.getupvalue` and `debug.upvalueid`, which no script sees.
pub(super) struct Upvalues {
    pub(super) value: Function,
    pub(super) identity: Function,
}

impl Host {
    /// `path`, if the code that runs now may touch it so.
    ///
    /// # Errors
    /// One line that names the path and what would allow it.
    pub(super) fn check(&self, path: &Path, access: Access) -> Result<PathBuf, String> {
        if let Some(confinement) = &*self.confinement.borrow() {
            return confinement.check(path, access);
        }
        let allowed = self.permissions.check(path)?;
        if access == Access::Write {
            if Address::is(&allowed) {
                return Err(format!("{} is on object storage, where scripts write nothing", path.display()));
            }
            self.written.borrow_mut().insert(allowed.clone());
        }
        Ok(allowed)
    }

    /// The directory called `name`, which the script chose for what the command writes on its behalf.
    ///
    /// # Errors
    /// When the script itself may not write there.
    pub(super) fn named_directory(&self, name: &str) -> Result<PathBuf, Diagnostic> {
        self.check(Path::new(name), Access::Write).map_err(|refusal| {
            Diagnostic::new("script/out", refusal, Exit::Failure).with_hint("or name a directory with --out")
        })
    }

    /// Runs `work` with `confinement` in place of the permissions.
    pub(super) fn confined<R>(&self, confinement: Confinement, work: impl FnOnce() -> R) -> R {
        let before = self.confinement.replace(Some(confinement));
        let result = work();
        self.confinement.replace(before);
        result
    }
}

/// A virtual machine ready to run one script.
pub struct ScriptHost {
    pub(super) lua: Lua,
    pub(super) host: Rc<Host>,
    arguments: Vec<String>,
    script: Script,
}

impl ScriptHost {
    /// A virtual machine for `script`.
    ///
    /// # Errors
    /// When the script's directory does not exist, or the library cannot be set up.
    pub fn new(script: Script, settings: Settings, console: Rc<dyn Console>) -> Result<Self, Diagnostic> {
        let directory = match &script {
            Script::File(path) => directory_of(path),
            Script::Text { .. } => PathBuf::from("."),
        };
        let mut permissions = settings.permissions;
        for root in [Path::new("."), &directory] {
            permissions.allow(root).map_err(|cause| unreadable(&script, &cause.to_string()))?;
        }
        let mut catalog = Catalog::native();
        if permissions.processes {
            catalog = catalog.with_programs(programs(Rc::clone(&console)).map_err(Diagnostic::from)?);
        }
        let lua = new_machine();
        let build = || -> mlua::Result<Rc<Host>> {
            let debug: mlua::Table = lua.globals().get("debug")?;
            let host = Rc::new(Host {
                console,
                permissions,
                script_directory: directory,
                sources: Rc::default(),
                overrides: settings.overrides,
                checkpoints: settings.checkpoints,
                dry_run: settings.dry_run,
                source_date_epoch: settings.source_date_epoch,
                stop: Cell::new(None),
                deadline: settings.limits.time,
                memory: settings.limits.memory,
                upvalues: Some(Upvalues { value: debug.get("getupvalue")?, identity: debug.get("upvalueid")? }),
                known: RefCell::default(),
                confinement: RefCell::default(),
                array_bytes: settings.limits.memory.unwrap_or_else(limits::machine_memory),
                catalog: RefCell::new(catalog),
                tests: settings.tests.map(|(directory, seed)| Tests::new(directory, seed)),
                failed: RefCell::default(),
                lost: Lost::default(),
                written: RefCell::default(),
            });
            lua.set_app_data(Rc::clone(&host));
            standard::install(&lua, &host)?;
            loader::install(&lua, &host)?;
            limits::install(&lua, &host, settings.limits, settings.interactive)?;
            host.known.borrow_mut().add_standard(&lua)?;
            standard::lock_globals(&lua, &host, settings.interactive)?;
            Ok(host)
        };
        let host = build().map_err(|cause| Diagnostic::new("script/setup", error::message(&cause), Exit::Bug))?;
        Ok(Self { lua, host, arguments: settings.arguments, script })
    }

    /// Runs the script to its end.
    ///
    /// # Errors
    /// What it raised, with the line at fault, or the exit code it asked for.
    pub fn run(&self) -> Result<Outcome, ScriptError> {
        Ok(match self.value()? {
            Value::UserData(data) => match data.take::<bind::experiment::ScriptedExperiment>() {
                Ok(experiment) => Outcome::Experiment(Box::new(experiment)),
                Err(_) => match data.take::<bind::sweep::ScriptedSweep>() {
                    Ok(sweep) => Outcome::Sweep(Box::new(sweep)),
                    Err(_) => Outcome::Done,
                },
            },
            Value::Table(table) if table.contains_key("env").unwrap_or(false) => {
                let line = "the script returned a plain table, which is not run; return `skyfall.experiment` of it";
                self.host.console.warn(line);
                Outcome::Done
            }
            _ => Outcome::Done,
        })
    }

    /// The experiment of the configuration `document`, with the script's own modules for the names
    /// in it; the script itself is not run.
    ///
    /// # Errors
    /// What is wrong with it, or cannot be made.
    pub fn experiment(
        &self,
        document: crate::value::Value,
    ) -> Result<bind::experiment::ScriptedExperiment, Diagnostic> {
        bind::experiment::of_document(&self.lua, &self.host, document)
            .map_err(|message| Diagnostic::new("run/failed", message, Exit::Failure))
    }

    /// Runs the script to its end, for the composition that it returns: itself, as the reward of
    /// an experiment, or in the field `name` (`reward` unless given) of a table.
    ///
    /// # Errors
    /// As for [`ScriptHost::run`]; when it returns none.
    pub fn composition(&self, name: Option<&str>) -> Result<Composition, ScriptError> {
        let value = self.value()?;
        bind::composition_of(&self.lua, &value, name).map_err(|message| {
            let problem = Diagnostic::new("script/no-composition", message, Exit::Failure);
            ScriptError::Raised(Box::new(problem))
        })
    }

    /// Runs the script to its end, for the metrics that it returns, and evaluates traces by them
    /// beside the table's.
    ///
    /// # Errors
    /// As for [`ScriptHost::run`]; when it returns no list of metrics; when the evaluation fails.
    pub fn evaluate(&self, material: Material, settings: &eval::Settings) -> Result<Report, ScriptError> {
        let value = self.value()?;
        bind::by_metrics_of(&self.lua, &value, material, settings)
            .map_err(|problem| ScriptError::Raised(Box::new(problem)))
    }

    /// Runs the script to its end and returns what it returned; nothing if it asked to exit well.
    pub(super) fn value(&self) -> Result<Value, ScriptError> {
        let (name, code) = self.text().map_err(|problem| ScriptError::Raised(Box::new(problem)))?;
        let raised = Raised::default();
        let result = self.call(&name, &code, &raised);
        match self.settled(result.map(|mut values| values.pop_front().unwrap_or(Value::Nil)), &raised) {
            Err(ScriptError::Exit(0)) => Ok(Value::Nil),
            other => other,
        }
    }

    /// What came of a call, once its output is out: a value, or what the user is told.
    pub(super) fn settled<T>(&self, result: mlua::Result<T>, raised: &Raised) -> Result<T, ScriptError> {
        let lost = output::settle(&self.lua, &self.host);
        let lost = lost.map_or(Ok(()), |why| Err(ScriptError::Raised(Box::new(why))));
        if let Some(Stop::Exit(code)) = self.host.stop.get() {
            return lost.and(Err(ScriptError::Exit(code)));
        }
        let value = result.map_err(|cause| {
            let (message, frames) = raised.take().unwrap_or_else(|| (error::Raise::of(&cause), Vec::new()));
            let mut report = error::report(&message, frames, &self.host.sources);
            let why = match self.host.stop.get() {
                Some(stop) => Some(stop.diagnostic()),
                None if error::is_memory(&message.text) => {
                    Some(limits::out_of_memory(self.host.memory, &report.message))
                }
                None => None,
            };
            if let Some(why) = why {
                // Where it was is the script's; why it ended is not.
                report = Diagnostic { location: report.location, trace: report.trace, ..why };
            }
            ScriptError::Raised(Box::new(report))
        })?;
        lost.map(|()| value)
    }

    /// How messages call the script.
    pub(super) fn name(&self) -> String {
        match &self.script {
            Script::Text { name, .. } => name.clone(),
            Script::File(path) => path.display().to_string(),
        }
    }

    /// How messages call the script, and its code.
    ///
    /// # Errors
    /// When the file cannot be read or is not text.
    pub(super) fn text(&self) -> Result<(String, String), Diagnostic> {
        match &self.script {
            Script::Text { code, .. } => Ok((self.name(), code.clone())),
            Script::File(path) => {
                let bytes = std::fs::read(path).map_err(|cause| unreadable(&self.script, &cause.to_string()))?;
                let code = String::from_utf8(bytes)
                    .map_err(|_| unreadable(&self.script, "it is not UTF-8 text (compiled Lua is not accepted)"))?;
                Ok((self.name(), code))
            }
        }
    }

    /// Calls the chunk with the script's arguments.
    fn call(&self, name: &str, code: &str, raised: &Raised) -> mlua::Result<MultiValue> {
        let lua = &self.lua;
        let chunk = loader::compile(lua, &self.host.sources, name, code)?;
        let arg = lua.create_table()?;
        arg.raw_set(0, name)?;
        for (index, argument) in self.arguments.iter().enumerate() {
            arg.raw_set(index + 1, argument.as_str())?;
        }
        locked::behind(lua.globals()).raw_set("arg", arg)?;
        let arguments: mlua::Result<Vec<Value>> =
            self.arguments.iter().map(|argument| lua.create_string(argument).map(Value::String)).collect();
        self.guarded(chunk, arguments?, raised)
    }

    /// Calls a function so that an error nobody catches is seen with its frames still standing.
    pub(super) fn guarded(
        &self,
        function: Function,
        arguments: Vec<Value>,
        raised: &Raised,
    ) -> mlua::Result<MultiValue> {
        let lua = &self.lua;
        let (seen, host) = (Rc::clone(raised), Rc::clone(&self.host));
        let handler = lua.create_function(move |lua, value: Value| {
            let raise = error::Raise::of_value(&value);
            let frames = error::whole_way(host.failed.take().frames_of(&raise, &value), error::frames(lua));
            seen.replace(Some((raise, frames)));
            Ok(())
        })?;
        let guarded: Function = lua.named_registry_value(standard::SEEN)?;
        let call = [Value::Function(function), Value::Function(handler)].into_iter().chain(arguments);
        let mut results = guarded.call::<MultiValue>(call.collect::<MultiValue>())?;
        match results.pop_front() {
            Some(Value::Boolean(true)) => Ok(results),
            _ => Err(match results.pop_front() {
                Some(Value::Error(cause)) => *cause,
                value => mlua::Error::RuntimeError(error::message_of_value(&value.unwrap_or(Value::Nil))),
            }),
        }
    }
}

/// A machine with the standard libraries the host builds on.
#[expect(unsafe_code, reason = "the only way to `debug`, without which captured variables cannot be recorded")]
fn new_machine() -> Lua {
    let libraries = StdLib::TABLE
        | StdLib::STRING
        | StdLib::MATH
        | StdLib::UTF8
        | StdLib::COROUTINE
        | StdLib::IO
        | StdLib::OS
        | StdLib::DEBUG;
    // SAFETY: `unsafe_new_with` differs from `new_with` in that it offers `debug` and native
    // modules. `package` is not opened, and `standard::install` takes `debug` away from every
    // script before one runs; the host keeps two of its functions, neither of which can break
    // the machine's invariants (they read an upvalue and its identity).
    unsafe { Lua::unsafe_new_with(libraries, LuaOptions::new()) }
}

/// The directory a script's relative modules stand in.
fn directory_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

fn unreadable(script: &Script, cause: &str) -> Diagnostic {
    let name = match script {
        Script::File(path) => path.display().to_string(),
        Script::Text { name, .. } => name.clone(),
    };
    Diagnostic::new("script/unreadable", format!("cannot read {name}: {cause}"), Exit::Input)
}
