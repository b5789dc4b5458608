//! What may stand where a store goes.

use std::path::{Component, Path, PathBuf};

use super::WriteError;
use crate::object::Address;
use crate::rollouts::OWNER;
use crate::rollouts::config::RolloutZarrStoreConfig;
use crate::rollouts::schema::{CODEC_GROUPS, GROUPS, MANIFEST_FILE, SCHEMA_ID};
use crate::rollouts::zarr::{self, StoreError};
use crate::unit::MARKER;

/// Refuses a destination that is not a store of this kind, is a promoted shard, or touches the
/// source store.
pub(super) fn check(config: &RolloutZarrStoreConfig) -> Result<(), WriteError> {
    let destination = config.destination();
    let occupied = |what| Err(WriteError::Occupied { path: destination.display().to_string(), what });
    if Address::is(&config.store_dir) {
        return occupied("is on object storage, where campaigns promote shards and nothing else writes");
    }
    if let Some(source) = config.source() {
        let (own, source) = (real(&destination), real(&source));
        if own.starts_with(&source) {
            return occupied("is the source store or lies inside it");
        }
        if source.starts_with(&own) {
            return occupied("holds the source store");
        }
    }
    let own = real(&destination);
    if own.ancestors().skip(1).any(is_promoted) {
        return occupied("lies inside a promoted shard");
    }
    if own.ancestors().skip(1).any(is_store) {
        return occupied("lies inside another store");
    }
    if destination.symlink_metadata().is_err() {
        return Ok(());
    }
    if !destination.is_dir() {
        return occupied("is not a directory");
    }
    if is_promoted(&destination) {
        return occupied("is a promoted shard");
    }
    let empty = entries(&destination)?.is_empty();
    if !is_store(&destination) && !empty {
        return occupied("exists and is not a rollout store");
    }
    match foreign(&destination)? {
        Some(name) => Err(WriteError::Foreign { path: destination.display().to_string(), name }),
        None => Ok(()),
    }
}

fn is_promoted(directory: &Path) -> bool {
    [MARKER, OWNER].iter().any(|marker| directory.join(marker).symlink_metadata().is_ok())
}

fn is_store(directory: &Path) -> bool {
    zarr::read_to_string(&directory.join("zarr.json")).is_ok_and(|root| root.contains(SCHEMA_ID))
}

/// What a store's directory holds that no store has, in its groups too: someone's own file, which
/// must not go with the store.
///
/// # Errors
/// When a directory cannot be listed: who knows what is in it.
fn foreign(store: &Path) -> Result<Option<String>, StoreError> {
    for (name, path) in entries(store)? {
        if ["zarr.json", MANIFEST_FILE].contains(&name.as_str()) {
            continue;
        }
        if !GROUPS.contains(&name.as_str()) && !CODEC_GROUPS.contains(&name.as_str()) {
            return Ok(Some(name));
        }
        let is_node = |inner: &str, path: &Path| inner == "zarr.json" || path.join("zarr.json").is_file();
        let strange = entries(&path)?.into_iter().find(|(inner, path)| !is_node(inner, path) || is_store(path));
        if let Some((inner, _)) = strange {
            return Ok(Some(format!("{name}/{inner}")));
        }
    }
    Ok(None)
}

/// The names in a directory, with their paths.
fn entries(directory: &Path) -> Result<Vec<(String, PathBuf)>, StoreError> {
    let named = |entry: std::fs::DirEntry| (entry.file_name().to_string_lossy().into_owned(), entry.path());
    let list = || std::fs::read_dir(directory)?.map(|entry| entry.map(named)).collect::<std::io::Result<Vec<_>>>();
    list().map_err(|source| StoreError::Files { path: directory.to_owned(), source })
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
