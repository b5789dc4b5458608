//! Sources: known, distinct, placed in a shard, and bound to the campaign's split.

use std::collections::HashSet;

use super::findings::Findings;
use super::root::Root;
use super::tables::Tables;
use crate::rollouts::dictionary::Dictionary;
use crate::rollouts::target::short_hash;
use crate::value::{self, Value};

/// The rows of `ids` that were there before.
pub(super) fn repeated(ids: &[i64]) -> Vec<usize> {
    let mut seen = HashSet::new();
    ids.iter().enumerate().filter(|(_, id)| !seen.insert(**id)).map(|(row, _)| row).collect()
}

pub(super) fn check(root: &Root, tables: &Tables, findings: &mut Findings) {
    let (sources, rollouts) = (&tables.sources, &tables.rollouts);
    let wrong = rollouts.get::<i64>("source_row_id").iter().map(|id| tables.source_rows.row(*id).is_none());
    findings.flagged("rollouts/source_row_id", wrong, "there is no such source");
    findings.rows("sources/source_row_id", repeated(sources.get("source_row_id")), "the id is used twice");
    for (name, dictionary, filled) in [
        ("sample_key_id", Dictionary::SourceKey, false),
        ("scene_id", Dictionary::Scene, false),
        ("snippet_id", Dictionary::Snippet, false),
        ("split_id", Dictionary::Split, false),
        ("campaign_split_id", Dictionary::Split, false),
        ("source_shard_id", Dictionary::SourceShard, true),
        ("source_cache_version_id", Dictionary::Config, true),
        ("source_offline_store_manifest_hash_id", Dictionary::Config, true),
        ("split_manifest_hash_id", Dictionary::Config, true),
    ] {
        let wrong = sources.get::<i32>(name).iter().map(|id| match tables.text(dictionary, *id) {
            Some(text) => filled && text.is_empty(),
            None => true,
        });
        findings.flagged(&format!("sources/{name}"), wrong, "names no text of its dictionary");
    }
    let wrong = sources.get::<i64>("source_shard_row").iter().map(|row| *row < 0);
    findings.flagged("sources/source_shard_row", wrong, "is negative");
    let stored = root.text("split_manifest_hash");
    let ids = sources.get::<i32>("split_manifest_hash_id").iter();
    let wrong = ids.map(|id| tables.text(Dictionary::Config, *id).is_some_and(|own| own != stored));
    findings.flagged("sources/split_manifest_hash_id", wrong, "is not the root's split_manifest_hash");
    campaign(root, tables, findings);
}

fn campaign(root: &Root, tables: &Tables, findings: &mut Findings) {
    let sources = &tables.sources;
    let of = |dictionary: Dictionary, name: &str| -> Vec<String> {
        let ids = sources.get::<i32>(name).iter();
        ids.map(|id| tables.text(dictionary, *id).unwrap_or_default().to_owned()).collect()
    };
    let campaign = of(Dictionary::Split, "campaign_split_id");
    let bound = campaign.iter().any(|split| split != "unknown");
    if !bound {
        if root.campaign_split() != "unknown" {
            let split = root.campaign_split();
            findings.add(format!("root attribute campaign_split: is `{split}`, but no source has a campaign split"));
        }
        return;
    }
    let keys = of(Dictionary::SourceKey, "sample_key_id");
    let scenes = of(Dictionary::Scene, "scene_id");
    let snippets = of(Dictionary::Snippet, "snippet_id");
    let splits = of(Dictionary::Split, "split_id");
    let shards = of(Dictionary::SourceShard, "source_shard_id");
    let hashes = of(Dictionary::Config, "source_offline_store_manifest_hash_id");
    let text = |texts: &[String], row: usize| Value::from(texts.get(row).cloned().unwrap_or_default());
    let number = |name: &str, row: usize| Value::Int(sources.get::<i64>(name).get(row).copied().unwrap_or_default());
    let records = campaign.iter().enumerate().map(|(row, split)| {
        let mut record = value::map([
            ("order", Value::Int(i64::try_from(row).unwrap_or(i64::MAX))),
            ("sample_index", number("sample_index", row)),
            ("sample_key", text(&keys, row)),
            ("scene_id", text(&scenes, row)),
            ("snippet_id", text(&snippets, row)),
            ("split", text(&splits, row)),
            ("source_shard_id", text(&shards, row)),
            ("source_shard_row", number("source_shard_row", row)),
        ]);
        if split != "unknown" {
            record.insert("campaign_split".to_owned(), split.as_str().into());
        }
        Value::Map(record)
    });
    let records = Value::List(records.collect());
    let hash = short_hash(&Value::map([
        ("source_manifest_hash", text(&hashes, 0)),
        ("split", text(&splits, 0)),
        ("records", records),
    ]));
    let stored = root.text("split_manifest_hash");
    if hash != stored {
        findings.add(format!("root attribute split_manifest_hash: is {stored}, but the sources give {hash}"));
    }
}
