//! Running a shard: its store is written where no one else is, checked, promoted by one rename,
//! and sealed last. Killed at any moment, it leaves nothing, a directory in no one's way, or a
//! store that lacks its seal alone, which the next run completes.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::RunError;
use super::promotion::{Standing, inspect};
use super::recipe::Recipe;
use super::rows::Rows;
use super::sidecar;
use super::site::Site;
use crate::rollouts::{self, OWNER, RolloutRecord, RolloutZarrWriteResult, ShardEntry, Writer};
use crate::text::time::rfc3339;
use crate::unit::{Attempt, Promotion, Remote, UnitError};
use crate::value::{Map, Value};

/// Where a shard's records come from.
pub trait RecordSource {
    /// Hands the records of `entry`'s rows to `add`, rows in their order.
    ///
    /// # Errors
    /// What `add` says; [`RunError::InsufficientSupport`], [`RunError::Source`],
    /// [`RunError::TimedOut`] or [`RunError::Interrupted`].
    fn records(
        &mut self,
        entry: &ShardEntry,
        add: &mut dyn FnMut(RolloutRecord) -> Result<(), RunError>,
    ) -> Result<(), RunError>;
}

/// What a run says first, after the shard's name, whose outcome that is: so its parent process
/// knows it.
pub const INSUFFICIENT_SUPPORT: &str = "insufficient support";

/// How a run of a shard ended well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Its store was written and promoted.
    Written(RolloutZarrWriteResult),
    /// Its store was there; only the success marker was missing.
    Completed,
    /// Its store was there, or another run was faster.
    Current,
    /// The source found too little in its rows, for this reason; there is no store, and no marker.
    InsufficientSupport(String),
}

/// Runs one shard, `since` the epoch. On object storage the store is written and checked on this
/// machine first.
///
/// # Errors
/// Why it could not be made. A failure is written down beside the shard's place, unless it was the
/// plan's, or someone's who asked the run to stop.
pub fn run(
    entry: &ShardEntry,
    site: &Site,
    recipe: &Recipe,
    source: &mut dyn RecordSource,
    since: Duration,
) -> Result<Outcome, RunError> {
    let shard_id = || entry.shard_id.clone();
    entry.validate().map_err(|what| RunError::Entry { shard_id: shard_id(), what })?;
    let actual = recipe.hash();
    if actual != entry.writer_config_hash {
        return Err(RunError::Config { shard_id: shard_id(), planned: entry.writer_config_hash.clone(), actual });
    }
    let done = match guarded(entry, site, recipe, source, since) {
        Err(RunError::InsufficientSupport { why, .. }) => return Ok(Outcome::InsufficientSupport(why)),
        done => done,
    };
    if let Err(error) = &done
        && !matches!(
            error,
            RunError::Interrupted(_) | RunError::Conflict { .. } | RunError::Unit(UnitError::Taken { .. })
        )
    {
        // Where nothing can be written, the error that is returned is all there is.
        let _ = sidecar::record_failure(entry, site, error.kind(), &error.told(), runtime(), since);
    }
    done
}

fn guarded(
    entry: &ShardEntry,
    site: &Site,
    recipe: &Recipe,
    source: &mut dyn RecordSource,
    since: Duration,
) -> Result<Outcome, RunError> {
    match standing(entry, site)? {
        Standing::Absent => {}
        Standing::Unsealed(success) => return seal(entry, site, &success),
        _ => return Ok(Outcome::Current),
    }
    let attempt = site.begin(entry)?;
    let store = attempt.path().join("store");
    let mut writer = Writer::new(recipe.config(entry, &store))?;
    match fill(entry, source, &mut writer) {
        Err(error @ RunError::TimedOut(_)) => {
            set_aside(attempt, &site.quarantine(&entry.shard_id), writer, since)?;
            return Err(error);
        }
        filled => filled?,
    }
    let written = writer.finish()?;
    let checked = rollouts::validate(&store)?;
    if let Some(first) = checked.errors.first() {
        let (first, count) = (first.clone(), checked.errors.len());
        // Someone may want to see what came of it.
        attempt.keep();
        return Err(RunError::Invalid { shard_id: entry.shard_id.clone(), first, count });
    }
    let digest = rollouts::content_digest(&store)?;
    let owner = sidecar::owner(entry, site, &written, &digest, runtime());
    write_owner(&store, &owner)?;
    if let Some(remote) = site.remote(&entry.shard_id)? {
        return hand_over(&attempt, &remote, &store, entry, site, &owner, written);
    }
    match attempt.publish(&store)? {
        Promotion::Promoted => {
            attempt.seal(&sidecar::to_text(&sidecar::success(&owner)))?;
            Ok(placed(site, entry, written))
        }
        Promotion::Beaten => {
            // Another run's work stands there; what is missing of it is a marker at most.
            match standing(entry, site)? {
                Standing::Unsealed(success) => attempt.seal(&sidecar::to_text(&success))?,
                Standing::Current | Standing::Absent | Standing::Foreign(_) => {}
            }
            Ok(Outcome::Current)
        }
    }
}

/// Promotes the store to object storage.
fn hand_over(
    attempt: &Attempt,
    remote: &Remote,
    store: &Path,
    entry: &ShardEntry,
    site: &Site,
    owner: &Map,
    written: RolloutZarrWriteResult,
) -> Result<Outcome, RunError> {
    match remote.promote(&attempt.fresh_name(), store, &sidecar::success(owner))? {
        Promotion::Promoted => Ok(placed(site, entry, written)),
        Promotion::Beaten => standing(entry, site).map(|_| Outcome::Current),
    }
}

/// What was written, where it stands now.
fn placed(site: &Site, entry: &ShardEntry, written: RolloutZarrWriteResult) -> Outcome {
    let place = site.place(&entry.shard_id);
    let manifest = written.manifest_path.file_name().unwrap_or_default();
    let (manifest_path, store_dir) = (place.join(manifest), place);
    Outcome::Written(RolloutZarrWriteResult { manifest_path, store_dir, ..written })
}

/// What stands in the shard's place, if it is nothing or the shard's.
fn standing(entry: &ShardEntry, site: &Site) -> Result<Standing, RunError> {
    let place = site.place(&entry.shard_id);
    match inspect(&place, entry)? {
        Standing::Foreign(what) => {
            Err(RunError::Conflict { shard_id: entry.shard_id.clone(), path: place.display().to_string(), what })
        }
        standing => Ok(standing),
    }
}

/// Writes the success marker into a store that lacks nothing else.
fn seal(entry: &ShardEntry, site: &Site, success: &Map) -> Result<Outcome, RunError> {
    site.begin(entry)?.seal(&sidecar::to_text(success))?;
    Ok(Outcome::Completed)
}

/// Takes in the records of all rows.
fn fill(entry: &ShardEntry, source: &mut dyn RecordSource, writer: &mut Writer) -> Result<(), RunError> {
    let mut rows = Rows::new(entry);
    let mut add = |mut record: RolloutRecord| {
        rows.bind(&mut record)?;
        Ok(writer.add(&record)?)
    };
    source.records(entry, &mut add)?;
    rows.all_begun()
}

fn write_owner(store: &Path, owner: &Map) -> Result<(), RunError> {
    let path = store.join(OWNER);
    let io = |source| UnitError::Io { path: path.display().to_string(), source };
    Ok(fs::write(&path, sidecar::to_text(owner)).map_err(io)?)
}

/// Keeps what an attempt left that took too long, as far as it came.
fn set_aside(attempt: Attempt, quarantine: &Path, writer: Writer, since: Duration) -> Result<(), UnitError> {
    let from = attempt.path().to_owned();
    let name = from.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let time = rfc3339(since).replace(['-', ':', '.'], "");
    let name = format!("{name}.timed_out-{time}-{}", std::process::id());
    let free = |number: u32| match number {
        0 => quarantine.join(&name),
        number => quarantine.join(format!("{name}-{number}")),
    };
    let path: PathBuf = (0..).map(free).find(|path| path.symlink_metadata().is_err()).unwrap_or_default();
    attempt.set_aside(&path)?;
    // Only now, so that it does not take its rows along; what it still wrote goes.
    drop(writer);
    let _ = fs::remove_dir_all(&from);
    Ok(())
}

fn runtime() -> Value {
    Value::Map(Map::from_iter([("skyfall".to_owned(), env!("CARGO_PKG_VERSION").into())]))
}
