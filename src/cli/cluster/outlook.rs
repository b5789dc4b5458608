//! What a cluster says of units that are missing.

use std::collections::BTreeMap;

use crate::cli::console::Terminal;
use crate::diagnostic::Diagnostic;
use crate::launcher::slurm::{self, Fate, Queue, State};
use crate::launcher::{LauncherError, Submissions, Submitted};
use crate::script::Console;
use crate::value::{Map, Value};

/// So many units of a kind are named.
const MOST: usize = 10;

/// What became of units by what `key` makes of their lines; `None` where none was ever submitted.
///
/// # Errors
/// When submissions cannot be read, or Slurm does not answer.
pub(in crate::cli) fn fates(
    home: &Submissions,
    key: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<BTreeMap<String, Fate>>, LauncherError> {
    let submitted: Vec<Submitted> = home.all()?.into_iter().filter(|one| !one.parts.is_empty()).collect();
    if submitted.is_empty() {
        return Ok(None);
    }
    let queue = Queue::ask(&submitted)?;
    slurm::fates(&submitted, &queue, key).map(Some)
}

/// As [`fates`], for people: where Slurm does not answer, that is said, and files alone count.
pub(in crate::cli) fn ask(
    home: &Submissions,
    key: &dyn Fn(&str) -> Option<String>,
    terminal: &Terminal,
) -> Result<Option<BTreeMap<String, Fate>>, Box<Diagnostic>> {
    match fates(home, key) {
        Ok(fates) => Ok(fates),
        Err(problem @ (LauncherError::Absent { .. } | LauncherError::Refused { .. })) => {
            terminal.info(&format!("this is what the files say; Slurm does not answer here: {problem}"));
            Ok(None)
        }
        Err(problem) => Err(Box::new(problem.into())),
    }
}

/// A unit that is missing.
pub(in crate::cli) struct Missing {
    /// What its fate is found by.
    pub(in crate::cli) key: String,
    /// What people call it.
    pub(in crate::cli) id: String,
    /// What else is said of it.
    pub(in crate::cli) about: String,
}

/// What is known of the missing units of something that was submitted.
pub(in crate::cli) struct Outlook<'a> {
    running: Vec<(&'a Missing, &'a Fate)>,
    /// Why they wait, with how many that do.
    queued: BTreeMap<&'a str, u64>,
    lost: Vec<(&'a Missing, &'a Fate)>,
}

impl<'a> Outlook<'a> {
    pub(in crate::cli) fn of(missing: &'a [Missing], fates: &'a BTreeMap<String, Fate>) -> Self {
        let mut outlook = Self { running: Vec::new(), queued: BTreeMap::new(), lost: Vec::new() };
        for unit in missing {
            let Some(fate) = fates.get(&unit.key) else { continue };
            match &fate.state {
                State::Running => outlook.running.push((unit, fate)),
                State::Queued(why) => *outlook.queued.entry(why).or_default() += 1,
                State::Ended(_) => outlook.lost.push((unit, fate)),
            }
        }
        outlook
    }

    pub(in crate::cli) fn text(&self) -> String {
        let queued: u64 = self.queued.values().sum();
        let mut text = format!("slurm: {} running, {queued} queued", self.running.len());
        if !self.queued.is_empty() {
            let reasons: Vec<String> = self.queued.iter().map(|(why, count)| format!("{why}: {count}")).collect();
            text.push_str(&format!(" ({})", reasons.join(", ")));
        }
        text.push('\n');
        for (unit, fate) in self.running.iter().take(MOST) {
            text.push_str(&format!("running {} ({}): task {}\n", unit.id, unit.about, fate.task));
        }
        for (unit, fate) in self.lost.iter().take(MOST) {
            let State::Ended(ended) = &fate.state else { continue };
            let log = if fate.log.exists() { format!("; {}", fate.log.display()) } else { String::new() };
            text.push_str(&format!("lost {} ({}): task {} {ended}{log}\n", unit.id, unit.about, fate.task));
        }
        if self.lost.len() > MOST {
            text.push_str(&format!("lost: {} more\n", self.lost.len() - MOST));
        }
        text
    }

    /// As plain data, with the units under the name `unit`.
    pub(in crate::cli) fn to_value(&self, unit: &str) -> Value {
        let task = |(missing, fate): &(&Missing, &Fate)| {
            let mut task = Map::from_iter([
                (unit.to_owned(), missing.id.as_str().into()),
                ("task".to_owned(), fate.task.as_str().into()),
            ]);
            if let State::Ended(ended) = &fate.state {
                task.insert("ended".to_owned(), ended.to_string().into());
                task.insert("log".to_owned(), fate.log.display().to_string().into());
            }
            Value::Map(task)
        };
        let list = |of: &[(&Missing, &Fate)]| Value::from(of.iter().map(task).collect::<Vec<_>>());
        Value::Map(Map::from_iter([
            ("running".to_owned(), list(&self.running)),
            ("queued".to_owned(), self.queued.values().sum::<u64>().into()),
            ("lost".to_owned(), list(&self.lost)),
        ]))
    }
}
