//! `skyfall sweep --launcher`: what is missing goes to a cluster, and the command leaves.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;

use super::Order;
use crate::cli::args::{LauncherArguments, LauncherName, PoolArguments};
use crate::cli::cluster::{self, Handed, refused};
use crate::cli::console::Terminal;
use crate::cli::{Ending, Process, child};
use crate::diagnostic::{Diagnostic, Exit};
use crate::launcher::slurm::Fate;
use crate::launcher::{Submission, Submissions};
use crate::sweep::SweepError;
use crate::sweep::directory::{Directory, Header};
use crate::sweep::plan::Trial;
use crate::sweep::pool::Failure;
use crate::text::json;
use crate::value::{self, Value};

/// The submissions of a sweep.
pub(super) fn submissions(directory: &Directory) -> Submissions {
    Submissions::new(directory.path().join("tasks"))
}

/// The trial of a submission's unit.
pub(super) fn trial_of(line: &str) -> Result<Trial, String> {
    let row = json::parse(line).map_err(|error| error.to_string())?;
    Trial::from_value(&row)
}

/// What the fate of a submitted trial is found by: its directory's name.
pub(super) fn key(line: &str) -> Option<String> {
    trial_of(line).ok().map(|trial| trial.unit().name())
}

/// Says what does not go together with a launcher.
pub(super) fn check(pool: PoolArguments, searched: bool) -> Result<(), Box<Diagnostic>> {
    if searched {
        let line = "a search's next point depends on how earlier trials come out, so its trials cannot be submitted \
                    beforehand";
        return Err(refused(line, "run the search itself as one job, with --jobs, or sweep over axes"));
    }
    if pool.fail_fast {
        let line = "--fail-fast is for trials that this command runs; a cluster's tasks do not know of each other";
        return Err(refused(line, "leave it out; `skyfall sweep status` names what failed"));
    }
    if pool.jobs.is_some() {
        let hint = "--slurm-limit says how many tasks run at a time, --slurm-cpus how many trials a task";
        return Err(refused("--jobs is for trials that this command runs", hint));
    }
    Ok(())
}

/// Submits the trials that are missing.
pub(super) fn launch(
    directory: &Directory,
    header: &Header,
    (asked, batch, order): (&LauncherArguments, NonZeroUsize, &Order),
    own: &Process,
    terminal: &Terminal,
) -> Ending {
    let home = submissions(directory);
    let to_slurm = asked.launcher == Some(LauncherName::Slurm);
    let under_way = if to_slurm {
        cluster::fates(&home, &key).map_err(Diagnostic::from)?.unwrap_or_default()
    } else {
        BTreeMap::new()
    };
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
    let as_json = |handed: Option<&Handed>| {
        let entries: [(&str, Value); 8] = [
            ("name", header.definition.name.as_str().into()),
            ("directory", out.to_string().into()),
            ("trials", header.totals.trials.into()),
            ("finished", counts.finished.into()),
            ("under_way", counts.under_way.into()),
            ("failed", counts.bad.into()),
            ("submitted", (units.len() as u64).into()),
            ("submission", handed.map(Handed::to_value).unwrap_or_default()),
        ];
        value::map(entries)
    };
    if units.is_empty() {
        if order.json {
            terminal.print_json(as_json(None));
            return Ok(ended);
        }
        terminal.print(&format!("{text}; nothing to submit\nsweep: {out}\n"));
        return Ok(ended);
    }
    let count = units.len();
    let mut about = cluster::about(own, asked)?;
    about.insert("retries".to_owned(), order.pool.retries.into());
    let submission = Submission {
        name: header.definition.name.clone(),
        program: child::program()?,
        verb: vec!["sweep".to_owned(), "task".to_owned()],
        about,
        units: units.clone(),
        batch,
    };
    let handed = cluster::submit(&home, &submission, asked, terminal)?;
    if order.json {
        terminal.print_json(as_json(Some(&handed)));
        return Ok(ended);
    }
    let what = handed.words;
    terminal.print(&format!("{text}; {count} submitted: {what}\nlook: skyfall sweep status {out}\n"));
    Ok(ended)
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
        // The task that gets a damaged one sets it aside.
        if finished.get(unit.short()).is_some_and(|name| directory.check_files(name).is_ok()) {
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
