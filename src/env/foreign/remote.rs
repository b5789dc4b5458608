//! The environment at the other end: each method one question and one answer.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::io;
use std::process::Command;
use std::rc::Rc;

use super::frame::{self, Frame};
use super::process::{Broken, Process};
use super::{PYTHON, Programs, element};
use crate::env::{Env, EnvError, Info, Transition};
use crate::space::{Element, Space};
use crate::suggest;
use crate::text::{json, number};
use crate::value::{Map, Value};

/// The version of the protocol.
const VERSION: i64 = 1;

/// An environment that another process drives.
pub(super) struct Remote {
    id: String,
    line: RefCell<Line>,
    observation_space: Space,
    action_space: Space,
    describe: Map,
    /// The parameters as last reported.
    parameters: RefCell<Map>,
    /// An observation outside its space was told already.
    warned: bool,
}

/// The line to the program.
struct Line {
    programs: Programs,
    process: Process,
    /// The program reads arrays from a frame's bytes.
    raw: bool,
    /// The question being written, kept for its memory.
    head: Vec<u8>,
    bytes: Vec<u8>,
    frame: Vec<u8>,
}

impl Remote {
    /// Starts `command` and has it make the environment it knows as `inner`.
    ///
    /// # Errors
    /// When any of that fails.
    pub(super) fn make(
        programs: Programs,
        id: &str,
        inner: &str,
        command: Command,
        kwargs: &Map,
    ) -> Result<Self, EnvError> {
        let program = command.get_program().to_owned();
        let process =
            Process::start(command, Rc::clone(&programs.watch)).map_err(|cause| unstartable(id, &program, &cause))?;
        let (head, bytes, frame) = Default::default();
        let mut line = Line { programs, process, raw: false, head, bytes, frame };
        let hello = line.ask(id, "hello", |head, _| json::write(head, &Value::map([("version", VERSION.into())])))?;
        let failed = |message: String| EnvError::Failed { id: id.to_owned(), message };
        match hello.head.get("version").map(Value::as_int) {
            Some(Some(VERSION)) => {}
            Some(Some(version)) => {
                return Err(failed(format!("the program speaks version {version} of the protocol, not {VERSION}")));
            }
            _ => return Err(failed("the program's greeting has no `version`".to_owned())),
        }
        line.raw = hello.head.get("raw").and_then(Value::as_bool).unwrap_or(false);
        let asked = Value::map([("id", inner.into()), ("kwargs", kwargs.clone().into())]);
        let made = line.ask(id, "make", |head, _| json::write(head, &asked))?;
        let space = |name: &str| {
            let encoded = made.head.get(name).ok_or_else(|| failed(format!("its answer to `make` has no `{name}`")))?;
            Space::decode(encoded).map_err(|problem| failed(format!("`{name}` cannot be used: {problem}")))
        };
        let part = |name: &str| made.head.get(name).and_then(Value::as_map).cloned().unwrap_or_default();
        Ok(Self {
            id: id.to_owned(),
            observation_space: space("observation_space")?,
            action_space: space("action_space")?,
            describe: part("describe"),
            parameters: RefCell::new(part("parameters")),
            line: RefCell::new(line),
            warned: false,
        })
    }

    fn failed(&self, message: String) -> EnvError {
        EnvError::Failed { id: self.id.clone(), message }
    }

    /// What stands under `name` in the answer to `question`.
    fn field<'a>(&self, answer: &'a Frame, question: &str, name: &str) -> Result<&'a Value, EnvError> {
        answer.head.get(name).ok_or_else(|| self.failed(format!("its answer to `{question}` has no `{name}`")))
    }

    /// The `info` of `answer`; what the trace records of it must be of its kind.
    fn info(&self, mut answer: Frame, question: &str) -> Result<Info, EnvError> {
        let mut entries = match answer.head.swap_remove("info") {
            None | Some(Value::Null) => return Ok(Info::default()),
            Some(Value::Map(entries)) => entries,
            Some(other) => {
                let kind = other.kind();
                return Err(self.failed(format!("in its answer to `{question}`, `info` must be a map, got {kind}")));
            }
        };
        for (name, value) in entries.iter().filter(|(_, value)| !value.is_null()) {
            let what = match name.as_str() {
                "invalid_action" if value.as_bool().is_none() => "a boolean",
                "observed_at" if value.as_text().is_none() => "text",
                "effective_rank" if value.as_float().is_none() => "a number",
                "ticket_snapshot" | "verifier_snapshot" if value.as_map().is_none() => "a map",
                _ => continue,
            };
            let kind = value.kind();
            let message = format!("in its answer to `{question}`, `info.{name}` must be {what}, got {kind}");
            return Err(self.failed(message));
        }
        let invalid_action = entries.shift_remove("invalid_action").and_then(|value| value.as_bool()).unwrap_or(false);
        Ok(Info { invalid_action, entries: (!entries.is_empty()).then(|| Box::new(entries)) })
    }

    /// Reads the observation of `answer` into `slot`.
    fn observe(&mut self, answer: &Frame, question: &str, slot: &mut Element) -> Result<(), EnvError> {
        let value = self.field(answer, question, "observation")?;
        *slot = element::read(value, &answer.bytes, &self.observation_space, "observation")
            .map_err(|problem| self.failed(format!("in its answer to `{question}`, {problem}")))?;
        if !self.warned && !self.observation_space.contains(slot) {
            self.warned = true;
            let message = format!("environment `{}`: an observation lies outside its space (told once)", self.id);
            self.line.borrow().programs.watch.warn(&message);
        }
        Ok(())
    }
}

impl Line {
    /// Asks `question` with what `fill` puts into the JSON and the bytes.
    fn ask(
        &mut self,
        id: &str,
        question: &str,
        fill: impl FnOnce(&mut Vec<u8>, Option<&mut Vec<u8>>),
    ) -> Result<Frame, EnvError> {
        let Self { programs, process, raw, head, bytes, frame } = self;
        for buffer in [&mut *head, &mut *bytes, &mut *frame] {
            buffer.clear();
        }
        head.extend_from_slice(b"{\"ask\":\"");
        head.extend_from_slice(question.as_bytes());
        head.extend_from_slice(b"\",\"with\":");
        fill(head, raw.then_some(bytes));
        head.push(b'}');
        let answer = frame::write(frame, head, bytes)
            .and_then(|()| process.ask(frame, programs.timeout))
            .map_err(|broken| told(id, question, broken, process))?;
        match answer.head.get("error") {
            None => Ok(answer),
            Some(error) => {
                let error = error.as_text().unwrap_or("it gave no reason").trim();
                let place = answer.head.get("at").and_then(Value::as_text);
                let place = place.map(|place| format!(" (at {place})")).unwrap_or_default();
                let message = match question {
                    "make" => format!("{error}{place}"),
                    _ => format!("`{question}` raised {error}{place}"),
                };
                Err(EnvError::Failed { id: id.to_owned(), message })
            }
        }
    }
}

impl Env for Remote {
    fn id(&self) -> &str {
        &self.id
    }

    fn observation_space(&self) -> &Space {
        &self.observation_space
    }

    fn action_space(&self) -> &Space {
        &self.action_space
    }

    fn reset(&mut self, seed: Option<u64>, observation: &mut Element) -> Result<Info, EnvError> {
        self.reset_with(seed, &Map::new(), observation)
    }

    fn reset_with(&mut self, seed: Option<u64>, options: &Map, observation: &mut Element) -> Result<Info, EnvError> {
        let mut asked = Map::from_iter([("seed".to_owned(), seed.map_or(Value::Null, Value::from))]);
        // An environment that knows of no options need not hear of them.
        if !options.is_empty() {
            asked.insert("options".to_owned(), options.clone().into());
        }
        let asked = Value::Map(asked);
        let answer = self.line.get_mut().ask(&self.id, "reset", |head, _| json::write(head, &asked))?;
        self.observe(&answer, "reset", observation)?;
        self.info(answer, "reset")
    }

    fn step(&mut self, action: &Element, observation: &mut Element) -> Result<Transition, EnvError> {
        if !element::fits(action, &self.action_space) {
            let (action, space) = (action.to_string(), self.action_space.to_string());
            return Err(EnvError::Action { id: self.id.clone(), action, space });
        }
        let answer = self.line.get_mut().ask(&self.id, "step", |head, bytes| {
            head.extend_from_slice(b"{\"action\":");
            element::write(action, head, bytes);
            head.push(b'}');
        })?;
        self.observe(&answer, "step", observation)?;
        let wrong = |name: &str, what: &str, value: &Value| {
            self.failed(format!("in its answer to `step`, `{name}` must be {what}, got {}", value.kind()))
        };
        let flag = |name| {
            let value = self.field(&answer, "step", name)?;
            value.as_bool().ok_or_else(|| wrong(name, "a boolean", value))
        };
        let reward = self.field(&answer, "step", "reward")?;
        let reward = reward.as_float().ok_or_else(|| wrong("reward", "a number", reward))?;
        let (terminated, truncated) = (flag("terminated")?, flag("truncated")?);
        Ok(Transition { reward, terminated, truncated, info: self.info(answer, "step")? })
    }

    fn parameters(&self) -> Map {
        let answer = self.line.borrow_mut().ask(&self.id, "parameters", |head, _| head.extend_from_slice(b"{}"));
        if let Ok(answer) = answer
            && let Some(Value::Map(present)) = answer.head.get("parameters")
        {
            self.parameters.borrow_mut().clone_from(present);
        }
        self.parameters.borrow().clone()
    }

    fn set_parameter(&mut self, name: &str, value: &Value) -> Result<(), EnvError> {
        let problem = |message: String| EnvError::Parameter { id: self.id.clone(), name: name.to_owned(), message };
        let known = self.parameters();
        match known.get(name) {
            None => {
                let hint = suggest::hint(name, "known are", known.keys().map(String::as_str));
                return Err(problem(format!("does not exist; {hint}")));
            }
            Some(Value::Bool(_)) if value.as_bool().is_none() => {
                return Err(problem(format!("must be a boolean, got {}", value.kind())));
            }
            Some(Value::Int(_) | Value::BigInt(_) | Value::Float(_)) => match value.as_float() {
                Some(number) if number.is_finite() => {}
                Some(number) => {
                    return Err(problem(format!("must be a finite number, got {}", number::float_text(number))));
                }
                None => return Err(problem(format!("must be a finite number, got {}", value.kind()))),
            },
            _ => {}
        }
        let asked = Value::map([("name", name.into()), ("value", value.clone())]);
        self.line.get_mut().ask(&self.id, "set_parameter", |head, _| json::write(head, &asked))?;
        Ok(())
    }

    fn describe(&self) -> Map {
        self.describe.clone()
    }
}

/// Why a program did not start.
fn unstartable(id: &str, program: &OsStr, cause: &io::Error) -> EnvError {
    let program = program.to_string_lossy();
    let mend =
        if id.starts_with("python:") { format!(" (name a Python interpreter in {PYTHON})") } else { String::new() };
    let cause = match cause.kind() {
        io::ErrorKind::NotFound => "there is no such program".to_owned(),
        _ => cause.to_string(),
    };
    EnvError::Failed { id: id.to_owned(), message: format!("cannot start `{program}`: {cause}{mend}") }
}

/// Why there is no answer to `question`, with the program's last words.
fn told(id: &str, question: &str, broken: Broken, process: &Process) -> EnvError {
    let mut message = match broken {
        Broken::Interrupted => return EnvError::Interrupted { id: id.to_owned(), question: question.to_owned() },
        Broken::Ended(Some(status)) => format!("the program ended during `{question}` ({status})"),
        Broken::Ended(None) => format!("the program has ended; it cannot answer `{question}`"),
        Broken::Late(limit) => {
            format!("no answer to `{question}` within {} s; the program was ended", limit.as_secs_f64())
        }
        Broken::Garbage(what) => format!("what came as the answer to `{question}` is no frame: {what}"),
        Broken::TooLong { bytes, limit } => {
            format!("a frame of {bytes} bytes at `{question}` is longer than the {limit} allowed")
        }
        Broken::Pipe(cause) => format!("the pipe failed at `{question}`: {cause}"),
    };
    let last: Vec<_> = process.last_lines().collect();
    if !last.is_empty() {
        message.push_str(&format!("; its last words: {}", last.join(" | ")));
    }
    EnvError::Failed { id: id.to_owned(), message }
}
