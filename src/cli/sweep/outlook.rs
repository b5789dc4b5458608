//! What a cluster says of the trials that are missing.

use std::collections::BTreeMap;

use super::launch;
use crate::cli::console::Terminal;
use crate::diagnostic::Diagnostic;
use crate::launcher::LauncherError;
use crate::launcher::slurm::{Fate, State};
use crate::script::Console;
use crate::sweep::describe;
use crate::sweep::directory::Directory;
use crate::sweep::plan::Trial;
use crate::value::{Map, Value};

/// So many trials of a kind are named.
const MOST: usize = 10;

/// What is known of the missing trials of a sweep that was submitted.
pub(super) struct Outlook<'a> {
    running: Vec<(&'a Trial, &'a Fate)>,
    /// Why they wait, with how many that do.
    queued: BTreeMap<&'a str, u64>,
    lost: Vec<(&'a Trial, &'a Fate)>,
}

/// What became of trials that were submitted; `None` where none was, or where Slurm does not answer,
/// which is said.
pub(super) fn ask(
    directory: &Directory,
    terminal: &Terminal,
) -> Result<Option<BTreeMap<String, Fate>>, Box<Diagnostic>> {
    match launch::fates(directory) {
        Ok(fates) => Ok(fates),
        Err(problem @ (LauncherError::Absent { .. } | LauncherError::Refused { .. })) => {
            terminal.info(&format!("this is what the files say; Slurm does not answer here: {problem}"));
            Ok(None)
        }
        Err(problem) => Err(Box::new(problem.into())),
    }
}

impl<'a> Outlook<'a> {
    pub(super) fn of(missing: &'a [Trial], fates: &'a BTreeMap<String, Fate>) -> Self {
        let mut outlook = Self { running: Vec::new(), queued: BTreeMap::new(), lost: Vec::new() };
        for trial in missing {
            let Some(fate) = fates.get(&trial.unit().name()) else { continue };
            match &fate.state {
                State::Running => outlook.running.push((trial, fate)),
                State::Queued(why) => *outlook.queued.entry(why).or_default() += 1,
                State::Ended(_) => outlook.lost.push((trial, fate)),
            }
        }
        outlook
    }

    pub(super) fn text(&self) -> String {
        let queued: u64 = self.queued.values().sum();
        let mut text = format!("slurm: {} running, {queued} queued", self.running.len());
        if !self.queued.is_empty() {
            let reasons: Vec<String> = self.queued.iter().map(|(why, count)| format!("{why}: {count}")).collect();
            text.push_str(&format!(" ({})", reasons.join(", ")));
        }
        text.push('\n');
        for (trial, fate) in self.running.iter().take(MOST) {
            text.push_str(&format!("running {} ({}): task {}\n", trial.id, describe(&trial.point), fate.task));
        }
        for (trial, fate) in self.lost.iter().take(MOST) {
            let State::Ended(ended) = &fate.state else { continue };
            let place = describe(&trial.point);
            let log = if fate.log.exists() { format!("; {}", fate.log.display()) } else { String::new() };
            text.push_str(&format!("lost {} ({place}): task {} {ended}{log}\n", trial.id, fate.task));
        }
        if self.lost.len() > MOST {
            text.push_str(&format!("lost: {} more\n", self.lost.len() - MOST));
        }
        text
    }

    pub(super) fn to_value(&self) -> Value {
        let task = |(trial, fate): &(&Trial, &Fate)| {
            let mut task = Map::from_iter([
                ("trial".to_owned(), trial.id.as_str().into()),
                ("task".to_owned(), fate.task.as_str().into()),
            ]);
            if let State::Ended(ended) = &fate.state {
                task.insert("ended".to_owned(), ended.to_string().into());
                task.insert("log".to_owned(), fate.log.display().to_string().into());
            }
            Value::Map(task)
        };
        let list = |of: &[(&Trial, &Fate)]| Value::from(of.iter().map(task).collect::<Vec<_>>());
        Value::Map(Map::from_iter([
            ("running".to_owned(), list(&self.running)),
            ("queued".to_owned(), self.queued.values().sum::<u64>().into()),
            ("lost".to_owned(), list(&self.lost)),
        ]))
    }
}
