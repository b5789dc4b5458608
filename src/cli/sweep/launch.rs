//! `skyfall sweep --launcher`: what is missing goes to a cluster, and the command leaves.

use std::collections::BTreeMap;
use std::path::Path;

use crate::cli::args::{LauncherArguments, LauncherName, PoolArguments};
use crate::cli::cluster;
use crate::cli::console::Terminal;
use crate::cli::{Ending, Process};
use crate::diagnostic::{Diagnostic, Exit};
use crate::launcher::slurm::{self, Fate, Queue};
use crate::launcher::{LauncherError, Submission, Submissions, Submitted};
use crate::sweep::SweepError;
use crate::sweep::directory::{Directory, Header};
use crate::sweep::plan::Trial;
use crate::sweep::pool::Failure;
use crate::text::json;
use crate::value::{Map, Value};

/// The submissions of a sweep.
pub(super) fn submissions(directory: &Directory) -> Submissions {
    Submissions::new(directory.path().join("tasks"))
}

/// The trial of a submission's unit.
pub(super) fn trial_of(line: &str) -> Result<Trial, String> {
    let row = json::parse(line).map_err(|error| error.to_string())?;
    Trial::from_value(&row)
}

/// What became of trials that were submitted, by their directory's name; `None` where none ever was.
///
/// # Errors
/// When submissions cannot be read, or Slurm does not answer.
pub(super) fn fates(directory: &Directory) -> Result<Option<BTreeMap<String, Fate>>, LauncherError> {
    let submitted: Vec<Submitted> =
        submissions(directory).all()?.into_iter().filter(|one| !one.parts.is_empty()).collect();
    if submitted.is_empty() {
        return Ok(None);
    }
    let queue = Queue::ask(&submitted)?;
    let name = |line: &str| trial_of(line).ok().map(|trial| trial.unit().name());
    slurm::fates(&submitted, &queue, &name).map(Some)
}

/// Says what does not go together with a launcher.
pub(super) fn check(launcher: LauncherName, pool: PoolArguments, searched: bool) -> Result<(), Box<Diagnostic>> {
    let refused =
        |line: &str, hint: &str| Err(Box::new(Diagnostic::new("sweep/launcher", line, Exit::Usage).with_hint(hint)));
    if launcher == LauncherName::Local {
        return Ok(());
    }
    if searched {
        let line = "a search's next point depends on how earlier trials come out, so its trials cannot be submitted \
                    beforehand";
        return refused(line, "run the search itself as one job, with --jobs, or sweep over axes");
    }
    if pool.fail_fast {
        let line = "--fail-fast is for trials that this command runs; a cluster's tasks do not know of each other";
        return refused(line, "leave it out; `skyfall sweep status` names what failed");
    }
    if pool.jobs.is_some() {
        let line = "--jobs is for trials that this command runs";
        return refused(line, "--slurm-limit says how many tasks run at a time, --slurm-cpus how many trials a task");
    }
    Ok(())
}

/// Submits the trials that are missing.
pub(super) fn launch(
    directory: &Directory,
    header: &Header,
    asked: &LauncherArguments,
    retries: u64,
    own: &Process,
    terminal: &Terminal,
) -> Ending {
    let to_slurm = asked.launcher == Some(LauncherName::Slurm);
    let under_way =
        if to_slurm { fates(directory).map_err(Diagnostic::from)?.unwrap_or_default() } else { BTreeMap::new() };
    let (units, counts) = missing(directory, &under_way).map_err(Diagnostic::from)?;
    let out = directory.path().display();
    let mut text = format!("{} of {} trials finished", counts.finished, header.totals.trials);
    if counts.under_way > 0 {
        text.push_str(&format!(", {} under way", counts.under_way));
    }
    if counts.bad > 0 {
        text.push_str(&format!(", {} failed: no configuration can be made of them", counts.bad));
    }
    let ended = if counts.bad > 0 { Exit::Failure } else { Exit::Success };
    if units.is_empty() {
        terminal.print(&format!("{text}; nothing to submit\nsweep: {out}\n"));
        return Ok(ended);
    }
    let count = units.len();
    let submission = Submission {
        name: header.definition.name.clone(),
        program: super::program()?,
        verb: vec!["sweep".to_owned(), "task".to_owned()],
        about: about(own, asked, retries)?,
        units,
        batch: asked.batch,
    };
    let home = submissions(directory);
    let what = cluster::submit(&home, &submission, asked, terminal)?;
    terminal.print(&format!("{text}; {count} submitted: {what}\nlook: skyfall sweep status {out}\n"));
    Ok(ended)
}

/// What a task needs to know: the command that makes its trials' processes, and where it is typed.
fn about(own: &Process, asked: &LauncherArguments, retries: u64) -> Result<Map, Box<Diagnostic>> {
    let bad = |line: String| Box::new(Diagnostic::new("sweep/launcher", line, Exit::Usage));
    let words: Option<Vec<Value>> = own.words.iter().map(|word| Some(word.to_str()?.into())).collect();
    let words = words.ok_or_else(|| bad("the command is not in UTF-8, so it cannot be written down".to_owned()))?;
    let here = std::env::current_dir().map_err(|cause| bad(format!("the working directory: {cause}")))?;
    let here = here.to_str().ok_or_else(|| bad("the working directory's name is not in UTF-8".to_owned()))?;
    Ok(Map::from_iter([
        ("arguments".to_owned(), words.into()),
        ("directory".to_owned(), here.into()),
        ("jobs".to_owned(), (asked.slurm_cpus.get() as u64).into()),
        ("retries".to_owned(), retries.into()),
    ]))
}

#[derive(Default)]
struct Counts {
    finished: u64,
    under_way: u64,
    bad: u64,
}

/// The trials that are neither finished nor under way, as units of a submission. Those that
/// nothing can be made of are recorded as failed.
fn missing(directory: &Directory, fates: &BTreeMap<String, Fate>) -> Result<(Vec<String>, Counts), SweepError> {
    let finished = directory.units().finished()?;
    let (mut units, mut counts) = (Vec::new(), Counts::default());
    for trial in directory.plan()? {
        let trial = trial?;
        let unit = trial.unit();
        if finished.contains_key(unit.short()) {
            counts.finished += 1;
        } else if let Err(why) = &trial.resolved {
            directory.record_failure(&trial, &Failure::of_config(why))?;
            counts.bad += 1;
        } else if fates.get(&unit.name()).is_some_and(Fate::is_under_way) {
            counts.under_way += 1;
        } else {
            units.push(json::to_compact(&trial.to_value()));
        }
    }
    Ok((units, counts))
}

/// The sweep's directory that a submission belongs to.
pub(super) fn directory_of(submission: &Path) -> Option<Directory> {
    // OUT/tasks/0001
    submission.ancestors().nth(2).map(Directory::new)
}
