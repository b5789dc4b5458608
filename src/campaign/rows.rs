//! Records and the rows they are of: every row of a shard in its order, and no other.

use std::collections::HashMap;

use super::error::RunError;
use crate::rollouts::{RolloutRecord, ShardEntry, ShardRow};

/// Which rows of a shard have had records.
#[derive(Debug)]
pub(super) struct Rows<'a> {
    entry: &'a ShardEntry,
    by_key: HashMap<&'a str, &'a ShardRow>,
    /// How many rows, from the first, have had one.
    begun: usize,
}

impl<'a> Rows<'a> {
    pub(super) fn new(entry: &'a ShardEntry) -> Self {
        Self { entry, by_key: entry.rows.iter().map(|row| (row.sample_key.as_str(), row)).collect(), begun: 0 }
    }

    /// Binds a record to its row: what its source leaves out is the row's, what it says must be. A
    /// row may have many records; rows begin in their order.
    pub(super) fn bind(&mut self, record: &mut RolloutRecord) -> Result<(), RunError> {
        let bound = self.bind_source(record);
        bound.map_err(|what| RunError::Record {
            shard_id: self.entry.shard_id.clone(),
            prefix: record.rollout_id_prefix.clone(),
            what,
        })
    }

    fn bind_source(&mut self, record: &mut RolloutRecord) -> Result<(), String> {
        let (entry, source) = (self.entry, &mut record.source);
        let Some(key) = &source.source_sample_key else {
            return Err("source.source_sample_key is missing; it says which row the record is of".to_owned());
        };
        let Some(row) = self.by_key.get(key.as_str()).copied() else {
            return Err(format!("source.source_sample_key `{key}` is of no row of the shard"));
        };
        if source.campaign_split.as_deref() == Some("unknown") {
            source.campaign_split = None;
        }
        if row.campaign_split.is_none() && source.campaign_split.is_some() {
            return Err(format!("source.campaign_split is given, but row {key} has none"));
        }
        let campaign_split = row.campaign_split.as_ref();
        for (field, own, planned) in [
            ("scene_id", &mut source.scene_id, Some(&row.scene_id)),
            ("snippet_id", &mut source.snippet_id, Some(&row.snippet_id)),
            ("split", &mut source.split, Some(&row.split)),
            ("campaign_split", &mut source.campaign_split, campaign_split),
            ("source_shard_id", &mut source.source_shard_id, Some(&row.source_shard_id)),
            ("source_cache_version", &mut source.source_cache_version, Some(&entry.source_cache_version)),
            (
                "source_offline_store_manifest_hash",
                &mut source.source_offline_store_manifest_hash,
                Some(&entry.source_manifest_hash),
            ),
            ("split_manifest_hash", &mut source.split_manifest_hash, Some(&entry.split_manifest_hash)),
        ] {
            agree(field, own, planned)?;
        }
        agree("source_sample_index", &mut source.source_sample_index, Some(&row.sample_index))?;
        agree("source_shard_row", &mut source.source_shard_row, Some(&row.source_shard_row))?;
        let order = usize::try_from(row.order).unwrap_or(usize::MAX);
        if order > self.begun {
            let due = self.entry.rows.get(self.begun).map(|row| row.sample_key.as_str()).unwrap_or_default();
            return Err(format!("it is of row {key}, but {due} comes first: rows begin in the order of the shard"));
        }
        self.begun = self.begun.max(order + 1);
        Ok(())
    }

    /// Checks that every row has had a record.
    pub(super) fn all_begun(&self) -> Result<(), RunError> {
        match self.entry.rows.get(self.begun) {
            None => Ok(()),
            Some(row) => Err(RunError::Rows {
                shard_id: self.entry.shard_id.clone(),
                missing: self.entry.rows.len() - self.begun,
                count: self.entry.rows.len(),
                sample_key: row.sample_key.clone(),
            }),
        }
    }
}

/// Fills in what is not said; what is said must be what is planned.
fn agree<T: Clone + PartialEq + std::fmt::Display>(
    field: &str,
    own: &mut Option<T>,
    planned: Option<&T>,
) -> Result<(), String> {
    match (&own, planned) {
        (Some(said), Some(planned)) if said != planned => {
            Err(format!("source.{field} is {said}, but its row has {planned}"))
        }
        (None, Some(planned)) => {
            *own = Some(planned.clone());
            Ok(())
        }
        _ => Ok(()),
    }
}
