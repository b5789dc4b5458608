//! A submission's directory.
//!
//! ```text
//! 0001/task.json       what a task's command needs to know
//! 0001/units           the units, a line each; a task has `batch` of them
//! 0001/jobs.json       how the units are dealt to tasks, and what the engine calls these
//! 0001/array.sbatch    what Slurm was given
//! 0001/logs/           what tasks said
//! 0001/ended/7         how task 7 ended: its exit code
//! ```

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use super::Submission;
use super::error::LauncherError;
use crate::atomic;
use crate::text::json;
use crate::value::{Map, Value};

const ABOUT: &str = "task.json";
const UNITS: &str = "units";
const JOBS: &str = "jobs.json";
/// Where tasks' logs go.
pub(super) const LOGS: &str = "logs";
/// Where it is noted how tasks ended.
pub(super) const ENDED: &str = "ended";

/// Tasks that the engine took as one job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// What the engine calls the job.
    pub job: String,
    /// Its first task.
    pub first: usize,
    /// How many tasks it has.
    pub tasks: usize,
}

/// A submission in its directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Submitted {
    /// Where it is.
    pub path: PathBuf,
    /// How many units it has.
    pub units: usize,
    /// How many units a task has, but for the last one.
    pub batch: NonZeroUsize,
    /// What the engine took; tasks beyond were never handed to it.
    pub parts: Vec<Part>,
}

/// The directory that submissions stand in, numbered from 1.
#[derive(Clone, Debug)]
pub(crate) struct Submissions {
    home: PathBuf,
}

impl Submissions {
    /// The submissions below `home`, which need not exist yet.
    #[must_use]
    pub(crate) fn new(home: impl Into<PathBuf>) -> Self {
        Self { home: home.into() }
    }

    /// All of them, in their order.
    ///
    /// # Errors
    /// When one cannot be read.
    pub(crate) fn all(&self) -> Result<Vec<Submitted>, LauncherError> {
        let mut all = Vec::new();
        for number in self.numbers()? {
            let path = self.home.join(name(number));
            // Without this file it is still being written, or was given up.
            if path.join(JOBS).exists() {
                all.push(Submitted::open(path)?);
            }
        }
        Ok(all)
    }

    /// Writes a submission into a new directory.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub(crate) fn write(&self, submission: &Submission) -> Result<Submitted, LauncherError> {
        fs::create_dir_all(&self.home).map_err(LauncherError::io(&self.home))?;
        let path = self.claim()?;
        let submitted = Submitted { path, units: submission.units.len(), batch: submission.batch, parts: Vec::new() };
        for directory in [LOGS, ENDED] {
            let directory = submitted.path.join(directory);
            fs::create_dir(&directory).map_err(LauncherError::io(&directory))?;
        }
        let about = json::to_canonical(&Value::Map(submission.about.clone())) + "\n";
        atomic::write_file(&submitted.path.join(ABOUT), about.as_bytes())?;
        let units: String = submission.units.iter().map(|unit| format!("{unit}\n")).collect();
        atomic::write_file(&submitted.path.join(UNITS), units.as_bytes())?;
        submitted.save()?;
        Ok(submitted)
    }

    /// Makes the next directory, which no one else has.
    fn claim(&self) -> Result<PathBuf, LauncherError> {
        let mut number = self.numbers()?.last().map_or(1, |last| last + 1);
        loop {
            let path = self.home.join(name(number));
            match fs::create_dir(&path) {
                Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => number += 1,
                made => return made.map(|()| path.clone()).map_err(LauncherError::io(&path)),
            }
        }
    }

    fn numbers(&self) -> Result<Vec<u32>, LauncherError> {
        let entries = match fs::read_dir(&self.home) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(LauncherError::io(&self.home))?,
        };
        let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().parse().ok()));
        let names: Vec<Option<u32>> = names.collect::<io::Result<_>>().map_err(LauncherError::io(&self.home))?;
        let mut numbers: Vec<u32> = names.into_iter().flatten().collect();
        numbers.sort_unstable();
        Ok(numbers)
    }
}

fn name(number: u32) -> String {
    format!("{number:04}")
}

impl Submitted {
    /// The submission in the directory `path`.
    ///
    /// # Errors
    /// When it is none.
    pub(crate) fn open(path: impl Into<PathBuf>) -> Result<Self, LauncherError> {
        let path = path.into();
        let value = read(&path.join(JOBS))?;
        let count = |value: &Value, name: &str| value.as_map()?.get(name)?.as_count()?.try_into().ok();
        let part = |part: &Value| {
            let job = part.as_map()?.get("job")?.as_text()?.to_owned();
            Some(Part { job, first: count(part, "first")?, tasks: count(part, "tasks")? })
        };
        let read = || {
            let batch = NonZeroUsize::new(count(&value, "batch")?)?;
            let parts = value.as_map()?.get("parts")?.as_list()?.iter().map(part).collect::<Option<_>>()?;
            Some((count(&value, "units")?, batch, parts))
        };
        let (units, batch, parts) = read().ok_or_else(|| LauncherError::Malformed {
            path: path.join(JOBS).display().to_string(),
            message: "it does not say how units are dealt to tasks".to_owned(),
        })?;
        Ok(Self { path, units, batch, parts })
    }

    /// Notes what the engine took.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn save(&self) -> Result<(), LauncherError> {
        let count = |count: usize| Value::from(count as u64);
        let part = |part: &Part| {
            Value::Map(Map::from_iter([
                ("job".to_owned(), part.job.as_str().into()),
                ("first".to_owned(), count(part.first)),
                ("tasks".to_owned(), count(part.tasks)),
            ]))
        };
        let parts: Vec<Value> = self.parts.iter().map(part).collect();
        let value = Map::from_iter([
            ("units".to_owned(), count(self.units)),
            ("batch".to_owned(), count(self.batch.get())),
            ("parts".to_owned(), parts.into()),
        ]);
        let text = json::to_canonical(&Value::Map(value)) + "\n";
        Ok(atomic::write_file(&self.path.join(JOBS), text.as_bytes())?)
    }

    /// How many tasks it has.
    #[must_use]
    pub(crate) fn tasks(&self) -> usize {
        self.units.div_ceil(self.batch.get())
    }

    /// What the command of its tasks needs to know.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn about(&self) -> Result<Map, LauncherError> {
        let path = self.path.join(ABOUT);
        let malformed = || LauncherError::Malformed { path: path.display().to_string(), message: "no map".to_owned() };
        read(&path)?.as_map().cloned().ok_or_else(malformed)
    }

    /// The units of the tasks from `first` on, `tasks` of them at most.
    ///
    /// # Errors
    /// When they cannot be read.
    pub(crate) fn units(&self, first: usize, tasks: usize) -> Result<Vec<String>, LauncherError> {
        let path = self.path.join(UNITS);
        let file = File::open(&path).map_err(LauncherError::io(&path))?;
        let batch = self.batch.get();
        let lines = BufReader::new(file).lines().skip(first.saturating_mul(batch)).take(tasks.saturating_mul(batch));
        lines.collect::<io::Result<_>>().map_err(LauncherError::io(&path))
    }

    /// The units of one task.
    ///
    /// # Errors
    /// When there is no such task, or they cannot be read.
    pub(crate) fn units_of(&self, task: usize) -> Result<Vec<String>, LauncherError> {
        if task >= self.tasks() {
            return Err(LauncherError::Task { path: self.path.display().to_string(), tasks: self.tasks(), task });
        }
        self.units(task, 1)
    }

    /// The exit code that a task ended with, if that was noted.
    #[must_use]
    pub(crate) fn ended(&self, task: usize) -> Option<i64> {
        fs::read_to_string(self.path.join(ENDED).join(task.to_string())).ok()?.trim().parse().ok()
    }
}

fn read(path: &Path) -> Result<Value, LauncherError> {
    let text = fs::read_to_string(path).map_err(LauncherError::io(path))?;
    let malformed = |message: String| LauncherError::Malformed { path: path.display().to_string(), message };
    json::parse(&text).map_err(|error| malformed(error.to_string()))
}
