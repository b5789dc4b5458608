//! What became of units that were handed to Slurm and are not finished.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::queue::{Ended, Queue, State};
use crate::launcher::submitted::LOGS;
use crate::launcher::{LauncherError, Submitted};

/// What became of a unit's task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fate {
    /// How the task is.
    pub state: State,
    /// What Slurm calls it: `JOB_INDEX`.
    pub task: String,
    /// What it said, if it was ever started.
    pub log: PathBuf,
}

impl Fate {
    /// Whether the unit is still worked on, or will be.
    #[must_use]
    pub(crate) fn is_under_way(&self) -> bool {
        !matches!(self.state, State::Ended(_))
    }
}

/// What became of every unit whose task is under way or ended badly, by what `key` makes of the
/// unit's line; of a unit that was submitted twice, the task under way counts, else the later one.
///
/// # Errors
/// When a submission's units cannot be read.
pub(crate) fn fates(
    submissions: &[Submitted],
    queue: &Queue,
    key: &dyn Fn(&str) -> Option<String>,
) -> Result<BTreeMap<String, Fate>, LauncherError> {
    let mut fates: BTreeMap<String, Fate> = BTreeMap::new();
    for submitted in submissions {
        let lines = submitted.units(0, submitted.tasks())?;
        for part in &submitted.parts {
            for index in 0..part.tasks {
                let state = queue.state(submitted, part.first + index);
                let Some(state) = state.filter(|state| *state != State::Ended(Ended::Code(0))) else { continue };
                let task = format!("{}_{index}", part.job);
                let log = submitted.path.join(LOGS).join(format!("{task}.log"));
                let fate = Fate { state, task, log };
                let batch = submitted.batch.get();
                for unit in lines.iter().skip((part.first + index) * batch).take(batch).filter_map(|line| key(line)) {
                    let earlier = fates.get(&unit).is_some_and(Fate::is_under_way);
                    if !earlier || fate.is_under_way() {
                        fates.insert(unit, fate.clone());
                    }
                }
            }
        }
    }
    Ok(fates)
}
