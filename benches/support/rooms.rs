//! Records to write in benches: 6 steps of 60 candidates, 80 % of them valid, two chains a root.
#![allow(dead_code, reason = "each bench uses its part")]

use half::f16;
use skyfall::rollouts::RolloutRecord;
use skyfall::rollouts::record::{Candidates, Extras, Recipe, SelectedDepth, Source, Step, Target, Trajectory};

const STEPS: usize = 6;
const CHAINS: usize = 2;
const WIDTH: usize = 60;
/// Candidates of one record.
pub(crate) const PER_RECORD: usize = STEPS * CHAINS * WIDTH;

/// A stream of numbers in [0, 1).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 40) as f32 / (1_u32 << 24) as f32
    }

    fn some(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.next()).collect()
    }
}

/// So many records, with depth rasters of the given height and width if there are to be any.
pub(crate) fn records(count: usize, raster: Option<(usize, usize)>) -> Vec<RolloutRecord> {
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
    (0..count).map(|root| record(root, raster, &mut numbers)).collect()
}

/// Makes a record one of another root.
pub(crate) fn rename(record: &mut RolloutRecord, root: usize) {
    let row = i64::try_from(root).unwrap();
    record.rollout_id_prefix = format!("root-{root:07}");
    let source = &mut record.source;
    source.source_row_id = Some(row);
    source.source_sample_index = Some(row);
    source.source_sample_key = Some(format!("bench:{root}"));
    source.source_shard_row = Some(row);
}

fn record(root: usize, raster: Option<(usize, usize)>, numbers: &mut Numbers) -> RolloutRecord {
    let some = |text: &str| Some(text.to_owned());
    let identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
    let chain = |numbers: &mut Numbers| Trajectory {
        terminated_early: false,
        steps: (0..STEPS).map(|index| step(index, raster, numbers)).collect(),
    };
    let mut record = RolloutRecord {
        rollout_id_prefix: String::new(),
        root_pose_world: identity,
        root_time_ns: None,
        root_trajectory_index: None,
        root_frame_index: None,
        horizon: STEPS as i16,
        branch_factor: 1,
        beam_width: None,
        selection_policy: "oracle_greedy".to_owned(),
        source: Source {
            scene_id: some("room"),
            snippet_id: some("bench"),
            split: some("train"),
            source_shard_id: some("shard-000000"),
            source_cache_version: some("1"),
            source_offline_store_manifest_hash: some("bench"),
            ..Source::default()
        },
        target: Target {
            target_id: some("box"),
            target_crop_policy: some("none"),
            target_source: some("gt_obbs_oracle"),
            target_source_index: Some(0),
            target_center_world: Some([0.0; 3]),
            target_extents: Some([1.0; 3]),
            target_pose_world_object: Some(identity),
            target_relative_pose_reference_object: Some(identity),
            matched_gt_target_row_id: Some(0),
            matched_gt_target_id: some("box"),
            gt_match_status: some("matched"),
            ..Target::default()
        },
        policy: Recipe {
            candidate_config_hash: some("candidates"),
            oracle_config_hash: some("oracle"),
            rollout_config_hash: some("rollout"),
            ..Recipe::default()
        },
        trajectories: (0..CHAINS).map(|_| chain(numbers)).collect(),
    };
    rename(&mut record, root);
    record
}

fn step(index: usize, raster: Option<(usize, usize)>, numbers: &mut Numbers) -> Step {
    let valid: Vec<bool> = (0..WIDTH).map(|candidate| candidate == 0 || numbers.next() < 0.8).collect();
    let pose = |numbers: &mut Numbers| {
        let angle = numbers.next();
        let (sine, cosine) = angle.sin_cos();
        let [x, y, z] = [numbers.next(), numbers.next(), numbers.next()];
        [cosine, -sine, 0.0, sine, cosine, 0.0, 0.0, 0.0, 1.0, x, y, z]
    };
    Step {
        step_index: index as i16,
        selected_shell_index: 0,
        selection_score_label: "target_root_gain".to_owned(),
        selection_policy: "oracle_greedy".to_owned(),
        selection_temperature: None,
        selection_rng_seed: Some(7),
        candidate_rng_seed: Some(8),
        labels: ["target_root_gain", "target_rri", "scene_root_gain", "scene_rri", "target_pm_dist_after"]
            .map(|name| (name.to_owned(), numbers.some(WIDTH)))
            .into(),
        selection_logits: Some(numbers.some(WIDTH)),
        selection_probabilities: Some(numbers.some(WIDTH)),
        selection_log_probabilities: None,
        selected_depth: raster.map(|(height, width)| depth(index, height, width, numbers)),
        target_eval: None,
        candidate_trace_facts: None,
        candidates: Candidates {
            shell_poses: (0..WIDTH).map(|_| pose(numbers)).collect(),
            masks: vec![("FreeSpaceRule".to_owned(), valid.clone())],
            mask_valid: valid,
            strategy_id: Some((0..WIDTH as i32).map(|id| id % 4).collect()),
            position_id: Some((0..WIDTH as i32).map(|id| id % 7).collect()),
            mixture_id: Some(vec![0; WIDTH]),
            position_pair_id: None,
            gaze_variant_id: None,
            sampler_probability: Some(vec![1.0 / WIDTH as f32; WIDTH]),
            extras: Extras {
                path_collision_mask: vec![false; WIDTH],
                path_collision_applicable_mask: vec![true; WIDTH],
                path_collision_evaluated_mask: vec![true; WIDTH],
                floats: vec![("min_distance_to_mesh", numbers.some(WIDTH)), ("target_distance_m", numbers.some(WIDTH))],
                booleans: Vec::new(),
            },
        },
    }
}

/// The far wall of a room and a box before it, with two millimetres of noise.
fn depth(index: usize, height: usize, width: usize, numbers: &mut Numbers) -> SelectedDepth {
    let inside = |row: usize, column: usize| row > height / 3 && column > width / 4 && column < width / 2 + 8 * index;
    let metres = |pixel: usize| {
        let (row, column) = (pixel / width, pixel % width);
        let wall = 4.0 + 0.004 * column as f32 + 0.002 * row as f32;
        let base = if inside(row, column) { 2.0 + 0.001 * row as f32 } else { wall };
        f16::from_f32(base + 0.002 * numbers.next())
    };
    SelectedDepth {
        raster_hw: [height, width],
        depth_m: (0..height * width).map(metres).collect(),
        valid_mask: (0..height * width).map(|pixel| pixel % width > 2).collect(),
        focal_px: [width as f32, width as f32],
        principal_point_px: [width as f32 / 2.0, height as f32 / 2.0],
        image_size_hw: [height as i32, width as i32],
    }
}
