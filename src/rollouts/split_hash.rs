//! The hash that binds a split to its ordered rows.

use super::identifier::compact;
use super::record::Source;
use super::tables::{effective_source_row, id, split_of};
use super::target::short_hash;
use crate::value::{self, Value};

/// The split hash of a store's sources in the order of their rows: 16 hexadecimal digits over
/// the source manifest's hash and the split of the first, and every row's place and ownership.
pub(super) fn split_hash<'a>(sources: impl Iterator<Item = &'a Source>) -> String {
    let text = |text: &Option<String>| Value::from(text.clone().unwrap_or_default());
    let short = |text: &Option<String>| Value::from(compact(text.as_deref().unwrap_or_default()));
    let mut head = (Value::from(""), Value::from(""));
    let records = sources.enumerate().map(|(order, source)| {
        if order == 0 {
            head = (text(&source.source_offline_store_manifest_hash), split_of(source).into());
        }
        let row = effective_source_row(source);
        let mut record = value::map([
            ("order", id(order).into()),
            ("sample_index", source.source_sample_index.unwrap_or(row).into()),
            ("sample_key", short(&source.source_sample_key)),
            ("scene_id", text(&source.scene_id)),
            ("snippet_id", short(&source.snippet_id)),
            ("split", split_of(source).into()),
            ("source_shard_id", text(&source.source_shard_id)),
            ("source_shard_row", source.source_shard_row.unwrap_or(-1).into()),
        ]);
        if let Some(campaign) = source.campaign() {
            record.insert("campaign_split".to_owned(), campaign.into());
        }
        Value::Map(record)
    });
    let records = Value::List(records.collect());
    let (source_manifest_hash, split) = head;
    short_hash(&Value::map([("source_manifest_hash", source_manifest_hash), ("split", split), ("records", records)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_reference_s() {
        let some = |text: &str| Some(text.to_owned());
        let plain = Source {
            source_sample_index: Some(0),
            source_sample_key: some("k"),
            scene_id: some("s"),
            snippet_id: some("n"),
            split: some("train"),
            source_shard_id: some("sh"),
            source_shard_row: Some(0),
            source_offline_store_manifest_hash: some("m"),
            ..Source::default()
        };
        assert_eq!(split_hash([&plain].into_iter()), "4a70338c73602f08");
        let bound = Source {
            source_sample_key: some("fixture:smoke:0"),
            scene_id: some("fixture_box"),
            snippet_id: some("smoke"),
            campaign_split: some("validation"),
            source_shard_id: some("vin-shard-000000"),
            source_offline_store_manifest_hash: some("fixture-source-manifest"),
            ..plain
        };
        assert_eq!(split_hash([&bound].into_iter()), "b2d043680c209eca");
    }
}
