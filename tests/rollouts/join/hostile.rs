//! Parts that do not go together, or are not what they say.

use std::path::PathBuf;

use skyfall::rollouts::{RolloutRecord, Store, write_rollout_zarr_store};

use super::{join, shards, typed, write};
use crate::command::Scratch;
use crate::rollouts::records::{config, record};
use crate::rollouts::writing::files;

fn two() -> Vec<RolloutRecord> {
    typed((0..2).map(|root| record(root, 1, 2)))
}

/// Joins two stores of one record each, the second after `change`; returns why that is refused.
fn refused(change: impl FnOnce(&mut RolloutRecord, &mut skyfall::rollouts::RolloutZarrStoreConfig)) -> String {
    let scratch = Scratch::new();
    let mut records = two();
    let first = write(&scratch, "first.zarr", &records[..1], |_| ());
    let second = scratch.file("second.zarr");
    let mut config = config(&second);
    change(&mut records[1], &mut config);
    write_rollout_zarr_store(&records[1..], config).unwrap();
    let line = join(&[first, second], &scratch.file("joined.zarr")).unwrap_err().to_string();
    assert!(!scratch.file("joined.zarr").exists());
    assert_eq!(scratch.tree().iter().filter(|name| name.starts_with('.')).count(), 0, "no debris");
    line
}

#[test]
fn parts_that_were_not_written_alike_are_named_with_what_differs() {
    let line = refused(|_, config| (config.discount_gamma, config.field_retention_policy) = (0.5, "full".to_owned()));
    for word in ["second.zarr", "first.zarr", "discount_gamma is 0.5, not 0.95", "field_retention_policy is \"full\""] {
        assert!(line.contains(word), "{word}: {line}");
    }
    let line = refused(|record, _| record.source.split = Some("val".to_owned()));
    assert!(line.contains("source_split is \"val\", not \"train\""), "{line}");
    let line = refused(|_, config| {
        config.oracle_query_mode = "dense_valid".to_owned();
        config.label_support_semantics = "equals_action_on_realized_steps_v1".to_owned();
    });
    assert!(line.contains("oracle_query_mode") && line.contains("label_support_semantics"), "{line}");
    let line = refused(|_, config| config.source_offline_store_version = "8".to_owned());
    assert!(line.contains("source_offline_store_version"), "{line}");
}

#[test]
fn a_sample_is_one_source() {
    let line = refused(|record, _| {
        record.source.source_sample_index = Some(0);
        record.source.source_row_id = Some(5);
    });
    assert!(line.contains("sample 0 is `toy:1`") && line.contains("not `toy:0`"), "{line}");
}

#[test]
fn a_target_can_be_trained_on_or_not() {
    let line = refused(|record, _| {
        let first = &two()[0];
        record.source = first.source.clone();
        record.target.gt_match_status = Some("unmatched_gt".to_owned());
    });
    assert!(line.contains("target `point` can be trained on here or in an earlier part"), "{line}");
}

#[test]
fn sources_whose_rows_have_one_name_are_counted_anew() {
    let scratch = Scratch::new();
    let mut records = typed((0..4).map(|root| record(root, 1, 2)));
    // Each part numbers its rows from 0, though samples are told apart.
    for (number, record) in records.iter_mut().enumerate() {
        record.source.source_row_id = Some(number as i64 % 2);
    }
    let parts = shards(&scratch, &records, &[2], |_| ());
    join(&parts, &scratch.file("joined.zarr")).unwrap();
    let joined = Store::open(&scratch.file("joined.zarr")).unwrap();
    assert_eq!(joined.array("sources/source_row_id").unwrap().as_i64().unwrap(), [0, 1, 2, 3]);
    assert_eq!(joined.array("sources/sample_index").unwrap().as_i64().unwrap(), [0, 1, 2, 3]);
    assert_eq!(joined.array("rollouts/source_row_id").unwrap().as_i64().unwrap(), [0, 1, 2, 3]);
    assert_eq!(joined.array("targets/target_row_id").unwrap().as_i64().unwrap(), [0, 1, 2, 3]);
    let origin = joined.manifest().unwrap().as_map().unwrap()["generation"].as_map().unwrap()["origin"].clone();
    assert_eq!(origin.as_map().unwrap()["source_rows"].as_text(), Some("renumbered"));
}

#[test]
fn a_part_is_given_once_and_is_not_the_destination() {
    let scratch = Scratch::new();
    let parts = shards(&scratch, &two(), &[1], |_| ());
    let refusal = |parts: &[PathBuf], to: &str| join(parts, &scratch.file(to)).unwrap_err().to_string();
    let before = files(&parts[0]);
    assert!(refusal(&parts, "part-0.zarr").contains("is one of the stores to be read"));
    std::os::unix::fs::symlink(&parts[0], scratch.file("link")).unwrap();
    assert!(refusal(&parts, "link").contains("is one of the stores to be read"));
    let twice = [parts[0].clone(), scratch.file("link")];
    assert!(refusal(&twice, "joined.zarr").contains("given twice"));
    for (name, bytes) in files(&parts[0]) {
        let copy = scratch.file("copy.zarr").join(name);
        std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
        std::fs::write(copy, bytes).unwrap();
    }
    let line = refusal(&[parts[0].clone(), scratch.file("copy.zarr")], "joined.zarr");
    assert!(line.contains("given twice") && line.contains("part-0.zarr"), "{line}");
    assert!(refusal(&parts, "part-0.zarr/inside").contains("lies inside another store"));
    assert!(refusal(&[], "joined.zarr").contains("no store is given"));
    assert!(refusal(&[scratch.file("nowhere")], "joined.zarr").contains("no store at"));
    assert!(files(&parts[0]) == before);
}

#[test]
fn damage_is_named_by_part() {
    let scratch = Scratch::new();
    let parts = shards(&scratch, &two(), &[1], |_| ());
    let chunk = parts[1].join("candidates/position_id/c/0");
    let mut bytes = std::fs::read(&chunk).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&chunk, bytes).unwrap();
    let line = join(&parts, &scratch.file("joined.zarr")).unwrap_err().to_string();
    assert!(line.contains("part-1.zarr") && line.contains("position_id"), "{line}");
    assert!(!scratch.file("joined.zarr").exists());
}

#[test]
fn columns_of_others_are_not_lost_in_silence() {
    let scratch = Scratch::new();
    let parts = shards(&scratch, &two(), &[1], |_| ());
    let (from, to) = (parts[1].join("steps/step_row_id"), parts[1].join("steps/notes"));
    for (name, bytes) in files(&from) {
        std::fs::create_dir_all(to.join(&name).parent().unwrap()).unwrap();
        std::fs::write(to.join(name), bytes).unwrap();
    }
    let line = join(&parts, &scratch.file("joined.zarr")).unwrap_err().to_string();
    assert!(line.contains("steps/notes is no column of the schema"), "{line}");
}

#[test]
fn a_chain_that_two_parts_have_is_not_doubled() {
    let scratch = Scratch::new();
    let records = typed((0..3).map(|root| record(root, 1, 2)));
    let first = write(&scratch, "first.zarr", &records[..2], |_| ());
    let second = write(&scratch, "second.zarr", &records[1..], |_| ());
    let line = join(&[first, second], &scratch.file("joined.zarr")).unwrap_err().to_string();
    for word in ["first.zarr", "second.zarr", "`root-000001-000000`"] {
        assert!(line.contains(word), "{word}: {line}");
    }
    assert!(!scratch.file("joined.zarr").exists());
}
