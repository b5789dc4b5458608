//! What the validator would reject never enters a store: the record, chain, step and field at
//! fault are named, and nothing is written.

use skyfall::array::Array;
use skyfall::rollouts::{Datum, RolloutRecord, RolloutZarrStoreConfig, Writer, validate};
use skyfall::value::{Map, Value};

use super::records::{array, at, config, floats, int, record, records, text, with_crops, with_depth, with_facts};

/// What the writer says of a record after a change to one field.
fn refusal(path: &str, change: impl FnOnce(&mut Datum)) -> String {
    let mut datum = record(3, 1, 2);
    change(at(&mut datum, path));
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path().join("rollouts.zarr");
    let mut writer = Writer::new(config(&directory)).unwrap();
    let answer = match RolloutRecord::from_datum(&datum) {
        Ok(record) => writer.add(&record).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    drop(writer);
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0, "nothing is written");
    answer.map(|()| format!("{path} was accepted")).unwrap_or_else(|error| error)
}

/// Every change is refused by a line that names its place and says these words.
fn refused(cases: Vec<(&str, Datum, &str)>) {
    for (path, value, words) in cases {
        let line = refusal(path, |field| *field = value);
        assert!(line.starts_with("root-000003: "), "{path}: {line}");
        for word in words.split('|') {
            assert!(line.contains(word), "{path}: `{line}` does not say `{word}`");
        }
    }
}

const STEP: &str = "trajectories[0].steps[1]";

#[test]
fn vectors_have_one_element_a_candidate() {
    let candidates = |field: &str| format!("trajectories.0.steps.1.candidates.{field}");
    for field in ["strategy_id", "mixture_id", "sampler_probability", "extras.motion_yaw_delta_rad"] {
        let line = refusal(&candidates(field), |value| *value = array(&[1_i32; 2]));
        assert!(line.contains(&format!("{STEP}.candidates.{field}")) && line.contains("got 2"), "{line}");
    }
    for field in ["mask_valid", "extras.path_collision_mask"] {
        let line = refusal(&candidates(field), |value| *value = array(&[true; 2]));
        assert!(line.contains(&format!("{STEP}.candidates.{field}")) && line.contains("got 2"), "{line}");
    }
    let line = refusal("trajectories.0.steps.1.labels.target_rri", |value| *value = floats(&[0.5; 20]));
    assert!(line.contains(&format!("{STEP}.labels.target_rri")) && line.contains("got 20"), "{line}");
}

#[test]
fn poses_are_whole_and_finite() {
    let ragged = Datum::List(vec![floats(&[1.0; 12]), floats(&[1.0; 11])]);
    let mut hole = [1.0; 12];
    hole[4] = f64::NAN;
    refused(vec![
        ("root_pose_world", floats(&[1.0; 11]), "root_pose_world|must hold 12 numbers, got 11"),
        ("root_pose_world", floats(&hole), "root_pose_world|must be finite"),
        ("root_pose_world", floats(&[1.0; 12]), "root_pose_world|must be a rotation"),
        ("target.target_pose_world_object", floats(&[0.5; 12]), "target.target_pose_world_object|must be a rotation"),
        ("target.target_extents", floats(&[1.0, -1.0, 1.0]), "target.target_extents|not negative"),
        ("trajectories.0.steps.1.candidates.shell_poses.0", floats(&[2.0; 12]), "shell_poses[0]|must be a rotation"),
        ("trajectories.0.steps.1.candidates.shell_poses", ragged, "steps[1].candidates.shell_poses[1]|12|11"),
        ("trajectories.0.steps.1.candidates.shell_poses.0", floats(&hole), "shell_poses[0]|must be finite"),
        ("target.target_center_world", floats(&[0.0; 2]), "target.target_center_world|3 numbers, got 2"),
    ]);
}

#[test]
fn numbers_fit_their_columns() {
    refused(vec![
        ("horizon", int(40_000), "horizon|from -32768 to 32767, got 40000"),
        ("horizon", int(0), "horizon|at least 1, got 0"),
        ("horizon", Datum::Value(Value::Float(2.5)), "horizon|integer"),
        ("root_frame_index", int(1 << 40), "root_frame_index|to 2147483647, got 1099511627776"),
        ("target.gt_match_iou", Datum::Value(Value::Float(1e300)), "target.gt_match_iou|float32"),
    ]);
    let line = refusal("trajectories.0.steps.1.candidates.position_id", |value| {
        let Datum::Array(old) = &*value else { panic!("an array") };
        *value = array(&vec![1_i64 << 40; old.len()]);
    });
    assert!(line.contains("position_id[0]") && line.contains("1099511627776"), "{line}");
    let line = refusal("trajectories.0.steps.1.labels.target_rri", |value| {
        let Datum::Array(old) = &*value else { panic!("an array") };
        *value = array(&vec![1e300_f64; old.len()]);
    });
    assert!(line.contains("labels.target_rri[0]") && line.contains("1e+300"), "{line}");
}

#[test]
fn large_integers_are_not_rounded() {
    let pair = (1_i64 << 53) + 1;
    let mut datum = record(3, 1, 1);
    let n = match at(&mut datum, "trajectories.0.steps.0.candidates.position_id") {
        Datum::Array(old) => old.len(),
        other => panic!("{other:?}"),
    };
    *at(&mut datum, "trajectories.0.steps.0.candidates.position_pair_id") = array(&vec![pair; n]);
    *at(&mut datum, "trajectories.0.steps.0.candidates.gaze_variant_id") = array(&vec![0_i8; n]);
    let record = RolloutRecord::from_datum(&datum).unwrap();
    assert_eq!(record.trajectories[0].steps[0].candidates.position_pair_id, Some(vec![pair; n]));
}

#[test]
fn unknown_keys_name_the_nearest() {
    refused(vec![
        ("root_time", int(1), "unknown key `root_time`|root_time_ns"),
        ("source.scene", text("a"), "source|unknown key `scene`|scene_id"),
        ("trajectories.0.steps.0.candidates.extras.path_collision", array(&[true]), "steps[0].candidates.extras|mask"),
    ]);
}

#[test]
fn what_is_missing_is_named() {
    for path in ["selection_policy", "source.source_shard_id", "policy.oracle_config_hash", "target.target_crop_policy"]
    {
        let line = refusal(path, |value| *value = Datum::Value(Value::Null));
        assert!(line.contains(path) && line.contains("missing"), "{path}: {line}");
    }
    let line = refusal("trajectories.0.steps.1.candidates.extras", |extras| {
        let Datum::Map(map) = extras else { panic!("a map") };
        map.shift_remove("path_collision_evaluated_mask");
    });
    assert!(line.contains(&format!("{STEP}.candidates.extras.path_collision_evaluated_mask")), "{line}");
    refused(vec![
        ("trajectories", Datum::List(Vec::new()), "trajectories|at least one chain"),
        ("trajectories.0.steps", Datum::List(Vec::new()), "trajectories[0].steps|at least one step"),
        ("trajectories.0.steps.1.step_index", int(7), "steps[1].step_index|must be 1"),
        ("trajectories.0.steps.1.selected_shell_index", int(99), "steps[1].selected_shell_index|99 is outside"),
    ]);
}

#[test]
fn a_record_does_not_contradict_its_store() {
    refused(vec![
        ("source.split_manifest_hash", text("other"), "source.split_manifest_hash|other|fixture-split-manifest"),
        ("target.target_protocol_version", text("v1_observed"), "target_protocol_version|v0_gt_input"),
        ("policy.reason_code_version", text("v9"), "reason_code_version|v9"),
        ("target.target_source", text("detected_obbs"), "target.target_source|not admitted"),
        ("target.target_id", text("AriaSyntheticEnvironment_1_AtekDataSample_2"), "target.target_id|another snippet"),
    ]);
    let scratch = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(config(scratch.path().join("s"))).unwrap();
    let mut pair = records(2);
    pair[1].source.split = Some("test".to_owned());
    writer.add(&pair[0]).unwrap();
    let line = writer.add(&pair[1]).unwrap_err().to_string();
    assert!(line.contains("source.split") && line.contains("test") && line.contains("train"), "{line}");
    pair[1].source = pair[0].source.clone();
    pair[1].source.scene_id = Some("circle".to_owned());
    let line = writer.add(&pair[1]).unwrap_err().to_string();
    assert!(line.contains("source row 0"), "{line}");
    // The same target, matched in one record and not in the other.
    pair[1].source = pair[0].source.clone();
    pair[1].target.gt_match_status = Some("unmatched_gt".to_owned());
    let line = writer.add(&pair[1]).unwrap_err().to_string();
    assert!(line.starts_with("root-000001: target"), "{line}");
    // What was refused left nothing behind.
    writer.finish().unwrap();
    assert_eq!(validate(&scratch.path().join("s")).unwrap().errors, Vec::<String>::new());
}

#[test]
fn labels_bear_out_the_masks() {
    let gain = |value: f32| {
        move |labels: &mut Datum| {
            let Datum::Array(Array::F64(cells)) = labels else { panic!("an array") };
            cells.fill(f64::from(value));
        }
    };
    let line = refusal("trajectories.0.steps.1.labels.target_rri", gain(f32::NAN));
    assert!(line.contains(&format!("{STEP}.labels.target_rri")) && line.contains("finite"), "{line}");

    let scratch = tempfile::tempdir().unwrap();
    let dense = RolloutZarrStoreConfig {
        oracle_query_mode: "dense_valid".to_owned(),
        label_support_semantics: "equals_action_on_realized_steps_v1".to_owned(),
        ..config(scratch.path().join("dense"))
    };
    let mut datum = record(3, 1, 2);
    let mut writer = Writer::new(dense.clone()).unwrap();
    writer.add(&RolloutRecord::from_datum(&datum).unwrap()).unwrap();
    writer.finish().unwrap();
    assert!(validate(&scratch.path().join("dense")).unwrap().ok());
    gain(f32::NAN)(at(&mut datum, "trajectories.0.steps.1.labels.target_root_gain"));
    let mut writer = Writer::new(dense).unwrap();
    let line = writer.add(&RolloutRecord::from_datum(&datum).unwrap()).unwrap_err().to_string();
    assert!(line.contains(&format!("{STEP}.labels.target_root_gain")) && line.contains("dense"), "{line}");
}

#[test]
fn typed_records_are_checked_too() {
    let scratch = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(config(scratch.path().join("s"))).unwrap();
    let mut record = records(1).remove(0);
    record.trajectories[1].steps[2].labels[0].1.pop();
    let line = writer.add(&record).unwrap_err().to_string();
    assert!(line.starts_with("root-000000: trajectories[1].steps[2].labels.target_root_gain"), "{line}");
}

#[test]
fn options_hold_together() {
    let read = |options: &[(&str, Value)]| {
        let mut map: Map = options.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        map.insert("store_dir".to_owned(), "s".into());
        RolloutZarrStoreConfig::from_options(&map, "2026-11-30T00:00:00Z".to_owned()).unwrap_err().to_string()
    };
    for (options, words) in [
        (vec![("discount_gama", Value::Float(0.5))], "discount_gama|did you mean `discount_gamma`"),
        (vec![("discount_gamma", Value::Float(-0.5))], "discount_gamma|not negative"),
        (vec![("discount_gamma", Value::Float(f64::NAN))], "discount_gamma|finite"),
        (vec![("discount_gamma", "high".into())], "discount_gamma|number"),
        (vec![("q_h_chunk_states", Value::Int(0))], "q_h_chunk_states|from 1 to"),
        (vec![("oracle_query_mode", "dense_valid".into())], "oracle_query_mode"),
        (vec![("target_protocol_version", "v1-observed".into())], "target_protocol_version|v1_observed"),
        (vec![("created_at_utc", "yesterday".into())], "created_at_utc|YYYY"),
        (vec![("split_manifest_hash", "".into())], "split_manifest_hash|empty"),
    ] {
        let line = read(&options);
        assert!(words.split('|').all(|word| line.contains(word)), "{line} does not say {words}");
    }
}

#[test]
fn depth_that_is_enabled_must_be_there() {
    let scratch = tempfile::tempdir().unwrap();
    let enabled = RolloutZarrStoreConfig { selected_depth_enabled: true, ..config(scratch.path().join("s")) };
    let mut writer = Writer::new(enabled).unwrap();
    let line = writer.add(&records(1)[0]).unwrap_err().to_string();
    assert!(line.contains("root-000000: trajectories[0].steps[0].selected_depth"), "{line}");
    assert!(line.contains("selected_depth_enabled"), "{line}");
}

/// What `change` to a step of a record with depth, crops and the codec's facts is refused with.
fn step_refusal(path: &str, change: impl FnOnce(&mut Datum)) -> String {
    let mut datum = with_facts(with_crops(with_depth(record(3, 1, 2), 4, 6)));
    change(at(&mut datum, &format!("trajectories.0.steps.1.{path}")));
    let scratch = tempfile::tempdir().unwrap();
    let mut config = config(scratch.path().join("rollouts.zarr"));
    config.selected_depth_enabled = true;
    (config.selected_depth_height_px, config.selected_depth_width_px) = (4, 6);
    config.target_eval_crops_enabled = true;
    let record = match RolloutRecord::from_datum(&datum) {
        Ok(record) => record,
        Err(error) => return error.to_string(),
    };
    let mut writer = Writer::new(config).unwrap();
    writer.add(&record).map_or_else(|error| error.to_string(), |()| format!("{path} was accepted"))
}

#[test]
fn depth_crops_and_facts_must_hold_together() {
    let depth = |cells: usize, metres: f32| {
        let cells = vec![metres; cells];
        Datum::Array(Array::from_vec(&[4, cells.len() / 4], cells).unwrap())
    };
    let cases: Vec<(&str, Datum, &str)> = vec![
        ("selected_depth.depth_m", depth(20, 1.0), "valid_mask: is of shape [4, 6]|[4, 5]"),
        ("selected_depth.depth_m", depth(24, 30.0), "depth_m[0][1]|30 m as float16|0.001 and 20 m"),
        ("selected_depth.depth_m", depth(24, f32::NAN), "depth_m[0][1]"),
        ("selected_depth.depth_m", floats(&[1.0; 24]), "depth_m"),
        ("selected_depth.focal_px", floats(&[0.0, 1.0]), "focal_px: must be finite and greater than 0"),
        ("selected_depth.principal_point_px", floats(&[f64::NAN, 1.0]), "principal_point_px: must be finite"),
        ("selected_depth.image_size_hw", floats(&[4.0, 7.0]), "image_size_hw"),
        ("target_eval.candidate_point_lengths", array(&[1_i64]), "candidate_point_lengths: must have one entry"),
        ("candidate_trace_facts.candidate_program_hash", text("A"), "candidate_program_hash: must be 64 lowercase"),
        ("candidate_trace_facts.legacy_candidate_config_hash", text("x"), "policy.candidate_config_hash, `cand`"),
        ("candidate_trace_facts.valid_indices", array::<i32>(&[]), "valid_indices: must be the shell indices"),
        ("candidate_trace_facts.codec_version", text("v2"), "codec_version: must be candidate-trace-v1, got v2"),
        ("candidate_trace_facts.completion_mode", text("x"), "completion_mode: must be fixed_attempts"),
        ("candidate_trace_facts.proposal_replica", int(0), "proposal_key_revision"),
        (
            "candidate_trace_facts.criteria.0.criterion",
            text("support"),
            "criteria[1].criterion: `support` is there twice",
        ),
        ("candidate_trace_facts.criteria.0.margin", array(&[0.5_f32]), "criteria[0].margin: must have one element"),
    ];
    for (path, datum, words) in cases {
        let line = step_refusal(path, |place| *place = datum);
        for word in words.split('|') {
            assert!(line.contains(word) && line.contains("root-000003: trajectories[0].steps[1]."), "{path}: {line}");
        }
    }
    let line = step_refusal("candidate_trace_facts", |facts| *facts = Datum::Value(Value::Null));
    assert!(line.contains("all have it, or none"), "{line}");
}

#[test]
fn probabilities_are_from_0_to_1() {
    let steps = "trajectories.0.steps.1";
    let mut count = 0;
    let line = refusal(&format!("{steps}.candidates.sampler_probability"), |value| {
        let Datum::Array(old) = &*value else { panic!("an array") };
        count = old.len();
        *value = floats(&vec![1.5; count]);
    });
    assert!(line.contains("sampler_probability[0]: must be a probability, from 0 to 1"), "{line}");
    let line = refusal(&format!("{steps}.selection_probabilities"), |value| *value = floats(&vec![-0.5; count]));
    assert!(line.contains("selection_probabilities[0]: must be a probability, from 0 to 1"), "{line}");
}
