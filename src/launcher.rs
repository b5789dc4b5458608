//! Clusters: units of work as tasks that an engine starts, wherever and as often as it likes.
//!
//! A [`Submission`] is written into a directory of its own: its units, a line each, and what the
//! command of a task needs to know. A task is `program verb... DIRECTORY NUMBER` and works on the
//! units that [`Submitted::units`] gives for its number. Nothing here says whether work is done:
//! that is read from what it left ([`crate::unit`]). An engine only knows what is still under way,
//! and why a task ended that left nothing.

mod error;
mod quote;
pub(crate) mod slurm;
mod submitted;

use std::num::NonZeroUsize;
use std::path::PathBuf;

pub(crate) use error::LauncherError;
pub(crate) use submitted::{Part, Submissions, Submitted};

use crate::value::Map;

/// Units that are to be worked on, and the command that does it.
#[derive(Clone, Debug)]
pub(crate) struct Submission {
    /// What people call it.
    pub name: String,
    /// The program of a task.
    pub program: PathBuf,
    /// Its arguments before the submission's directory and the task's number.
    pub verb: Vec<String>,
    /// What the command reads from the submission's directory: [`Submitted::about`].
    pub about: Map,
    /// The units, a line of text each.
    pub units: Vec<String>,
    /// How many units a task works on, but for the last one.
    pub batch: NonZeroUsize,
}

impl Submission {
    /// How many tasks it has.
    #[must_use]
    pub(crate) fn tasks(&self) -> usize {
        self.units.len().div_ceil(self.batch.get())
    }
}
