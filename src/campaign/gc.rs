//! What attempts left behind: found, told, and removed when that is asked for; never what a living
//! process works in.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::RunError;
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
    /// A claim on a shard's place whose process is gone.
    Claim,
}

impl Kind {
    /// The name that people have for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Dead => "dead",
            Self::Quarantined => "quarantined",
            Self::Claim => "claim",
        }
    }
}

/// Something left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// Its directory.
    pub path: PathBuf,
    /// What it is.
    pub kind: Kind,
    /// How many bytes its files have.
    pub bytes: u64,
}

/// What is left behind below the final root `root`, by name.
///
/// # Errors
/// When a directory is there and cannot be read.
pub fn leftovers(root: &Path) -> Result<Vec<Leftover>, RunError> {
    let attempts = root.join("tmp");
    let quarantine = attempts.join("quarantine");
    let mut found = Vec::new();
    for (path, held) in unit::attempts_in(&attempts)?.into_iter().filter(|(path, _)| *path != quarantine) {
        found.push(leftover(path, if held { Kind::Live } else { Kind::Dead }));
    }
    for (path, held) in unit::attempts_in(&quarantine)? {
        found.push(leftover(path, if held { Kind::Live } else { Kind::Quarantined }));
    }
    for (path, held) in unit::attempts_in(root)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with('.') && name.ends_with(".claim") && !held {
            found.push(leftover(path, Kind::Claim));
        }
    }
    Ok(found)
}

/// Removes what is left behind, unless a process works in it by now; whether it is gone.
#[must_use]
pub fn remove(leftover: &Leftover) -> bool {
    leftover.kind != Kind::Live && unit::clear(&leftover.path)
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
