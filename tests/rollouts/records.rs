//! Records of a toy oracle on a line: ragged shells, invalid candidates kept.

use indexmap::IndexMap;
use skyfall::array::Array;
use skyfall::rollouts::{Datum, RolloutRecord, RolloutZarrStoreConfig};
use skyfall::value::Value;

pub fn map<const N: usize>(entries: [(&str, Datum); N]) -> Datum {
    Datum::Map(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

pub fn text(text: &str) -> Datum {
    Datum::Value(text.into())
}

pub fn int(number: i64) -> Datum {
    Datum::Value(Value::Int(number))
}

pub fn floats(numbers: &[f64]) -> Datum {
    Datum::Value(Value::List(numbers.iter().map(|number| Value::Float(*number)).collect()))
}

pub fn array<T: skyfall::array::Item>(items: &[T]) -> Datum {
    Datum::Array(Array::from_vec(&[items.len()], items.to_vec()).unwrap())
}

pub const IDENTITY: [f64; 12] = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];

/// A stream of numbers in [0, 1).
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// One step, and the error that is left after it.
fn step(index: usize, before: f64, numbers: &mut Numbers) -> (Datum, f64) {
    let n = 3 + (numbers.next() * 5.0) as usize;
    let poses: Vec<Datum> = (0..n)
        .map(|_| {
            let mut pose = IDENTITY;
            pose[9] = numbers.next();
            floats(&pose)
        })
        .collect();
    let valid: Vec<bool> = (0..n).map(|candidate| candidate == 0 || numbers.next() < 0.6).collect();
    let after: Vec<f64> = (0..n).map(|_| before * (0.5 + numbers.next() / 2.0)).collect();
    let best = (0..n).filter(|i| valid[*i]).min_by(|a, b| after[*a].total_cmp(&after[*b])).unwrap();
    let gain: Vec<f64> = after.iter().map(|after| before - after).collect();
    let rri: Vec<f64> = after.iter().map(|after| (before - after) / before).collect();
    let datum = map([
        ("step_index", int(index as i64)),
        ("selected_shell_index", int(best as i64)),
        ("selection_score_label", text("target_root_gain")),
        ("selection_policy", text("oracle_greedy")),
        (
            "candidates",
            map([
                ("shell_poses", Datum::List(poses)),
                ("mask_valid", array(&valid)),
                ("masks", Datum::List(vec![Datum::List(vec![text("FreeSpaceRule"), array(&valid)])])),
                ("strategy_id", array(&vec![0_i32; n])),
                ("position_id", array(&vec![1_i32; n])),
                ("mixture_id", array(&vec![0_i32; n])),
                ("sampler_probability", array(&vec![1.0 / n as f32; n])),
                (
                    "extras",
                    map([
                        ("path_collision_mask", array(&vec![false; n])),
                        ("path_collision_applicable_mask", array(&vec![true; n])),
                        ("path_collision_evaluated_mask", array(&vec![true; n])),
                        ("motion_yaw_delta_rad", array(&vec![0.5_f32; n])),
                    ]),
                ),
            ]),
        ),
        ("labels", map([("target_root_gain", array(&gain)), ("target_rri", array(&rri))])),
    ]);
    (datum, after[best])
}

/// The record of one root, as plain data, with `chains` chains of `steps` steps.
pub fn record(root: i64, chains: usize, steps: usize) -> Datum {
    let mut numbers = Numbers::new(root as u64 + 11);
    let trajectories = (0..chains)
        .map(|_| {
            let mut error = 1.0;
            let steps = (0..steps)
                .map(|index| {
                    let (datum, left) = step(index, error, &mut numbers);
                    error = left;
                    datum
                })
                .collect();
            map([("terminated_early", Datum::Value(Value::Bool(false))), ("steps", Datum::List(steps))])
        })
        .collect();
    map([
        ("rollout_id_prefix", text(&format!("root-{root:06}"))),
        ("root_pose_world", floats(&IDENTITY)),
        ("horizon", int(4)),
        ("branch_factor", int(1)),
        ("selection_policy", text("oracle_greedy")),
        (
            "source",
            map([
                ("scene_id", text("line")),
                ("snippet_id", text("toy")),
                ("split", text("train")),
                ("source_row_id", int(root)),
                ("source_sample_index", int(root)),
                ("source_sample_key", text(&format!("toy:{root}"))),
                ("source_shard_id", text("shard-000000")),
                ("source_shard_row", int(root)),
                ("source_cache_version", text("1")),
                ("source_offline_store_manifest_hash", text("fixture-source-manifest")),
            ]),
        ),
        (
            "target",
            map([
                ("target_id", text("point")),
                ("target_source", text("gt_obbs_oracle")),
                ("target_source_index", int(0)),
                ("matched_gt_target_row_id", int(0)),
                ("matched_gt_target_id", text("point")),
                ("gt_match_status", text("matched")),
                ("target_crop_policy", text("none")),
                ("target_center_world", floats(&[0.0; 3])),
                ("target_extents", floats(&[1.0; 3])),
                ("target_pose_world_object", floats(&IDENTITY)),
                ("target_relative_pose_reference_object", floats(&IDENTITY)),
            ]),
        ),
        (
            "policy",
            map([
                ("candidate_config_hash", text("cand")),
                ("oracle_config_hash", text("oracle")),
                ("rollout_config_hash", text("roll")),
                ("random_seed", int(root)),
            ]),
        ),
        ("trajectories", Datum::List(trajectories)),
    ])
}

/// The typed records of `roots` roots, two chains each.
pub fn records(roots: i64) -> Vec<RolloutRecord> {
    (0..roots).map(|root| RolloutRecord::from_datum(&record(root, 2, 4)).unwrap()).collect()
}

/// Options of a lean store, everything fixed.
pub fn config(store_dir: impl Into<std::path::PathBuf>) -> RolloutZarrStoreConfig {
    RolloutZarrStoreConfig {
        discount_gamma: 0.95,
        source_offline_store_version: "7".to_owned(),
        split_manifest_hash: "fixture-split-manifest".to_owned(),
        selected_depth_enabled: false,
        ..RolloutZarrStoreConfig::new(store_dir, "2026-11-30T00:00:00Z")
    }
}

/// The field at `path` (`trajectories.0.steps.1.labels`) of a record, to be changed.
pub fn at<'a>(datum: &'a mut Datum, path: &str) -> &'a mut Datum {
    path.split('.').fold(datum, |datum, key| match datum {
        Datum::Map(map) => map.entry(key.to_owned()).or_insert(Datum::Map(IndexMap::new())),
        Datum::List(items) => &mut items[key.parse::<usize>().unwrap()],
        other => panic!("{key} of {other:?}"),
    })
}
