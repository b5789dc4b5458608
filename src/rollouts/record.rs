//! Records: one root-target-recipe rollout result, as producers hand it in.
//!
//! The keys are the interface's; vectors over the shell are checked for length here, so that what
//! follows can rely on them.

mod check;
mod crops;
mod depth;
mod facts;
mod read;

pub use crate::rollouts::datum::{Datum, RecordError};
pub use crops::{Point, TargetEval};
pub use depth::SelectedDepth;
pub(super) use facts::CODEC_VERSION;
pub use facts::{Criterion, TraceFacts};

/// World from camera: a rotation, row by row, then a translation in metres.
pub type Pose = [f32; 12];

/// One root-target-recipe rollout result.
#[derive(Clone, Debug, PartialEq)]
pub struct RolloutRecord {
    /// What the chains' text ids begin with.
    pub rollout_id_prefix: String,
    /// The pose at depth 0, finite.
    pub root_pose_world: Pose,
    /// The root's capture time.
    pub root_time_ns: Option<i64>,
    /// The root's trajectory sample.
    pub root_trajectory_index: Option<i32>,
    /// The root's frame.
    pub root_frame_index: Option<i32>,
    /// The most steps a chain may have, at least 1.
    pub horizon: i16,
    /// The base branching.
    pub branch_factor: i16,
    /// The beam's cap.
    pub beam_width: Option<i16>,
    /// The rollout's selection policy.
    pub selection_policy: String,
    /// The source row.
    pub source: Source,
    /// The target.
    pub target: Target,
    /// The recipe.
    pub policy: Recipe,
    /// The retained chains.
    pub trajectories: Vec<Trajectory>,
}

/// Where a record's root comes from: a row of the offline source store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "each field is named after its column of `sources`")]
pub struct Source {
    pub scene_id: Option<String>,
    pub snippet_id: Option<String>,
    pub split: Option<String>,
    pub campaign_split: Option<String>,
    pub source_row_id: Option<i64>,
    pub source_sample_index: Option<i64>,
    pub source_sample_key: Option<String>,
    pub source_shard_id: Option<String>,
    pub source_shard_row: Option<i64>,
    pub source_cache_version: Option<String>,
    pub source_offline_store_manifest_hash: Option<String>,
    pub split_manifest_hash: Option<String>,
    pub mesh_version: Option<String>,
}

impl Source {
    /// The campaign split, if the row is bound to one.
    pub(super) fn campaign(&self) -> Option<&str> {
        self.campaign_split.as_deref().filter(|split| *split != "unknown")
    }
}

/// What a record looks for.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "each field is named after its column of `targets`")]
pub struct Target {
    pub target_row_id: Option<i64>,
    pub target_id: Option<String>,
    pub target_protocol_version: Option<String>,
    pub target_crop_policy: Option<String>,
    pub target_selection_policy: Option<String>,
    pub target_selection_rank: Option<i32>,
    pub target_selection_score: Option<f32>,
    pub target_selection_probability: Option<f32>,
    pub target_selection_temperature: Option<f32>,
    pub target_source: Option<String>,
    pub target_source_index: Option<i32>,
    pub descriptor_source: Option<String>,
    pub descriptor_provenance: Option<String>,
    pub descriptor_hash: Option<String>,
    pub explicit_target_hash: Option<String>,
    pub target_sem_id: Option<i32>,
    pub target_inst_id: Option<i32>,
    pub target_class_name: Option<String>,
    pub target_confidence: Option<f32>,
    pub target_projected_area_pixels: Option<f32>,
    pub target_projected_area_fraction: Option<f32>,
    pub target_effective_support_count: Option<f32>,
    pub target_visibility_score: Option<f32>,
    pub target_support_score: Option<f32>,
    pub target_deficit_score: Option<f32>,
    pub target_semidense_support_count: Option<i32>,
    pub target_evl_support_count: Option<i32>,
    pub target_center_world: Option<[f32; 3]>,
    pub target_extents: Option<[f32; 3]>,
    pub target_pose_world_object: Option<Pose>,
    pub target_relative_pose_reference_object: Option<Pose>,
    pub target_invalid_reason_bitset: Option<u32>,
    pub target_primary_invalid_reason: Option<u16>,
    pub target_reason_code_version: Option<String>,
    pub matched_gt_target_row_id: Option<i64>,
    pub matched_gt_target_id: Option<String>,
    pub gt_match_iou: Option<f32>,
    pub gt_match_score: Option<f32>,
    pub gt_match_status: Option<String>,
}

/// How a record was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "each field is named after its column of `lineage`")]
pub struct Recipe {
    pub candidate_config_hash: Option<String>,
    pub oracle_config_hash: Option<String>,
    pub rollout_config_hash: Option<String>,
    pub model_checkpoint_hash: Option<String>,
    pub random_seed: Option<i64>,
    pub branch_schedule_id: Option<String>,
    pub reason_code_version: Option<String>,
    pub selection_rng_state_hash: Option<String>,
}

/// One retained chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory {
    /// It ended before its horizon on purpose.
    pub terminated_early: bool,
    /// Its steps, from depth 0.
    pub steps: Vec<Step>,
}

/// One state, its shell of candidates, and the one taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The depth, from 0.
    pub step_index: i16,
    /// The selected candidate's position in the shell.
    pub selected_shell_index: usize,
    /// The name of the score candidates were selected by.
    pub selection_score_label: String,
    /// The step's selection policy.
    pub selection_policy: String,
    /// The selection's temperature.
    pub selection_temperature: Option<f32>,
    /// The selection's seed.
    pub selection_rng_seed: Option<i64>,
    /// The candidates' seed.
    pub candidate_rng_seed: Option<i64>,
    /// The shell.
    pub candidates: Candidates,
    /// Oracle labels by metric, each expanded to the shell with NaN where there is none.
    pub labels: Vec<(String, Vec<f32>)>,
    /// Policy logits over the shell.
    pub selection_logits: Option<Vec<f32>>,
    /// Policy probabilities over the shell.
    pub selection_probabilities: Option<Vec<f32>>,
    /// Their natural logarithms.
    pub selection_log_probabilities: Option<Vec<f32>>,
    /// What the selected candidate's camera saw.
    pub selected_depth: Option<SelectedDepth>,
    /// The oracle's crops.
    pub target_eval: Option<TargetEval>,
    /// How the shell was made; every step of a store has it, or none.
    pub candidate_trace_facts: Option<TraceFacts>,
}

/// A full shell: every vector has one element a candidate, invalid ones included.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each field is named after its column of `candidates`")]
pub struct Candidates {
    pub shell_poses: Vec<Pose>,
    pub mask_valid: Vec<bool>,
    /// Rules in the order they were applied, each with who is left after it.
    pub masks: Vec<(String, Vec<bool>)>,
    pub strategy_id: Option<Vec<i32>>,
    pub position_id: Option<Vec<i32>>,
    pub mixture_id: Option<Vec<i32>>,
    pub position_pair_id: Option<Vec<i64>>,
    pub gaze_variant_id: Option<Vec<i8>>,
    pub sampler_probability: Option<Vec<f32>>,
    pub extras: Extras,
}

/// Diagnostics of a shell, by the names producers use.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "each field is named after its key in `extras`")]
pub struct Extras {
    pub path_collision_mask: Vec<bool>,
    pub path_collision_applicable_mask: Vec<bool>,
    pub path_collision_evaluated_mask: Vec<bool>,
    /// Float diagnostics by key.
    pub floats: Vec<(&'static str, Vec<f32>)>,
    /// Boolean diagnostics by key.
    pub booleans: Vec<(&'static str, Vec<bool>)>,
}

impl Candidates {
    /// How many candidates the shell holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shell_poses.len()
    }

    /// Whether the shell is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shell_poses.is_empty()
    }
}

impl Step {
    /// The labels of the first of `names` that is present.
    pub(super) fn label(&self, names: &[&str]) -> Option<&[f32]> {
        let find =
            |name: &&str| self.labels.iter().find(|(label, _)| label == name).map(|(_, values)| values.as_slice());
        names.iter().find_map(find)
    }
}
