//! Environments in another process: any Gymnasium environment, and any program that speaks the
//! protocol of `docs/environment-protocol.md`.
//!
//! | id | is |
//! |---|---|
//! | `python:gymnasium/ID` | `gymnasium.make("ID", **kwargs)` |
//! | `python:MODULE:NAME` | `NAME(**kwargs)` of the Python module `MODULE`, a class or a function |
//! | `program:PATH` | the program `PATH`, which is told the keyword arguments |
//!
//! Python environments are driven by [`DRIVER`], which is handed to the interpreter: nothing but the
//! user's own packages need be installed. Whoever holds [`Programs`] may start programs;
//! nothing else in the crate does so for an environment. Invariant: a program ends with its
//! environment, and with this process whatever becomes of it.

mod element;
mod frame;
mod process;
mod remote;

use std::ffi::OsString;
use std::process::Command;
use std::rc::Rc;
use std::time::Duration;

use super::{Env, EnvError};
use crate::suggest;
use crate::value::Map;
use remote::Remote;

/// The Python side of the protocol.
const DRIVER: &str = concat!(include_str!("foreign/spaces.py"), include_str!("foreign/driver.py"));
/// What an id of an environment in another process begins with.
const PREFIXES: [&str; 2] = ["python:", "program:"];

/// The environment variable that names the Python interpreter; without it `python3`.
pub(crate) const PYTHON: &str = "SKYFALL_PYTHON";
/// The environment variable that says how many seconds an answer may take; without it, any.
pub(crate) const TIMEOUT: &str = "SKYFALL_ENV_TIMEOUT";

/// Whether `id` names an environment in another process.
#[must_use]
pub(crate) fn is_foreign(id: &str) -> bool {
    PREFIXES.iter().any(|prefix| id.starts_with(prefix))
}

/// Hears what programs say and knows whether the user wants to stop.
pub trait Watch {
    /// A line that the program of an environment wrote to its standard error (or printed).
    fn said(&self, _line: &str) {}

    /// Something the user should know.
    fn warn(&self, _message: &str) {}

    /// Whether the user asked to stop; a program that does not answer is then ended.
    fn interrupted(&self) -> bool {
        false
    }
}

/// A watch that nobody keeps.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {}

/// Leave to start programs that are environments.
#[derive(Clone)]
pub struct Programs {
    /// The Python interpreter of `python:` environments.
    pub python: OsString,
    /// How long an answer may take; forever without it.
    pub timeout: Option<Duration>,
    /// Who listens.
    pub watch: Rc<dyn Watch>,
}

impl Default for Programs {
    fn default() -> Self {
        Self { python: "python3".into(), timeout: None, watch: Rc::new(Unwatched) }
    }
}

impl Programs {
    /// Leave to start programs, with the interpreter and the time-out that the process's
    /// environment names ([`PYTHON`], [`TIMEOUT`]).
    ///
    /// # Errors
    /// When the time-out is not a number of seconds.
    pub fn from_environment(watch: Rc<dyn Watch>) -> Result<Self, EnvError> {
        let named = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let mut programs = Self { watch, ..Self::default() };
        if let Some(python) = named(PYTHON) {
            programs.python = python;
        }
        if let Some(text) = named(TIMEOUT) {
            let text = text.to_string_lossy();
            let seconds = text.parse().ok().filter(|seconds| *seconds > 0.0);
            let timeout = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            programs.timeout = Some(timeout.ok_or_else(|| EnvError::Variable {
                name: TIMEOUT.to_owned(),
                message: format!("must be a number of seconds above 0, got `{text}`"),
            })?);
        }
        Ok(programs)
    }

    /// Starts the program of the environment `id` and has it made there.
    ///
    /// # Errors
    /// When the id is malformed, the program does not start or does not speak the protocol, or
    /// the environment cannot be made.
    pub fn make(&self, id: &str, kwargs: &Map) -> Result<Box<dyn Env>, EnvError> {
        let argument = |message: &str| EnvError::Argument { id: id.to_owned(), message: message.to_owned() };
        let (command, inner) = match id.split_once(':') {
            Some(("python", inner)) => {
                let gymnasium = inner.strip_prefix("gymnasium/").is_some_and(|inner| !inner.is_empty());
                let factory =
                    inner.split_once(':').is_some_and(|(module, name)| !module.is_empty() && !name.is_empty());
                if !gymnasium && !factory {
                    return Err(argument("must be `python:gymnasium/ID` or `python:MODULE:NAME`"));
                }
                let mut command = Command::new(&self.python);
                command.arg("-c").arg(DRIVER);
                (command, inner)
            }
            Some(("program", "")) => return Err(argument("names no program")),
            Some(("program", path)) => (Command::new(path), path),
            _ => {
                let nearest = suggest::nearest(id, PREFIXES).map(str::to_owned);
                return Err(EnvError::UnknownId { id: id.to_owned(), nearest });
            }
        };
        Ok(Box::new(Remote::make(self.clone(), id, inner, command, kwargs)?))
    }
}

impl std::fmt::Debug for Programs {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Programs")
            .field("python", &self.python)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
