//! The attributes of the root and of the groups that have some.

use super::config::RolloutZarrStoreConfig;
use super::record::CODEC_VERSION;
use super::schema::{MANIFEST_FILE, MANIFEST_VERSION, REWARD_METRIC, SCHEMA_ID, SCHEMA_VERSION, TD_SEMANTICS};
use super::tables::{Tables, id};
use super::zarr::TABLES_ENCODER;
use crate::value::{self, Map, Value};

fn size(size: u32) -> Value {
    Value::Int(i64::from(size))
}

/// A clip plane; one that is not given is NaN.
fn plane(metres: Option<f64>) -> Value {
    Value::Float(metres.unwrap_or(f64::NAN))
}

/// The longest configured horizon, 1 for none.
fn horizon(tables: &Tables) -> Value {
    Value::Int(tables.rollouts.horizon.iter().copied().max().map_or(1, i64::from))
}

/// The root's attributes but for the manifest's digest.
pub(super) fn root(tables: &Tables, config: &RolloutZarrStoreConfig) -> Map {
    let count = |rows: usize| Value::Int(id(rows));
    let totals = &tables.totals;
    let (states, candidates) = (totals.steps, totals.candidates);
    let mut root = value::map([
        ("schema_id", SCHEMA_ID.into()),
        ("schema_version", SCHEMA_VERSION.into()),
        ("zarr_format", 3.into()),
        ("created_at_utc", config.created_at_utc.as_str().into()),
        ("manifest_path", MANIFEST_FILE.into()),
        ("manifest_version", MANIFEST_VERSION.into()),
        ("source_offline_store_version", config.source_offline_store_version.as_str().into()),
        ("split_manifest_hash", config.split_manifest_hash.as_str().into()),
        ("source_split", tables.split().into()),
        ("campaign_split", tables.campaign_split().into()),
        ("reason_code_version", config.reason_code_version.as_str().into()),
        ("target_protocol_version", config.target_protocol_version.name().into()),
        ("return_semantics", config.return_semantics.as_str().into()),
        ("discount_gamma", config.discount_gamma.into()),
        ("field_retention_policy", config.field_retention_policy.as_str().into()),
        ("oracle_query_mode", config.oracle_query_mode.as_str().into()),
        ("label_support_semantics", config.label_support_semantics.as_str().into()),
    ]);
    for (key, value) in depth(config) {
        root.insert(format!("selected_depth_{key}"), value);
    }
    root.extend(value::map([
        ("q_h_view_persisted", true.into()),
        ("q_h_view_role", "training_core_derived_cache".into()),
        ("q_h_source_tables", "steps,candidates,rollouts,targets".into()),
        ("q_h_reward_metric", REWARD_METRIC.into()),
        ("q_h_return_semantics", config.return_semantics.as_str().into()),
        ("q_h_horizon", horizon(tables)),
        ("q_h_chunk_states", size(config.q_h_chunk_states)),
        ("q_h_state_count", count(states)),
        ("q_h_max_candidates", count(totals.max_candidates)),
        ("num_sources", count(tables.sources.source_row_id.len())),
        ("num_targets", count(tables.targets.target_row_id.len())),
        ("num_rollouts", count(tables.rollouts.rollout_row_id.len())),
        ("num_steps", count(states)),
        ("num_candidates", count(candidates)),
        ("candidate_diagnostics_enabled", true.into()),
        ("candidate_diagnostics_role", "audit_rerun_only".into()),
        ("candidate_diagnostics_unavailable_float", "NaN".into()),
        ("candidate_diagnostics_unavailable_bool", "false".into()),
        ("candidate_view_diagnostics_version", 1.into()),
        ("candidate_view_diagnostics_role", "actor_visible_audit_only".into()),
        ("num_candidate_diagnostics", count(candidates)),
        ("num_selected_depths", count(totals.depths)),
        ("num_q_h_states", count(states)),
        ("target_eval_crops_enabled", config.target_eval_crops_enabled.into()),
        ("target_eval_crops_role", "oracle_eval_only".into()),
        ("target_eval_crops_coordinate_frame", "world".into()),
        ("target_eval_crops_max_points", size(config.target_eval_crop_max_points)),
        ("target_eval_crops_num_rows", count(totals.crops)),
        // Every chunk has its place on disk, so one that is missing is damage, not zeros.
        ("chunks_stored", "all".into()),
        ("tables_encoder", TABLES_ENCODER.into()),
        ("selected_depth_encoder", config.selected_depth_encoder.description().into()),
    ]));
    if tables.agreed.codec == Some(true) {
        root.extend(value::map([
            ("candidate_trace_codec_version", CODEC_VERSION.into()),
            ("candidate_trace_codec_role", "audit_mixed_source_role_not_training_input".into()),
        ]));
        for (name, rows) in ["step", "semantic", "criterion", "action", "valid"].into_iter().zip(totals.codec) {
            root.insert(format!("candidate_trace_{name}_rows"), count(rows));
        }
    }
    root
}

/// What root (with a prefix) and group say of depth.
fn depth(config: &RolloutZarrStoreConfig) -> Map {
    value::map([
        ("enabled", config.selected_depth_enabled.into()),
        ("width_px", size(config.selected_depth_width_px)),
        ("height_px", size(config.selected_depth_height_px)),
        ("chunk_steps", size(config.selected_depth_chunk_steps)),
        ("dtype", "float16".into()),
        ("valid_mask_dtype", "bool".into()),
        ("units", "m".into()),
        ("invalid_fill_value", 0.0.into()),
        ("codec", "blosc:zstd:clevel=5:bitshuffle".into()),
        ("role", "selected_successor_state_history".into()),
        ("renderer", config.selected_depth_renderer.as_str().into()),
        ("znear_m", plane(config.selected_depth_znear_m)),
        ("zfar_m", plane(config.selected_depth_zfar_m)),
        ("source_resolution", config.selected_depth_source_resolution.as_str().into()),
    ])
}

/// The attributes of `group`; most have none.
pub(super) fn group(group: &str, tables: &Tables, config: &RolloutZarrStoreConfig) -> Map {
    match group {
        "selected_depth" => depth(config)
            .into_iter()
            .map(|(key, value)| (if key == "dtype" { "depth_dtype".to_owned() } else { key }, value))
            .collect(),
        "target_eval_crops" => value::map([
            ("enabled", config.target_eval_crops_enabled.into()),
            ("role", "oracle_eval_only".into()),
            ("coordinate_frame", "world".into()),
            ("points_dtype", "float32".into()),
            ("mask_dtype", "bool".into()),
            ("max_points", size(config.target_eval_crop_max_points)),
            ("source_roles", "current_eval,candidate_eval".into()),
            (
                "retention",
                if config.target_eval_crops_enabled { "sampled_audit" } else { "disabled_training_core" }.into(),
            ),
        ]),
        "q_h" => value::map([
            ("view_role", "training_core_derived_cache".into()),
            ("source_tables", "steps,candidates,rollouts,targets".into()),
            ("td_semantics", TD_SEMANTICS.into()),
            ("reward_metric", REWARD_METRIC.into()),
            ("return_semantics", config.return_semantics.as_str().into()),
            ("td_reward_target_rri_role", "diagnostic_state_relative_rri".into()),
            ("state_count", Value::Int(id(tables.totals.steps))),
            ("max_candidates", Value::Int(id(tables.totals.max_candidates))),
            ("horizon", horizon(tables)),
            ("discount_gamma", config.discount_gamma.into()),
            ("chunk_states", size(config.q_h_chunk_states)),
        ]),
        _ => Map::new(),
    }
}
