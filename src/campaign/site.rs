//! Where a campaign's files are.
//!
//! ```text
//! ROOT/shard-000003/                        a promoted store, with `_owner.json` and `_SUCCESS.json`
//! ROOT/_FAILED.shard-000003.TIME.json       how an attempt at it failed
//! ROOT/tmp/shard-000003-1a2b….NONCE/        an attempt under way, or what a dead one left
//! ROOT/tmp/quarantine/….timed_out-TIME-PID  what an attempt left that took too long
//! ```
//!
//! ROOT may be an address on object storage. Stores are written in a scratch directory then, which
//! has the `tmp` above, and promoted as [`Remote`] does it:
//!
//! ```text
//! ROOT/shard-000003/_SUCCESS.json           which attempt is the store
//! ROOT/shard-000003/attempts/….NONCE/       that one, and what dead ones left
//! ```

use std::path::{Path, PathBuf};

use crate::digest::sha256_hex;
use crate::object::{Address, ObjectError};
use crate::rollouts::ShardEntry;
use crate::text::json;
use crate::unit::{Attempt, Remote, Unit, UnitError};

/// Where shards are promoted to.
#[derive(Clone, Debug)]
pub struct Site {
    root: PathBuf,
    scratch: Option<PathBuf>,
    output_tmp: Option<PathBuf>,
    output_final: Option<PathBuf>,
}

impl Site {
    /// The final root `root`, which need not exist yet.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), scratch: None, output_tmp: None, output_final: None }
    }

    /// The site whose stores are written in `scratch` where they are promoted to object storage;
    /// without it, in the system's directory of temporary files.
    #[must_use]
    pub fn with_scratch(mut self, scratch: impl Into<PathBuf>) -> Self {
        self.scratch = Some(scratch.into());
        self
    }

    /// The site for one shard that is written in `output_tmp`, which must not exist, and promoted
    /// to `output_final`, where they are given.
    #[must_use]
    pub fn with(mut self, output_tmp: Option<PathBuf>, output_final: Option<PathBuf>) -> Self {
        self.output_tmp = output_tmp;
        self.output_final = output_final;
        self
    }

    /// The final root, a directory or an address.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where a shard's store stands when it is promoted.
    #[must_use]
    pub fn place(&self, shard_id: &str) -> PathBuf {
        self.output_final.clone().unwrap_or_else(|| self.root.join(shard_id))
    }

    /// The directory that a shard's store and failure markers stand in.
    #[must_use]
    pub(crate) fn home(&self, shard_id: &str) -> PathBuf {
        let place = self.place(shard_id);
        match place.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        }
    }

    /// Where attempts are made.
    #[must_use]
    pub(crate) fn attempts(&self, shard_id: &str) -> PathBuf {
        let home = self.home(shard_id);
        match &self.scratch {
            _ if !Address::is(&home) => home.join("tmp"),
            Some(scratch) => scratch.join("tmp"),
            None => std::env::temp_dir().join("skyfall/tmp"),
        }
    }

    /// A shard's place on object storage; `None` where it is a directory.
    ///
    /// # Errors
    /// When its address or the environment's settings are wrong.
    pub(crate) fn remote(&self, shard_id: &str) -> Result<Option<Remote>, ObjectError> {
        remote(&self.place(shard_id))
    }

    /// Where attempts are kept that took too long.
    #[must_use]
    pub(crate) fn quarantine(&self, shard_id: &str) -> PathBuf {
        match self.output_tmp.as_deref().and_then(Path::parent) {
            Some(parent) => parent.join("quarantine"),
            None => self.attempts(shard_id).join("quarantine"),
        }
    }

    /// Starts an attempt at a shard.
    ///
    /// # Errors
    /// When its directory cannot be made, or is to be one that exists.
    pub(crate) fn begin(&self, entry: &ShardEntry) -> Result<Attempt, UnitError> {
        let identity = sha256_hex(json::to_canonical(&entry.to_value()).as_bytes());
        let (unit, place) = (Unit::with_identity(&*entry.shard_id, identity), self.place(&entry.shard_id));
        match &self.output_tmp {
            Some(path) => Attempt::begin_at(path, place, &unit),
            None => Attempt::begin(&self.attempts(&entry.shard_id), place, &unit),
        }
    }

    /// Where markers say that attempts are made and promoted to: names, for a site may be moved.
    #[must_use]
    pub(crate) fn told(&self, shard_id: &str) -> (String, String) {
        let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let tmp = self.output_tmp.as_deref().map_or_else(|| format!("tmp/{shard_id}"), name);
        (tmp, name(&self.place(shard_id)))
    }
}

/// The place `path` on object storage; `None` where it is a directory.
pub(super) fn remote(path: &Path) -> Result<Option<Remote>, ObjectError> {
    Address::of(path).map(|address| Remote::at(&address?)).transpose()
}
