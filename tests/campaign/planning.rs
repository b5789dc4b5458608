//! Plans: the same rows in the same order give the same bytes, and what is wrong is named by its
//! line.

use std::num::NonZeroUsize;

use skyfall::campaign::index;
use skyfall::campaign::manifest::{self, SourceManifest};
use skyfall::campaign::plan::{Plan, Provenance, plan};
use skyfall::rollouts::{ShardEntry, ShardRow, canonical_shard_id, rows_hash};

use super::{Campaign, data};
use crate::command::Scratch;

fn row(order: i64, key: &str) -> ShardRow {
    ShardRow {
        order,
        sample_index: order,
        sample_key: key.to_owned(),
        scene_id: "s".to_owned(),
        snippet_id: format!("n{order}"),
        split: "train".to_owned(),
        source_shard_id: "sh".to_owned(),
        source_shard_row: order,
        campaign_split: None,
    }
}

fn planned(rows: &[ShardRow], per_shard: usize) -> Plan {
    let provenance = Provenance {
        source_manifest_hash: Some("0011223344556677".to_owned()),
        source_cache_version: "7".to_owned(),
        source_store_dir: "store.zarr".to_owned(),
        writer_config_hash: "fedcba9876543210".to_owned(),
        campaign_binding: None,
    };
    plan(rows, &provenance, NonZeroUsize::new(per_shard).unwrap())
}

#[test]
fn the_hashes_are_the_references() {
    let plain = ShardRow { sample_key: "k".to_owned(), snippet_id: "n".to_owned(), ..row(0, "k") };
    assert_eq!(rows_hash("m", "train", std::slice::from_ref(&plain)), "4a70338c73602f08");
    let bound = ShardRow {
        sample_key: "fixture:smoke:0".to_owned(),
        scene_id: "fixture_box".to_owned(),
        snippet_id: "smoke".to_owned(),
        source_shard_id: "vin-shard-000000".to_owned(),
        campaign_split: Some("validation".to_owned()),
        ..plain
    };
    assert_eq!(rows_hash("fixture-source-manifest", "train", &[bound]), "b2d043680c209eca");
}

/// The expected files were made by CPython's `json` from the same rows.
#[test]
fn manifests_have_the_bytes_that_python_writes() {
    let scratch = Scratch::new();
    let rows = index::read(&scratch.write("index.jsonl", &data("index.jsonl"))).unwrap();
    let plan = planned(&rows, 2);
    assert_eq!(manifest::to_text(&plan.shards), data("shard-manifest.jsonl"));
    for source in &plan.sources {
        let expected = data(&format!("source-manifest.{}.json", source.split));
        assert_eq!(source.to_text(), expected);
        assert_eq!(SourceManifest::from_text(&expected).unwrap(), *source);
    }
    let path = scratch.write("shards.jsonl", &format!("\n{}\n", data("shard-manifest.jsonl")));
    assert_eq!(manifest::read(&path).unwrap(), plan.shards);
}

#[test]
fn order_decides_the_hash_and_shards_are_numbered_through_the_splits() {
    let rows = [row(0, "a"), row(1, "b"), ShardRow { split: "val".to_owned(), ..row(2, "c") }, row(3, "d")];
    let plan = planned(&rows, 2);
    let told: Vec<_> = plan.shards.iter().map(|shard| (&*shard.shard_id, &*shard.split, shard.rows.len())).collect();
    assert_eq!(told, [("shard-000000", "train", 2), ("shard-000001", "train", 1), ("shard-000002", "val", 1)]);
    assert!(plan.shards.iter().all(|shard| shard.validate().is_ok()));
    let swapped = planned(&[rows[1].clone(), rows[0].clone(), rows[2].clone(), rows[3].clone()], 2);
    assert_ne!(plan.shards[0].split_manifest_hash, swapped.shards[0].split_manifest_hash);
    assert_eq!(plan.shards[1], swapped.shards[1]);
}

#[test]
fn a_shard_s_rows_are_of_one_split_of_a_campaign() {
    let of = |order, split: &str| ShardRow { campaign_split: Some(split.to_owned()), ..row(order, &order.to_string()) };
    let plan = planned(&[of(0, "fit"), of(1, "tune"), of(2, "fit"), row(3, "free")], 8);
    let told: Vec<_> = plan.shards.iter().map(|shard| (shard.campaign_split.as_deref(), shard.rows.len())).collect();
    assert_eq!(told, [(Some("fit"), 2), (Some("tune"), 1), (None, 1)]);
    assert_eq!(plan.sources.len(), 1);
}

#[test]
fn ids_are_written_in_full() {
    for (given, full) in [
        ("7", "shard-000007"),
        ("shard-7", "shard-000007"),
        ("shard-000007", "shard-000007"),
        ("1234567", "shard-1234567"),
        ("shard-", "shard-"),
        ("mine", "mine"),
        ("+7", "+7"),
    ] {
        assert_eq!(canonical_shard_id(given), full);
    }
}

#[test]
fn csv_and_json_lines_are_one_index() {
    let scratch = Scratch::new();
    let lines = scratch.write("index.jsonl", &super::index(3));
    let csv = "source_shard_row,sample_index,sample_key,scene_id,snippet_id,split,source_shard_id,campaign_split\n\
               0,0,toy:0,line-0,r0,train,sh-0,\n1,1,\"toy:1\",line-0,r1,train,sh-0,\r\n\n2,2,toy:2,line-1,r2,train,sh-0,\n";
    let csv = scratch.write("index.csv", csv);
    assert_eq!(index::read(&lines).unwrap(), index::read(&csv).unwrap());
}

#[test]
fn what_is_wrong_with_an_index_is_named_by_its_line() {
    let scratch = Scratch::new();
    let good = super::index(2);
    let twice = |from: &str, to: &str| good.replace(from, to);
    for (text, words) in [
        (String::new(), "it has no rows"),
        (format!("{good}{{"), "index.jsonl:3: column"),
        (format!("{good}[1]\n"), "index.jsonl:3: a row is a map, got a list"),
        (twice("\"sample_key\": \"toy:1\", ", ""), "index.jsonl:2: `sample_key` is missing"),
        (twice("\"sample_key\": \"toy:1\"", "\"sample_kei\": \"toy:1\""), "did you mean `sample_key`"),
        (twice("\"sample_index\": 1", "\"sample_index\": 1.0"), "`sample_index` must be an integer, got a number"),
        (twice("\"sample_index\": 1", "\"sample_index\": true"), "`sample_index` must be an integer, got a boolean"),
        (twice("\"source_shard_row\": 1", "\"source_shard_row\": -1"), "`source_shard_row` is -1; it counts from 0"),
        (
            twice("\"source_shard_id\": \"sh-0\"", "\"source_shard_id\": \"\""),
            "index.jsonl:1: `source_shard_id` is empty",
        ),
        (twice("{\"sample_index\": 1", "{\"order\": 5, \"sample_index\": 1"), "`order` is 5, but the row's place is 1"),
        (twice("toy:1", "toy:0"), "index.jsonl:2: has the sample_key of line 1"),
        (twice("\"r1\"", "\"r0\""), "has the scene_id and snippet_id of line 1"),
        (twice("\"sample_index\": 1", "\"sample_index\": 0"), "has the sample_index of line 1"),
        (
            twice("\"source_shard_row\": 1", "\"source_shard_row\": 0"),
            "has the source_shard_id and source_shard_row of line 1",
        ),
    ] {
        let error = index::read(&scratch.write("index.jsonl", &text)).unwrap_err().to_string();
        assert!(error.contains(words), "no `{words}` in: {error}");
    }
    let error = index::read(&scratch.write("index.csv", "sample_index,split\n1\n")).unwrap_err().to_string();
    assert!(error.contains("index.csv:2: has 1 fields, but the header names 2"), "{error}");
}

#[test]
fn what_is_wrong_with_a_manifest_is_named_by_its_line() {
    let scratch = Scratch::new();
    let good = data("shard-manifest.jsonl");
    let first = good.lines().next().unwrap();
    for (text, words) in [
        ("\n".to_owned(), "it has no shards"),
        (format!("{good}\n{{\"a\": 1}}\n"), "shards.jsonl:5: `a` is no key of a shard"),
        (format!("{good}{first}\n"), "shards.jsonl:4: shard-000000 stands in line 1 already"),
        (
            good.replace("\"shard_id\": \"shard-000001\"", "\"shard_id\": \"0\""),
            "shards.jsonl:2: shard-000000 stands in line 1",
        ),
        (
            good.replacen("\"sample_index\": 4", "\"sample_index\": 5", 1),
            "shards.jsonl:1: shard-000000: split_manifest_hash is",
        ),
        (good.replacen("\"order\": 1", "\"order\": 3", 1), "row 1 is not in order"),
        (good.replacen("\"num_rows\": 2", "\"num_rows\": 1", 1), "num_rows is not the number of its rows"),
        (good.replace("shard-manifest-v2", "shard-manifest-v1"), "manifest_version is rollout-shard-manifest-v1"),
        (good.replacen("\"split\": \"train\"}", "\"split\": \"val\"}", 1), "row 0 is of another split"),
        (
            good.replacen(
                "\"campaign_split\": \"validation\", \"generation",
                "\"campaign_split\": null, \"generation",
                1,
            ),
            "row 0 is of another campaign split",
        ),
        (good.replacen("\"source_shard_row\": 0", "\"source_shard_row\": -1", 1), "row 0 is placed in no shard"),
        (good.replacen("shard-000000", "../x", 1), "does not do as a directory's name"),
    ] {
        let error = manifest::read(&scratch.write("shards.jsonl", &text)).unwrap_err().to_string();
        assert!(error.contains(words), "no `{words}` in: {error}");
    }
    let source = data("source-manifest.train.json");
    for (text, words) in [
        (source.replace("\"num_scenes\": 2", "\"num_scenes\": 3"), "`num_scenes` is not 2"),
        (source.replacen("toy:2", "toy:3", 1), "split_manifest_hash is"),
        (source.replacen("toy:2", "toy:9", 1), "row 2 has the sample_key of row 1"),
        (
            source.replacen("\"source_cache_version\": \"7\"", "\"source_cache_version\": \"\"", 1),
            "must be text that is not empty",
        ),
    ] {
        let error = SourceManifest::from_text(&text).unwrap_err();
        assert!(error.contains(words), "no `{words}` in: {error}");
    }
}

/// An entry may declare a campaign's split while its rows are bound to none.
#[test]
fn rows_may_leave_a_campaign_s_split_to_the_entry() {
    let entry = &planned(&[row(0, "a")], 1).shards[0];
    let declared = ShardEntry { campaign_split: Some("fit".to_owned()), ..entry.clone() };
    assert_eq!(declared.validate(), Ok(()));
    assert_eq!(ShardEntry::from_value(&declared.to_value()), Ok(declared));
}

#[test]
fn the_command_plans_the_rows_of_a_reviewed_manifest_in_its_order() {
    let campaign = Campaign::new(4, 2);
    let scratch = &campaign.scratch;
    let whole = SourceManifest::read(&campaign.file("c/source-manifest.json")).unwrap();
    let mut rows = vec![whole.rows[3].clone(), whole.rows[0].clone()];
    for (order, row) in (0..).zip(&mut rows) {
        row.order = order;
    }
    let reviewed = SourceManifest { rows, ..whole };
    scratch.write("reviewed.json", &reviewed.to_text());
    let words = ["rollouts", "plan", "index.jsonl", "--script", "oracle.lua", "--rows-per-shard", "9"];
    let only = ["--source-manifest", "reviewed.json", "--out", "r"];
    scratch.skyfall(&[&words[..], &only].concat()).ok();
    assert_eq!(scratch.read("r/source-manifest.json"), reviewed.to_text());
    assert_eq!(manifest::read(&campaign.file("r/shard-manifest.jsonl")).unwrap()[0].rows, reviewed.rows);
    scratch.write("index.jsonl", &super::index(3));
    scratch.skyfall(&[&words[..], &only].concat()).failed(3, &["it has no row toy:3"]);
}

#[test]
fn a_dry_run_writes_nothing_and_a_plan_twice_the_same() {
    let campaign = Campaign::new(5, 2);
    let before = super::bytes(&campaign.file("c"));
    campaign.plan("c", 2).ok();
    assert_eq!(super::bytes(&campaign.file("c")), before);
    let words = ["rollouts", "plan", "index.jsonl", "--script", "oracle.lua", "--rows-per-shard", "2", "--dry-run"];
    let told = campaign.scratch.skyfall(&words).ok().stdout;
    assert!(told.contains("3 shards, 5 rows in all") && told.contains("shard-000002  train  1 rows"), "{told}");
    assert!(!campaign.scratch.tree().iter().any(|name| name.starts_with("campaign/")));
    campaign.plan("c", 0).failed(2, &["rows-per-shard"]);
}

#[test]
fn splits_whose_names_are_alike_have_a_manifest_each() {
    let scratch = Scratch::new();
    scratch.write("oracle.lua", &data("oracle.lua"));
    let splits = ["a/b", "a_b", "a b", &"long".repeat(75)];
    let lines = super::index(4);
    let lines =
        lines.lines().zip(splits).map(|(line, split)| line.replace("\"train\"", &format!("\"{split}\"")) + "\n");
    scratch.write("index.jsonl", &lines.collect::<String>());
    let words = ["rollouts", "plan", "index.jsonl", "--script", "oracle.lua", "--rows-per-shard", "9", "--out", "c"];
    scratch.skyfall(&words).ok();
    let sources = std::fs::read_dir(scratch.file("c")).unwrap().map(|entry| entry.unwrap().path());
    let sources = sources.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    let mut found: Vec<String> = sources.map(|path| SourceManifest::read(&path).unwrap().split).collect();
    found.sort();
    let mut expected = splits.map(str::to_owned);
    expected.sort();
    assert_eq!(found, expected);
    assert!(scratch.file("c/source-manifest.a%2Fb.json").is_file());
}

#[test]
fn a_plan_that_shards_were_promoted_from_is_not_replaced() {
    let campaign = Campaign::new(2, 1);
    campaign.plan("c", 2).ok();
    campaign.plan("c", 1).ok();
    campaign.run(&["--shard-id", "0"]).ok();
    let before = super::bytes(&campaign.file("c"));
    campaign.plan("c", 2).failed(2, &["is another plan", "shard-000000", "another --out"]);
    assert_eq!(super::bytes(&campaign.file("c")), before);
    campaign.plan("c", 1).ok();
    campaign.plan("d", 2).ok();
}

#[test]
fn an_id_that_is_too_long_for_its_files_is_refused_at_once() {
    let campaign = Campaign::new(1, 1);
    let manifest = campaign.scratch.read("c/shard-manifest.jsonl");
    let named = |length| manifest.replace("\"shard-000000\"", &format!("\"{}\"", "s".repeat(length)));
    for length in [161, 200, 237, 300] {
        campaign.scratch.write("c/shard-manifest.jsonl", &named(length));
        campaign.run(&["--all"]).failed(3, &["shard-manifest.jsonl:1: ", "at most 160 bytes", &length.to_string()]);
    }
    campaign.scratch.write("c/shard-manifest.jsonl", &named(160));
    campaign.run(&["--shard-id", &"s".repeat(160), "--time-limit", "0.000001"]).failed(3, &["longer than"]);
    let quarantined = std::fs::read_dir(campaign.file("c/shards/tmp/quarantine")).unwrap().count();
    assert_eq!((quarantined, campaign.status().shards[0].failed_markers.len()), (1, 1));
    campaign.run(&["--all"]).ok();
}

/// Shards may stand beside the manifest, or anywhere.
#[test]
fn shards_elsewhere_are_promoted_shards_too() {
    for (root, named) in [("c", false), ("elsewhere", true)] {
        let campaign = Campaign::new(2, 1);
        campaign.run(&["--shard-id", "0", "--final-root", root]).ok();
        let words =
            ["rollouts", "plan", "index.jsonl", "--script", "oracle.lua", "--rows-per-shard", "2", "--out", "c"];
        let more: &[&str] = if named { &["--final-root", root] } else { &[] };
        let plan = campaign.scratch.skyfall(&[&words[..], more].concat());
        plan.failed(2, &["is another plan", &format!("{root}/shard-000000 was promoted from it")]);
    }
}

#[test]
fn an_integer_that_is_too_large_is_out_of_range() {
    let campaign = Campaign::new(1, 1);
    let text = super::index(1).replace("\"sample_index\": 0", "\"sample_index\": 9223372036854775808");
    campaign.scratch.write("index.jsonl", &text);
    campaign.plan("d", 1).failed(3, &["`sample_index` is out of range", "9223372036854775808"]);
}
