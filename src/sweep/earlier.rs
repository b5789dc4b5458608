//! What was made for earlier plans of a sweep: it is kept out of sight, so that whoever reads the
//! sweep sees what belongs to its present plan, and taken back when a later plan asks for it.
//!
//! Everything keeps its name. All moves are renames within the sweep's directory.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::directory::Directory;
use super::error::SweepError;
use super::numbers::Numbers;
use super::plan::Trial;
use crate::unit::{MARKER, Units};

impl Directory {
    /// What belongs to no trial of the present plan; laid out like the sweep's directory.
    fn earlier_path(&self) -> PathBuf {
        self.path().join(".earlier")
    }

    /// The finished trials of earlier plans.
    #[must_use]
    pub(crate) fn earlier(&self) -> Units {
        Units::new(self.earlier_path().join("trials"))
    }

    /// The places that hold something under a trial's name, as there are below `path`.
    fn places(path: &Path) -> Result<Vec<PathBuf>, SweepError> {
        let rungs = path.join(".rungs");
        let levels = names(&rungs)?.into_iter().map(|level| rungs.join(level));
        Ok([path.join("trials"), path.join("failed")].into_iter().chain(levels).collect())
    }

    /// The names of all trials that left anything, of earlier plans, too.
    pub(super) fn every_name(&self) -> Result<Vec<String>, SweepError> {
        let mut every = Vec::new();
        for path in [self.path(), &self.earlier_path()] {
            for place in Self::places(path)? {
                every.extend(names(&place)?.into_iter().map(|name| stem(&name).to_owned()));
            }
        }
        Ok(every)
    }

    /// Sets aside what belongs to trials that the plan has not met; how many finished trials that
    /// were.
    pub(super) fn set_aside(&self, numbers: &Numbers) -> Result<u64, SweepError> {
        let mut trials = 0;
        for place in Self::places(self.path())? {
            for name in names(&place)? {
                let is_trial = place.join(&name).join(MARKER).is_file();
                if numbers.misses(stem(&name)) && self.is_ours(&place, &name) {
                    trials += u64::from(is_trial);
                    self.carry(&place, &name, self.path(), &self.earlier_path())?;
                }
            }
        }
        Ok(trials)
    }

    /// Whether what is called `name` in `place` was made by a sweep: a finished trial, or a file.
    fn is_ours(&self, place: &Path, name: &str) -> bool {
        let path = place.join(name);
        if place == self.units().home() { path.join(MARKER).is_file() } else { path.is_file() }
    }

    /// Takes back what `trial` left for an earlier plan; its directory's name if it is finished.
    pub(super) fn take_back(&self, trial: &Trial) -> Result<Option<String>, SweepError> {
        let name = trial.unit().name();
        let finished = self.earlier().home().join(&name).join(MARKER).is_file();
        if !finished {
            return Ok(None);
        }
        for place in Self::places(&self.earlier_path())? {
            self.carry(&place, &name, &self.earlier_path(), self.path())?;
        }
        Ok(Some(name))
    }

    /// Puts by the trial in the directory called `name`, whose files are damaged; where it is now.
    pub(super) fn put_by(&self, name: &str) -> Result<PathBuf, SweepError> {
        let (source, home) = (self.units().home().join(name), self.path().join(".damaged"));
        std::fs::create_dir_all(&home).map_err(SweepError::io(&home))?;
        let is_free = |place: &PathBuf| !place.exists();
        let mut places = (1_u64..).map(|number| home.join(format!("{name}.{number}")));
        let place = places.find(is_free).unwrap_or_else(|| home.join(name));
        std::fs::rename(&source, &place).map_err(SweepError::io(&source))?;
        Ok(place)
    }

    /// Moves `name` from `place`, which is below `from`, to the same place below `to`.
    fn carry(&self, place: &Path, name: &str, from: &Path, to: &Path) -> Result<(), SweepError> {
        let Ok(inner) = place.strip_prefix(from) else { return Ok(()) };
        let (source, target) = (place.join(name), to.join(inner));
        std::fs::create_dir_all(&target).map_err(SweepError::io(&target))?;
        match std::fs::rename(&source, target.join(name)) {
            // Another process was faster, or it stands there already.
            Err(cause) if matches!(cause.kind(), ErrorKind::NotFound | ErrorKind::DirectoryNotEmpty) => Ok(()),
            moved => moved.map_err(SweepError::io(&source)),
        }
    }
}

/// The name without a record's ending.
fn stem(name: &str) -> &str {
    name.strip_suffix(".json").unwrap_or(name)
}

/// The names in a directory that are not hidden, sorted; none where there is no directory.
fn names(path: &Path) -> Result<Vec<String>, SweepError> {
    let entries = match std::fs::read_dir(path) {
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(SweepError::io(path))?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.map_err(SweepError::io(path))?.file_name().to_string_lossy().into_owned();
        if !name.starts_with('.') {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}
