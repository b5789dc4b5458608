//! `--json`: one document, and nothing else about the command changes.

use serde_json::Value;

use super::{commands, world};

/// A run of every command that has `--json`; `%` is a name that is not taken.
const RUNS: [&str; 31] = [
    "run config.yaml --traces %.jsonl",
    "run config.yaml --dry-run",
    "eval --traces t.jsonl",
    "eval --traces t.jsonl --check",
    "eval --traces t.jsonl --fail-if mean_reward>0",
    "serve bundle --steps 20 --traces %.jsonl",
    "trace check t.jsonl",
    "trace stats t.jsonl",
    "bundle show bundle",
    "bundle check bundle",
    "bundle check c",
    "sweep sweep.lua --out %",
    "sweep sweep.lua --dry-run",
    "sweep sweep.lua --out % --launcher files",
    "sweep status quick",
    "sweep table quick",
    "sweep best quick",
    "rollouts info c/shards/shard-000000",
    "rollouts validate c/shards/shard-000000",
    "rollouts write records.jsonl -o % --set selected_depth_enabled=false",
    "rollouts plan index.jsonl --script oracle.lua --rows-per-shard 1 --out %",
    "rollouts run --shard-manifest c/shard-manifest.jsonl --script oracle.lua --shard-id 0",
    "rollouts run --shard-manifest c/shard-manifest.jsonl --script oracle.lua --all --final-root %",
    "rollouts status c/shard-manifest.jsonl --require-complete --final-root %",
    "rollouts gc c/shards",
    "rollouts merge c/shards/shard-000000 c/shards/shard-000001 -o %",
    "rollouts select c/shards/shard-000000 --scene line-0 -o %",
    "rollouts split c/shards/shard-000000 --by scene -o %",
    "test a_test.lua",
    "doc reward.term",
    "doc",
];

/// Maps whose keys are the user's own names, or a file's.
const NAMED_BY_USERS: [&str; 5] = ["point", "meta", "components", "root_attrs", "manifest"];

fn check_keys(value: &Value, place: &str) {
    let is_key = |key: &str| {
        key.starts_with(|first: char| first.is_ascii_lowercase())
            && key.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                assert!(is_key(key), "{place}: the key `{key}`");
                if !NAMED_BY_USERS.contains(&key.as_str()) {
                    check_keys(value, &format!("{place}.{key}"));
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| check_keys(item, place)),
        _ => {}
    }
}

#[test]
fn json_is_one_document_and_the_rest_is_as_without() {
    let scratch = world();
    let record = crate::rollouts::record_line();
    scratch.write("records.jsonl", &record);
    for (count, run) in RUNS.into_iter().enumerate() {
        let said = |name: String, more: &[&str]| {
            let words = run.replace('%', &name);
            scratch.skyfall(&[&words.split(' ').collect::<Vec<_>>(), more].concat())
        };
        let (plain, json) = (said(format!("a{count}"), &[]), said(format!("b{count}"), &["--json"]));
        assert_eq!(json.code, plain.code, "{run}: {} {}", plain.stderr, json.stderr);
        let stderr = json.stderr.replace(&format!("b{count}"), &format!("a{count}"));
        assert_eq!(stderr, plain.stderr, "{run}");
        assert!(json.stdout.ends_with('\n') && json.stdout != plain.stdout, "{run}: {}", json.stdout);
        let value: Value = serde_json::from_str(&json.stdout).unwrap_or_else(|why| panic!("{run}: {why}"));
        assert!(value.is_object() || value.is_array(), "{run}: {value}");
        check_keys(&value, run);
    }
}

#[test]
fn every_command_with_the_flag_is_run() {
    let scratch = crate::command::Scratch::new();
    let all = commands();
    assert!(all.len() > 30, "{all:?}");
    for words in all {
        let help = scratch.skyfall(&[&words.split(' ').collect::<Vec<_>>()[..], &["--help"]].concat()).ok().stdout;
        if help.contains("  --json ") {
            let begins = format!("{words} ");
            assert!(RUNS.iter().any(|run| *run == words || run.starts_with(&begins)), "{words}");
        }
    }
}

#[test]
fn json_and_another_format_contradict_each_other() {
    let scratch = world();
    for command in ["eval --traces t.jsonl", "sweep table quick"] {
        let said = |more: &str| scratch.skyfall(&format!("{command} {more}").split(' ').collect::<Vec<_>>());
        assert_eq!(said("--json").ok().stdout, said("--format json").ok().stdout);
        assert_eq!(said("--json --format json").ok().stdout, said("--json").ok().stdout);
        said("--json --format text").failed(2, &["--json and another --format"]);
        said("--json -o out.csv").ok();
        assert_eq!(
            scratch.read("out.csv"),
            said("--json").ok().stdout,
            "what is said goes before what a file is called"
        );
    }
}
