//! A store that was changed by hand: each of these lies is told, and told in full.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use skyfall::array::Array;
use skyfall::rollouts::{Store, validate, write_rollout_zarr_store};
use skyfall::text::json;
use skyfall::value::{Map, Value};

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

/// What the validator says of a store after `harm`.
fn errors(harm: impl FnOnce(&Path)) -> Vec<String> {
    static SOUND: LazyLock<BTreeMap<String, Vec<u8>>> = LazyLock::new(|| {
        let scratch = tempfile::tempdir().unwrap();
        let store = scratch.path().join("rollouts.zarr");
        write_rollout_zarr_store(&records(3), config(&store)).unwrap();
        files(&store)
    });
    let scratch = tempfile::tempdir().unwrap();
    let store = scratch.path().join("rollouts.zarr");
    for (name, bytes) in SOUND.iter() {
        let path = store.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    harm(&store);
    validate(&store).unwrap().errors
}

/// Some error of `errors` says all of `words`.
fn says(errors: &[String], words: &[&str]) -> bool {
    errors.iter().any(|error| words.iter().all(|word| error.contains(word)))
}

#[test]
fn an_untouched_store_has_no_errors() {
    assert_eq!(errors(|_| ()), Vec::<String>::new());
    // The tampering itself is not what is found.
    assert_eq!(errors(|store| tamper(store, "candidates/pose_world_cam", |_| ())), Vec::<String>::new());
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
        ("q_h/q_train_mask", cell!(Bool, 0, false), "q_h/q_train_mask"),
        ("q_h/candidate_row_id", cell!(I64, 1, 0), "q_h/candidate_row_id"),
        ("q_h/td_reward", cell!(F32, 0, 0.25), "q_h/td_reward"),
        ("q_h/td_discount", cell!(F32, 3, 0.95), "q_h/td_discount"),
        ("q_h/td_terminal_mask", cell!(Bool, 0, true), "q_h/td_terminal_mask"),
        ("q_h/one_step_target_rri", cell!(F32, 0, 9.0), "q_h/one_step_target_rri"),
    ];
    let mut silent = Vec::new();
    for (path, change, word) in lies {
        let found = errors(|store| tamper(store, path, change));
        if !says(&found, &[word]) {
            silent.push(format!("{path}: no error says `{word}` among {found:?}"));
        }
    }
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}

#[test]
fn columns_have_the_format_s_type_and_length() {
    let found = errors(|store| {
        tamper(store, "candidates/q_train_mask", |array| {
            *array = Array::from_vec(&[array.len()], vec![1_u8; array.len()]).unwrap();
        });
    });
    assert!(says(&found, &["candidates/q_train_mask"]), "{found:?}");
    let found = errors(|store| {
        tamper(store, "steps/candidate_seed", |array| *array = Array::from_vec(&[2], vec![1_i64; 2]).unwrap());
    });
    assert!(says(&found, &["steps/candidate_seed"]), "{found:?}");
    let found = errors(|store| fs::remove_dir_all(store.join("rollouts/horizon")).unwrap());
    assert!(says(&found, &["rollouts/horizon"]), "{found:?}");
    let found = errors(|store| fs::remove_dir_all(store.join("candidate_diagnostics/target_in_fov_mask")).unwrap());
    assert!(says(&found, &["target_in_fov_mask"]), "{found:?}");
    for optional in ["candidates/position_pair_id", "candidates/gaze_variant_id"] {
        let found = errors(|store| fs::remove_dir_all(store.join(optional)).unwrap());
        assert_eq!(found, Vec::<String>::new(), "{optional} may be missing");
    }
}

#[test]
fn the_root_and_its_sidecar_are_bound() {
    let found = errors(|store| attribute(store, "", "schema_version", Some("0.9".into())));
    assert!(says(&found, &["schema_version", "0.9", "2.0-target-rollout-provenance"]), "{found:?}");
    let found = errors(|store| attribute(store, "", "label_support_semantics", Some("all".into())));
    assert!(says(&found, &["profile"]) || says(&found, &["label_support_semantics"]), "{found:?}");
    let found = errors(|store| attribute(store, "", "source_offline_store_version", None));
    assert!(says(&found, &["source_offline_store_version"]), "{found:?}");
    let found = errors(|store| attribute(store, "", "num_steps", Some(Value::Int(7))));
    assert!(says(&found, &["num_steps"]), "{found:?}");
    let found = errors(|store| attribute(store, "q_h", "state_count", Some(Value::Float(24.0))));
    assert!(says(&found, &["q_h", "state_count"]), "{found:?}");
    let found = errors(|store| attribute(store, "q_h", "discount_gamma", Some(Value::Float(0.5))));
    assert!(says(&found, &["q_h", "discount_gamma"]), "{found:?}");

    let found = errors(|store| fs::remove_file(store.join("manifest.json")).unwrap());
    assert!(says(&found, &["manifest.json"]), "{found:?}");
    let found = errors(|store| fs::write(store.join("manifest.json"), "[1, 2").unwrap());
    assert!(says(&found, &["manifest.json"]), "{found:?}");
    let found = errors(|store| fs::write(store.join("manifest.json"), "[]").unwrap());
    assert!(says(&found, &["manifest.json"]), "{found:?}");
    let edited = |store: &Path| {
        let path = store.join("manifest.json");
        let text = fs::read_to_string(&path).unwrap().replace("\"line\": 3", "\"line\": 4");
        fs::write(path, text).unwrap();
    };
    assert!(says(&errors(edited), &["manifest.json", "digest"]));
    // Another layout of the same data is the same manifest.
    let laid_out_again = |store: &Path| {
        let path = store.join("manifest.json");
        let manifest = json::parse(&fs::read_to_string(&path).unwrap()).unwrap();
        fs::write(path, json::to_string(&manifest)).unwrap();
    };
    assert_eq!(errors(laid_out_again), Vec::<String>::new());
}

#[test]
fn damage_is_told_not_raised() {
    for group in ["dictionaries", "targets", "q_h", "selected_depth"] {
        let found = errors(|store| fs::remove_dir_all(store.join(group)).unwrap());
        assert!(says(&found, &[group]), "{group}: {found:?}");
    }
    for chunk in ["steps/step_index/c/0", "dictionaries/config/c/0", "q_h/td_reward/c/0"] {
        let found = errors(|store| fs::remove_file(store.join(chunk)).unwrap());
        let array = chunk.split("/c/").next().unwrap();
        assert!(says(&found, &[array]), "{chunk}: {found:?}");
        let found = errors(|store| fs::write(store.join(chunk), "noise").unwrap());
        assert!(says(&found, &[array]), "{chunk}: {found:?}");
    }
    for document in ["candidates/zarr.json", "candidates/shell_index/zarr.json", "dictionaries/scene/zarr.json"] {
        let found = errors(|store| fs::write(store.join(document), "{\"zarr_format\": 3").unwrap());
        assert!(!found.is_empty(), "{document}");
    }
}
