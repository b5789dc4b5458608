//! The store's format: names, versions and every column of every table, once.
//!
//! A table is a struct of columns; `table!` makes it from one list, together with the columns
//! that go to disk and, where rows come one by one, a struct of one row.

use crate::array::DType;
use crate::rollouts::column::{Cell, Column};
use crate::rollouts::dictionary::{Coded, Dictionary};

pub(super) const SCHEMA_ID: &str = "aria_nbv.rollout_zarr_q_invalidity";
pub(super) const SCHEMA_VERSION: &str = "2.0-target-rollout-provenance";
pub(super) const MANIFEST_VERSION: &str = "rollout-store-manifest-v1";
pub(super) const MANIFEST_FILE: &str = "manifest.json";
pub(super) const INVALID_REASON_VERSION: &str = "rollout-invalidity-v1";
pub(super) const RETURN_SEMANTICS: &str = "cumulative_target_root_gain";
pub(super) const REWARD_METRIC: &str = "target_root_gain";
pub(super) const TD_SEMANTICS: &str = "selected_transition_only";

/// The groups every store has.
pub(super) const GROUPS: [&str; 12] = [
    "metadata",
    "dictionaries",
    "sources",
    "lineage",
    "targets",
    "rollouts",
    "steps",
    "candidates",
    "candidate_diagnostics",
    "selected_depth",
    "target_eval_crops",
    "q_h",
];

/// The groups of the candidate codec, in stores that have it.
pub(super) const CODEC_GROUPS: [&str; 5] =
    ["step_candidate_facts", "candidate_semantics", "candidate_criteria", "candidate_actions", "candidate_valids"];

/// The arrays of the derived view, each with its dtype and whether it holds a cell a candidate
/// (states by slots) or one a state.
pub(super) const VIEW: [(&str, DType, bool); 17] = [
    ("state_step_row_id", DType::I64, false),
    ("source_row_id", DType::I64, false),
    ("target_row_id", DType::I64, false),
    ("candidate_row_id", DType::I64, true),
    ("valid_action_mask", DType::Bool, true),
    ("q_train_mask", DType::Bool, true),
    ("position_id", DType::I32, true),
    ("one_step_target_rri", DType::F32, true),
    ("one_step_target_root_gain", DType::F32, true),
    ("invalid_reason_bitset", DType::U32, true),
    ("selected_candidate_index", DType::I32, false),
    ("td_selected_candidate_row_id", DType::I64, false),
    ("td_reward", DType::F32, false),
    ("td_reward_target_rri", DType::F32, false),
    ("td_next_step_row_id", DType::I64, false),
    ("td_terminal_mask", DType::Bool, false),
    ("td_discount", DType::F32, false),
];

/// Candidate invalidity reasons, by bit.
pub(super) const REASONS: [&str; 24] = [
    "VALID",
    "POSE_NONFINITE",
    "POSE_OUT_OF_EXTENT",
    "CAMERA_OUT_OF_EXTENT",
    "COLLISION_MESH",
    "CLEARANCE_TOO_SMALL",
    "PATH_SEGMENT_COLLISION",
    "FRUSTUM_OUT_OF_BOUNDS",
    "DEPTH_NO_HIT",
    "DEPTH_TOO_SPARSE",
    "BACKPROJECT_EMPTY",
    "CANDIDATE_DUPLICATE",
    "SAMPLER_RULE_REJECTED",
    "TARGET_NOT_ACTOR_VISIBLE",
    "TARGET_GT_UNMATCHED",
    "TARGET_CROP_EMPTY",
    "TARGET_SUPPORT_TOO_LOW",
    "TARGET_VISIBILITY_TOO_LOW",
    "SEMIDENSE_SUPPORT_TOO_LOW",
    "EVL_EVIDENCE_MISSING",
    "MESH_REFERENCE_MISSING",
    "ORACLE_DISTANCE_FAILED",
    "CANDIDATE_ORDER_GUARD_FAILED",
    "RUNTIME_ERROR",
];

/// Float diagnostics: key in a record's `extras`, column, and whether radians become degrees.
pub(super) const FLOAT_EXTRAS: &[(&str, &str, bool)] = &[
    ("min_distance_to_mesh", "mesh_distance_m", false),
    ("path_min_clearance_m", "path_min_clearance_m", false),
    ("free_space_margin_m", "free_space_margin_m", false),
    ("motion_step_length_m", "motion_step_length_m", false),
    ("motion_height_delta_m", "motion_height_delta_m", false),
    ("motion_backward_step_m", "motion_backward_step_m", false),
    ("motion_yaw_delta_rad", "motion_yaw_delta_deg", true),
    ("target_distance_m", "target_distance_m", false),
    ("target_bearing_yaw_rad", "target_bearing_yaw_deg", true),
    ("view_jitter_yaw_deg", "view_jitter_yaw_deg", false),
    ("view_jitter_pitch_deg", "view_jitter_pitch_deg", false),
    ("view_jitter_azimuth_limit_deg", "view_jitter_azimuth_limit_deg", false),
    ("view_jitter_elevation_limit_deg", "view_jitter_elevation_limit_deg", false),
    ("target_view_angle_deg", "target_view_angle_deg", false),
    ("target_pixel_margin_px", "target_pixel_margin_px", false),
];

/// Boolean diagnostics beside the collision masks, by key and column.
pub(super) const BOOL_EXTRAS: &[&str] = &["view_jitter_is_bounded", "target_in_fov_mask", "target_view_evaluated_mask"];

/// What every table can do, whichever columns it has.
pub(super) trait Table {
    /// Takes the rows out, but keeps the room they had.
    fn clear(&mut self);

    /// Appends the rows that `columns` hold, which are all of the table's.
    fn extend(&mut self, columns: &[Column<'_>]);
}

macro_rules! table {
    ($(#[$doc:meta])* $group:literal $table:ident { $($name:ident: $kind:ty,)+ }) => {
        $(#[$doc])*
        #[derive(Default)]
        pub(super) struct $table { $(pub(super) $name: Vec<$kind>,)+ }

        impl $table {
            pub(super) const GROUP: &'static str = $group;

            /// The columns, in order.
            pub(super) fn columns(&self) -> impl Iterator<Item = Column<'_>> {
                [$(Column::of(Self::GROUP, stringify!($name), &self.$name)),+].into_iter()
            }
        }

        impl Table for $table {
            fn clear(&mut self) {
                $(self.$name.clear();)+
            }

            fn extend(&mut self, columns: &[Column<'_>]) {
                for column in columns {
                    match column.name {
                        $(stringify!($name) => Cell::extend(&mut self.$name, &column.bytes),)+
                        _ => {}
                    }
                }
            }
        }
    };
    ($(#[$doc:meta])* $group:literal $table:ident of $row:ident { $($name:ident: $kind:ty,)+ }) => {
        table! { $(#[$doc])* $group $table { $($name: $kind,)+ } }

        /// One row.
        pub(super) struct $row { $(pub(super) $name: $kind,)+ }

        impl $table {
            pub(super) fn push(&mut self, row: $row) {
                $(self.$name.push(row.$name);)+
            }
        }
    };
}

type Scene = Coded<{ Dictionary::Scene as usize }>;
type Snippet = Coded<{ Dictionary::Snippet as usize }>;
type RolloutName = Coded<{ Dictionary::Rollout as usize }>;
type TargetName = Coded<{ Dictionary::Target as usize }>;
type SourceKey = Coded<{ Dictionary::SourceKey as usize }>;
type SourceShard = Coded<{ Dictionary::SourceShard as usize }>;
type TargetSource = Coded<{ Dictionary::TargetSource as usize }>;
type PolicyName = Coded<{ Dictionary::Policy as usize }>;
type ScoreSource = Coded<{ Dictionary::ScoreSource as usize }>;
type Split = Coded<{ Dictionary::Split as usize }>;
type Config = Coded<{ Dictionary::Config as usize }>;
type ClassName = Coded<{ Dictionary::ClassName as usize }>;
type MatchStatus = Coded<{ Dictionary::TargetMatchStatus as usize }>;
type DescriptorSource = Coded<{ Dictionary::DescriptorSource as usize }>;
type DescriptorProvenance = Coded<{ Dictionary::DescriptorProvenance as usize }>;
type DescriptorHash = Coded<{ Dictionary::DescriptorHash as usize }>;
type ExplicitTargetHash = Coded<{ Dictionary::ExplicitTargetHash as usize }>;
type Termination = Coded<{ Dictionary::TerminationReason as usize }>;
type Fact = Coded<{ Dictionary::CandidateFact as usize }>;

table! {
    /// One row per distinct source row, in first-seen order.
    "sources" Sources of SourceRow {
        source_row_id: i64,
        sample_index: i64,
        sample_key_id: SourceKey,
        scene_id: Scene,
        snippet_id: Snippet,
        split_id: Split,
        campaign_split_id: Split,
        source_cache_version_id: Config,
        source_offline_store_manifest_hash_id: Config,
        split_manifest_hash_id: Config,
        source_shard_id: SourceShard,
        source_shard_row: i64,
    }
}

table! {
    /// One row per retained chain.
    "rollouts" Rollouts of RolloutRow {
        rollout_row_id: i64,
        rollout_id: RolloutName,
        chain_id: i32,
        source_row_id: i64,
        root_pose_world: [f32; 12],
        root_time_ns: i64,
        root_trajectory_index: i32,
        root_frame_index: i32,
        scene_id: Scene,
        snippet_id: Snippet,
        target_row_id: i64,
        policy_id: PolicyName,
        horizon: i16,
        branch_factor: i16,
        beam_width: i16,
        temperature: f32,
        random_seed: i64,
        termination_reason: Termination,
        final_cumulative_target_rri: f32,
        final_cumulative_scene_rri: f32,
        final_cumulative_target_root_gain: f32,
        final_cumulative_scene_root_gain: f32,
        split_id: Split,
    }
}

table! {
    /// How each chain was made, row for row beside `rollouts`.
    "lineage" Lineage of LineageRow {
        rollout_row_id: i64,
        candidate_config_id: Config,
        oracle_config_id: Config,
        rollout_config_id: Config,
        model_checkpoint_id: Config,
        mesh_version_id: Config,
        branch_schedule_id: Config,
        target_protocol_version_id: Config,
        target_crop_policy_id: Config,
        reason_code_version_id: Config,
        selection_rng_state_hash_id: Config,
    }
}

table! {
    /// One row per state, in order along each chain.
    "steps" Steps of StepRow {
        step_row_id: i64,
        rollout_row_id: i64,
        step_index: i16,
        selected_candidate_row_id: i64,
        selected_shell_index: i32,
        selected_compact_valid_index: i32,
        num_candidates: i32,
        num_valid_candidates: i32,
        candidate_seed: i64,
        selection_seed: i64,
        cumulative_target_rri: f32,
        cumulative_scene_rri: f32,
        cumulative_target_root_gain: f32,
        cumulative_scene_root_gain: f32,
    }
}

table! {
    /// One row per candidate of every shell, invalid ones included.
    "candidates" Candidates {
        candidate_row_id: i64,
        step_row_id: i64,
        rollout_row_id: i64,
        step_index: i16,
        shell_index: i32,
        compact_valid_index: i32,
        pose_world_cam: [f32; 12],
        pose_relative_root: [f32; 12],
        actor_action_mask: bool,
        oracle_label_mask: bool,
        q_train_mask: bool,
        selected_mask: bool,
        strategy_id: i32,
        position_id: i32,
        mixture_id: i32,
        position_pair_id: i64,
        gaze_variant_id: i8,
        sampler_probability: f32,
        score_source_id: ScoreSource,
        invalid_reason_bitset: u32,
        primary_invalid_reason: u16,
        scene_rri: f32,
        target_rri: f32,
        scene_root_gain: f32,
        target_root_gain: f32,
        scene_log_error_gain: f32,
        target_log_error_gain: f32,
        scene_pm_dist_before: f32,
        scene_pm_dist_after: f32,
        target_pm_dist_before: f32,
        target_pm_dist_after: f32,
        target_current_support: f32,
        target_candidate_support: f32,
        selection_logits: f32,
        selection_probabilities: f32,
        selection_log_probabilities: f32,
    }
}

table! {
    /// Diagnostics, row for row beside `candidates`.
    "candidate_diagnostics" Diagnostics {
        candidate_row_id: i64,
        position_id: i32,
        mesh_distance_m: f32,
        path_min_clearance_m: f32,
        path_collision_mask: bool,
        path_collision_applicable_mask: bool,
        path_collision_evaluated_mask: bool,
        free_space_margin_m: f32,
        motion_step_length_m: f32,
        motion_height_delta_m: f32,
        motion_backward_step_m: f32,
        motion_yaw_delta_deg: f32,
        target_distance_m: f32,
        target_bearing_yaw_deg: f32,
        view_jitter_yaw_deg: f32,
        view_jitter_pitch_deg: f32,
        view_jitter_azimuth_limit_deg: f32,
        view_jitter_elevation_limit_deg: f32,
        view_jitter_is_bounded: bool,
        target_view_angle_deg: f32,
        target_pixel_margin_px: f32,
        target_in_fov_mask: bool,
        target_view_evaluated_mask: bool,
    }
}

table! {
    /// One row per target, ascending.
    "targets" Targets of TargetRow {
        target_row_id: i64,
        target_id: TargetName,
        target_selection_policy_id: PolicyName,
        target_selection_rank: i32,
        target_selection_score: f32,
        target_selection_probability: f32,
        target_selection_temperature: f32,
        target_source_id: TargetSource,
        target_source_index: i32,
        descriptor_source_id: DescriptorSource,
        descriptor_provenance_id: DescriptorProvenance,
        descriptor_hash_id: DescriptorHash,
        explicit_target_hash_id: ExplicitTargetHash,
        target_sem_id: i32,
        target_inst_id: i32,
        target_class_name_id: ClassName,
        target_confidence: f32,
        target_projected_area_pixels: f32,
        target_projected_area_fraction: f32,
        target_effective_support_count: f32,
        target_visibility_score: f32,
        target_support_score: f32,
        target_deficit_score: f32,
        target_semidense_support_count: i32,
        target_evl_support_count: i32,
        target_center_world: [f32; 3],
        target_extents: [f32; 3],
        target_pose_world_object: [f32; 12],
        target_relative_pose_reference_object: [f32; 12],
        target_valid_mask: bool,
        target_invalid_reason_bitset: u32,
        target_primary_invalid_reason: u16,
        target_reason_code_version_id: Config,
        matched_gt_target_row_id: i64,
        matched_gt_target_id: TargetName,
        gt_match_iou: f32,
        gt_match_score: f32,
        gt_match_status_id: MatchStatus,
        gt_label_valid_mask: bool,
        target_crop_policy_id: Config,
    }
}

table! {
    /// One row a step, where depth is retained; the rasters stand beside it.
    "selected_depth" Depths of DepthRow {
        step_row_id: i64,
        candidate_row_id: i64,
        focal_px: [f32; 2],
        principal_point_px: [f32; 2],
        image_size_hw: [i32; 2],
    }
}

table! {
    /// One row an audit crop; the points stand beside it.
    "target_eval_crops" Crops of CropRow {
        crop_row_id: i64,
        step_row_id: i64,
        candidate_row_id: i64,
        source_role_id: i32,
        crop_policy_id: Config,
        voxel_size_m: f32,
        max_points: i32,
        lengths: i32,
    }
}

table! {
    /// One row a step: how its shell was made.
    "step_candidate_facts" StepFacts of StepFactsRow {
        step_row_id: i64,
        codec_version_id: Fact,
        candidate_program_hash_id: Fact,
        request_binding_hash_id: Fact,
        legacy_candidate_config_hash_id: Fact,
        candidate_substream_revision_id: Fact,
        action_order_revision_id: Fact,
        completion_mode_id: Fact,
        attempted_count: i32,
        valid_count: i32,
        action_count: i32,
        proposal_key_revision_id: Fact,
        proposal_replica: i64,
    }
}

table! {
    /// One row a candidate: what it was drawn for.
    "candidate_semantics" Semantics of SemanticsRow {
        candidate_row_id: i64,
        semantic_group_id: Fact,
        center_family_id: Fact,
        gaze_family_id: Fact,
        candidate_family_id: Fact,
        center_id: i64,
        attempt_round_id: i64,
        draw_id: i64,
        position_pair_id: i64,
        gaze_variant_id: i64,
        proposal_key_id: Fact,
        target_frame_identity_id: Fact,
        target_frame_availability_id: Fact,
    }
}

table! {
    /// One row a candidate and criterion, candidate by candidate.
    "candidate_criteria" Criteria of CriterionRow {
        candidate_row_id: i64,
        criterion_index: i16,
        criterion_id: Fact,
        legacy_cumulative_valid: bool,
        local_available: bool,
        applicable: bool,
        evaluated: bool,
        passed: bool,
        reason_code: i64,
        margin: f32,
        source_role: i64,
        reason_revision_id: Fact,
        source_role_revision_id: Fact,
    }
}

table! {
    /// The ordered actions of every step.
    "candidate_actions" Actions of ActionRow {
        step_row_id: i64,
        action_position: i32,
        shell_index: i32,
    }
}

table! {
    /// The ordered valid candidates of every step.
    "candidate_valids" Valids of ValidRow {
        step_row_id: i64,
        valid_position: i32,
        shell_index: i32,
    }
}
