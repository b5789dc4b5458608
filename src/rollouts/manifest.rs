//! The sidecar `manifest.json`: what a store holds and how it came about, bound to the root's
//! attributes by the SHA-256 of its canonical JSON.

use std::collections::{BTreeMap, BTreeSet};

use super::config::{ManifestContext, RolloutZarrStoreConfig};
use super::identifier::compact;
use super::record::Source;
use super::schema::{MANIFEST_VERSION, SCHEMA_ID, SCHEMA_VERSION};
use super::tables::{Tables, id};
use crate::value::{Map, Value};

/// The manifest of a sealed store with the given root attributes (without the digest).
pub(super) fn payload(tables: &Tables, config: &RolloutZarrStoreConfig, root: &Map) -> Value {
    let count = |rows: usize| Value::Int(id(rows));
    let totals = &tables.totals;
    let (states, candidates) = (totals.steps, totals.candidates);
    let sizes = tables.dictionaries.lists().map(|(name, list)| (name.to_owned(), count(list.len())));
    let context = &config.manifest_context;
    Value::map([
        ("manifest_version", MANIFEST_VERSION.into()),
        ("schema_id", SCHEMA_ID.into()),
        ("schema_version", SCHEMA_VERSION.into()),
        ("created_at_utc", config.created_at_utc.as_str().into()),
        ("store_kind", "standalone_rollout_zarr_shard".into()),
        ("root_attrs", Value::Map(root.clone())),
        (
            "counts",
            Value::map([
                ("sources", count(tables.sources.source_row_id.len())),
                ("targets", count(tables.targets.target_row_id.len())),
                ("rollouts", count(tables.rollouts.rollout_row_id.len())),
                ("steps", count(states)),
                ("candidates", count(candidates)),
                ("candidate_diagnostics", count(candidates)),
                ("selected_depths", count(totals.depths)),
                ("target_eval_crops", count(totals.crops)),
                ("q_h_states", count(states)),
                ("q_h_max_candidates", count(totals.max_candidates)),
            ]),
        ),
        ("source_coverage", coverage(tables)),
        ("config_hashes", config_hashes(tables, config)),
        ("dictionary_sizes", Value::Map(sizes.collect())),
        ("generation", generation(context)),
    ])
}

/// How the store came about.
fn generation(context: &ManifestContext) -> Value {
    let or = |given: &Value, default: Value| if given.is_null() { default } else { given.clone() };
    let mut generation: Map = [
        ("writer_config", context.writer_config.clone()),
        ("invocation", or(&context.invocation, programmatic())),
        ("runtime", or(&context.runtime, Value::Map(Map::new()))),
        ("shard", context.shard.clone()),
        ("candidate_family_preflight", Value::Null),
    ]
    .map(|(key, value)| (key.to_owned(), value))
    .into();
    if !context.origin.is_null() {
        generation.insert("origin".to_owned(), context.origin.clone());
    }
    Value::Map(generation)
}

/// The invocation of a writer that a program called.
fn programmatic() -> Value {
    Value::map([
        ("mode", "programmatic".into()),
        ("argv", Value::List(Vec::new())),
        ("config_path", Value::Null),
        ("raw_toml_sha256", Value::Null),
        ("raw_toml_text", Value::Null),
    ])
}

fn coverage(tables: &Tables) -> Value {
    let text = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(str::to_owned);
    let counts = |of: fn(&Source) -> Option<&str>| {
        let mut counts: BTreeMap<String, i64> = BTreeMap::new();
        for (_, source) in tables.given_sources() {
            *counts.entry(text(of(source)).unwrap_or_else(|| "unknown".to_owned())).or_default() += 1;
        }
        Value::Map(counts.into_iter().map(|(name, count)| (name, count.into())).collect())
    };
    let mut sources: Vec<(i64, &Source)> = tables.given_sources().collect();
    sources.sort_by_key(|(row, _)| *row);
    let listed = sources.iter().map(|(_, source)| {
        let short = |given: &Option<String>| Value::from(text(given.as_deref()).map(|given| compact(&given)));
        Value::map([
            ("source_row_id", source.source_row_id.unwrap_or(-1).into()),
            ("source_sample_index", source.source_sample_index.into()),
            ("source_sample_key", short(&source.source_sample_key)),
            ("scene_id", text(source.scene_id.as_deref()).into()),
            ("snippet_id", short(&source.snippet_id)),
            ("split", text(source.split.as_deref()).into()),
            ("source_shard_id", text(source.source_shard_id.as_deref()).into()),
            ("source_shard_row", source.source_shard_row.into()),
        ])
    });
    Value::map([
        ("num_source_rows", Value::Int(id(sources.len()))),
        ("scene_counts", counts(|source| source.scene_id.as_deref())),
        ("split_counts", counts(|source| source.split.as_deref())),
        ("source_shard_counts", counts(|source| source.source_shard_id.as_deref())),
        ("sources", Value::List(listed.collect())),
    ])
}

fn config_hashes(tables: &Tables, config: &RolloutZarrStoreConfig) -> Value {
    let list = |texts: BTreeSet<&str>| Value::List(texts.into_iter().map(Value::from).collect());
    let [programs, requests, revisions] =
        tables.codec_hashes.each_ref().map(|hashes| list(hashes.iter().map(String::as_str).collect()));
    let codes = &tables.dictionaries;
    macro_rules! column {
        ($column:expr) => {
            list($column.iter().filter_map(|cell| codes.text(*cell)).filter(|text| !text.is_empty()).collect())
        };
    }
    let lineage = &tables.lineage;
    Value::map([
        ("candidate", column!(lineage.candidate_config_id)),
        ("candidate_program", programs),
        ("candidate_request", requests),
        ("candidate_proposal_revision", revisions),
        ("oracle", column!(lineage.oracle_config_id)),
        ("rollout", column!(lineage.rollout_config_id)),
        ("model_checkpoint", column!(lineage.model_checkpoint_id)),
        ("source_manifest", column!(tables.sources.source_offline_store_manifest_hash_id)),
        ("split_manifest", list(BTreeSet::from([config.split_manifest_hash.as_str()]))),
        ("target_crop_policy", column!(lineage.target_crop_policy_id)),
        ("target_protocol", column!(lineage.target_protocol_version_id)),
    ])
}
