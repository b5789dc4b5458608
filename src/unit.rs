//! Units of work that many processes may try at once and that end in one directory, or none.
//!
//! A [`Unit`] is named by an id and by the SHA-256 of the resolved input it works on. Every
//! [`Attempt`] at it has a directory of its own below `.attempts`, with a random nonce in its
//! name, so that no two attempts ever touch the same file, whatever engine started them. What an
//! attempt made is put in place by one rename that replaces nothing ([`place`]); the marker
//! `_SUCCESS.json` is the last file written, before the rename ([`Attempt::complete`]) or, where
//! what stands in the place vouches for itself, after it ([`Attempt::publish`], [`Attempt::seal`]).
//! On object storage the marker is created where none is, and names the attempt ([`Remote`]).
//! There is no state to go stale: what is left to do is the plan less what bears a marker.

mod attempt;
mod place;
mod remote;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub(crate) use attempt::{Attempt, Promotion};
pub(crate) use remote::{ATTEMPTS_REMOTE, Remote};

use crate::diagnostic::{Exit, Problem};
use crate::digest::sha256_hex;
use crate::text::json;
use crate::value::Value;

/// The file that says a unit is finished.
pub(crate) const MARKER: &str = "_SUCCESS.json";

/// Where the attempts are; hidden, so that no reader of results looks into it.
const ATTEMPTS: &str = ".attempts";

/// How many digits of an identity stand in a directory's name.
const SHORT: usize = 16;

/// Why a unit could not be tried or finished.
#[derive(Debug, thiserror::Error)]
pub enum UnitError {
    /// The system refused.
    #[error("{path}: {source}")]
    Io {
        /// The file or directory.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// Something else stands where the unit belongs.
    #[error("{path} stands in the way: it has no {MARKER}, so it is no finished unit")]
    Occupied {
        /// The unit's place.
        path: String,
    },
    /// The directory that an attempt was to be made in is there already.
    #[error("{path} is there already; an attempt needs a directory of its own")]
    Taken {
        /// The directory.
        path: String,
    },
}

impl UnitError {
    fn at(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::Io { path: path.display().to_string(), source }
    }
}

impl Problem for UnitError {
    fn code(&self) -> &'static str {
        match self {
            Self::Io { .. } => "unit/io",
            Self::Occupied { .. } => "unit/occupied",
            Self::Taken { .. } => "unit/taken",
        }
    }

    fn exit(&self) -> Exit {
        Exit::Failure
    }

    fn hint(&self) -> Option<String> {
        matches!(self, Self::Occupied { .. } | Self::Taken { .. }).then(|| "move it away and run again".to_owned())
    }
}

/// A piece of work: an id for people and the identity of its input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    id: String,
    identity: String,
}

impl Unit {
    /// The unit called `id` that works on `input`, which is everything that decides its result.
    #[must_use]
    pub(crate) fn new(id: impl Into<String>, input: &Value) -> Self {
        Self { id: id.into(), identity: sha256_hex(json::to_canonical(input).as_bytes()) }
    }

    /// The unit whose input's identity, 64 hexadecimal digits, is known already.
    #[must_use]
    pub(crate) fn with_identity(id: impl Into<String>, identity: impl Into<String>) -> Self {
        Self { id: id.into(), identity: identity.into() }
    }

    /// The SHA-256 of its input's canonical JSON.
    #[must_use]
    pub(crate) fn identity(&self) -> &str {
        &self.identity
    }

    /// The identity's beginning, which stands in the directory's name.
    #[must_use]
    pub(crate) fn short(&self) -> &str {
        self.identity.get(..SHORT).unwrap_or(&self.identity)
    }

    /// The directory's name: id and identity.
    #[must_use]
    pub(crate) fn name(&self) -> String {
        format!("{}-{}", self.id, self.short())
    }
}

/// The directory that finished units stand in.
#[derive(Clone, Debug)]
pub(crate) struct Units {
    home: PathBuf,
}

impl Units {
    /// The units below `home`, which need not exist yet.
    #[must_use]
    pub(crate) fn new(home: impl Into<PathBuf>) -> Self {
        Self { home: home.into() }
    }

    /// The directory.
    #[must_use]
    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    /// The finished units' directory names by the short identity of their input.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub(crate) fn finished(&self) -> Result<BTreeMap<String, String>, UnitError> {
        let mut finished = BTreeMap::new();
        for name in names(&self.home)? {
            let Some((_, short)) = name.rsplit_once('-').filter(|_| !name.starts_with('.')) else { continue };
            if self.home.join(&name).join(MARKER).is_file() {
                finished.insert(short.to_owned(), name.clone());
            }
        }
        Ok(finished)
    }

    /// Starts an attempt at `unit`.
    ///
    /// # Errors
    /// When its directory cannot be made.
    pub(crate) fn begin(&self, unit: &Unit) -> Result<Attempt, UnitError> {
        Attempt::begin(&self.home.join(ATTEMPTS), self.home.join(unit.name()), unit)
    }

    /// Removes what attempts left whose processes are gone; how many there were.
    ///
    /// # Errors
    /// When the directory of attempts cannot be read.
    pub(crate) fn clear_abandoned(&self) -> Result<usize, UnitError> {
        let attempts = self.home.join(ATTEMPTS);
        let abandoned = names(&attempts)?.into_iter().filter(|name| attempt::clear(&attempts.join(name)));
        Ok(abandoned.count())
    }
}

/// What is below a directory of attempts, by name, and whether a living process holds it.
///
/// # Errors
/// When the directory cannot be read.
pub(crate) fn attempts_in(directory: &Path) -> Result<Vec<(PathBuf, bool)>, UnitError> {
    let paths = names(directory)?.into_iter().map(|name| directory.join(name));
    Ok(paths.map(|path| (path.clone(), attempt::is_held(&path))).collect())
}

/// Removes what an attempt left, unless a living process holds it; whether it is gone.
#[must_use]
pub(crate) fn clear(path: &Path) -> bool {
    attempt::clear(path)
}

/// The names in a directory, sorted; none where there is no directory.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn names(directory: &Path) -> Result<Vec<String>, UnitError> {
    let entries = match fs::read_dir(directory) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(UnitError::at(directory))?,
    };
    let name = |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = entries.map(name).collect::<io::Result<_>>().map_err(UnitError::at(directory))?;
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests;
