//! Source rows: one for every distinct one, whose lineage all its records agree on.

use super::{Checked, Tables};
use crate::rollouts::identifier::compact;
use crate::rollouts::record::{RecordError, RolloutRecord, Source};
use crate::rollouts::schema::SourceRow;

impl Tables {
    pub(super) fn check_source(&self, record: &RolloutRecord, source_row_id: i64) -> Checked<()> {
        match self.known_sources.get(&source_row_id) {
            Some(known) if !same_source(known, &record.source) => Err(RecordError {
                path: format!("{}: source", record.rollout_id_prefix),
                message: format!("source row {source_row_id} was given another lineage by an earlier record"),
            }),
            _ => Ok(()),
        }
    }

    pub(super) fn add_source(&mut self, source: &Source, source_row_id: i64) {
        if self.known_sources.contains_key(&source_row_id) {
            return;
        }
        self.known_sources.insert(source_row_id, source.clone());
        let codes = &mut self.dictionaries;
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        self.sources.push(SourceRow {
            source_row_id,
            sample_index: source.source_sample_index.unwrap_or(source_row_id),
            sample_key_id: codes.code(&compact(&text(&source.source_sample_key))),
            scene_id: codes.code(&text(&source.scene_id)),
            snippet_id: codes.code(&compact(&text(&source.snippet_id))),
            split_id: codes.code(&split_of(source)),
            campaign_split_id: codes.code(source.campaign_split.as_deref().unwrap_or("unknown")),
            source_cache_version_id: codes.code_if(source.source_cache_version.as_deref()),
            source_offline_store_manifest_hash_id: codes.code_if(source.source_offline_store_manifest_hash.as_deref()),
            // Settled when the dictionaries are sealed: every row holds the store's own hash.
            split_manifest_hash_id: codes.code_if(source.split_manifest_hash.as_deref()),
            source_shard_id: codes.code(&text(&source.source_shard_id)),
            source_shard_row: source.source_shard_row.unwrap_or(-1),
        });
    }
}

/// The source row a record belongs to.
pub(in crate::rollouts) fn effective_source_row(source: &Source) -> i64 {
    source.source_row_id.or(source.source_sample_index).unwrap_or(0)
}

/// The physical split of a source.
pub(in crate::rollouts) fn split_of(source: &Source) -> String {
    source.split.clone().unwrap_or_else(|| "unknown".to_owned())
}

/// Equal lineage; the mesh version is the chain's, not the row's.
fn same_source(a: &Source, b: &Source) -> bool {
    let own = |source: &Source| Source { mesh_version: None, ..source.clone() };
    own(a) == own(b)
}
