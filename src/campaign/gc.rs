//! What attempts left behind: found, told, and removed when that is asked for; never what a living
//! process works in.

mod objects;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::RunError;
use crate::object::Address;
use crate::unit;

/// What something left behind is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An attempt under way: nothing is done to it.
    Live,
    /// What an attempt left whose process is gone, or that made a store which was not valid.
    Dead,
    /// What an attempt left that took too long.
    Quarantined,
    /// An attempt on object storage, where no one sees whether its process lives: it wrote not
    /// long ago, and its shard has no store yet. Nothing is done to it.
    Recent,
    /// A claim on a shard's place whose process is gone.
    Claim,
    /// What no attempt made, and why that is known: nothing is done to it.
    Foreign(&'static str),
}

impl Kind {
    /// The name that people have for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Dead => "dead",
            Self::Quarantined => "quarantined",
            Self::Recent => "recent",
            Self::Claim => "claim",
            Self::Foreign(_) => "foreign",
        }
    }
}

/// Something left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// Its directory, or its address.
    pub path: PathBuf,
    /// What it is.
    pub kind: Kind,
    /// How many bytes its files have.
    pub bytes: u64,
}

/// What is left behind below the final root `root`, by name. On object storage, an attempt at a
/// shard that has no store is left behind once it wrote nothing for `idle` before `now`, since the
/// epoch.
///
/// # Errors
/// When a directory is there and cannot be read, or its storage does not answer.
pub fn leftovers(root: &Path, idle: Duration, now: Duration) -> Result<Vec<Leftover>, RunError> {
    if let Some(address) = Address::of(root).transpose()? {
        return Ok(objects::leftovers(&address, idle, now)?);
    }
    let attempts = root.join("tmp");
    let quarantine = attempts.join("quarantine");
    let mut found = Vec::new();
    below(&attempts, Kind::Dead, is_attempt, &mut found)?;
    found.retain(|leftover| leftover.path != quarantine);
    below(&quarantine, Kind::Quarantined, is_set_aside, &mut found)?;
    for (path, held) in unit::attempts_in(root)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // A claim is a directory with nothing in it.
        let empty = || fs::read_dir(&path).is_ok_and(|mut entries| entries.next().is_none());
        if name.starts_with('.') && name.ends_with(".claim") && !held && is_directory(&path) && empty() {
            found.push(leftover(path, Kind::Claim));
        }
    }
    Ok(found)
}

/// Finds what attempts left in `directory`, which is `gone` where no process holds it; they have
/// names that are `own`.
fn below(directory: &Path, gone: Kind, own: fn(&str) -> bool, found: &mut Vec<Leftover>) -> Result<(), RunError> {
    if directory.symlink_metadata().is_ok() && !is_directory(directory) {
        found.push(leftover(directory.to_owned(), Kind::Foreign("it is no directory, and a link is not followed")));
        return Ok(());
    }
    for (path, held) in unit::attempts_in(directory)? {
        let kind = if !is_directory(&path) {
            Kind::Foreign("it is no directory")
        } else if !own(&path.file_name().unwrap_or_default().to_string_lossy()) {
            Kind::Foreign("its name is not an attempt's")
        } else if held {
            Kind::Live
        } else {
            gone
        };
        found.push(leftover(path, kind));
    }
    Ok(())
}

fn is_directory(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|about| about.is_dir())
}

/// Whether an attempt has such a name: `SHARD-HASH.NONCE`.
fn is_attempt(name: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let parts = name.rsplit_once('.').and_then(|(unit, nonce)| Some((unit.rsplit_once('-')?, nonce)));
    parts.is_some_and(|((id, hash), nonce)| !id.is_empty() && digits(hash) && digits(nonce))
}

/// Whether an attempt that took too long has such a name.
fn is_set_aside(name: &str) -> bool {
    let when = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    name.rsplit_once(".timed_out-").is_some_and(|(attempt, time)| !attempt.is_empty() && when(time))
}

/// Removes what is left behind, unless a process works in it by now; whether it is gone.
#[must_use]
pub fn remove(leftover: &Leftover) -> bool {
    let is_left = !matches!(leftover.kind, Kind::Live | Kind::Recent | Kind::Foreign(_));
    match Address::of(&leftover.path) {
        Some(address) => is_left && address.and_then(|address| objects::remove(&address)).is_ok(),
        None => is_left && unit::clear(&leftover.path),
    }
}

fn leftover(path: PathBuf, kind: Kind) -> Leftover {
    let bytes = size(&path);
    Leftover { path, kind, bytes }
}

/// The bytes of all files below `path`, as far as they can be seen.
fn size(path: &Path) -> u64 {
    let Ok(about) = path.symlink_metadata() else { return 0 };
    if !about.is_dir() {
        return about.len();
    }
    fs::read_dir(path).into_iter().flatten().flatten().map(|entry| size(&entry.path())).sum()
}
