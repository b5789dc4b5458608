//! Reading a store: rows, tables, shells, chains and batches.

use std::path::PathBuf;

use skyfall::array::Array;
use skyfall::diagnostic::Problem;
use skyfall::rollouts::{ChainError, ChainOptions, ChainReader, Store, write_rollout_zarr_store};
use skyfall::value::Value;
use tempfile::TempDir;

use super::records::{config, records};

fn store(scratch: &TempDir, name: &str, roots: i64, gamma: f64) -> PathBuf {
    let path = scratch.path().join(name);
    let options = skyfall::rollouts::RolloutZarrStoreConfig { discount_gamma: gamma, ..config(&path) };
    write_rollout_zarr_store(&records(roots), options).unwrap();
    path
}

/// Equal, NaN to NaN.
fn same(one: &Array, two: &Array) -> bool {
    one.shape() == two.shape()
        && one.numbers().zip(two.numbers()).all(|(one, two)| one == two || one.is_nan() && two.is_nan())
}

#[test]
fn rows_and_tables_are_parts_of_arrays() {
    let scratch = tempfile::tempdir().unwrap();
    let store = Store::open(&store(&scratch, "a.zarr", 3, 0.95)).unwrap();
    for path in ["candidates/pose_world_cam", "q_h/td_reward", "q_h/one_step_target_rri", "steps/step_index"] {
        let whole = store.array(path).unwrap();
        for (start, end) in [(0, 1), (3, 17), (5, 99_999), (99_999, 100_000)] {
            let (first, last) = (start.min(whole.shape()[0]), end.min(whole.shape()[0]));
            assert!(same(&store.rows(path, start..end).unwrap(), &whole.slice(0, first, last, 1).unwrap()), "{path}");
        }
    }
    let table = store.table("candidates", &["shell_index", "target_rri"], 2..5).unwrap();
    assert_eq!(table.keys().collect::<Vec<_>>(), ["shell_index", "target_rri"]);
    assert!(table.values().all(|column| column.shape() == [3]));
    assert_eq!(store.table("steps", &[], 0..2).unwrap().len(), store.columns("steps").len());
    assert_eq!(store.dictionary("scene").unwrap(), ["line"]);
    assert!(store.dictionary("planet").unwrap_err().to_string().contains("dictionaries/planet"));
    assert!(store.candidate_codec_tables().unwrap().is_none());
    let shells = store.candidate_shell_index().unwrap();
    let (steps, widths) = (store.array("steps/step_row_id").unwrap(), store.array("steps/num_candidates").unwrap());
    assert_eq!(shells.keys(), steps.as_i64().unwrap());
    let mut next = 0;
    for (step, width) in steps.as_i64().unwrap().iter().zip(widths.as_i32().unwrap()) {
        let rows: Vec<usize> = (next..next + *width as usize).collect();
        assert_eq!(shells.rows(*step), rows);
        next += *width as usize;
    }
}

#[test]
fn chains_hold_what_the_tables_say() {
    let scratch = tempfile::tempdir().unwrap();
    let paths = [store(&scratch, "a.zarr", 2, 0.9), store(&scratch, "b.zarr", 3, 0.9)];
    let reader = ChainReader::open(&paths, ChainOptions::default()).unwrap();
    assert_eq!(reader.len(), 10);
    assert_eq!(reader.contract()["discount_gamma"], Value::Float(0.9));
    assert_eq!(reader.provenance().iter().map(|(.., states)| *states).collect::<Vec<_>>(), [16, 24]);
    let chain = reader.chain(5).unwrap();
    assert_eq!((chain.store_index, chain.rollout_row_id, chain.states.len()), (1, 1, 4));
    assert_eq!(chain.source_ref["sample_key"], Value::from("toy:0"));
    let second = Store::open(&paths[1]).unwrap();
    let widths = second.array("steps/num_candidates").unwrap();
    let starts: Vec<usize> = widths
        .as_i32()
        .unwrap()
        .iter()
        .scan(0, |at, width| {
            *at += *width as usize;
            Some(*at - *width as usize)
        })
        .collect();
    for (index, state) in chain.states.iter().enumerate() {
        let step = 4 + index;
        let rows = starts[step]..starts[step] + widths.as_i32().unwrap()[step] as usize;
        let of = |path: &str| second.rows(path, rows.clone()).unwrap();
        assert!(same(&state.candidate_pose_relative_root, &of("candidates/pose_relative_root")));
        assert!(same(&state.action_mask, &of("candidates/actor_action_mask")));
        assert!(same(&state.label_mask, &of("candidates/q_train_mask")));
        assert!(same(&state.candidate_reward, &of("candidates/target_root_gain")));
        assert!(same(&state.one_step_target_rri, &of("candidates/target_rri")));
        let selected = second.array("steps/selected_shell_index").unwrap().as_i32().unwrap()[step];
        assert_eq!(state.selected_index, i64::from(selected));
        assert_eq!(state.horizon_remaining, 4 - index as i64);
        assert_eq!((state.terminal, state.discount), (index == 3, if index == 3 { 0.0 } else { 0.9 }));
    }
    assert!(matches!(reader.chain(10), Err(ChainError::Index { index: 10, count: 10 })));
}

#[test]
fn batches_repeat_with_their_seed_and_give_every_state_once() {
    let scratch = tempfile::tempdir().unwrap();
    let paths = [store(&scratch, "a.zarr", 2, 0.9), store(&scratch, "b.zarr", 3, 0.9)];
    let reader = ChainReader::open(&paths, ChainOptions::default()).unwrap();
    let order = |seed| reader.state_batches(7, seed).collect::<Vec<_>>();
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2));
    assert_eq!(order(1).iter().map(Vec::len).collect::<Vec<_>>(), [7, 7, 7, 7, 7, 5]);
    let mut all = order(3).concat();
    all.sort_unstable();
    assert_eq!(all, (0..40).collect::<Vec<_>>());
    assert_eq!(reader.chain_batches(4, 0).map(|batch| batch.len()).collect::<Vec<_>>(), [4, 4, 2]);

    // State 22 is the third of the second chain of store 1.
    let batch = reader.state_batch(&[22, 0]).unwrap();
    let width = batch["action_mask"].shape()[1];
    let number = |name: &str| batch[name].as_i64().unwrap()[0];
    assert_eq!([number("store_index"), number("rollout_row_id"), number("step_index")], [1, 1, 2]);
    assert_eq!(number("horizon_remaining"), 2);
    let state = &reader.chain(5).unwrap().states[2];
    let own = state.action_mask.len();
    let row = |name: &str| batch[name].row(0).unwrap();
    assert!(same(&row("candidate_reward").slice(0, 0, own, 1).unwrap(), &state.candidate_reward));
    assert!(row("candidate_reward").numbers().skip(own).all(f64::is_nan));
    assert!(row("action_mask").numbers().skip(own).all(|flag| flag == 0.0));
    let poses = row("candidate_pose_relative_root");
    assert_eq!(poses.shape(), [width, 12]);
    assert!(same(&poses.slice(0, 0, own, 1).unwrap(), &state.candidate_pose_relative_root));
    assert!(reader.state_batch(&[40]).is_err());
}

#[test]
fn what_cannot_be_learnt_from_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let (one, other) = (store(&scratch, "a.zarr", 2, 0.9), store(&scratch, "b.zarr", 2, 0.5));
    let open = |paths: &[PathBuf], split: Option<&str>, depth: bool| {
        let options = ChainOptions { campaign_split: split.map(str::to_owned), include_selected_depth: depth };
        ChainReader::open(paths, options).map(|reader| reader.len())
    };
    let refused = |paths: &[PathBuf], split, depth| open(paths, split, depth).unwrap_err();
    assert_eq!(refused(&[], None, false).code(), "rollouts/no-stores");
    assert_eq!(refused(&[one.clone(), one.clone()], None, false).code(), "rollouts/repeated-store");
    let error = refused(&[one.clone(), other], None, false);
    assert!(
        error.code() == "rollouts/contract" && error.to_string().contains("discount_gamma: 0.5, not 0.9"),
        "{error}"
    );
    assert_eq!(open(std::slice::from_ref(&one), Some("train"), false).unwrap(), 4);
    assert_eq!(open(std::slice::from_ref(&one), Some("all"), false).unwrap(), 4);
    assert_eq!(refused(std::slice::from_ref(&one), Some("validation"), false).code(), "rollouts/empty-split");
    let error = refused(std::slice::from_ref(&one), None, true);
    assert!(error.to_string().contains("no selected depth"), "{error}");
    std::fs::remove_file(one.join("manifest.json")).unwrap();
    let error = refused(&[one], None, false);
    assert!(error.code() == "rollouts/invalid" && error.to_string().contains("manifest.json"), "{error}");
}
