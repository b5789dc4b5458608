//! How far the trials under way are: each says so in a file of its attempt, which goes before the
//! attempt is promoted. Short trials say nothing.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The file in an attempt's directory.
const FILE: &str = ".progress";

/// How long a trial is silent in between.
const PAUSE: Duration = Duration::from_millis(300);

/// A trial's own word on how far it is.
#[derive(Debug)]
pub(crate) struct Note {
    path: PathBuf,
    last: Cell<Instant>,
}

impl Note {
    /// The note of the trial that works in `attempt`.
    #[must_use]
    pub(crate) fn new(attempt: &Path) -> Self {
        Self { path: attempt.join(FILE), last: Cell::new(Instant::now()) }
    }

    /// The trial has done so many steps.
    pub(crate) fn steps(&self, done: u64) {
        if self.last.get().elapsed() >= PAUSE {
            self.last.set(Instant::now());
            // A trial does not fail because no one hears of it.
            let _ = std::fs::write(&self.path, format!("{done}\n"));
        }
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The steps that the trial in `attempt` has done, as far as it said; 0 if it said nothing.
#[must_use]
pub(crate) fn steps(attempt: &Path) -> u64 {
    let text = std::fs::read_to_string(attempt.join(FILE)).unwrap_or_default();
    text.trim_end().parse().unwrap_or_default()
}
