//! What stands in a shard's place: its store as it is planned, one that lacks its last marker, or
//! something else.

use std::path::Path;

use super::sidecar;
use super::site::remote;
use crate::object::ObjectError;
use crate::rollouts::{self, OWNER, ShardEntry, StoreError, Validation, parse_marker, read_marker};
use crate::text::json;
use crate::unit::{MARKER, Remote};
use crate::value::{Map, Value};

/// What stands in a shard's place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Standing {
    /// Nothing.
    Absent,
    /// The shard's store, whole and as it is planned.
    Current,
    /// The same, but for the success marker, which is to be this.
    Unsealed(Map),
    /// Something else, or a store that was changed: what is wrong.
    Foreign(String),
}

/// Looks at what stands at `place`, every byte of it.
///
/// # Errors
/// When it is on object storage that does not answer.
pub(crate) fn inspect(place: &Path, entry: &ShardEntry) -> Result<Standing, ObjectError> {
    match remote(place)? {
        Some(remote) => promoted(place, &remote, entry),
        None => Ok(directory(place, entry)),
    }
}

/// Whether anything stands at `place`, as far as that can be told.
#[must_use]
pub(crate) fn is_taken(place: &Path) -> bool {
    match remote(place) {
        Ok(Some(remote)) => matches!(remote.marker(), Ok(Some(_))),
        Ok(None) => place.symlink_metadata().is_ok(),
        Err(_) => false,
    }
}

/// What the marker of a place on object storage stands for: without one, nothing is there.
fn promoted(place: &Path, remote: &Remote, entry: &ShardEntry) -> Result<Standing, ObjectError> {
    let Some((marker, _)) = remote.marker()? else { return Ok(Standing::Absent) };
    let owner = match remote.read(&marker, OWNER)? {
        Some(owner) => parse_marker(&owner),
        None => Err("is missing".to_owned()),
    };
    let owner = match owner {
        Ok(owner) => owner,
        Err(what) => return Ok(Standing::Foreign(format!("{OWNER} {what}"))),
    };
    if let Err(what) = is_of(&owner, entry) {
        return Ok(Standing::Foreign(what));
    }
    let checked = match rollouts::validate(place) {
        Err(StoreError::Objects { source, .. }) => return Err(source),
        checked => checked,
    };
    Ok(first_error(checked).map_or(Standing::Current, Standing::Foreign))
}

fn directory(place: &Path, entry: &ShardEntry) -> Standing {
    if place.symlink_metadata().is_err() {
        return Standing::Absent;
    }
    let owner = match read_marker(&place.join(OWNER)) {
        Ok(owner) => owner,
        Err(what) => return Standing::Foreign(format!("{OWNER} {what}")),
    };
    if let Err(what) = is_of(&owner, entry) {
        return Standing::Foreign(what);
    }
    let sealed = place.join(MARKER).symlink_metadata().is_ok();
    let success = sidecar::success(&owner);
    let checked = if sealed { rollouts::validate(place) } else { rollouts::validate_unsealed(place, success.clone()) };
    match first_error(checked) {
        Some(what) => Standing::Foreign(what),
        None if sealed => Standing::Current,
        None => Standing::Unsealed(success),
    }
}

/// The first thing wrong, and how many more there are.
fn first_error(checked: Result<Validation, StoreError>) -> Option<String> {
    match checked {
        Err(error) => Some(error.to_string()),
        Ok(validation) => {
            let first = validation.errors.first()?;
            let more = validation.errors.len() - 1;
            Some(if more == 0 { first.clone() } else { format!("{first} (and {more} more)") })
        }
    }
}

/// Whether an owner's shard is `entry`, word for word; a binding that is null may be left out.
fn is_of(owner: &Map, entry: &ShardEntry) -> Result<(), String> {
    let Some(Value::Map(owned)) = owner.get("shard_entry") else {
        return Err(format!("{OWNER} names no shard_entry"));
    };
    let Value::Map(planned) = entry.to_value() else { return Ok(()) };
    let print = |value: Option<&Value>| match value {
        None | Some(Value::Null) => "null".to_owned(),
        Some(value) => json::to_sorted_line(value),
    };
    for key in planned.keys().chain(owned.keys()) {
        let (own, plan) = (print(owned.get(key)), print(planned.get(key)));
        if own != plan {
            let long = key == "rows" || key == "campaign_binding";
            let told = if long { "is another".to_owned() } else { format!("is {own}, not {plan}") };
            return Err(format!("it was made for another plan: {key} {told}"));
        }
    }
    Ok(())
}
