//! A store that was changed by hand: each of these lies is told, and told in full.

use std::fs;
use std::path::{Path, PathBuf};

use skyfall::array::Array;
use skyfall::rollouts::{Store, validate, write_rollout_zarr_store};
use skyfall::text::json;
use skyfall::value::{Map, Value};
use tempfile::TempDir;

use super::hostile::full;
use super::records::{config, records};
use super::writing::files;

/// Replaces an array by what `change` makes of it, as one chunk of plain bytes.
fn tamper(store: &Path, path: &str, change: impl FnOnce(&mut Array)) {
    let mut array = Store::open(store).unwrap().array(path).unwrap();
    change(&mut array);
    let bytes: Vec<u8> = match &array {
        Array::Bool(cells) => cells.iter().map(|cell| u8::from(*cell)).collect(),
        Array::U8(cells) => cells.iter().copied().collect(),
        Array::I8(cells) => cells.iter().flat_map(|cell| cell.to_le_bytes()).collect(),
        Array::I16(cells) => cells.iter().flat_map(|cell| cell.to_le_bytes()).collect(),
        Array::U16(cells) => cells.iter().flat_map(|cell| cell.to_le_bytes()).collect(),
        Array::I32(cells) => cells.iter().flat_map(|cell| cell.to_le_bytes()).collect(),
        Array::U32(cells) => cells.iter().flat_map(|cell| cell.to_le_bytes()).collect(),
        Array::I64(cells) => cells.iter().flat_map(|cell| cell.to_le_bytes()).collect(),
        Array::F16(cells) => cells.iter().flat_map(|cell| cell.to_le_bytes()).collect(),
        Array::F32(cells) => cells.iter().flat_map(|cell| cell.to_le_bytes()).collect(),
        other => panic!("no column is {}", other.dtype()),
    };
    let node = store.join(path);
    let mut document = match json::parse(&fs::read_to_string(node.join("zarr.json")).unwrap()).unwrap() {
        Value::Map(document) => document,
        other => panic!("{other:?}"),
    };
    let map = |entries: Vec<(&str, Value)>| {
        Value::Map(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map>())
    };
    let named = |name: &str, configuration| map(vec![("name", name.into()), ("configuration", configuration)]);
    let shape = Value::List(array.shape().iter().map(|length| Value::Int(*length as i64)).collect());
    document.insert("shape".to_owned(), shape.clone());
    document.insert("chunk_grid".to_owned(), named("regular", map(vec![("chunk_shape", shape)])));
    document.insert("data_type".to_owned(), array.dtype().numpy_name().into());
    let endian = map(vec![("endian", "little".into())]);
    document.insert("codecs".to_owned(), Value::List(vec![named("bytes", endian)]));
    fs::write(node.join("zarr.json"), json::to_canonical(&Value::Map(document))).unwrap();
    fs::remove_dir_all(node.join("c")).unwrap();
    let chunk = array.shape().iter().fold(node.join("c"), |path, _| path.join("0"));
    fs::create_dir_all(chunk.parent().unwrap()).unwrap();
    fs::write(chunk, bytes).unwrap();
}

/// Changes the attributes of a group (`""` is the root).
fn attribute(store: &Path, group: &str, key: &str, value: Option<Value>) {
    let path = store.join(group).join("zarr.json");
    let mut document = json::parse(&fs::read_to_string(&path).unwrap()).unwrap();
    let Value::Map(node) = &mut document else { panic!("a map") };
    let Some(Value::Map(attributes)) = node.get_mut("attributes") else { panic!("attributes") };
    match value {
        Some(value) => attributes.insert(key.to_owned(), value),
        None => attributes.shift_remove(key),
    };
    fs::write(path, json::to_canonical(&document)).unwrap();
}

/// A sound store that is harmed in one place, checked, and mended again.
struct Sound {
    _scratch: TempDir,
    store: PathBuf,
}

impl Sound {
    fn new() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let store = scratch.path().join("rollouts.zarr");
        write_rollout_zarr_store(&records(3), config(&store)).unwrap();
        Self { _scratch: scratch, store }
    }

    /// One with depth, crops and the candidate codec.
    fn full() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let store = full(&scratch);
        Self { _scratch: scratch, store }
    }

    /// What the validator says after `harm` to the file or directory `place` of the store.
    fn errors(&self, place: &str, harm: impl FnOnce(&Path)) -> Vec<String> {
        let store = &self.store;
        let harmed = store.join(place);
        let before = if harmed.is_dir() {
            files(&harmed).into_iter().map(|(name, bytes)| (harmed.join(name), bytes)).collect()
        } else {
            vec![(harmed.clone(), fs::read(&harmed).unwrap())]
        };
        harm(store);
        let errors = validate(store).unwrap().errors;
        if harmed.is_dir() {
            fs::remove_dir_all(&harmed).unwrap();
        } else if harmed.exists() {
            fs::remove_file(&harmed).unwrap();
        }
        for (path, bytes) in before {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        errors
    }

    fn tampered(&self, path: &str, change: impl FnOnce(&mut Array)) -> Vec<String> {
        self.errors(path, |store| tamper(store, path, change))
    }
}

/// Some error of `errors` says all of `words`.
fn says(errors: &[String], words: &[&str]) -> bool {
    errors.iter().any(|error| words.iter().all(|word| error.contains(word)))
}

#[test]
fn an_untouched_store_has_no_errors() {
    let sound = Sound::new();
    assert_eq!(sound.errors("manifest.json", |_| ()), Vec::<String>::new());
    // The tampering itself is not what is found.
    assert_eq!(sound.tampered("candidates/pose_world_cam", |_| ()), Vec::<String>::new());
}

macro_rules! cell {
    ($kind:ident, $row:expr, $value:expr) => {
        |array: &mut Array| match array {
            Array::$kind(cells) => cells.as_slice_mut().unwrap()[$row] = $value,
            other => panic!("{} is not what the format says", other.dtype()),
        }
    };
}

#[test]
fn every_table_is_held_to_its_word() {
    type Change = fn(&mut Array);
    let lies: Vec<(&str, Change, &str)> = vec![
        ("candidates/candidate_row_id", cell!(I64, 5, 99), "candidate_row_id"),
        ("candidates/step_row_id", cell!(I64, 0, 1), "candidates"),
        ("candidates/rollout_row_id", cell!(I64, 0, 1), "rollout"),
        ("candidates/step_index", cell!(I16, 0, 3), "candidates"),
        ("candidates/shell_index", cell!(I32, 1, 0), "shell_index"),
        ("candidates/compact_valid_index", cell!(I32, 0, 7), "compact_valid_index"),
        ("candidates/pose_relative_root", cell!(F32, 9, 9.0), "pose_relative_root"),
        ("candidates/oracle_label_mask", cell!(Bool, 0, false), "oracle_label_mask"),
        ("candidates/q_train_mask", cell!(Bool, 0, false), "q_train_mask"),
        ("candidates/selected_mask", |array| array.as_bool_mut().unwrap().fill(false), "selected"),
        ("candidates/strategy_id", cell!(I32, 0, -1), "strategy"),
        ("candidates/mixture_id", cell!(I32, 0, -1), "mixture"),
        ("candidates/position_id", cell!(I32, 0, -1), "position_id"),
        ("candidates/gaze_variant_id", cell!(I8, 0, 2), "gaze_variant_id"),
        ("candidates/position_pair_id", cell!(I64, 0, 5), "pair"),
        ("candidates/sampler_probability", cell!(F32, 0, f32::NAN), "sampler"),
        ("candidates/sampler_probability", cell!(F32, 0, -0.5), "sampler_probability: row 0: is no probability"),
        ("candidates/selection_probabilities", cell!(F32, 1, 1.5), "selection_probabilities: row 1: is no probability"),
        ("candidates/target_rri", cell!(F32, 0, f32::NAN), "target_rri"),
        ("candidates/target_root_gain", cell!(F32, 0, f32::NAN), "target_root_gain"),
        ("candidate_diagnostics/candidate_row_id", cell!(I64, 0, 4), "candidate_diagnostics"),
        ("candidate_diagnostics/path_collision_mask", cell!(Bool, 0, true), "colli"),
        ("candidate_diagnostics/path_collision_applicable_mask", cell!(Bool, 0, false), "colli"),
        ("steps/step_row_id", cell!(I64, 2, 1), "step_row_id"),
        ("steps/rollout_row_id", cell!(I64, 0, 5), "rollout"),
        ("steps/step_index", cell!(I16, 1, 2), "steps"),
        ("steps/num_candidates", cell!(I32, 0, 1), "num_candidates"),
        ("steps/num_valid_candidates", cell!(I32, 0, 99), "num_valid_candidates"),
        ("steps/selected_shell_index", cell!(I32, 0, 99), "steps"),
        ("steps/selected_candidate_row_id", cell!(I64, 0, 99), "selected_candidate_row_id"),
        ("steps/cumulative_target_rri", cell!(F32, 1, 9.0), "cumulative_target_rri"),
        ("steps/cumulative_target_root_gain", cell!(F32, 1, 9.0), "cumulative_target_root_gain"),
        ("rollouts/final_cumulative_target_rri", cell!(F32, 0, 9.0), "final_cumulative_target_rri"),
        ("rollouts/horizon", cell!(I16, 0, 2), "horizon"),
        ("rollouts/rollout_row_id", cell!(I64, 1, 0), "rollout"),
        ("rollouts/source_row_id", cell!(I64, 0, 77), "source"),
        ("rollouts/target_row_id", cell!(I64, 0, 77), "target"),
        ("rollouts/root_pose_world", cell!(F32, 3, f32::INFINITY), "root_pose_world"),
        ("rollouts/root_pose_world", cell!(F32, 4, -1.0), "root_pose_world: row 0: is no rotation and shift"),
        ("candidates/pose_world_cam", cell!(F32, 8, -1.0), "pose_world_cam: row 0: is no rotation and shift"),
        ("rollouts/split_id", cell!(I32, 0, 1), "split"),
        ("lineage/rollout_row_id", cell!(I64, 0, 3), "lineage"),
        ("lineage/oracle_config_id", cell!(I32, 0, -1), "oracle_config_id"),
        ("lineage/target_protocol_version_id", cell!(I32, 0, 0), "target_protocol_version"),
        ("sources/source_row_id", cell!(I64, 1, 0), "source"),
        ("sources/source_shard_id", cell!(I32, 0, 9), "source_shard_id"),
        ("sources/source_shard_row", cell!(I64, 0, -1), "source_shard_row"),
        ("sources/source_cache_version_id", cell!(I32, 0, -1), "source_cache_version"),
        ("sources/split_manifest_hash_id", cell!(I32, 0, 0), "split_manifest_hash"),
        ("targets/target_row_id", cell!(I64, 1, 0), "target"),
        ("targets/target_source_id", cell!(I32, 0, 9), "target_source"),
        ("targets/target_valid_mask", cell!(Bool, 0, false), "target_valid_mask"),
        ("targets/target_invalid_reason_bitset", cell!(U32, 0, 4), "target"),
        ("targets/gt_label_valid_mask", cell!(Bool, 0, false), "gt_label_valid_mask"),
        ("targets/matched_gt_target_row_id", cell!(I64, 0, -1), "gt_label_valid_mask"),
        ("targets/target_extents", cell!(F32, 1, -1.0), "target_extents: row 0: is negative, or not finite"),
        ("targets/target_extents", cell!(F32, 1, f32::NAN), "target_extents: row 0: is negative, or not finite"),
        ("targets/target_pose_world_object", cell!(F32, 0, 2.0), "target_pose_world_object: row 0: is no rotation"),
        ("q_h/q_train_mask", cell!(Bool, 0, false), "q_h/q_train_mask"),
        ("q_h/candidate_row_id", cell!(I64, 1, 0), "q_h/candidate_row_id"),
        ("q_h/td_reward", cell!(F32, 0, 0.25), "q_h/td_reward"),
        ("q_h/td_discount", cell!(F32, 3, 0.95), "q_h/td_discount"),
        ("q_h/td_terminal_mask", cell!(Bool, 0, true), "q_h/td_terminal_mask"),
        ("q_h/one_step_target_rri", cell!(F32, 0, 9.0), "q_h/one_step_target_rri"),
    ];
    told(&Sound::new(), lies);
}

#[test]
fn depth_crops_and_the_codec_are_held_to_their_word() {
    fn metres(metres: f32) -> half::f16 {
        half::f16::from_f32(metres)
    }
    let lies: Vec<(&str, Box<dyn Fn(&mut Array)>, &str)> = vec![
        ("selected_depth/step_row_id", Box::new(cell!(I64, 1, 9)), "selected_depth/step_row_id"),
        ("selected_depth/candidate_row_id", Box::new(cell!(I64, 0, 1_000)), "selected_depth/candidate_row_id"),
        ("selected_depth/focal_px", Box::new(cell!(F32, 0, 0.0)), "focal_px"),
        ("selected_depth/principal_point_px", Box::new(cell!(F32, 1, f32::INFINITY)), "principal_point_px"),
        ("selected_depth/image_size_hw", Box::new(cell!(I32, 0, 7)), "image_size_hw"),
        ("selected_depth/depth_m", Box::new(cell!(F16, 0, metres(1.0))), "depth_m"),
        ("selected_depth/depth_m", Box::new(cell!(F16, 1, metres(30.0))), "depth_m"),
        ("selected_depth/depth_m", Box::new(cell!(F16, 1, half::f16::NAN)), "depth_m"),
        ("target_eval_crops/crop_row_id", Box::new(cell!(I64, 1, 5)), "crop_row_id"),
        ("target_eval_crops/step_row_id", Box::new(cell!(I64, 0, 99)), "target_eval_crops"),
        ("target_eval_crops/candidate_row_id", Box::new(cell!(I64, 0, 3)), "target_eval_crops"),
        ("target_eval_crops/source_role_id", Box::new(cell!(I32, 0, 2)), "source_role_id"),
        ("target_eval_crops/lengths", Box::new(cell!(I32, 0, 99)), "lengths"),
        ("target_eval_crops/mask", Box::new(cell!(Bool, 0, false)), "target_eval_crops"),
        ("step_candidate_facts/attempted_count", Box::new(cell!(I32, 0, 99)), "attempted_count"),
        ("step_candidate_facts/legacy_candidate_config_hash_id", Box::new(cell!(I32, 0, -1)), "legacy"),
        ("step_candidate_facts/codec_version_id", Box::new(cell!(I32, 0, 99)), "codec_version_id"),
        ("step_candidate_facts/proposal_replica", Box::new(cell!(I64, 0, -2)), "proposal"),
        ("candidate_semantics/center_id", Box::new(cell!(I64, 0, -1)), "center_id"),
        ("candidate_semantics/position_pair_id", Box::new(cell!(I64, 0, 4)), "candidate_semantics"),
        ("candidate_semantics/candidate_row_id", Box::new(cell!(I64, 0, 9_999)), "candidate_semantics"),
        ("candidate_criteria/passed", Box::new(cell!(Bool, 0, false)), "candidate_criteria"),
        ("candidate_criteria/margin", Box::new(cell!(F32, 0, f32::NAN)), "margin"),
        ("candidate_criteria/reason_code", Box::new(cell!(I64, 1, 0)), "candidate_criteria"),
        ("candidate_criteria/source_role", Box::new(cell!(I64, 0, 7)), "source_role"),
        ("candidate_criteria/criterion_index", Box::new(cell!(I16, 0, 1)), "criterion"),
        ("candidate_actions/action_position", Box::new(cell!(I32, 0, 3)), "action_position"),
        ("candidate_valids/shell_index", Box::new(cell!(I32, 0, 99)), "candidate_valids"),
        ("candidate_valids/step_row_id", Box::new(cell!(I64, 0, 9_999)), "candidate_valids"),
    ];
    let sound = Sound::full();
    assert_eq!(sound.errors("manifest.json", |_| ()), Vec::<String>::new());
    told(&sound, lies);
    let gone = sound.errors("candidate_valids", |store| fs::remove_dir_all(store.join("candidate_valids")).unwrap());
    assert!(says(&gone, &["candidate_valids"]), "{gone:?}");
}

#[test]
fn a_shard_s_markers_are_held_to_their_word() {
    let sound = Sound::new();
    for marker in ["_owner.json", "_SUCCESS.json"] {
        let errors = sound.errors("manifest.json", |store| fs::write(store.join(marker), "{}").unwrap());
        fs::remove_file(sound.store.join(marker)).unwrap();
        assert!(says(&errors, &[marker]), "{marker}: {errors:?}");
    }
}

/// Every lie is told by an error that says its word.
fn told<F: Fn(&mut Array)>(sound: &Sound, lies: Vec<(&str, F, &str)>) {
    let mut silent = Vec::new();
    for (path, change, word) in lies {
        let found = sound.tampered(path, change);
        if !says(&found, &[word]) {
            silent.push(format!("{path}: no error says `{word}` among {found:?}"));
        }
    }
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}

#[test]
fn columns_have_the_format_s_type_and_length() {
    let sound = Sound::new();
    let found = sound.tampered("candidates/q_train_mask", |array| {
        *array = Array::from_vec(&[array.len()], vec![1_u8; array.len()]).unwrap();
    });
    assert!(says(&found, &["candidates/q_train_mask"]), "{found:?}");
    let found = sound.tampered("steps/candidate_seed", |array| *array = Array::from_vec(&[2], vec![1_i64; 2]).unwrap());
    assert!(says(&found, &["steps/candidate_seed"]), "{found:?}");
    let removed = |path: &str| sound.errors(path, |store| fs::remove_dir_all(store.join(path)).unwrap());
    for path in ["rollouts/horizon", "candidate_diagnostics/target_in_fov_mask"] {
        let found = removed(path);
        assert!(says(&found, &[path.split('/').nth(1).unwrap()]), "{found:?}");
    }
    for optional in ["candidates/position_pair_id", "candidates/gaze_variant_id"] {
        assert_eq!(removed(optional), Vec::<String>::new(), "{optional} may be missing");
    }
}

#[test]
fn the_root_is_held_to_its_word() {
    let sound = Sound::new();
    let changed = |group: &str, key: &str, value: Option<Value>| {
        let place = if group.is_empty() { "zarr.json".to_owned() } else { format!("{group}/zarr.json") };
        sound.errors(&place, |store| attribute(store, group, key, value))
    };
    let found = changed("", "schema_version", Some("0.9".into()));
    assert!(says(&found, &["schema_version", "0.9", "2.0-target-rollout-provenance"]), "{found:?}");
    let found = changed("", "label_support_semantics", Some("all".into()));
    assert!(says(&found, &["profile"]) || says(&found, &["label_support_semantics"]), "{found:?}");
    for (group, key, value) in [
        ("", "source_offline_store_version", None),
        ("", "num_steps", Some(Value::Int(7))),
        ("", "manifest_sha256", None),
        ("q_h", "state_count", Some(Value::Float(24.0))),
        ("q_h", "horizon", Some(Value::Int(5))),
        ("q_h", "discount_gamma", Some(Value::Float(0.5))),
    ] {
        let found = changed(group, key, value);
        assert!(says(&found, &[group, key]), "{group} {key}: {found:?}");
    }
}

#[test]
fn the_sidecar_is_bound_by_its_data_not_its_layout() {
    let sound = Sound::new();
    let rewritten = |change: &dyn Fn(String) -> String| {
        sound.errors("manifest.json", |store| {
            let path = store.join("manifest.json");
            fs::write(&path, change(fs::read_to_string(&path).unwrap())).unwrap();
        })
    };
    let found = sound.errors("manifest.json", |store| fs::remove_file(store.join("manifest.json")).unwrap());
    assert!(says(&found, &["manifest.json"]), "{found:?}");
    for text in ["[1, 2", "[]", "", "\u{0}"] {
        let found = rewritten(&|_| text.to_owned());
        assert!(says(&found, &["manifest.json"]), "{text:?}: {found:?}");
    }
    let found = rewritten(&|text| text.replace("\"line\": 3", "\"line\": 4"));
    assert!(says(&found, &["manifest.json", "digest"]), "{found:?}");
    let found = rewritten(&|text| json::to_string(&json::parse(&text).unwrap()));
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn damage_is_told_not_raised() {
    let sound = Sound::new();
    for group in ["dictionaries", "targets", "q_h", "selected_depth"] {
        let found = sound.errors(group, |store| fs::remove_dir_all(store.join(group)).unwrap());
        assert!(says(&found, &[group]), "{group}: {found:?}");
    }
    for chunk in ["steps/step_index/c/0", "dictionaries/config/c/0", "q_h/td_reward/c/0"] {
        let array = chunk.split("/c/").next().unwrap();
        let found = sound.errors(chunk, |store| fs::remove_file(store.join(chunk)).unwrap());
        assert!(says(&found, &[array]), "{chunk}: {found:?}");
        let found = sound.errors(chunk, |store| fs::write(store.join(chunk), "noise").unwrap());
        assert!(says(&found, &[array]), "{chunk}: {found:?}");
    }
    for document in ["candidates/zarr.json", "candidates/shell_index/zarr.json", "dictionaries/scene/zarr.json"] {
        let found = sound.errors(document, |store| fs::write(store.join(document), "{\"zarr_format\": 3").unwrap());
        assert!(!found.is_empty(), "{document}");
    }
}

#[test]
fn a_pipe_in_a_files_place_is_told_and_not_waited_for() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let sound = Sound::new();
    let pipe = |path: &Path| {
        fs::remove_file(path).unwrap();
        mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    };
    for place in ["candidates/actor_action_mask/c/0", "manifest.json"] {
        let errors = sound.errors(place, |store| pipe(&store.join(place)));
        assert!(says(&errors, &["is not a file"]), "{place}: {errors:?}");
    }
}

/// What stands where a group's document belongs is not taken for nothing, nor waited for.
#[test]
fn a_pipe_is_no_missing_group() {
    let sound = Sound::new();
    let errors = sound.errors("steps/zarr.json", |store| {
        let document = store.join("steps/zarr.json");
        fs::remove_file(&document).unwrap();
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &document, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    });
    assert!(says(&errors, &["steps: ", "steps/zarr.json", "it is not a file"]), "{errors:?}");
    let errors = sound.errors("steps/zarr.json", |store| fs::remove_file(store.join("steps/zarr.json")).unwrap());
    assert!(says(&errors, &["steps: the group is missing"]), "{errors:?}");
}
