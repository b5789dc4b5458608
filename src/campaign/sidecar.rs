//! The three markers: who owns a store, that it is finished, and how an attempt failed.
//!
//! The success marker follows from the owner's, word for word: whoever finds an owner that
//! vouches for its store can write it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::RunError;
use super::site::Site;
use crate::atomic;
use crate::digest::sha256_hex;
use crate::object::{Address, Bucket};
use crate::rollouts::{OWNERSHIP, RolloutZarrWriteResult, ShardEntry};
use crate::text::json;
use crate::text::time::rfc3339;
use crate::value::{self, Map, Value};

/// A failure's marker is read if it has so many bytes at most.
const LONGEST: u64 = 1 << 20;

/// What both markers say of what was written.
const DIGESTS: [&str; 2] = ["rollout_manifest_sha256", "rollout_store_content_sha256"];

/// The owner of the store that `written` and `content_sha256` describe.
#[must_use]
pub(crate) fn owner(
    entry: &ShardEntry,
    site: &Site,
    written: &RolloutZarrWriteResult,
    content_sha256: &str,
    runtime: Value,
) -> Map {
    let count = |count: usize| Value::Int(i64::try_from(count).unwrap_or(i64::MAX));
    let counts = value::map([
        ("rollouts", count(written.num_rollouts)),
        ("steps", count(written.num_steps)),
        ("candidates", count(written.num_candidates)),
    ]);
    let (output_tmp, output_final) = site.told(&entry.shard_id);
    value::map([
        ("sidecar_kind", "rollout_shard_owner".into()),
        ("shard_id", entry.shard_id.as_str().into()),
        ("writer_config_hash", entry.writer_config_hash.as_str().into()),
        ("source_manifest_hash", entry.source_manifest_hash.as_str().into()),
        ("split_manifest_hash", entry.split_manifest_hash.as_str().into()),
        ("generation_revision_hash", entry.generation_revision_hash.as_str().into()),
        ("source_cache_version", entry.source_cache_version.as_str().into()),
        ("split", entry.split.as_str().into()),
        ("num_source_rows", count(entry.rows.len())),
        ("output_tmp", output_tmp.into()),
        ("output_final", output_final.into()),
        ("rollout_manifest_sha256", written.manifest_sha256.as_str().into()),
        ("rollout_store_content_sha256", content_sha256.into()),
        ("counts", counts.into()),
        ("runtime", runtime),
        ("shard_entry", entry.to_value()),
        ("campaign_binding", entry.campaign_binding.clone().into()),
    ])
}

/// The success marker of what `owner` owns.
#[must_use]
pub(crate) fn success(owner: &Map) -> Map {
    let mut success = value::map([("sidecar_kind", "rollout_shard_success".into())]);
    for key in OWNERSHIP.into_iter().chain(DIGESTS) {
        success.insert(key.to_owned(), owner.get(key).cloned().unwrap_or_default());
    }
    let digest = sha256_hex(json::to_canonical(&Value::Map(owner.clone())).as_bytes());
    success.insert("owner_sha256".to_owned(), digest.into());
    success
}

/// A marker's bytes.
#[must_use]
pub(crate) fn to_text(marker: &Map) -> String {
    json::to_canonical(&Value::Map(marker.clone()))
}

/// What the names of a shard's failure markers begin with.
#[must_use]
pub(crate) fn failure_prefix(shard_id: &str) -> String {
    format!("_FAILED.{shard_id}.")
}

/// Writes down how an attempt at a shard failed, `since` the epoch.
///
/// # Errors
/// When the marker cannot be written.
pub(crate) fn record_failure(
    entry: &ShardEntry,
    site: &Site,
    error_type: &str,
    error: &str,
    runtime: Value,
    since: Duration,
) -> Result<(), RunError> {
    let (output_tmp, output_final) = site.told(&entry.shard_id);
    let marker = value::map([
        ("sidecar_kind", "rollout_shard_failure".into()),
        ("shard_id", entry.shard_id.as_str().into()),
        ("writer_config_hash", entry.writer_config_hash.as_str().into()),
        ("source_manifest_hash", entry.source_manifest_hash.as_str().into()),
        ("split_manifest_hash", entry.split_manifest_hash.as_str().into()),
        ("generation_revision_hash", entry.generation_revision_hash.as_str().into()),
        ("campaign_binding", entry.campaign_binding.clone().into()),
        ("output_tmp", output_tmp.into()),
        ("output_final", output_final.into()),
        ("error_type", error_type.into()),
        ("error", error.into()),
        ("runtime", runtime),
    ]);
    let time = rfc3339(since).replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let path = site.home(&entry.shard_id).join(format!("{}{time}.json", failure_prefix(&entry.shard_id)));
    let text = to_text(&marker);
    match Address::of(&path).transpose()? {
        Some(address) => Ok(Bucket::open(&address)?.put(address.key(), text.as_bytes())?),
        None => Ok(atomic::write_file(&path, text.as_bytes())?),
    }
}

/// What a failure marker at `path` says, if it is one of this shard as it is planned: the kind of
/// error, and the error.
#[must_use]
pub(crate) fn failure(entry: &ShardEntry, path: &Path) -> Option<(String, String)> {
    // Opening a pipe would wait for its writer.
    let text = std::fs::metadata(path).ok()?.is_file().then(|| std::fs::read_to_string(path).ok())??;
    said(entry, &text)
}

/// What a failure marker's text says of this shard.
fn said(entry: &ShardEntry, text: &str) -> Option<(String, String)> {
    let Ok(Value::Map(marker)) = json::parse(text) else { return None };
    let text = |key: &str| marker.get(key).and_then(Value::as_text);
    let own = [
        ("sidecar_kind", "rollout_shard_failure"),
        ("shard_id", &entry.shard_id),
        ("writer_config_hash", &entry.writer_config_hash),
        ("source_manifest_hash", &entry.source_manifest_hash),
        ("split_manifest_hash", &entry.split_manifest_hash),
        ("generation_revision_hash", &entry.generation_revision_hash),
    ];
    let binding = Value::from(entry.campaign_binding.clone());
    let bound = marker.get("campaign_binding").unwrap_or(&Value::Null);
    let fits = own.iter().all(|(key, value)| text(key) == Some(*value))
        && json::to_canonical(bound) == json::to_canonical(&binding);
    fits.then(|| (text("error_type").unwrap_or_default().to_owned(), text("error").unwrap_or_default().to_owned()))
}

/// The failures of a shard that are written down, oldest first: the marker's path and what it says.
///
/// # Errors
/// When the directory is there and cannot be read, or its storage does not answer.
pub(crate) fn failures(entry: &ShardEntry, site: &Site) -> Result<Vec<(PathBuf, String)>, RunError> {
    let home = site.home(&entry.shard_id);
    let prefix = failure_prefix(&entry.shard_id);
    let told = |path: PathBuf, (kind, error): (String, String)| (path, format!("{kind}: {error}"));
    if let Some(address) = Address::of(&home).transpose()? {
        let bucket = Bucket::open(&address)?;
        let mut failures = Vec::new();
        for object in bucket.list(&address.below(&prefix))? {
            let bytes = bucket.get(&object.key, LONGEST)?.unwrap_or_default();
            let said = said(entry, &String::from_utf8_lossy(&bytes));
            failures.extend(said.map(|said| told(address.at(&*object.key).path(), said)));
        }
        return Ok(failures);
    }
    let names = crate::unit::names(&home)?;
    let paths = names.into_iter().filter(|name| name.starts_with(&prefix)).map(|name| home.join(name));
    let read = paths.filter_map(|path| failure(entry, &path).map(|said| told(path, said)));
    Ok(read.collect())
}
