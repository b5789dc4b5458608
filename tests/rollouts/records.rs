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

/// The record with the raster of a wall, `height` x `width`, in every step.
pub fn with_depth(mut record: Datum, height: usize, width: usize) -> Datum {
    each_step(&mut record, |number, step| {
        let depth: Vec<f32> = (0..height * width).map(|pixel| 1.0 + (pixel % 7) as f32 / 8.0 + number as f32).collect();
        let valid: Vec<bool> = (0..height * width).map(|pixel| pixel % 5 != 0).collect();
        let raster = |array: Array| Datum::Array(array.reshape(&[height, width]).unwrap());
        step.insert(
            "selected_depth".to_owned(),
            map([
                ("depth_m", raster(Array::from_vec(&[height * width], depth).unwrap())),
                ("valid_mask", raster(Array::from_vec(&[height * width], valid).unwrap())),
                ("focal_px", floats(&[20.0, 21.0])),
                ("principal_point_px", floats(&[width as f64 / 2.0, height as f64 / 2.0])),
            ]),
        );
    });
    record
}

/// The record with audit crops in every step.
pub fn with_crops(mut record: Datum) -> Datum {
    each_step(&mut record, |number, step| {
        let valid = valid(step).iter().filter(|valid| **valid).count();
        let cloud = |points: usize| Datum::List((0..points).map(|point| floats(&[point as f64, 0.5, -1.0])).collect());
        step.insert(
            "target_eval".to_owned(),
            map([
                ("current_points_world", Datum::List(vec![floats(&[0.0, 1.0, 2.0]), floats(&[f64::NAN, 0.0, 0.0])])),
                ("candidate_points_world", Datum::List((0..valid).map(|_| cloud(3)).collect())),
                ("candidate_point_lengths", array(&vec![1 + number as i64 % 3; valid])),
                ("crop_policy", text("gt_obb_oriented_any_vertex_v1")),
                ("voxel_size_m", Datum::Value(Value::Float(0.05))),
            ]),
        );
    });
    record
}

/// The record with the candidate codec's facts in every step: two criteria, one unavailable.
pub fn with_facts(mut record: Datum) -> Datum {
    each_step(&mut record, |_, step| {
        let valid = valid(step);
        let n = valid.len();
        let texts = |text: &str| Datum::Value(Value::List(vec![text.into(); n]));
        let indices: Vec<i32> = (0..n as i32).filter(|index| valid[*index as usize]).collect();
        let criterion = |name: &str, local: bool| {
            let reason: Vec<i64> = valid
                .iter()
                .map(|valid| {
                    if !local {
                        -1
                    } else if *valid {
                        0
                    } else {
                        6
                    }
                })
                .collect();
            map([
                ("criterion", text(name)),
                ("reason_revision", text(if local { "candidate_admission_v1" } else { "unavailable_v1" })),
                ("source_role_revision", text(if local { "candidate_admission_v1" } else { "unavailable_v1" })),
                ("legacy_cumulative_valid", array(&valid)),
                ("local_available", array(&vec![local; n])),
                ("applicable", array(&vec![local; n])),
                ("evaluated", array(&vec![local; n])),
                ("passed", array(&valid)),
                ("reason_code", array(&reason)),
                ("margin", array(&vec![0.25_f32; n])),
                ("source_role", array(&vec![if local { 2_i64 } else { -1 }; n])),
            ])
        };
        step.insert(
            "candidate_trace_facts".to_owned(),
            map([
                ("candidate_program_hash", text(&"a".repeat(64))),
                ("request_binding_hash", text(&"b".repeat(64))),
                ("legacy_candidate_config_hash", text("cand")),
                ("semantic_group", texts("group")),
                ("center_family", texts("shell")),
                ("gaze_family", texts("towards")),
                ("candidate_family", texts("shell/towards")),
                ("center_id", array(&(0..n as i64).collect::<Vec<_>>())),
                ("attempt_round_id", array(&vec![0_i64; n])),
                ("draw_id", array(&(0..n as i64).collect::<Vec<_>>())),
                ("position_pair_id", array(&vec![-1_i64; n])),
                ("gaze_variant_id", array(&vec![-1_i64; n])),
                ("proposal_key", texts("key")),
                ("target_frame_identity", texts("frame")),
                ("target_frame_availability", texts("available")),
                ("valid_indices", array(&indices)),
                ("action_indices", array(&indices)),
                ("criteria", Datum::List(vec![criterion("clearance", true), criterion("support", false)])),
            ]),
        );
    });
    record
}

/// The validity of a step's candidates.
fn valid(step: &IndexMap<String, Datum>) -> Vec<bool> {
    let Datum::Map(candidates) = &step["candidates"] else { panic!() };
    let Datum::Array(mask) = &candidates["mask_valid"] else { panic!() };
    mask.as_bool().unwrap().to_vec()
}

fn each_step(record: &mut Datum, mut change: impl FnMut(usize, &mut IndexMap<String, Datum>)) {
    let Datum::List(chains) = at(record, "trajectories") else { panic!() };
    for chain in chains {
        let Datum::List(steps) = at(chain, "steps") else { panic!() };
        for (number, step) in steps.iter_mut().enumerate() {
            let Datum::Map(step) = step else { panic!() };
            change(number, step);
        }
    }
}

/// The record as plain data, arrays as nested lists.
pub fn plain(datum: &Datum) -> Value {
    match datum {
        Datum::Value(value) => value.clone(),
        Datum::List(items) => Value::List(items.iter().map(plain).collect()),
        Datum::Map(map) => Value::Map(map.iter().map(|(key, datum)| (key.clone(), plain(datum))).collect()),
        Datum::Array(array) => match array.shape() {
            [_] => Value::List((0..array.len()).map(|at| array.get(at).unwrap()).collect()),
            shape => Value::List((0..shape[0]).map(|row| plain(&Datum::Array(array.row(row).unwrap()))).collect()),
        },
    }
}
