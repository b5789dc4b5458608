//! What Slurm knows of submitted tasks.
//!
//! `squeue` is asked once for all of them and names those under way and those that ended a while
//! ago; how one ended that failed is `scontrol`'s to say. Where Slurm keeps accounts, `sacct`
//! knows older ones. None of them has to be there.

use std::collections::BTreeMap;
use std::fmt;
use std::process::Command;

use super::asked;
use crate::launcher::{LauncherError, Submitted};

/// How a task is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It will be started, or started again; why it is not yet.
    Queued(String),
    /// It runs.
    Running,
    /// It ended.
    Ended(Ended),
}

/// How a task ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Its command ended with this exit code.
    Code(i64),
    /// Slurm says that it failed, and its script did not come to its end, if it was started at all.
    GivenUp,
    /// It was killed by this signal.
    Signal(i64),
    /// It took longer than it may.
    TimeOut,
    /// It took more memory than it may.
    OutOfMemory,
    /// Otherwise, in Slurm's word: `CANCELLED`, `NODE_FAIL`, `PREEMPTED`.
    Other(String),
}

impl Ended {
    /// From the exit code of a shell, for which a signal is 128 and its number.
    fn of_shell(code: i64) -> Self {
        // 130 is the command's own word for an interrupt.
        if code > 128 && code != 130 { Self::Signal(code - 128) } else { Self::Code(code) }
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(0) => write!(out, "ended well"),
            Self::Code(65) => write!(out, "failed: its configuration is at fault (exit code 65)"),
            Self::Code(130) => write!(out, "was interrupted (exit code 130)"),
            Self::Code(code) => write!(out, "failed (exit code {code})"),
            Self::GivenUp => write!(out, "was given up by Slurm (exit code 1) before its script came to its end"),
            Self::Signal(signal) => write!(out, "was killed by signal {signal}"),
            Self::TimeOut => write!(out, "took longer than its time limit"),
            Self::OutOfMemory => write!(out, "took more memory than its limit"),
            Self::Other(word) => write!(out, "ended: Slurm says {word}"),
        }
    }
}

/// What Slurm said of the tasks of some submissions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue {
    /// By job and index in its array.
    states: BTreeMap<(String, usize), State>,
}

impl Queue {
    /// Asks Slurm.
    ///
    /// # Errors
    /// When it is not there, or does not answer.
    pub(crate) fn ask(submissions: &[Submitted]) -> Result<Self, LauncherError> {
        let jobs: Vec<&str> = submissions.iter().flat_map(|one| &one.parts).map(|part| part.job.as_str()).collect();
        let mut queue = Self::default();
        if jobs.is_empty() {
            return Ok(queue);
        }
        let listed =
            asked(Command::new("squeue").args(["-h", "-r", "-t", "all", "-o", "%F|%K|%T|%r", "-j", &jobs.join(",")]));
        match listed {
            Ok((out, _)) => queue.take_squeue(&out),
            // A job that it has forgotten.
            Err(LauncherError::Refused { message, .. }) if message.contains("Invalid job id") => {}
            Err(problem) => return Err(problem),
        }
        let vague = |job: &&&str| {
            let of_job = queue.states.iter().filter(|((of, _), _)| of == **job);
            of_job.into_iter().any(|(_, state)| matches!(state, State::Ended(Ended::Other(word)) if word == "FAILED"))
        };
        for job in jobs.iter().filter(vague).map(|job| (*job).to_owned()).collect::<Vec<_>>() {
            // What it does not say stays vague.
            if let Ok((out, _)) = asked(Command::new("scontrol").args(["-o", "show", "job", &job])) {
                queue.take_scontrol(&out);
            }
        }
        let forgotten = |part: &&crate::launcher::Part| {
            (0..part.tasks).any(|index| !queue.states.contains_key(&(part.job.clone(), index)))
        };
        let old: Vec<&str> =
            submissions.iter().flat_map(|one| &one.parts).filter(forgotten).map(|part| &*part.job).collect();
        if !old.is_empty() {
            let format = "JobID,State,ExitCode";
            if let Ok((out, _)) =
                asked(Command::new("sacct").args(["-n", "-P", "-X", "-o", format, "-j", &old.join(",")]))
            {
                queue.take_sacct(&out);
            }
        }
        Ok(queue)
    }

    /// How a task is; `None` where Slurm knows nothing of it any more and no one noted its end.
    #[must_use]
    pub(crate) fn state(&self, submitted: &Submitted, task: usize) -> Option<State> {
        let part = submitted.parts.iter().find(|part| (part.first..part.first + part.tasks).contains(&task))?;
        let known = self.states.get(&(part.job.clone(), task - part.first));
        let noted = || submitted.ended(task).map(|code| State::Ended(Ended::of_shell(code)));
        match known {
            Some(state @ (State::Queued(_) | State::Running)) => Some(state.clone()),
            Some(State::Ended(Ended::Other(word))) if word == "FAILED" => noted().or_else(|| known.cloned()),
            // What Slurm gives a task that it could not start, as when it would be in the second in
            // which it killed the task's last run: no script said so.
            Some(State::Ended(Ended::Code(1))) if noted().is_none() => Some(State::Ended(Ended::GivenUp)),
            Some(ended) => Some(ended.clone()),
            None => noted(),
        }
    }

    fn take_squeue(&mut self, text: &str) {
        for line in text.lines() {
            let mut fields = line.split('|');
            let mut next = || fields.next().unwrap_or_default().trim();
            let (job, index, word, reason) = (next(), next(), next(), next());
            if let Ok(index) = index.parse() {
                self.states.insert((job.to_owned(), index), state(word, reason));
            }
        }
    }

    fn take_scontrol(&mut self, text: &str) {
        for line in text.lines() {
            let field = |name: &str| line.split(' ').find_map(|word| word.strip_prefix(name));
            let (Some(job), Some(index)) = (field("ArrayJobId="), field("ArrayTaskId=")) else { continue };
            let (Some("FAILED"), Some(code), Ok(index)) = (field("JobState="), field("ExitCode="), index.parse())
            else {
                continue;
            };
            self.states.insert((job.to_owned(), index), State::Ended(of_code(code)));
        }
    }

    fn take_sacct(&mut self, text: &str) {
        for line in text.lines() {
            let mut fields = line.split('|');
            let mut next = || fields.next().unwrap_or_default().trim();
            let (id, word, code) = (next(), next(), next());
            let Some((job, index)) = id.split_once('_') else { continue };
            let Ok(index) = index.parse() else { continue };
            // `CANCELLED by 1000`
            let word = word.split(' ').next().unwrap_or_default();
            let state = if word == "FAILED" { State::Ended(of_code(code)) } else { state(word, "") };
            self.states.entry((job.to_owned(), index)).or_insert(state);
        }
    }
}

/// From an exit code as Slurm writes it: `CODE:SIGNAL`.
fn of_code(text: &str) -> Ended {
    let (code, signal) = text.split_once(':').unwrap_or((text, "0"));
    match (code.parse(), signal.parse()) {
        (_, Ok(signal)) if signal != 0 => Ended::Signal(signal),
        (Ok(code), _) => Ended::of_shell(code),
        _ => Ended::Other("FAILED".to_owned()),
    }
}

/// What a word of Slurm's for a state means.
fn state(word: &str, reason: &str) -> State {
    match word {
        "PENDING" | "CONFIGURING" | "REQUEUED" | "REQUEUE_FED" | "REQUEUE_HOLD" | "SPECIAL_EXIT" => {
            State::Queued(if reason.is_empty() { word } else { reason }.to_owned())
        }
        "RUNNING" | "COMPLETING" | "SUSPENDED" | "STOPPED" | "SIGNALING" | "STAGE_OUT" | "RESIZING" => State::Running,
        "COMPLETED" => State::Ended(Ended::Code(0)),
        "TIMEOUT" | "DEADLINE" => State::Ended(Ended::TimeOut),
        "OUT_OF_MEMORY" => State::Ended(Ended::OutOfMemory),
        other => State::Ended(Ended::Other(other.to_owned())),
    }
}
