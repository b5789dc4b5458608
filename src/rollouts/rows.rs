//! The rows of the tables that grow with every step, on their way to disk.
//!
//! [`Rows`] holds those since the last were handed over; ids count on from there.

mod codec;
mod crops;

use std::borrow::Cow;

use half::f16;

use super::column::Column;
use super::config::RolloutZarrStoreConfig;
use super::dictionary::{Coded, Dictionaries, Dictionary};
use super::labels::{Cumulative, Metrics};
use super::record::{Extras, Pose, Step};
use super::schema::{Candidates, Crops, DepthRow, Depths, Diagnostics, FLOAT_EXTRAS, StepRow, Steps, Table};
use super::shell;
use super::tables::{id, small};
use crate::array::DType;
use codec::Codec;
pub(super) use crops::ROLES;

/// How many rows the streamed tables have, those on disk included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) steps: usize,
    pub(super) candidates: usize,
    pub(super) depths: usize,
    pub(super) crops: usize,
    /// Rows of the codec's tables, in the order of their groups.
    pub(super) codec: [usize; 5],
    /// The widest shell.
    pub(super) max_candidates: usize,
}

/// Rows that are not on disk yet.
#[derive(Default)]
pub(super) struct Rows {
    steps: Steps,
    candidates: Candidates,
    diagnostics: Diagnostics,
    depths: Depths,
    depth_m: Vec<f16>,
    valid_mask: Vec<bool>,
    crops: Crops,
    crop_points: Vec<[f32; 3]>,
    crop_mask: Vec<bool>,
    /// The codec's tables, once a step had facts.
    codec: Option<Box<Codec>>,
    depth_enabled: bool,
    crops_enabled: bool,
    raster_hw: [usize; 2],
    crop_width: usize,
}

/// What a step's rows share with the rest of their chain.
pub(super) struct Chain<'a> {
    pub(super) rollout_row_id: i64,
    pub(super) root_pose_world: &'a Pose,
    /// Whether labels of this target can be trained on.
    pub(super) trainable: bool,
    pub(super) sums: Cumulative,
}

impl Rows {
    pub(super) fn new(config: &RolloutZarrStoreConfig) -> Self {
        let size = |size: u32| usize::try_from(size).unwrap_or(usize::MAX);
        Self {
            depth_enabled: config.selected_depth_enabled,
            crops_enabled: config.target_eval_crops_enabled,
            raster_hw: [size(config.selected_depth_height_px), size(config.selected_depth_width_px)],
            crop_width: size(config.target_eval_crop_max_points),
            ..Self::default()
        }
    }

    /// The same with the codec's tables among its own, whether or not a step has facts.
    pub(super) fn with_codec(mut self) -> Self {
        self.codec.get_or_insert_default();
        self
    }

    /// Takes the rows out, with the codec's tables still among them if the store has them; `room`
    /// is an earlier batch that was written.
    pub(super) fn take(&mut self, room: Option<Self>) -> Self {
        let mut next = room.unwrap_or_default();
        next.clear();
        (next.depth_enabled, next.crops_enabled) = (self.depth_enabled, self.crops_enabled);
        (next.raster_hw, next.crop_width) = (self.raster_hw, self.crop_width);
        if self.codec.is_some() {
            next.codec.get_or_insert_default();
        }
        std::mem::replace(self, next)
    }

    fn clear(&mut self) {
        self.steps.clear();
        self.candidates.clear();
        self.diagnostics.clear();
        self.depths.clear();
        self.depth_m.clear();
        self.valid_mask.clear();
        self.crops.clear();
        self.crop_points.clear();
        self.crop_mask.clear();
        if let Some(codec) = &mut self.codec {
            codec.clear();
        }
    }

    /// About how many bytes the rows take.
    pub(super) fn bytes(&self) -> usize {
        // The widths of a row of `candidates` and `candidate_diagnostics`, and of the codec's.
        let candidate = if self.codec.is_some() { 900 } else { 380 };
        self.candidates.candidate_row_id.len() * candidate
            + self.steps.step_row_id.len() * 80
            + self.depth_m.len() * 2
            + self.valid_mask.len()
            + self.crop_points.len() * 12
            + self.crop_mask.len()
    }

    /// Every column, always the same ones in the same order.
    pub(super) fn columns(&self) -> Vec<Column<'_>> {
        let [height, width] = self.raster_hw;
        let array = |group, name, dtype, tail: &[usize], bytes| {
            let (tail, dictionary) = (tail.to_vec(), None);
            Column { group, name, dtype, tail, dictionary, bytes: Cow::Borrowed(bytes) }
        };
        let (depth, mask) = (bytemuck::cast_slice(&self.depth_m), bytemuck::cast_slice(&self.valid_mask));
        let (points, kept) = (bytemuck::cast_slice(&self.crop_points), bytemuck::cast_slice(&self.crop_mask));
        let mut columns: Vec<Column<'_>> = self.steps.columns().collect();
        columns.extend(self.candidates.columns());
        columns.extend(self.diagnostics.columns());
        columns.extend(self.depths.columns());
        columns.push(array(Depths::GROUP, "depth_m", DType::F16, &[height, width], depth));
        columns.push(array(Depths::GROUP, "valid_mask", DType::Bool, &[height, width], mask));
        columns.extend(self.crops.columns());
        columns.push(array(Crops::GROUP, "points_world", DType::F32, &[self.crop_width, 3], points));
        columns.push(array(Crops::GROUP, "mask", DType::Bool, &[self.crop_width], kept));
        if let Some(codec) = &self.codec {
            columns.extend(codec.columns());
        }
        columns
    }

    /// Appends a step that was checked, with its shell.
    pub(super) fn add_step(
        &mut self,
        step: &Step,
        chain: &mut Chain<'_>,
        totals: &mut Totals,
        codes: &mut Dictionaries,
    ) {
        let (step_row_id, first) = (id(totals.steps), id(totals.candidates));
        let shell = &step.candidates;
        totals.steps += 1;
        totals.candidates += shell.len();
        totals.max_candidates = totals.max_candidates.max(shell.len());
        chain.sums.add(step);
        let [target_rri, scene_rri, target_root_gain, scene_root_gain] = chain.sums.values();
        let valid_before = |index: usize| shell.mask_valid.iter().take(index).filter(|valid| **valid).count();
        // Collected with the policies of rollouts and targets, though no column of steps holds it.
        let _: Coded<{ Dictionary::Policy as usize }> = codes.code(&step.selection_policy);
        let selected_candidate_row_id = first + id(step.selected_shell_index);
        self.steps.push(StepRow {
            step_row_id,
            rollout_row_id: chain.rollout_row_id,
            step_index: step.step_index,
            selected_candidate_row_id,
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
        self.add_candidates(step, chain, (step_row_id, first), codes.code(&step.selection_score_label));
        self.add_diagnostics(step, first);
        if let Some(depth) = step.selected_depth.as_ref().filter(|_| self.depth_enabled) {
            totals.depths += 1;
            self.depths.push(DepthRow {
                step_row_id,
                candidate_row_id: selected_candidate_row_id,
                focal_px: depth.focal_px,
                principal_point_px: depth.principal_point_px,
                image_size_hw: depth.image_size_hw,
            });
            depth.store(&mut self.depth_m);
            self.valid_mask.extend(&depth.valid_mask);
        }
        if let Some(eval) = step.target_eval.as_ref().filter(|_| self.crops_enabled) {
            totals.crops += self.add_crops(eval, &shell.mask_valid, (step_row_id, first), totals.crops, codes);
        }
        if let Some(facts) = &step.candidate_trace_facts {
            let codec = self.codec.get_or_insert_default();
            codec.add(facts, (step_row_id, first), codes, &mut totals.codec);
        }
    }

    /// Appends a shell, column by column.
    fn add_candidates(
        &mut self,
        step: &Step,
        chain: &Chain<'_>,
        (step_row_id, first): (i64, i64),
        score: Coded<{ Dictionary::ScoreSource as usize }>,
    ) {
        let (shell, to) = (&step.candidates, &mut self.candidates);
        let n = shell.len();
        let valid = &shell.mask_valid;
        let same = |n| std::iter::repeat_n((), n);
        to.candidate_row_id.extend((first..).take(n));
        to.step_row_id.extend(same(n).map(|()| step_row_id));
        to.rollout_row_id.extend(same(n).map(|()| chain.rollout_row_id));
        to.step_index.extend(same(n).map(|()| step.step_index));
        to.shell_index.extend((0..).take(n));
        let mut rank = -1;
        to.compact_valid_index.extend(valid.iter().map(|valid| {
            rank += i32::from(*valid);
            if *valid { rank } else { -1 }
        }));
        to.pose_world_cam.extend(&shell.shell_poses);
        to.pose_relative_root.extend(shell.shell_poses.iter().map(|pose| shell::relative(chain.root_pose_world, pose)));
        to.actor_action_mask.extend(valid);
        let metrics = Metrics::of(step);
        let labelled = |index: usize, valid: bool| {
            valid && metrics.target_root_gain.and_then(|gains| gains.get(index)).is_some_and(|gain| gain.is_finite())
        };
        to.oracle_label_mask.extend(valid.iter().enumerate().map(|(index, valid)| labelled(index, *valid)));
        let trains = |(index, valid): (usize, &bool)| chain.trainable && labelled(index, *valid);
        to.q_train_mask.extend(valid.iter().enumerate().map(trains));
        to.selected_mask.extend((0..n).map(|index| index == step.selected_shell_index));
        fill(&mut to.strategy_id, shell.strategy_id.as_deref(), n, -1);
        fill(&mut to.position_id, shell.position_id.as_deref(), n, -1);
        fill(&mut to.mixture_id, shell.mixture_id.as_deref(), n, -1);
        fill(&mut to.position_pair_id, shell.position_pair_id.as_deref(), n, -1);
        fill(&mut to.gaze_variant_id, shell.gaze_variant_id.as_deref(), n, -1);
        fill(&mut to.sampler_probability, shell.sampler_probability.as_deref(), n, f32::NAN);
        to.score_source_id.extend(same(n).map(|()| score));
        let reasons = shell::reasons(shell);
        to.invalid_reason_bitset.extend(reasons.iter().map(|(bits, _)| bits));
        to.primary_invalid_reason.extend(reasons.iter().map(|(_, primary)| primary));
        // A label of a candidate that cannot be taken is no label.
        let metric = |to: &mut Vec<f32>, values: Option<&[f32]>| match values {
            Some(values) => {
                to.extend(values.iter().zip(valid).map(|(value, valid)| if *valid { *value } else { f32::NAN }));
            }
            None => to.extend(std::iter::repeat_n(f32::NAN, n)),
        };
        metric(&mut to.scene_rri, metrics.scene_rri);
        metric(&mut to.target_rri, metrics.target_rri);
        metric(&mut to.scene_root_gain, metrics.scene_root_gain);
        metric(&mut to.target_root_gain, metrics.target_root_gain);
        metric(&mut to.scene_log_error_gain, metrics.scene_log_error_gain);
        metric(&mut to.target_log_error_gain, metrics.target_log_error_gain);
        metric(&mut to.scene_pm_dist_before, metrics.scene_pm_dist_before);
        metric(&mut to.scene_pm_dist_after, metrics.scene_pm_dist_after);
        metric(&mut to.target_pm_dist_before, metrics.target_pm_dist_before);
        metric(&mut to.target_pm_dist_after, metrics.target_pm_dist_after);
        metric(&mut to.target_current_support, metrics.target_current_support);
        metric(&mut to.target_candidate_support, metrics.target_candidate_support);
        fill(&mut to.selection_logits, step.selection_logits.as_deref(), n, f32::NAN);
        fill(&mut to.selection_probabilities, step.selection_probabilities.as_deref(), n, 0.0);
        let log_probabilities = step.selection_log_probabilities.as_deref();
        fill(&mut to.selection_log_probabilities, log_probabilities, n, f32::NEG_INFINITY);
    }

    fn add_diagnostics(&mut self, step: &Step, first: i64) {
        let (shell, to) = (&step.candidates, &mut self.diagnostics);
        let (n, extras) = (shell.len(), &shell.extras);
        let float = |to: &mut Vec<f32>, column: &str| match float_extra(extras, column) {
            Some((values, false)) => to.extend(values),
            Some((values, true)) => to.extend(values.iter().map(|radians| radians.to_degrees())),
            None => to.extend(std::iter::repeat_n(f32::NAN, n)),
        };
        let flag = |to: &mut Vec<bool>, key: &str| {
            let values = extras.booleans.iter().find(|(name, _)| *name == key);
            fill(to, values.map(|(_, values)| values.as_slice()), n, false);
        };
        to.candidate_row_id.extend((first..).take(n));
        fill(&mut to.position_id, shell.position_id.as_deref(), n, -1);
        float(&mut to.mesh_distance_m, "mesh_distance_m");
        float(&mut to.path_min_clearance_m, "path_min_clearance_m");
        to.path_collision_mask.extend(&extras.path_collision_mask);
        to.path_collision_applicable_mask.extend(&extras.path_collision_applicable_mask);
        to.path_collision_evaluated_mask.extend(&extras.path_collision_evaluated_mask);
        float(&mut to.free_space_margin_m, "free_space_margin_m");
        float(&mut to.motion_step_length_m, "motion_step_length_m");
        float(&mut to.motion_height_delta_m, "motion_height_delta_m");
        float(&mut to.motion_backward_step_m, "motion_backward_step_m");
        float(&mut to.motion_yaw_delta_deg, "motion_yaw_delta_deg");
        float(&mut to.target_distance_m, "target_distance_m");
        float(&mut to.target_bearing_yaw_deg, "target_bearing_yaw_deg");
        float(&mut to.view_jitter_yaw_deg, "view_jitter_yaw_deg");
        float(&mut to.view_jitter_pitch_deg, "view_jitter_pitch_deg");
        float(&mut to.view_jitter_azimuth_limit_deg, "view_jitter_azimuth_limit_deg");
        float(&mut to.view_jitter_elevation_limit_deg, "view_jitter_elevation_limit_deg");
        flag(&mut to.view_jitter_is_bounded, "view_jitter_is_bounded");
        float(&mut to.target_view_angle_deg, "target_view_angle_deg");
        float(&mut to.target_pixel_margin_px, "target_pixel_margin_px");
        flag(&mut to.target_in_fov_mask, "target_in_fov_mask");
        flag(&mut to.target_view_evaluated_mask, "target_view_evaluated_mask");
    }
}

/// A float diagnostic by its column, and whether it is to become degrees.
fn float_extra<'a>(extras: &'a Extras, column: &str) -> Option<(&'a [f32], bool)> {
    let (key, _, radians) = FLOAT_EXTRAS.iter().find(|(_, name, _)| *name == column)?;
    let (_, values) = extras.floats.iter().find(|(name, _)| name == key)?;
    Some((values, *radians))
}

/// Appends a column of the shell, or as many missing ones.
fn fill<T: Copy>(to: &mut Vec<T>, values: Option<&[T]>, n: usize, missing: T) {
    match values {
        Some(values) => to.extend(values),
        None => to.extend(std::iter::repeat_n(missing, n)),
    }
}
