//! Chains chosen from a store: what writing their records gives, and nothing else.

use skyfall::rollouts::{By, Filter, RolloutRecord, Store, select, split, validate};

use super::{KINDS, Options, options, same, typed, write};
use crate::command::Scratch;
use crate::peers::python;
use crate::rollouts::records::{record, with_facts};

/// Records of three scenes, alternating, each with a target of its own beside the common one.
fn scenes(count: i64) -> Vec<RolloutRecord> {
    let mut records = typed((0..count).map(|root| record(root, 2, 3)));
    for (number, record) in records.iter_mut().enumerate() {
        record.source.scene_id = Some(format!("scene {}", number % 3));
        if number % 4 == 0 {
            record.target.target_id = Some("lamp".to_owned());
        }
    }
    records
}

fn only(values: &[&str]) -> Vec<String> {
    values.iter().map(|value| (*value).to_owned()).collect()
}

#[test]
fn what_is_chosen_is_what_its_records_give() {
    type Wanted = fn(&RolloutRecord) -> bool;
    let records = scenes(11);
    let cases: [(Filter, Wanted); 5] = [
        (Filter { scenes: only(&["scene 1"]), ..Filter::default() }, |record| {
            record.source.scene_id.as_deref() == Some("scene 1")
        }),
        (Filter { targets: only(&["lamp"]), ..Filter::default() }, |record| {
            record.target.target_id.as_deref() == Some("lamp")
        }),
        (Filter { sample_keys: only(&["toy:3", "toy:9"]), ..Filter::default() }, |record| {
            [Some(3), Some(9)].contains(&record.source.source_row_id)
        }),
        (Filter { snippets: only(&["toy"]), splits: only(&["train"]), ..Filter::default() }, |_| true),
        (Filter { scenes: only(&["scene 0", "scene 2"]), targets: only(&["point"]), ..Filter::default() }, |record| {
            record.source.scene_id.as_deref() != Some("scene 1") && record.target.target_id.as_deref() == Some("point")
        }),
    ];
    let scratch = Scratch::new();
    let store = write(&scratch, "store.zarr", &records, |_| ());
    for (filter, wanted) in cases {
        let own: Vec<RolloutRecord> = records.iter().filter(|record| wanted(record)).cloned().collect();
        assert!(!own.is_empty());
        let expected = write(&scratch, "expected.zarr", &own, |_| ());
        select(&store, &filter, &scratch.file("chosen.zarr"), &options(), &mut |_, _, _| ()).unwrap();
        same(&expected, &scratch.file("chosen.zarr"));
    }
}

#[test]
fn a_single_chain_stays_whole() {
    for (kind, records, options_of) in KINDS {
        let (scratch, records) = (Scratch::new(), records());
        let store = write(&scratch, "store.zarr", &records, options_of);
        let names = Store::open(&store).unwrap().dictionary("rollout").unwrap();
        let name = names.last().unwrap();
        let filter = Filter { rollouts: only(&[name]), ..Filter::default() };
        let result = select(&store, &filter, &scratch.file("one.zarr"), &options(), &mut |_, _, _| ()).unwrap();
        assert_eq!(result.num_rollouts, 1, "{kind}");
        let one = Store::open(&scratch.file("one.zarr")).unwrap();
        assert_eq!(one.dictionary("rollout").unwrap(), [name.clone()], "{kind}");
        let last = |store: &Store, path: &str| {
            let array = store.array(path).unwrap();
            array.row(array.shape()[0] - 1).unwrap()
        };
        let whole = Store::open(&store).unwrap();
        for path in ["rollouts/chain_id", "candidates/pose_world_cam", "q_h/td_reward", "steps/cumulative_target_rri"] {
            assert_eq!(last(&one, path), last(&whole, path), "{kind} {path}");
        }
        assert!(python(&scratch, "check_store.py", &["one.zarr"]).starts_with("ok"), "{kind}");
    }
}

#[test]
fn a_store_is_split_by_what_its_chains_share() {
    let scratch = Scratch::new();
    let mut records = scenes(7);
    records[6].source.scene_id = Some("a/b é".to_owned());
    let options_of: Options = |_| ();
    let store = write(&scratch, "store.zarr", &records, options_of);
    let made = split(&store, By::Scene, &scratch.file("by-scene"), &options(), &mut |_, _, _| ()).unwrap();
    let names: Vec<&str> = made.iter().map(|(value, _)| value.as_str()).collect();
    assert_eq!(names, ["scene 0", "scene 1", "scene 2", "a/b é"]);
    let mut chains = 0;
    for (value, result) in &made {
        let own: Vec<RolloutRecord> =
            records.iter().filter(|record| record.source.scene_id.as_ref() == Some(value)).cloned().collect();
        let expected = write(&scratch, "expected.zarr", &own, options_of);
        same(&expected, &result.store_dir);
        chains += result.num_rollouts;
    }
    assert_eq!(chains, 14);
    assert!(scratch.file("by-scene/a%2Fb%20%C3%A9.zarr").is_dir());
    let again = split(&store, By::Target, &scratch.file("by-target"), &options(), &mut |_, _, _| ()).unwrap();
    assert_eq!(again.iter().map(|(value, _)| value.as_str()).collect::<Vec<_>>(), ["lamp", "point"]);
    assert!(again.iter().all(|(_, result)| validate(&result.store_dir).unwrap().ok()));
}

#[test]
fn what_is_not_there_is_told_with_what_is() {
    let scratch = Scratch::new();
    let store = write(&scratch, "store.zarr", &scenes(4), |_| ());
    let refusal = |filter: Filter| {
        let error = select(&store, &filter, &scratch.file("out.zarr"), &options(), &mut |_, _, _| ()).unwrap_err();
        assert!(!scratch.file("out.zarr").exists());
        error.to_string()
    };
    let line = refusal(Filter { scenes: only(&["scene 11"]), ..Filter::default() });
    assert!(line.contains("no scene `scene 11`; did you mean `scene 1`?"), "{line}");
    let line = refusal(Filter { targets: only(&["zebra"]), ..Filter::default() });
    assert!(line.contains("no target `zebra`; it has lamp, point"), "{line}");
    let line = refusal(Filter { scenes: only(&["scene 1"]), targets: only(&["lamp"]), ..Filter::default() });
    assert!(line.contains("no chain with scene scene 1 and target lamp"), "{line}");
}

#[test]
fn texts_of_chains_that_are_left_out_do_not_stay() {
    let scratch = Scratch::new();
    let mut records = typed((0..3).map(|root| with_facts(record(root, 1, 2))));
    records[2].policy.model_checkpoint_hash = Some("secret".to_owned());
    for step in &mut records[2].trajectories[0].steps {
        step.candidate_trace_facts.as_mut().unwrap().semantic_group[0] = "rare".to_owned();
    }
    let store = write(&scratch, "store.zarr", &records, |_| ());
    let filter = Filter { sample_keys: only(&["toy:0"]), ..Filter::default() };
    select(&store, &filter, &scratch.file("out.zarr"), &options(), &mut |_, _, _| ()).unwrap();
    let out = Store::open(&scratch.file("out.zarr")).unwrap();
    assert!(!out.dictionary("config").unwrap().contains(&"secret".to_owned()));
    assert!(!out.dictionary("candidate_fact").unwrap().contains(&"rare".to_owned()));
    assert_eq!(out.dictionary("source_key").unwrap(), ["toy:0"]);
}
