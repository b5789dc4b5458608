//! Stores of every kind: what is written passes our validator and an independent one in Python.

use std::path::Path;

use skyfall::rollouts::{
    Datum, Encoder, RolloutRecord, RolloutZarrStoreConfig, Store, TargetInputProtocol, validate,
    write_rollout_zarr_store,
};
use skyfall::value::Value;

use super::records::{self, config, record, with_crops, with_depth, with_facts};
use super::targets::observed;
use crate::command::Scratch;
use crate::peers::python;

const HEIGHT: usize = 12;
const WIDTH: usize = 16;

pub fn typed(records: impl Iterator<Item = Datum>) -> Vec<RolloutRecord> {
    records.map(|datum| RolloutRecord::from_datum(&datum).unwrap()).collect()
}

pub fn deep(config: &mut RolloutZarrStoreConfig) {
    config.selected_depth_enabled = true;
    config.selected_depth_height_px = HEIGHT as u32;
    config.selected_depth_width_px = WIDTH as u32;
}

/// The store is right by our validator and by the one in Python.
fn right(scratch: &Scratch, records: &[RolloutRecord], options: impl FnOnce(&mut RolloutZarrStoreConfig)) -> Store {
    let directory = scratch.file("rollouts.zarr");
    let mut config = config(&directory);
    options(&mut config);
    write_rollout_zarr_store(records, config).unwrap();
    assert_eq!(validate(&directory).unwrap().errors, Vec::<String>::new());
    assert!(python(scratch, "check_store.py", &["rollouts.zarr"]).starts_with("ok"));
    Store::open(&directory).unwrap()
}

#[test]
fn depth_in_one_chunk_and_in_shards() {
    for (roots, encoder) in [(1, Encoder::Fast), (1, Encoder::CBlosc), (40, Encoder::Fast)] {
        let scratch = Scratch::new();
        let records = typed((0..roots).map(|root| with_depth(record(root, 2, 4), HEIGHT, WIDTH)));
        let store = right(&scratch, &records, |config| {
            deep(config);
            config.selected_depth_encoder = encoder;
        });
        let steps = 8 * usize::try_from(roots).unwrap();
        let depth = store.array("selected_depth/depth_m").unwrap();
        assert_eq!(depth.shape(), [steps, HEIGHT, WIDTH]);
        let first: Vec<f32> = depth.as_slice::<half::f16>().unwrap()[..3].iter().map(|depth| depth.to_f32()).collect();
        // The first pixel is not valid, so it is the fill value whatever was given.
        assert_eq!(first, [0.0, 1.125, 1.25]);
        assert_eq!(store.array("selected_depth/candidate_row_id").unwrap().len(), steps);
        assert_eq!(store.attributes()["num_selected_depths"], Value::Int(steps as i64));
        let told = store.attributes()["selected_depth_encoder"].as_text().unwrap().to_owned();
        assert_eq!(told.contains("level 9"), encoder == Encoder::CBlosc, "{told}");
    }
}

#[test]
fn crops_keep_finite_points_up_to_their_width() {
    let scratch = Scratch::new();
    let records = typed((0..2).map(|root| with_crops(record(root, 1, 3))));
    let store = right(&scratch, &records, |config| {
        config.target_eval_crops_enabled = true;
        config.target_eval_crop_max_points = 2;
    });
    let lengths = store.array("target_eval_crops/lengths").unwrap();
    let roles = store.array("target_eval_crops/source_role_id").unwrap();
    assert_eq!(lengths.as_i32().unwrap()[0], 1, "the point that is not finite is left out");
    assert_eq!(roles.as_i32().unwrap()[..2], [0, 1]);
    assert!(lengths.as_i32().unwrap().iter().all(|length| *length <= 2));
    let points = store.array("target_eval_crops/points_world").unwrap();
    assert_eq!(points.shape(), [lengths.len(), 2, 3]);
}

#[test]
fn the_candidate_codec_leaves_the_other_tables_as_they_are() {
    let scratch = Scratch::new();
    let plain = right(&scratch, &typed((0..3).map(|root| record(root, 2, 3))), |_| ());
    let poses = plain.array("candidates/pose_world_cam").unwrap();
    let coded = right(&scratch, &typed((0..3).map(|root| with_facts(record(root, 2, 3)))), |_| ());
    assert_eq!(coded.array("candidates/pose_world_cam").unwrap(), poses);
    let candidates = poses.shape()[0];
    assert_eq!(coded.array("candidate_semantics/center_id").unwrap().len(), candidates);
    assert_eq!(coded.array("candidate_criteria/margin").unwrap().len(), 2 * candidates);
    let margins = coded.array("candidate_criteria/margin").unwrap();
    assert!(margins.as_f32().unwrap()[1].is_nan(), "what is not available says nothing");
    assert_eq!(coded.attributes()["candidate_trace_criterion_rows"], Value::Int(2 * candidates as i64));
}

#[test]
fn dense_supervision_and_observed_targets() {
    let scratch = Scratch::new();
    let dense = right(&scratch, &records::records(2), |config| {
        config.oracle_query_mode = "dense_valid".to_owned();
        config.label_support_semantics = "equals_action_on_realized_steps_v1".to_owned();
    });
    assert_eq!(dense.array("q_h/q_train_mask").unwrap(), dense.array("q_h/valid_action_mask").unwrap());
    let scratch = Scratch::new();
    right(&scratch, &[observed()], |config| config.target_protocol_version = TargetInputProtocol::V1Observed);
}

#[test]
fn a_campaign_s_store_is_bound_to_its_split() {
    let scratch = Scratch::new();
    let mut records = records::records(3);
    let write = |records: &[RolloutRecord], hash: &str| {
        let mut config = config(scratch.file("rollouts.zarr"));
        config.split_manifest_hash = hash.to_owned();
        write_rollout_zarr_store(records, config).map_err(|error| error.to_string())
    };
    for record in &mut records {
        record.source.campaign_split = Some("validation".to_owned());
    }
    let line = write(&records, "guess").unwrap_err();
    assert!(line.contains("source.split_manifest_hash: is missing"), "{line}");
    let bind = |records: &mut [RolloutRecord], hash: &str| {
        for record in records {
            record.source.split_manifest_hash = Some(hash.to_owned());
        }
    };
    bind(&mut records, "guess");
    let line = write(&records, "guess").unwrap_err();
    let (_, hash) = line.rsplit_once(' ').unwrap();
    assert!(!Path::new(&scratch.file("rollouts.zarr")).exists());
    bind(&mut records, hash);
    write(&records, hash).unwrap();
    let store = scratch.file("rollouts.zarr");
    assert_eq!(validate(&store).unwrap().errors, Vec::<String>::new());
    assert_eq!(Store::open(&store).unwrap().attributes()["campaign_split"].as_text(), Some("validation"));
    assert!(python(&scratch, "check_store.py", &["rollouts.zarr"]).starts_with("ok"));
    records[1].source.campaign_split = None;
    assert!(write(&records, hash).unwrap_err().contains("all are bound, or none"));
}
