//! Stores from stores: joined, they are what writing their records in one go gives; taken apart,
//! each is what writing its own records gives.

mod command;
mod hostile;
mod promoted;
mod selection;

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use skyfall::rollouts::{
    Encoder, JoinError, JoinOptions, RolloutRecord, RolloutZarrStoreConfig, RolloutZarrWriteResult, Store,
    TargetInputProtocol, merge, validate, write_rollout_zarr_store,
};
use skyfall::value::{Map, Value};

use super::records::{config, record, with_crops, with_depth, with_facts};
use super::targets::observed;
use super::variants::{deep, typed};
use super::writing::files;
use crate::command::Scratch;
use crate::peers::python;

/// How a store is written.
type Options = fn(&mut RolloutZarrStoreConfig);

fn options() -> JoinOptions {
    JoinOptions::new("2026-11-30T00:00:00Z")
}

/// Writes a store of `records`.
fn write(scratch: &Scratch, name: &str, records: &[RolloutRecord], options: Options) -> PathBuf {
    let path = scratch.file(name);
    let mut config = config(&path);
    options(&mut config);
    write_rollout_zarr_store(records, config).unwrap();
    path
}

/// Writes one store for each run of records that ends at one of `cuts`.
fn shards(scratch: &Scratch, records: &[RolloutRecord], cuts: &[usize], options: Options) -> Vec<PathBuf> {
    let mut ends = cuts.to_vec();
    ends.push(records.len());
    let mut start = 0;
    let mut paths = Vec::new();
    for (number, end) in ends.into_iter().enumerate() {
        if start < end {
            paths.push(write(scratch, &format!("part-{number}.zarr"), &records[start..end], options));
            start = end;
        }
    }
    paths
}

fn join(parts: &[PathBuf], destination: &Path) -> Result<RolloutZarrWriteResult, JoinError> {
    merge(parts, destination, &options(), &mut |_, _, _| ())
}

/// A document of a store, without what tells of its making.
fn bare(bytes: &[u8]) -> Map {
    let value = skyfall::text::json::parse(std::str::from_utf8(bytes).unwrap()).unwrap();
    let mut map = value.as_map().unwrap().clone();
    if let Some(Value::Map(generation)) = map.get_mut("generation") {
        generation.shift_remove("origin");
        generation.shift_remove("invocation");
    }
    for key in ["attributes", "root_attrs"] {
        if let Some(Value::Map(attributes)) = map.get_mut(key) {
            attributes.shift_remove("manifest_sha256");
        }
    }
    map
}

/// The stores are the same to the byte, but for what tells of their making.
pub(crate) fn same(one: &Path, two: &Path) {
    let (one, two) = (files(one), files(two));
    assert_eq!(one.keys().collect::<Vec<_>>(), two.keys().collect::<Vec<_>>());
    for (name, bytes) in &one {
        if ["zarr.json", "manifest.json"].contains(&name.as_str()) {
            let (one, two) = (bare(bytes), bare(&two[name]));
            for (key, value) in &one {
                let told = |value: Option<&Value>| format!("{value:?}").chars().take(400).collect::<String>();
                let (own, other) = (told(Some(value)), told(two.get(key)));
                assert!(two.get(key) == Some(value), "{name} {key}: {other} is not {own}");
            }
            assert_eq!(one.len(), two.len(), "{name}");
        } else {
            assert!(two[name] == *bytes, "{name} differs");
        }
    }
}

/// A kind of store: records of it, and how it is written.
type Kind = (&'static str, fn() -> Vec<RolloutRecord>, Options);

/// A record of 1 to 3 chains of 1 to 4 steps.
fn ragged(root: i64) -> skyfall::rollouts::Datum {
    record(root, 1 + root as usize % 3, 1 + root as usize % 4)
}

const KINDS: [Kind; 9] = [
    ("plain", || typed((0..7).map(ragged)), |_| ()),
    ("depth", || typed((0..9).map(|root| with_depth(ragged(root), 12, 16))), |config| deep(config)),
    (
        "exact depth",
        || typed((0..3).map(|root| with_depth(ragged(root), 12, 16))),
        |config| {
            deep(config);
            config.selected_depth_encoder = Encoder::CBlosc;
            config.selected_depth_chunk_steps = 2;
        },
    ),
    (
        "crops",
        || typed((0..5).map(|root| with_crops(ragged(root)))),
        |config| {
            config.target_eval_crops_enabled = true;
            config.target_eval_crop_max_points = 2;
        },
    ),
    ("codec", || typed((0..5).map(|root| with_facts(ragged(root)))), |config| config.q_h_chunk_states = 3),
    (
        "everything",
        || typed((0..6).map(|root| with_facts(with_crops(with_depth(ragged(root), 12, 16))))),
        |config| {
            deep(config);
            config.target_eval_crops_enabled = true;
            config.target_eval_crop_max_points = 4;
            config.discount_gamma = 0.9;
        },
    ),
    (
        "dense",
        || typed((0..4).map(ragged)),
        |config| {
            config.oracle_query_mode = "dense_valid".to_owned();
            config.label_support_semantics = "equals_action_on_realized_steps_v1".to_owned();
        },
    ),
    ("observed", || several(&observed()), |config| config.target_protocol_version = TargetInputProtocol::V1Observed),
    ("told", || told(typed((0..6).map(ragged))), |_| ()),
];

/// The record over again under other names.
fn several(record: &RolloutRecord) -> Vec<RolloutRecord> {
    let named = |number: i32| RolloutRecord { rollout_id_prefix: format!("again-{number}"), ..record.clone() };
    (0..3).map(named).collect()
}

/// The records with what may be left out in some of them, and targets that several share.
fn told(mut records: Vec<RolloutRecord>) -> Vec<RolloutRecord> {
    for (number, record) in records.iter_mut().enumerate() {
        let (source, target) = (&mut record.source, &mut record.target);
        let row = number as i64 / 2;
        (source.source_row_id, source.source_sample_index) = (Some(row), Some(row));
        (source.source_sample_key, source.source_shard_row) = (Some(format!("toy:{row}")), Some(row));
        target.target_source_index = None;
        target.target_row_id = Some(5);
        match number % 3 {
            0 => {
                target.target_confidence = Some(0.5 + number as f32);
                target.target_class_name = Some("chair".to_owned());
                target.target_selection_policy = Some(format!("uniform-{number}"));
            }
            1 => target.target_sem_id = Some(number as i32),
            _ => {
                source.scene_id = None;
                target.target_id = None;
            }
        }
        if number % 2 == 1 {
            // Both records of a source say the same of it.
            source.scene_id = None;
        } else {
            source.scene_id = None;
            record.root_time_ns = Some(17);
            record.policy.model_checkpoint_hash = Some(format!("checkpoint-{number}"));
            record.policy.random_seed = Some(number as i64);
        }
        for (index, step) in record.trajectories.iter_mut().flat_map(|chain| &mut chain.steps).enumerate() {
            step.selection_policy = format!("policy-{number}-{}", index % 2);
            step.selection_temperature = (index % 2 == 1).then_some(0.25);
            let n = step.candidates.len();
            step.candidates.position_pair_id =
                Some((0..n as i64).map(|at| if at % 3 == 0 { -1 } else { at }).collect());
            step.candidates.gaze_variant_id = Some((0..n).map(|at| if at % 3 == 0 { -1 } else { 1 }).collect());
            step.selection_logits = Some((0..n).map(|at| at as f32).collect());
        }
        record.trajectories[0].terminated_early = number % 2 == 0;
    }
    records
}

#[test]
fn the_parts_of_any_store_make_the_store() {
    for (kind, records, options) in KINDS {
        let (scratch, records) = (Scratch::new(), records());
        let whole = write(&scratch, "whole.zarr", &records, options);
        let parts = shards(&scratch, &records, &[1, records.len() / 2], options);
        assert!(parts.len() >= 2, "{kind}");
        let result = join(&parts, &scratch.file("joined.zarr")).unwrap();
        same(&whole, &scratch.file("joined.zarr"));
        assert_eq!(result.num_steps as i64, Store::open(&whole).unwrap().attributes()["num_steps"].as_int().unwrap());
        assert_eq!(validate(&scratch.file("joined.zarr")).unwrap().errors, Vec::<String>::new(), "{kind}");
        assert!(python(&scratch, "check_store.py", &["joined.zarr"]).starts_with("ok"), "{kind}");
    }
}

#[test]
fn stores_that_differ_by_their_chains_alone_are_no_copies() {
    let (_, records, options) = KINDS[7];
    let (scratch, records) = (Scratch::new(), records());
    let whole = write(&scratch, "whole.zarr", &records, options);
    join(&shards(&scratch, &records, &[1, 2], options), &scratch.file("joined.zarr")).unwrap();
    same(&whole, &scratch.file("joined.zarr"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

    #[test]
    fn however_a_store_is_cut(kind in 0..9_usize, cuts in proptest::collection::btree_set(1..8_usize, 0..4)) {
        let (_, records, options) = KINDS[kind];
        let (scratch, records) = (Scratch::new(), records());
        let whole = write(&scratch, "whole.zarr", &records, options);
        let cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(records.len())).collect();
        let parts = shards(&scratch, &records, &cuts, options);
        join(&parts, &scratch.file("joined.zarr")).unwrap();
        same(&whole, &scratch.file("joined.zarr"));
        // A join of joins is the join.
        if let [first, rest @ ..] = &parts[..] && !rest.is_empty() {
            join(rest, &scratch.file("rest.zarr")).unwrap();
            join(&[first.clone(), scratch.file("rest.zarr")], &scratch.file("nested.zarr")).unwrap();
            same(&whole, &scratch.file("nested.zarr"));
        }
    }
}

#[test]
fn the_sidecar_tells_of_every_part() {
    let scratch = Scratch::new();
    let records = typed((0..4).map(|root| record(root, 2, 3)));
    let parts = shards(&scratch, &records, &[1], |_| ());
    join(&parts, &scratch.file("joined.zarr")).unwrap();
    let manifest = Store::open(&scratch.file("joined.zarr")).unwrap().manifest().unwrap();
    let origin = manifest.as_map().unwrap()["generation"].as_map().unwrap()["origin"].as_map().unwrap().clone();
    assert_eq!(origin["operation"].as_text(), Some("merge"));
    let told = origin["parts"].as_list().unwrap();
    assert_eq!(told.len(), 2);
    for (part, path) in told.iter().zip(&parts) {
        let (part, attributes) = (part.as_map().unwrap(), Store::open(path).unwrap().attributes());
        assert_eq!(part["manifest_sha256"], attributes["manifest_sha256"]);
        assert_eq!(part["counts"].as_map().unwrap()["steps"], attributes["num_steps"]);
        assert_eq!(part["name"].as_text(), path.file_name().unwrap().to_str());
    }
    assert_eq!(told[1].as_map().unwrap()["first_rows"].as_map().unwrap()["steps"], Value::Int(6));
}

#[test]
fn neither_threads_nor_memory_show() {
    let scratch = Scratch::new();
    let records = typed((0..40).map(|root| with_depth(record(root, 2, 4), 12, 16)));
    let parts = shards(&scratch, &records, &[3, 20], deep);
    join(&parts, &scratch.file("many.zarr")).unwrap();
    let many = files(&scratch.file("many.zarr"));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| join(&parts, &scratch.file("one.zarr"))).unwrap();
    assert!(files(&scratch.file("one.zarr")) == many);
    let options = JoinOptions { memory_bytes: 64 << 20, ..options() };
    merge(&parts, &scratch.file("little.zarr"), &options, &mut |_, _, _| ()).unwrap();
    assert!(files(&scratch.file("little.zarr")) == many);
}
