//! Targets: one row each, renumbered as they come, trained on where the protocol's evidence says.

use skyfall::rollouts::{
    RolloutRecord, RolloutZarrStoreConfig, Store, TargetInputProtocol, Validation, validate, write_rollout_zarr_store,
};

use super::records::{config, records};

/// Writes the records and opens what is written, which the validator finds sound.
fn written(records: &[RolloutRecord], options: impl FnOnce(&mut RolloutZarrStoreConfig)) -> (tempfile::TempDir, Store) {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path().join("s");
    let mut config = config(&directory);
    options(&mut config);
    write_rollout_zarr_store(records, config).unwrap();
    let Validation { errors, .. } = validate(&directory).unwrap();
    assert_eq!(errors, Vec::<String>::new());
    let store = Store::open(&directory).unwrap();
    (scratch, store)
}

fn trains(store: &Store) -> bool {
    store.array("candidates/q_train_mask").unwrap().as_bool().unwrap().contains(&true)
}

#[test]
fn targets_are_renumbered_by_source_and_identity() {
    let mut all = records(2);
    for record in &mut all {
        record.target.target_source_index = None;
        record.target.target_row_id = Some(7);
    }
    let mut second = all[0].clone();
    second.rollout_id_prefix = "again".to_owned();
    second.target.target_row_id = Some(9);
    second.target.target_id = Some("other point".to_owned());
    all.push(second);
    let mut third = all[0].clone();
    third.target.target_confidence = Some(0.5);
    all.push(third);
    let (_scratch, store) = written(&all, |_| ());
    assert_eq!(store.array("targets/target_row_id").unwrap().as_i64().unwrap(), [0, 1, 2]);
    assert_eq!(store.array("targets/target_source_index").unwrap().as_i32().unwrap(), [7, 7, 9]);
    assert_eq!(store.array("targets/target_confidence").unwrap().as_f32().unwrap()[0], 0.5, "a later record adds");
    let rows = store.array("rollouts/target_row_id").unwrap();
    assert_eq!(rows.as_i64().unwrap(), [0, 0, 1, 1, 2, 2, 0, 0]);
    assert_eq!(store.array("sources/source_row_id").unwrap().len(), 2, "a source has one row");
}

#[test]
fn an_unmatched_target_is_kept_and_not_trained_on() {
    let mut all = records(1);
    all[0].target.gt_match_status = Some("unmatched_gt".to_owned());
    let (_scratch, store) = written(&all, |_| ());
    assert!(!trains(&store));
    let labelled = store.array("candidates/oracle_label_mask").unwrap();
    assert!(labelled.as_bool().unwrap().contains(&true), "labels stay");
}

/// The record of an observed target whose hash is the reference's own example.
pub fn observed() -> RolloutRecord {
    let mut record = records(1).remove(0);
    record.source.source_sample_key = Some("fixture:smoke:0".to_owned());
    let target = &mut record.target;
    let text = |text: &str| Some(text.to_owned());
    target.target_id = text("fixture-target-0");
    target.target_source = text("detected_obbs");
    target.descriptor_source = text("detected_obbs");
    target.descriptor_provenance = text("actor_visible_detector");
    target.descriptor_hash = Some("c".repeat(64));
    target.explicit_target_hash = text("b249a06f2aa34b26");
    target.matched_gt_target_row_id = Some(100);
    target.matched_gt_target_id = text("fixture-gt-target-0");
    target.gt_match_status = text("admitted");
    target.gt_match_iou = Some(0.7);
    target.target_invalid_reason_bitset = Some(1);
    record
}

fn v1(config: &mut RolloutZarrStoreConfig) {
    config.target_protocol_version = TargetInputProtocol::V1Observed;
}

#[test]
fn an_observed_target_trains_on_its_own_hash() {
    let (_scratch, store) = written(&[observed()], v1);
    assert!(trains(&store));
    // Silence about validity is no validity under this protocol.
    let mut silent = observed();
    silent.target.target_invalid_reason_bitset = None;
    let (_scratch, store) = written(&[silent], v1);
    assert!(!trains(&store));
    assert_eq!(store.array("targets/target_invalid_reason_bitset").unwrap().as_u32().unwrap(), [0]);

    let scratch = tempfile::tempdir().unwrap();
    let mut config = config(scratch.path().join("s"));
    v1(&mut config);
    let mut other = observed();
    other.target.gt_match_iou = Some(0.75);
    let line = write_rollout_zarr_store(&[other], config.clone()).unwrap_err().to_string();
    assert!(line.contains("target.explicit_target_hash"), "{line}");
    let line = write_rollout_zarr_store(&records(1), config).unwrap_err().to_string();
    assert!(line.contains("target.target_source") && line.contains("v1_observed"), "{line}");
}

#[test]
fn sums_take_the_target_s_labels_for_the_target_only() {
    let mut all = records(1);
    for step in all[0].trajectories.iter_mut().flat_map(|chain| &mut chain.steps) {
        let generic = step.labels[1].1.clone();
        step.labels.push(("rri".to_owned(), generic));
    }
    let (_scratch, store) = written(&all, |_| ());
    let sums = |name: &str| store.array(&format!("steps/cumulative_{name}")).unwrap().as_f32().unwrap().to_vec();
    assert!(sums("target_rri").iter().all(|sum| sum.is_finite()));
    assert!(sums("scene_rri").iter().all(|sum| sum.is_nan()), "a general rri is not the scene's");
}
