//! How far a campaign is: read from what stands in the shards' places, every byte of it, and from
//! what attempts wrote down. There is no other record that could disagree.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::error::RunError;
use super::promotion::{Standing, inspect};
use super::sidecar;
use super::site::Site;
use crate::rollouts::{OWNER, ShardEntry};
use crate::unit::MARKER;
use crate::value::{Map, Value};

/// How a shard is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Its store is there, whole and as it is planned.
    Succeeded,
    /// There is no store, and an attempt at this plan's shard failed.
    Failed,
    /// Something is there that is not its finished store.
    Incomplete,
    /// Nothing is there.
    Missing,
}

impl State {
    /// All, in the order they are counted.
    pub const ALL: [Self; 4] = [Self::Succeeded, Self::Failed, Self::Incomplete, Self::Missing];

    /// The name that files and people have for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Incomplete => "incomplete",
            Self::Missing => "missing",
        }
    }
}

/// One shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardStatus {
    /// Its name.
    pub shard_id: String,
    /// Its split.
    pub split: String,
    /// How it is.
    pub state: State,
    /// How many rows it has.
    pub num_source_rows: usize,
    /// Where its store stands, or will.
    pub final_dir: PathBuf,
    /// What attempts at it wrote down, oldest first.
    pub failed_markers: Vec<PathBuf>,
    /// What is wrong with what stands there, or how the last attempt failed.
    pub errors: Vec<String>,
}

/// A campaign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The shard manifest.
    pub manifest_path: PathBuf,
    /// The final root.
    pub final_root: PathBuf,
    /// The shards, in the manifest's order.
    pub shards: Vec<ShardStatus>,
}

/// How the campaign of `entries`, from the manifest `manifest_path`, stands at `site`.
///
/// # Errors
/// When the final root is there and cannot be read, or its storage does not answer.
pub fn status(manifest_path: &Path, entries: &[ShardEntry], site: &Site) -> Result<Status, RunError> {
    let shards = entries.par_iter().map(|entry| shard(entry, site)).collect::<Result<_, _>>()?;
    Ok(Status { manifest_path: manifest_path.to_owned(), final_root: site.root().to_owned(), shards })
}

fn shard(entry: &ShardEntry, site: &Site) -> Result<ShardStatus, RunError> {
    let final_dir = site.place(&entry.shard_id);
    let failures = sidecar::failures(entry, site)?;
    let (state, errors) = match inspect(&final_dir, entry)? {
        Standing::Current => (State::Succeeded, Vec::new()),
        Standing::Unsealed(_) => {
            (State::Incomplete, vec![format!("{MARKER} is missing; a run of the shard completes it")])
        }
        Standing::Foreign(what) => (State::Incomplete, vec![what]),
        Standing::Absent => match failures.last() {
            Some((_, what)) => (State::Failed, vec![what.clone()]),
            None => (State::Missing, Vec::new()),
        },
    };
    Ok(ShardStatus {
        shard_id: entry.shard_id.clone(),
        split: entry.split.clone(),
        state,
        num_source_rows: entry.rows.len(),
        final_dir,
        failed_markers: failures.into_iter().map(|(path, _)| path).collect(),
        errors,
    })
}

impl Status {
    /// How many shards are so.
    #[must_use]
    pub fn count(&self, state: State) -> usize {
        self.shards.iter().filter(|shard| shard.state == state).count()
    }

    /// Whether every shard's store is there.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.count(State::Succeeded) == self.shards.len()
    }

    /// The status as plain data.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let count = |count: usize| Value::Int(i64::try_from(count).unwrap_or(i64::MAX));
        let text = |path: &Path| Value::from(path.display().to_string());
        let counts = State::ALL.map(|state| (state.name().to_owned(), count(self.count(state))));
        let shards = self.shards.iter().map(|shard| {
            let failed: Vec<Value> = shard.failed_markers.iter().map(|path| text(path)).collect();
            let errors: Vec<Value> = shard.errors.iter().map(|error| error.as_str().into()).collect();
            let entries: [(&str, Value); 9] = [
                ("shard_id", shard.shard_id.as_str().into()),
                ("split", shard.split.as_str().into()),
                ("status", shard.state.name().into()),
                ("num_source_rows", count(shard.num_source_rows)),
                ("final_dir", text(&shard.final_dir)),
                ("success_path", text(&shard.final_dir.join(MARKER))),
                ("owner_path", text(&shard.final_dir.join(OWNER))),
                ("failed_markers", failed.into()),
                ("errors", errors.into()),
            ];
            Value::Map(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
        });
        let entries: [(&str, Value); 5] = [
            ("manifest_path", text(&self.manifest_path)),
            ("final_root", text(&self.final_root)),
            ("num_shards", count(self.shards.len())),
            ("counts", Value::Map(Map::from_iter(counts))),
            ("shards", Value::List(shards.collect())),
        ];
        Value::Map(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }
}
