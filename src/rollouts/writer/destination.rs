//! What may stand where a store goes.

use std::path::{Component, Path, PathBuf};

use super::WriteError;
use crate::rollouts::config::RolloutZarrStoreConfig;
use crate::rollouts::schema::SCHEMA_ID;

/// Refuses a destination that is not a store of this kind, is a promoted shard, or touches the
/// source store.
pub(super) fn check(config: &RolloutZarrStoreConfig) -> Result<(), WriteError> {
    let destination = config.destination();
    let occupied = |what| Err(WriteError::Occupied { path: destination.display().to_string(), what });
    if let Some(source) = config.source() {
        let (own, source) = (real(&destination), real(&source));
        if own.starts_with(&source) {
            return occupied("is the source store or lies inside it");
        }
        if source.starts_with(&own) {
            return occupied("holds the source store");
        }
    }
    if destination.symlink_metadata().is_err() {
        return Ok(());
    }
    if !destination.is_dir() {
        return occupied("is not a directory");
    }
    if ["_SUCCESS.json", "_owner.json"].iter().any(|marker| destination.join(marker).symlink_metadata().is_ok()) {
        return occupied("is a promoted shard");
    }
    let root = std::fs::read_to_string(destination.join("zarr.json")).unwrap_or_default();
    if root.contains(SCHEMA_ID) { Ok(()) } else { occupied("exists and is not a rollout store") }
}

/// `path` without links, `.` and `..`, also where its end does not exist yet.
fn real(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut real = PathBuf::new();
    for part in absolute.components() {
        match part {
            Component::ParentDir => {
                real.pop();
            }
            Component::CurDir => {}
            part => {
                real.push(part);
                real = real.canonicalize().unwrap_or(real);
            }
        }
    }
    real
}
