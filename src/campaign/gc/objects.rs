//! What attempts left on object storage. Nothing there tells whether a process still lives: an
//! attempt whose shard has a store is needed by no one, and one without is dead once it has written
//! nothing for long enough.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::{Kind, Leftover, is_attempt};
use crate::object::{Address, Bucket, ObjectError};
use crate::unit::{ATTEMPTS_REMOTE, MARKER, Remote};

/// What an attempt takes, and when it wrote last, in seconds since the epoch.
#[derive(Default)]
struct Attempt {
    bytes: u64,
    written: u64,
}

/// What is left below the address `root`.
pub(super) fn leftovers(root: &Address, idle: Duration, now: Duration) -> Result<Vec<Leftover>, ObjectError> {
    let mut attempts: BTreeMap<(String, String), Attempt> = BTreeMap::new();
    let mut sealed: BTreeSet<String> = BTreeSet::new();
    let prefix = root.below("");
    for object in Bucket::open(root)?.list(&prefix)? {
        let name = object.key.strip_prefix(&prefix).unwrap_or_default();
        let Some((shard, rest)) = name.split_once('/') else { continue };
        if rest == MARKER {
            sealed.insert(shard.to_owned());
        }
        let Some((attempt, _)) = rest.strip_prefix(ATTEMPTS_REMOTE).and_then(|rest| rest.split_once('/')) else {
            continue;
        };
        let found = attempts.entry((shard.to_owned(), attempt.to_owned())).or_default();
        found.bytes = found.bytes.saturating_add(object.size);
        found.written = found.written.max(object.written);
    }
    let mut winners: BTreeMap<String, Option<String>> = BTreeMap::new();
    for shard in sealed {
        let marker = Remote::at(&root.at(root.below(&shard)))?.marker()?.unwrap_or_default().0;
        winners.insert(shard, Remote::attempt(&marker).map(str::to_owned));
    }
    let kind = |shard: &str, name: &str, attempt: &Attempt| {
        if !is_attempt(name) {
            return Some(Kind::Foreign("its name is not an attempt's"));
        }
        match winners.get(shard) {
            Some(Some(winner)) if winner.strip_prefix(ATTEMPTS_REMOTE) == Some(name) => None,
            Some(Some(_)) => Some(Kind::Dead),
            // What a marker that names no attempt stands for is not known here.
            Some(None) => Some(Kind::Foreign("its shard's marker names no attempt")),
            None if attempt.written + idle.as_secs() > now.as_secs() => Some(Kind::Recent),
            None => Some(Kind::Dead),
        }
    };
    let found = attempts.iter().filter_map(|((shard, name), attempt)| {
        let kind = kind(shard, name, attempt)?;
        let path = root.at(root.below(&format!("{shard}/{ATTEMPTS_REMOTE}{name}"))).path();
        Some(Leftover { path, kind, bytes: attempt.bytes })
    });
    Ok(found.collect())
}

/// Removes an attempt, unless its shard's marker names it by now.
pub(super) fn remove(attempt: &Address) -> Result<(), ObjectError> {
    let kept = |what: &str| ObjectError::Changed { address: attempt.to_string(), what: what.to_owned() };
    let separator = format!("/{ATTEMPTS_REMOTE}");
    let (place, name) = attempt.key().rsplit_once(&separator).ok_or_else(|| kept("it is no attempt"))?;
    let (remote, own) = (Remote::at(&attempt.at(place))?, format!("{ATTEMPTS_REMOTE}{name}"));
    let marker = remote.marker()?.unwrap_or_default().0;
    if Remote::attempt(&marker) == Some(own.as_str()) {
        return Err(kept("its shard's marker names it by now"));
    }
    remote.clear(&own)
}
