//! One trial in a process of its own, and what became of it.
//!
//! The process gets its directory and leaves what it made there; whatever it does to itself, the
//! sweep only sees how it ended. It is its own process group, so that an interrupt reaches it
//! once, and it ends with the sweep's process.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Pid, Signal, kill_process};

use super::directory::Directory;
use super::error::SweepError;
use super::intact;
use super::kept::Kept;
use super::outcome::Outcome;
use super::plan::Trial;
use super::progress;
use crate::diagnostic::Exit;
use crate::text::json;
use crate::unit::Attempt;
use crate::value::{Map, Value};

/// The file that tells a trial's process what to do.
pub(crate) const ORDER: &str = "trial.json";

/// How many of the last lines that a failed trial said are recorded.
const LAST_LINES: usize = 50;

/// And of these no more than so many bytes.
const MOST_BYTES: u64 = 1 << 16;

/// How a trial's process is started: `program --attempt=DIRECTORY --child-of=PID arguments...`.
#[derive(Clone, Debug)]
pub(crate) struct Launcher {
    /// The program.
    pub program: PathBuf,
    /// Its arguments, but for the directory of the attempt.
    pub arguments: Vec<OsString>,
    /// What each reads on its standard input, if anything.
    pub input: Option<PathBuf>,
}

/// How a trial failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// `config`, `run`, or `signal`.
    pub class: String,
    /// The exit code, or the signal's number.
    pub code: i64,
    /// What it said, in a line.
    pub message: String,
    /// The last lines it wrote to standard error.
    pub output: Vec<String>,
    /// How often it was tried.
    pub attempts: u64,
}

impl Failure {
    /// Nothing can be made of the trial's point; it was never tried.
    #[must_use]
    pub(crate) fn of_config(why: &str) -> Self {
        Self {
            class: "config".to_owned(),
            code: Exit::BadConfig.code().into(),
            message: why.to_owned(),
            output: Vec::new(),
            attempts: 0,
        }
    }

    /// The failure as plain data.
    #[must_use]
    pub fn to_map(&self) -> Map {
        let output: Vec<Value> = self.output.iter().map(|line| line.as_str().into()).collect();
        let entries: [(&str, Value); 5] = [
            ("class", self.class.as_str().into()),
            ("code", self.code.into()),
            ("message", self.message.as_str().into()),
            ("output", output.into()),
            ("attempts", self.attempts.into()),
        ];
        entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// The failure in a record.
    #[must_use]
    pub fn from_value(value: &Value) -> Option<Self> {
        let field = |name: &str| value.as_map().and_then(|map| map.get(name));
        let lines = field("output")?.as_list()?.iter().map(|line| line.as_text().map(str::to_owned));
        Some(Self {
            class: field("class")?.as_text()?.to_owned(),
            code: field("code")?.as_int()?,
            message: field("message")?.as_text()?.to_owned(),
            output: lines.collect::<Option<_>>()?,
            attempts: field("attempts")?.as_count()?,
        })
    }

    /// The failure of a process that ended so and said this.
    #[must_use]
    pub(crate) fn of(status: ExitStatus, said: &str) -> Self {
        let lines: Vec<&str> = said.lines().collect();
        let error = lines.iter().find(|line| line.starts_with("error"));
        let message = error.or_else(|| lines.iter().rev().find(|line| !line.trim().is_empty()));
        let (class, code, ended) = match (status.code(), status.signal()) {
            (Some(code), _) if code == i32::from(Exit::BadConfig.code()) => {
                ("config", code, format!("exit code {code}"))
            }
            (Some(code), _) => ("run", code, format!("exit code {code}")),
            (None, signal) => {
                let signal = signal.unwrap_or_default();
                ("signal", signal, format!("killed by signal {signal}"))
            }
        };
        // Where it was stands on the line below what it was.
        let place = error.and_then(|error| lines.iter().skip_while(|line| *line != error).nth(1));
        let place = place.and_then(|line| line.strip_prefix("  --> ")).map(|place| format!(" ({place})"));
        let message = message.map(|message| format!("{message}{}", place.unwrap_or_default()));
        let message = match message {
            Some(message) if class != "signal" => message,
            Some(message) => format!("{ended}; its last words: {message}"),
            None => ended,
        };
        let last = lines.iter().skip(lines.len().saturating_sub(LAST_LINES));
        Self {
            class: class.to_owned(),
            code: code.into(),
            message,
            output: last.map(|line| (*line).to_owned()).collect(),
            attempts: 1,
        }
    }
}

/// What became of a trial.
#[derive(Debug)]
pub(crate) enum Ending {
    /// It is finished.
    Finished(Outcome),
    /// It failed.
    Failed(Failure),
    /// It was interrupted.
    Interrupted,
}

/// The trials under way.
#[derive(Debug, Default)]
pub(crate) struct Running {
    processes: Mutex<(HashSet<i32>, bool)>,
    /// Where each trial works, by id.
    attempts: Mutex<HashMap<String, PathBuf>>,
}

impl Running {
    /// Interrupts all trials, and every one that is started later.
    pub(crate) fn interrupt(&self) {
        let mut processes = self.processes.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        processes.1 = true;
        for process in &processes.0 {
            signal(*process);
        }
    }

    /// The steps that the trial has done, as far as it said.
    #[must_use]
    pub(crate) fn steps(&self, trial: &str) -> u64 {
        let attempts = self.attempts.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        attempts.get(trial).map_or(0, |attempt| progress::steps(attempt))
    }

    fn works(&self, trial: &str, attempt: Option<&Path>) {
        let mut attempts = self.attempts.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match attempt {
            Some(attempt) => drop(attempts.insert(trial.to_owned(), attempt.to_owned())),
            None => drop(attempts.remove(trial)),
        }
    }

    /// Whether they were interrupted.
    #[must_use]
    pub(crate) fn is_interrupted(&self) -> bool {
        self.processes.lock().unwrap_or_else(std::sync::PoisonError::into_inner).1
    }

    /// Runs a process to its end, and keeps both ends of what it says on standard output and error.
    ///
    /// # Errors
    /// When it cannot be started, or heard.
    pub(crate) fn run<W: Write + Send>(
        &self,
        command: &mut Command,
        out: &mut Kept<W>,
        err: &mut Kept<W>,
    ) -> std::io::Result<ExitStatus> {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        self.waited(command, |mut child| {
            let (told, said, ended) = (child.stdout.take(), child.stderr.take(), AtomicBool::new(false));
            std::thread::scope(|scope| {
                let told = told.map(|told| scope.spawn(|| out.drain(told, &ended)));
                let said = said.map(|said| scope.spawn(|| err.drain(said, &ended)));
                let status = child.wait();
                ended.store(true, Ordering::Release);
                for heard in [told, said].into_iter().flatten() {
                    heard.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
                }
                status
            })
        })
    }

    fn waited<R>(&self, command: &mut Command, wait: impl FnOnce(Child) -> std::io::Result<R>) -> std::io::Result<R> {
        let child = command.spawn()?;
        let process = child.id().try_into().unwrap_or_default();
        {
            let mut processes = self.processes.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            processes.0.insert(process);
            if processes.1 {
                signal(process);
            }
        }
        let ended = wait(child);
        self.processes.lock().unwrap_or_else(std::sync::PoisonError::into_inner).0.remove(&process);
        ended
    }
}

fn signal(process: i32) {
    if let Some(process) = Pid::from_raw(process) {
        // One that ended meanwhile needs none.
        let _ = kill_process(process, Signal::INT);
    }
}

/// Runs `trial` until it is finished, has failed once more than `retries` times, or is
/// interrupted. A failure is recorded; what is finished stands in its place.
///
/// # Errors
/// When the sweep's own files cannot be written, or the process cannot be started.
pub(crate) fn run(
    directory: &Directory,
    trial: &Trial,
    launcher: &Launcher,
    retries: u64,
    running: &Running,
) -> Result<Ending, SweepError> {
    if let Err(why) = &trial.resolved {
        let failure = Failure::of_config(why);
        directory.record_failure(trial, &failure)?;
        return Ok(Ending::Failed(failure));
    }
    let mut attempts = 0;
    loop {
        attempts += 1;
        let mut failure = match once(directory, trial, launcher, running)? {
            Ending::Failed(failure) => failure,
            Ending::Finished(outcome) => {
                directory.forget_failure(trial);
                return Ok(Ending::Finished(outcome));
            }
            Ending::Interrupted => return Ok(Ending::Interrupted),
        };
        failure.attempts = attempts;
        if attempts > retries || failure.class == "config" {
            directory.record_failure(trial, &failure)?;
            return Ok(Ending::Failed(failure));
        }
    }
}

/// What the trial's process that works in `path` is to do.
///
/// # Errors
/// When the file is missing or malformed.
pub(crate) fn read_order(path: &Path) -> Result<Trial, SweepError> {
    let path = path.join(ORDER);
    let text = std::fs::read_to_string(&path).map_err(SweepError::io(&path))?;
    let order = json::parse(&text).map_err(|error| error.to_string()).and_then(|row| Trial::from_value(&row));
    order.map_err(|message| SweepError::Malformed { path: path.display().to_string(), line: None, message })
}

/// Writes into `path` what the trial's process is to do.
fn write_order(path: &Path, trial: &Trial) -> Result<(), SweepError> {
    let path = path.join(ORDER);
    let text = json::to_string(&trial.to_value()) + "\n";
    std::fs::write(&path, text).map_err(SweepError::io(&path))
}

fn once(directory: &Directory, trial: &Trial, launcher: &Launcher, running: &Running) -> Result<Ending, SweepError> {
    if running.is_interrupted() {
        return Ok(Ending::Interrupted);
    }
    let attempt = directory.units().begin(&trial.unit())?;
    write_order(attempt.path(), trial)?;
    let [out, err] = ["stdout.txt", "stderr.txt"].map(|name| attempt.path().join(name));
    let open = |path: &Path| File::create(path).map(Kept::new).map_err(SweepError::io(path));
    let (mut told, mut said) = (open(&out)?, open(&err)?);
    let read = |path: &PathBuf| File::open(path).map(Stdio::from).map_err(SweepError::io(path));
    // In one word, for a sweep's name may begin with a `-`.
    let mut place = OsString::from("--attempt=");
    place.push(attempt.path());
    let mut command = Command::new(&launcher.program);
    command
        .arg(place)
        .arg(format!("--child-of={}", std::process::id()))
        .args(&launcher.arguments)
        .stdin(launcher.input.as_ref().map_or(Ok(Stdio::null()), read)?)
        .process_group(0);
    running.works(&trial.id, Some(attempt.path()));
    let status = running.run(&mut command, &mut told, &mut said);
    running.works(&trial.id, None);
    let status = status.map_err(SweepError::io(&launcher.program))?;
    told.finish().map_err(SweepError::io(&out))?;
    said.finish().map_err(SweepError::io(&err))?;
    let said = last_words(&err);
    let asked = status.code() == Some(i32::from(Exit::Interrupted.code()));
    if asked || (running.is_interrupted() && !status.success()) {
        return Ok(Ending::Interrupted);
    }
    if !status.success() {
        return Ok(Ending::Failed(Failure::of(status, &said)));
    }
    let Ok(outcome) = Outcome::read(attempt.path()) else {
        // It ended well without having run: a script that calls `os.exit(0)`, say.
        let said = format!("{said}\nerror: the trial's process ended without an outcome");
        return Ok(Ending::Failed(Failure::of(status, said.trim_start())));
    };
    for path in [out, err] {
        if std::fs::metadata(&path).is_ok_and(|about| about.len() == 0) {
            let _ = std::fs::remove_file(path);
        }
    }
    finish(directory, attempt, trial, outcome)
}

/// The end of what a trial wrote.
fn last_words(path: &Path) -> String {
    let read = || {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(MOST_BYTES)))?;
        let mut bytes = Vec::new();
        file.take(MOST_BYTES).read_to_end(&mut bytes)?;
        Ok::<_, std::io::Error>(String::from_utf8_lossy(&bytes).into_owned())
    };
    read().unwrap_or_default()
}

/// Puts a finished attempt in place. If another was faster, its outcome is the trial's.
fn finish(directory: &Directory, attempt: Attempt, trial: &Trial, outcome: Outcome) -> Result<Ending, SweepError> {
    let point = ("point".to_owned(), Value::Map(trial.point.clone()));
    let about = Map::from_iter([point, intact::entry(attempt.path())?]);
    match attempt.complete(about)? {
        crate::unit::Promotion::Promoted => Ok(Ending::Finished(outcome)),
        crate::unit::Promotion::Beaten => {
            Ok(Ending::Finished(Outcome::read(&directory.units().home().join(trial.unit().name()))?))
        }
    }
}
