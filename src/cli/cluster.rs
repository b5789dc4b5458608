//! Handing work to a cluster, whatever the work is.

mod outlook;
mod task;

pub(super) use outlook::{Missing, Outlook, ask, fates};
pub(super) use task::{Task, about, malformed};

use crate::diagnostic::{Diagnostic, Exit};
use crate::launcher::slurm::{self, Request};
use crate::launcher::{Submission, Submissions};
use crate::script::Console;

use super::args::{LauncherArguments, LauncherName};
use super::console::Terminal;

/// Submits work, or writes it down for another engine; what was done, in words.
pub(super) fn submit(
    home: &Submissions,
    submission: &Submission,
    asked: &LauncherArguments,
    terminal: &Terminal,
) -> Result<String, Box<Diagnostic>> {
    let tasks = submission.tasks();
    if asked.launcher != Some(LauncherName::Slurm) {
        let written = home.write(submission).map_err(Diagnostic::from)?;
        let (path, last) = (written.path.display(), tasks.saturating_sub(1));
        let program = submission.program.display();
        let verb = submission.verb.join(" ");
        return Ok(format!("{tasks} tasks in {path}\nstart each K from 0 to {last}: {program} {verb} {path} K"));
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
    let jobs: Vec<&str> = submitted.parts.iter().map(|part| part.job.as_str()).collect();
    let script = submitted.path.join(slurm::SCRIPT);
    Ok(format!("{tasks} tasks in job {}\nscript: {}", jobs.join(", "), script.display()))
}

/// Who is to start the work, unless it is this command.
pub(super) fn elsewhere(asked: &LauncherArguments) -> Option<LauncherName> {
    asked.launcher.filter(|name| *name != LauncherName::Local)
}

/// Something does not go together with a launcher.
pub(super) fn refused(line: &str, hint: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::new("launcher/usage", line, Exit::Usage).with_hint(hint))
}
