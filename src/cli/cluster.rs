//! Handing work to a cluster, whatever the work is.

mod outlook;
mod task;

pub(super) use outlook::{Missing, Outlook, ask, fates};
pub(super) use task::{Task, about, malformed};

use std::path::PathBuf;

use crate::diagnostic::{Diagnostic, Exit};
use crate::launcher::slurm::{self, Request};
use crate::launcher::{Submission, Submissions};
use crate::script::Console;
use crate::value::Value;

use super::args::{LauncherArguments, LauncherName};
use super::console::Terminal;

/// Work that was handed over.
pub(super) struct Handed {
    /// The submission's directory.
    pub(super) path: PathBuf,
    /// How many tasks it has.
    pub(super) tasks: usize,
    /// The jobs that run them, where a cluster has them.
    pub(super) jobs: Vec<String>,
    /// What was done, in words.
    pub(super) words: String,
}

impl Handed {
    /// As plain data.
    pub(super) fn to_value(&self) -> Value {
        let jobs: Vec<Value> = self.jobs.iter().map(|job| job.as_str().into()).collect();
        Value::map([
            ("path", self.path.display().to_string().into()),
            ("tasks", (self.tasks as u64).into()),
            ("jobs", jobs.into()),
        ])
    }
}

/// Submits work, or writes it down for another engine.
pub(super) fn submit(
    home: &Submissions,
    submission: &Submission,
    asked: &LauncherArguments,
    terminal: &Terminal,
) -> Result<Handed, Box<Diagnostic>> {
    let tasks = submission.tasks();
    if asked.launcher != Some(LauncherName::Slurm) {
        let written = home.write(submission).map_err(Diagnostic::from)?;
        let (path, last) = (written.path.display(), tasks.saturating_sub(1));
        let program = submission.program.display();
        let verb = submission.verb.join(" ");
        let words = format!("{tasks} tasks in {path}\nstart each K from 0 to {last}: {program} {verb} {path} K");
        return Ok(Handed { path: written.path, tasks, jobs: Vec::new(), words });
    }
    let request = Request {
        concurrent: asked.slurm_limit,
        cpus: asked.slurm_cpus,
        memory: asked.slurm_memory.clone(),
        time: asked.slurm_time.clone(),
        partition: asked.slurm_partition.clone(),
        options: asked.slurm_option.clone(),
    };
    let (submitted, said) = slurm::submit(home, submission, &request).map_err(Diagnostic::from)?;
    for line in said {
        terminal.info(&line);
    }
    let jobs: Vec<String> = submitted.parts.iter().map(|part| part.job.clone()).collect();
    let script = submitted.path.join(slurm::SCRIPT);
    let words = format!("{tasks} tasks in job {}\nscript: {}", jobs.join(", "), script.display());
    Ok(Handed { path: submitted.path, tasks, jobs, words })
}

/// Who is to start the work, unless it is this command.
pub(super) fn elsewhere(asked: &LauncherArguments) -> Option<LauncherName> {
    asked.launcher.filter(|name| *name != LauncherName::Local)
}

/// Something does not go together with a launcher.
pub(super) fn refused(line: &str, hint: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::new("launcher/usage", line, Exit::Usage).with_hint(hint))
}
