//! Whether stores go together, and how the one that is made of them is written.

use std::path::Path;

use super::part::Part;
use super::{JoinError, JoinOptions};
use crate::rollouts::{Encoder, RolloutZarrStoreConfig};
use crate::text::json;
use crate::value::{Map, Value};

/// What the root says that every part must say.
const SHARED: [&str; 13] = [
    "schema_version",
    "source_split",
    "campaign_split",
    "source_offline_store_version",
    "target_protocol_version",
    "reason_code_version",
    "return_semantics",
    "discount_gamma",
    "field_retention_policy",
    "oracle_query_mode",
    "label_support_semantics",
    "selected_depth_enabled",
    "target_eval_crops_enabled",
];

/// The same, where depth is retained.
const DEPTH: [&str; 6] = [
    "selected_depth_width_px",
    "selected_depth_height_px",
    "selected_depth_renderer",
    "selected_depth_znear_m",
    "selected_depth_zfar_m",
    "selected_depth_source_resolution",
];

/// What shards of one campaign share.
const SHARD: [&str; 6] = [
    "writer_config_hash",
    "source_manifest_hash",
    "source_cache_version",
    "generation_revision_hash",
    "split",
    "campaign_split",
];

/// What units of one campaign share.
const BINDING: [&str; 4] = ["campaign_id", "plan_hash", "profile_hash", "generation_revision_hash"];

/// Refuses parts that were not written alike, naming everything that differs.
pub(super) fn agree(parts: &[Part]) -> Result<(), JoinError> {
    let Some((first, others)) = parts.split_first() else { return Err(JoinError::NoParts) };
    let is = |part: &Part, key: &str| part.store.attribute(key) == Some(&Value::Bool(true));
    let mut keys = SHARED.to_vec();
    if is(first, "selected_depth_enabled") {
        keys.extend(DEPTH);
    }
    if is(first, "target_eval_crops_enabled") {
        keys.push("target_eval_crops_max_points");
    }
    keys.push("candidate_trace_codec_version");
    for part in others {
        let mut differ = Vec::new();
        for key in &keys {
            compare(key, &first.printed(key), &part.printed(key), &mut differ);
        }
        refuse(first, part, differ)?;
    }
    // Stores that were not written as shards say nothing of a campaign.
    let shards: Vec<(&Part, &Map)> = parts.iter().filter_map(|part| Some((part, part.shard()?))).collect();
    let Some(((first, own), others)) = shards.split_first() else { return Ok(()) };
    let printed = |map: Option<&Map>, key: &str| match map.and_then(|map| map.get(key)) {
        None | Some(Value::Null) => "none".to_owned(),
        Some(Value::Text(text)) if text.is_empty() => "none".to_owned(),
        Some(value) => json::to_string(value),
    };
    for (part, shard) in others {
        let mut differ = Vec::new();
        for key in SHARD {
            compare(key, &printed(Some(own), key), &printed(Some(shard), key), &mut differ);
        }
        let binding = |shard: &'_ Map| shard.get("campaign_binding").and_then(Value::as_map).cloned();
        let (one, two) = (binding(own), binding(shard));
        for key in BINDING {
            let name = format!("campaign_binding.{key}");
            compare(&name, &printed(one.as_ref(), key), &printed(two.as_ref(), key), &mut differ);
        }
        refuse(first, part, differ)?;
    }
    Ok(())
}

fn compare(key: &str, first: &str, own: &str, differ: &mut Vec<String>) {
    if first != own {
        differ.push(format!("its {key} is {own}, not {first}"));
    }
}

fn refuse(first: &Part, part: &Part, differ: Vec<String>) -> Result<(), JoinError> {
    if differ.is_empty() {
        return Ok(());
    }
    Err(JoinError::Disagree { path: part.path.clone(), first: first.path.clone(), what: differ.join(", ") })
}

/// The options that `part` was written with, for a store at `destination`.
pub(super) fn config(
    part: &Part,
    destination: &Path,
    options: &JoinOptions,
) -> Result<RolloutZarrStoreConfig, JoinError> {
    const TAKEN: [&str; 20] = [
        "return_semantics",
        "discount_gamma",
        "target_protocol_version",
        "reason_code_version",
        "field_retention_policy",
        "source_offline_store_version",
        "split_manifest_hash",
        "selected_depth_enabled",
        "selected_depth_width_px",
        "selected_depth_height_px",
        "selected_depth_chunk_steps",
        "selected_depth_renderer",
        "selected_depth_znear_m",
        "selected_depth_zfar_m",
        "selected_depth_source_resolution",
        "q_h_chunk_states",
        "target_eval_crops_enabled",
        "oracle_query_mode",
        "label_support_semantics",
        "target_eval_crops_max_points",
    ];
    let mut taken = Map::new();
    for key in TAKEN {
        let Some(value) = part.store.attribute(key) else { continue };
        // A clip plane that was not given is stored as NaN.
        let none = value.as_text() == Some("NaN") || matches!(value, Value::Float(number) if number.is_nan());
        let name = if key == "target_eval_crops_max_points" { "target_eval_crop_max_points" } else { key };
        taken.insert(name.to_owned(), if none { Value::Null } else { value.clone() });
    }
    taken.insert("store_dir".to_owned(), destination.display().to_string().into());
    let read = RolloutZarrStoreConfig::from_options(&taken, options.created_at_utc.clone());
    let mut config = read.map_err(|error| part.refuse(format!("its attribute {error}")))?;
    config.store_dir = destination.to_owned();
    let told = part.store.attribute("selected_depth_encoder").and_then(Value::as_text);
    let encoder = Encoder::ALL.into_iter().find(|encoder| Some(encoder.description()) == told);
    config.selected_depth_encoder = encoder.unwrap_or_default();
    config.memory_bytes = options.memory_bytes;
    config.validate().map_err(crate::rollouts::WriteError::from)?;
    Ok(config)
}
