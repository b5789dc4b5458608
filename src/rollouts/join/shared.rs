//! Chains that two parts have: joined, they would be there twice, and count twice in training.
//!
//! A chain is known by its source and its rollout id. A part may have one id for several chains:
//! so it was written.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use sha2::{Digest, Sha256};

use super::JoinError;
use super::part::{Part, cells};
use super::texts::Texts;
use crate::rollouts::StoreError;
use crate::rollouts::dictionary::Dictionary;
use crate::rollouts::record::Source;

/// A digest of what a chain is known by, for stores may have millions of them.
type Key = [u8; 16];

/// Refuses two parts that share a chain, naming it and both.
pub(super) fn apart(parts: &[Part]) -> Result<(), JoinError> {
    let mut owners: HashMap<Key, usize> = HashMap::new();
    for (number, part) in parts.iter().enumerate() {
        for (key, rollout) in chains(part)? {
            match owners.entry(key) {
                Entry::Vacant(entry) => {
                    entry.insert(number);
                }
                Entry::Occupied(entry) if *entry.get() == number => {}
                Entry::Occupied(entry) => {
                    let first = parts.get(*entry.get()).map(|first| first.path.clone()).unwrap_or_default();
                    return Err(JoinError::Shared { path: part.path.clone(), first, rollout });
                }
            }
        }
    }
    Ok(())
}

/// A part's chains, by their keys and ids.
fn chains(part: &Part) -> Result<Vec<(Key, String)>, StoreError> {
    let table = part.store.table("rollouts", &["rollout_id", "source_row_id"], 0..usize::MAX)?;
    let names = Texts::read(&part.store, Dictionary::Rollout)?;
    let sources: HashMap<i64, &Source> =
        part.sources.iter().filter_map(|source| Some((source.source_row_id?, source))).collect();
    let rows = cells::<i32>(&table, "rollout_id").iter().zip(cells::<i64>(&table, "source_row_id"));
    let chain = |(id, source): (&i32, &i64)| {
        let rollout = names.of(Some(*id)).unwrap_or_default();
        (key(sources.get(source).copied(), &rollout), rollout)
    };
    Ok(rows.map(chain).collect())
}

fn key(source: Option<&Source>, rollout: &str) -> Key {
    let mut digest = Sha256::new();
    let of = |field: fn(&Source) -> &Option<String>| source.and_then(|source| field(source).as_deref());
    let names = [of(|own| &own.source_sample_key), of(|own| &own.scene_id), of(|own| &own.snippet_id), Some(rollout)];
    for name in names.map(Option::unwrap_or_default) {
        digest.update((name.len() as u64).to_be_bytes());
        digest.update(name);
    }
    let mut key = Key::default();
    key.iter_mut().zip(digest.finalize()).for_each(|(byte, digest)| *byte = digest);
    key
}
