//! From records to rows: every record is checked and taken apart as it comes, so that what the
//! validator would reject is refused while its producer is still there to be told.

use indexmap::IndexMap;

use super::config::RolloutZarrStoreConfig;
use super::datum::mistake;
use super::dictionary::{Coded, Dictionaries};
use super::identifier::compact;
use super::labels::{Cumulative, Metrics};
use super::record::{RecordError, RolloutRecord, Source, Step, Target, Trajectory};
use super::schema::{
    CandidateRow, Candidates, Diagnostics, DiagnosticsRow, FLOAT_EXTRAS, Lineage, LineageRow, RolloutRow, Rollouts,
    SourceRow, Sources, StepRow, Steps, TargetRow, Targets,
};
use super::shell;
use super::target::{Evidence, TargetInputProtocol, valid_bitset};

type Checked<T> = Result<T, RecordError>;

/// All rows of a store under construction.
#[derive(Default)]
pub(super) struct Tables {
    pub(super) dictionaries: Dictionaries,
    pub(super) sources: Sources,
    pub(super) targets: Targets,
    pub(super) rollouts: Rollouts,
    pub(super) lineage: Lineage,
    pub(super) steps: Steps,
    pub(super) candidates: Candidates,
    pub(super) diagnostics: Diagnostics,
    /// The widest shell.
    pub(super) max_candidates: usize,
    known_sources: IndexMap<i64, Source>,
    known_targets: IndexMap<TargetKey, Target>,
    split: Option<String>,
}

/// What makes two records' targets the same target.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct TargetKey {
    source_row_id: i64,
    target_id: String,
    matched_gt_target_id: String,
    matched_gt_target_row_id: i64,
    selector_local_id: i64,
}

/// A row count as an id.
pub(super) fn id(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn small(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

impl Tables {
    /// Adds one record's rows, or nothing at all.
    pub(super) fn add(&mut self, record: &RolloutRecord, config: &RolloutZarrStoreConfig) -> Checked<()> {
        super::admission::check(record, config, self.split.as_deref())?;
        let source_row_id = effective_source_row(&record.source);
        self.check_source(record, source_row_id)?;
        let (key, target) = self.keyed_target(&record.target, source_row_id);
        self.check_target(record, &key, &target, config.target_protocol_version)?;
        self.split.get_or_insert_with(|| split_of(&record.source));
        self.add_source(&record.source, source_row_id);
        let target_row_id = self.add_target(key, target);
        let trainable =
            Evidence::of(&record.target, config.target_protocol_version).trainable(config.target_protocol_version);
        for (chain, trajectory) in record.trajectories.iter().enumerate() {
            self.add_chain(record, config, (source_row_id, target_row_id, trainable), chain, trajectory);
        }
        Ok(())
    }

    fn check_source(&self, record: &RolloutRecord, source_row_id: i64) -> Checked<()> {
        match self.known_sources.get(&source_row_id) {
            Some(known) if !same_source(known, &record.source) => Err(RecordError {
                path: format!("{}: source", record.rollout_id_prefix),
                message: format!("source row {source_row_id} was given another lineage by an earlier record"),
            }),
            _ => Ok(()),
        }
    }

    /// A target has one row, so all its records must agree on whether it can be trained on.
    fn check_target(
        &self,
        record: &RolloutRecord,
        key: &TargetKey,
        target: &Target,
        protocol: TargetInputProtocol,
    ) -> Checked<()> {
        let Some(known) = self.known_targets.get(key) else { return Ok(()) };
        let mut merged = known.clone();
        merge(&mut merged, target.clone());
        let trainable = |target: &Target| Evidence::of(target, protocol).trainable(protocol);
        if trainable(known) != trainable(&merged) || trainable(target) != trainable(&merged) {
            let message = "can be trained on by this record or by an earlier one of the same target, but not by both";
            return mistake(format!("{}: target", record.rollout_id_prefix), message);
        }
        super::admission::check_explicit(record, &merged, protocol)
    }

    fn add_source(&mut self, source: &Source, source_row_id: i64) {
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

    /// The target's key in the store, and the target with its selector-local id kept.
    fn keyed_target(&self, target: &Target, source_row_id: i64) -> (TargetKey, Target) {
        let mut target = target.clone();
        if target.target_source_index.is_none() {
            target.target_source_index = target.target_row_id.and_then(|row| i32::try_from(row).ok());
        }
        let key = TargetKey {
            source_row_id,
            target_id: target.target_id.clone().unwrap_or_default(),
            matched_gt_target_id: target.matched_gt_target_id.clone().unwrap_or_default(),
            matched_gt_target_row_id: target.matched_gt_target_row_id.unwrap_or(-1),
            selector_local_id: target.target_source_index.map_or(-1, i64::from),
        };
        (key, target)
    }

    /// The target's row in the store; what a later record says of it fills what was left out.
    fn add_target(&mut self, key: TargetKey, target: Target) -> i64 {
        let entry = self.known_targets.entry(key);
        let row = id(entry.index());
        let known = entry.or_default();
        merge(known, target);
        row
    }

    fn add_chain(
        &mut self,
        record: &RolloutRecord,
        config: &RolloutZarrStoreConfig,
        (source_row_id, target_row_id, trainable): (i64, i64, bool),
        chain: usize,
        trajectory: &Trajectory,
    ) {
        let rollout_row_id = id(self.rollouts.rollout_row_id.len());
        let mut sums = Cumulative::default();
        for step in &trajectory.steps {
            self.add_step(record, rollout_row_id, trainable, step, &mut sums);
        }
        let codes = &mut self.dictionaries;
        let (source, recipe) = (&record.source, &record.policy);
        let termination = if trajectory.terminated_early {
            "terminated_early"
        } else if small(trajectory.steps.len()) >= i32::from(record.horizon) {
            "fixed_horizon"
        } else {
            "incomplete_rollout"
        };
        let [target_rri, scene_rri, target_root_gain, scene_root_gain] = sums.values();
        self.rollouts.push(RolloutRow {
            rollout_row_id,
            rollout_id: codes.code(&format!("{}-{chain:06}", record.rollout_id_prefix)),
            chain_id: small(chain),
            source_row_id,
            root_pose_world: record.root_pose_world,
            root_time_ns: record.root_time_ns.unwrap_or(-1),
            root_trajectory_index: record.root_trajectory_index.unwrap_or(-1),
            root_frame_index: record.root_frame_index.unwrap_or(-1),
            scene_id: codes.code(source.scene_id.as_deref().unwrap_or_default()),
            snippet_id: codes.code(&compact(source.snippet_id.as_deref().unwrap_or_default())),
            target_row_id,
            policy_id: codes.code(&record.selection_policy),
            horizon: record.horizon,
            branch_factor: record.branch_factor,
            beam_width: record.beam_width.unwrap_or(-1),
            temperature: trajectory.steps.iter().find_map(|step| step.selection_temperature).unwrap_or(f32::NAN),
            random_seed: recipe.random_seed.unwrap_or(-1),
            termination_reason: codes.code(termination),
            final_cumulative_target_rri: target_rri,
            final_cumulative_scene_rri: scene_rri,
            final_cumulative_target_root_gain: target_root_gain,
            final_cumulative_scene_root_gain: scene_root_gain,
            split_id: codes.code(&split_of(source)),
        });
        self.lineage.push(LineageRow {
            rollout_row_id,
            candidate_config_id: codes.code_if(recipe.candidate_config_hash.as_deref()),
            oracle_config_id: codes.code_if(recipe.oracle_config_hash.as_deref()),
            rollout_config_id: codes.code_if(recipe.rollout_config_hash.as_deref()),
            model_checkpoint_id: codes.code_if(recipe.model_checkpoint_hash.as_deref()),
            mesh_version_id: codes.code_if(source.mesh_version.as_deref()),
            branch_schedule_id: codes.code_if(recipe.branch_schedule_id.as_deref()),
            target_protocol_version_id: codes.code(config.target_protocol_version.name()),
            target_crop_policy_id: codes.code_if(record.target.target_crop_policy.as_deref()),
            reason_code_version_id: codes.code(&config.reason_code_version),
            selection_rng_state_hash_id: codes.code_if(recipe.selection_rng_state_hash.as_deref()),
        });
    }

    fn add_step(
        &mut self,
        record: &RolloutRecord,
        rollout_row_id: i64,
        trainable: bool,
        step: &Step,
        sums: &mut Cumulative,
    ) {
        let step_row_id = id(self.steps.step_row_id.len());
        let first = id(self.candidates.candidate_row_id.len());
        let shell = &step.candidates;
        self.max_candidates = self.max_candidates.max(shell.len());
        sums.add(step);
        let [target_rri, scene_rri, target_root_gain, scene_root_gain] = sums.values();
        let valid_before = |index: usize| shell.mask_valid.iter().take(index).filter(|valid| **valid).count();
        // Collected with the policies of rollouts and targets, though no column of steps holds it.
        let _: Coded<{ super::dictionary::Dictionary::Policy as usize }> =
            self.dictionaries.code(&step.selection_policy);
        self.steps.push(StepRow {
            step_row_id,
            rollout_row_id,
            step_index: step.step_index,
            selected_candidate_row_id: first + id(step.selected_shell_index),
            selected_shell_index: small(step.selected_shell_index),
            selected_compact_valid_index: small(valid_before(step.selected_shell_index)),
            num_candidates: small(shell.len()),
            num_valid_candidates: small(valid_before(shell.len())),
            candidate_seed: step.candidate_rng_seed.unwrap_or(-1),
            selection_seed: step.selection_rng_seed.unwrap_or(-1),
            cumulative_target_rri: target_rri,
            cumulative_scene_rri: scene_rri,
            cumulative_target_root_gain: target_root_gain,
            cumulative_scene_root_gain: scene_root_gain,
        });
        let reasons = shell::reasons(shell);
        let metrics = Metrics::of(step);
        let float = |values: Option<&[f32]>, index: usize, missing: f32| {
            values.and_then(|values| values.get(index)).copied().unwrap_or(missing)
        };
        let mut compact_valid_index = 0;
        for (index, ((pose, valid), (bits, primary))) in
            shell.shell_poses.iter().zip(&shell.mask_valid).zip(reasons).enumerate()
        {
            // A label of a candidate that cannot be taken is no label.
            let metric = |values: Option<&[f32]>| if *valid { float(values, index, f32::NAN) } else { f32::NAN };
            let whole =
                |values: &Option<Vec<i32>>| values.as_ref().and_then(|values| values.get(index)).copied().unwrap_or(-1);
            let labelled = metric(metrics.target_root_gain).is_finite();
            let candidate_row_id = first + id(index);
            self.candidates.push(CandidateRow {
                candidate_row_id,
                step_row_id,
                rollout_row_id,
                step_index: step.step_index,
                shell_index: small(index),
                compact_valid_index: if *valid { compact_valid_index } else { -1 },
                pose_world_cam: *pose,
                pose_relative_root: shell::relative(&record.root_pose_world, pose),
                actor_action_mask: *valid,
                oracle_label_mask: labelled,
                q_train_mask: labelled && trainable,
                selected_mask: index == step.selected_shell_index,
                strategy_id: whole(&shell.strategy_id),
                position_id: whole(&shell.position_id),
                mixture_id: whole(&shell.mixture_id),
                position_pair_id: shell.position_pair_id.as_ref().and_then(|ids| ids.get(index)).copied().unwrap_or(-1),
                gaze_variant_id: shell.gaze_variant_id.as_ref().and_then(|ids| ids.get(index)).copied().unwrap_or(-1),
                sampler_probability: float(shell.sampler_probability.as_deref(), index, f32::NAN),
                score_source_id: self.dictionaries.code(&step.selection_score_label),
                invalid_reason_bitset: bits,
                primary_invalid_reason: primary,
                scene_rri: metric(metrics.scene_rri),
                target_rri: metric(metrics.target_rri),
                scene_root_gain: metric(metrics.scene_root_gain),
                target_root_gain: metric(metrics.target_root_gain),
                scene_log_error_gain: metric(metrics.scene_log_error_gain),
                target_log_error_gain: metric(metrics.target_log_error_gain),
                scene_pm_dist_before: metric(metrics.scene_pm_dist_before),
                scene_pm_dist_after: metric(metrics.scene_pm_dist_after),
                target_pm_dist_before: metric(metrics.target_pm_dist_before),
                target_pm_dist_after: metric(metrics.target_pm_dist_after),
                target_current_support: metric(metrics.target_current_support),
                target_candidate_support: metric(metrics.target_candidate_support),
                selection_logits: float(step.selection_logits.as_deref(), index, f32::NAN),
                selection_probabilities: float(step.selection_probabilities.as_deref(), index, 0.0),
                selection_log_probabilities: float(
                    step.selection_log_probabilities.as_deref(),
                    index,
                    f32::NEG_INFINITY,
                ),
            });
            self.add_diagnostics(step, index, candidate_row_id);
            compact_valid_index += i32::from(*valid);
        }
    }

    fn add_diagnostics(&mut self, step: &Step, index: usize, candidate_row_id: i64) {
        let extras = &step.candidates.extras;
        let float = |column: &str| {
            let (key, _, radians) = FLOAT_EXTRAS.iter().find(|(_, name, _)| *name == column)?;
            let (_, values) = extras.floats.iter().find(|(name, _)| name == key)?;
            let value = values.get(index).copied()?;
            Some(if *radians { value.to_degrees() } else { value })
        };
        let float = |column: &str| float(column).unwrap_or(f32::NAN);
        let flag = |key: &str| {
            let values = extras.booleans.iter().find(|(name, _)| *name == key);
            values.and_then(|(_, values)| values.get(index)).copied().unwrap_or(false)
        };
        let at = |mask: &[bool]| mask.get(index).copied().unwrap_or(false);
        let position = step.candidates.position_id.as_ref().and_then(|ids| ids.get(index));
        self.diagnostics.push(DiagnosticsRow {
            candidate_row_id,
            position_id: position.copied().unwrap_or(-1),
            mesh_distance_m: float("mesh_distance_m"),
            path_min_clearance_m: float("path_min_clearance_m"),
            path_collision_mask: at(&extras.path_collision_mask),
            path_collision_applicable_mask: at(&extras.path_collision_applicable_mask),
            path_collision_evaluated_mask: at(&extras.path_collision_evaluated_mask),
            free_space_margin_m: float("free_space_margin_m"),
            motion_step_length_m: float("motion_step_length_m"),
            motion_height_delta_m: float("motion_height_delta_m"),
            motion_backward_step_m: float("motion_backward_step_m"),
            motion_yaw_delta_deg: float("motion_yaw_delta_deg"),
            target_distance_m: float("target_distance_m"),
            target_bearing_yaw_deg: float("target_bearing_yaw_deg"),
            view_jitter_yaw_deg: float("view_jitter_yaw_deg"),
            view_jitter_pitch_deg: float("view_jitter_pitch_deg"),
            view_jitter_azimuth_limit_deg: float("view_jitter_azimuth_limit_deg"),
            view_jitter_elevation_limit_deg: float("view_jitter_elevation_limit_deg"),
            view_jitter_is_bounded: flag("view_jitter_is_bounded"),
            target_view_angle_deg: float("target_view_angle_deg"),
            target_pixel_margin_px: float("target_pixel_margin_px"),
            target_in_fov_mask: flag("target_in_fov_mask"),
            target_view_evaluated_mask: flag("target_view_evaluated_mask"),
        });
    }

    /// Writes the targets' rows and the store's split hash; after this nothing is added.
    pub(super) fn seal(&mut self, config: &RolloutZarrStoreConfig) {
        let known = std::mem::take(&mut self.known_targets);
        for (row, target) in known.into_values().enumerate() {
            self.push_target(id(row), &target, config.target_protocol_version);
        }
        let hash = self.dictionaries.code(&config.split_manifest_hash);
        self.sources.split_manifest_hash_id.fill(hash);
        self.dictionaries.seal();
    }

    fn push_target(&mut self, target_row_id: i64, target: &Target, protocol: TargetInputProtocol) {
        let codes = &mut self.dictionaries;
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let float = |value: Option<f32>| value.unwrap_or(f32::NAN);
        let class = target.target_class_name.as_deref();
        // A missing class is listed as "unknown", though its row holds no id.
        let unknown: Coded<{ super::dictionary::Dictionary::ClassName as usize }> =
            codes.code(class.unwrap_or("unknown"));
        let bitset = valid_bitset(target, protocol);
        self.targets.push(TargetRow {
            target_row_id,
            target_id: codes.code(target.target_id.as_deref().unwrap_or("unknown-target")),
            target_selection_policy_id: codes.code_if(target.target_selection_policy.as_deref()),
            target_selection_rank: target.target_selection_rank.unwrap_or(-1),
            target_selection_score: float(target.target_selection_score),
            target_selection_probability: float(target.target_selection_probability),
            target_selection_temperature: float(target.target_selection_temperature),
            target_source_id: codes.code(&text(&target.target_source)),
            target_source_index: target.target_source_index.unwrap_or(-1),
            descriptor_source_id: codes.code(&text(&target.descriptor_source)),
            descriptor_provenance_id: codes.code(&text(&target.descriptor_provenance)),
            descriptor_hash_id: codes.code(&text(&target.descriptor_hash)),
            explicit_target_hash_id: codes.code(&text(&target.explicit_target_hash)),
            target_sem_id: target.target_sem_id.unwrap_or(-1),
            target_inst_id: target.target_inst_id.unwrap_or(-1),
            target_class_name_id: if class.is_some() { unknown } else { Coded::NONE },
            target_confidence: float(target.target_confidence),
            target_projected_area_pixels: float(target.target_projected_area_pixels),
            target_projected_area_fraction: float(target.target_projected_area_fraction),
            target_effective_support_count: float(target.target_effective_support_count),
            target_visibility_score: float(target.target_visibility_score),
            target_support_score: float(target.target_support_score),
            target_deficit_score: float(target.target_deficit_score),
            target_semidense_support_count: target.target_semidense_support_count.unwrap_or(-1),
            target_evl_support_count: target.target_evl_support_count.unwrap_or(-1),
            target_center_world: target.target_center_world.unwrap_or([f32::NAN; 3]),
            target_extents: target.target_extents.unwrap_or([f32::NAN; 3]),
            target_pose_world_object: target.target_pose_world_object.unwrap_or([f32::NAN; 12]),
            target_relative_pose_reference_object: target
                .target_relative_pose_reference_object
                .unwrap_or([f32::NAN; 12]),
            target_valid_mask: bitset == 1,
            target_invalid_reason_bitset: bitset,
            target_primary_invalid_reason: target.target_primary_invalid_reason.unwrap_or(0),
            target_reason_code_version_id: codes.code_if(target.target_reason_code_version.as_deref()),
            matched_gt_target_row_id: target.matched_gt_target_row_id.unwrap_or(-1),
            matched_gt_target_id: target.matched_gt_target_id.as_deref().map_or(Coded::NONE, |id| codes.code(id)),
            gt_match_iou: float(target.gt_match_iou),
            gt_match_score: float(target.gt_match_score),
            gt_match_status_id: codes.code(target.gt_match_status.as_deref().unwrap_or("not_requested")),
            gt_label_valid_mask: Evidence::of(target, protocol).trainable(protocol),
            target_crop_policy_id: codes.code_if(target.target_crop_policy.as_deref()),
        });
    }

    /// The physical split of all records.
    pub(super) fn split(&self) -> &str {
        self.split.as_deref().unwrap_or("mixed")
    }

    /// The sources as given, in the order of their rows.
    pub(super) fn given_sources(&self) -> impl Iterator<Item = (i64, &Source)> {
        self.known_sources.iter().map(|(row, source)| (*row, source))
    }
}

/// The source row a record belongs to.
pub(super) fn effective_source_row(source: &Source) -> i64 {
    source.source_row_id.or(source.source_sample_index).unwrap_or(0)
}

/// The physical split of a source.
pub(super) fn split_of(source: &Source) -> String {
    source.split.clone().unwrap_or_else(|| "unknown".to_owned())
}

/// Equal lineage; the mesh version is the chain's, not the row's.
fn same_source(a: &Source, b: &Source) -> bool {
    let own = |source: &Source| Source { mesh_version: None, ..source.clone() };
    own(a) == own(b)
}

/// Fills `known` with what `later` says; what both say is the later's.
fn merge(known: &mut Target, later: Target) {
    macro_rules! fill {
        ($($name:ident)+) => {$(
            if later.$name.is_some() {
                known.$name = later.$name;
            }
        )+};
    }
    fill!(
        target_row_id target_id target_protocol_version target_crop_policy target_selection_policy
        target_selection_rank target_selection_score target_selection_probability target_selection_temperature
        target_source target_source_index descriptor_source descriptor_provenance descriptor_hash
        explicit_target_hash target_sem_id target_inst_id target_class_name target_confidence
        target_projected_area_pixels target_projected_area_fraction target_effective_support_count
        target_visibility_score target_support_score target_deficit_score target_semidense_support_count
        target_evl_support_count target_center_world target_extents target_pose_world_object
        target_relative_pose_reference_object target_invalid_reason_bitset target_primary_invalid_reason
        target_reason_code_version matched_gt_target_row_id matched_gt_target_id gt_match_iou gt_match_score
        gt_match_status
    );
}
