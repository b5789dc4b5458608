//! `skyfall eval` as it is typed.

use skyfall::text::json;
use skyfall::value::Value;

use super::{at, data};
use crate::command::Scratch;

#[test]
fn undefined_is_null_with_a_reason() {
    let scratch = Scratch::new();
    scratch.write("t.jsonl", "{\"step\": 0, \"reward\": 1}\n{\"step\": 1, \"reward\": 3}\n");
    let ran = scratch.skyfall(&["eval", "--traces", "t.jsonl", "--format", "json"]).ok();
    let tree = json::parse(&ran.stdout).unwrap();
    let metrics = at(&tree, "runs.0.metrics");
    assert_eq!(at(metrics, "mean_reward.value"), &Value::Float(2.0));
    assert_eq!(at(metrics, "forgetting.value"), &Value::Null);
    assert_eq!(at(metrics, "forgetting.reason"), &Value::from("no_revisit"));
    assert_eq!(at(metrics, "erank_first.reason"), &Value::from("not_measured"));
    assert!(!ran.stdout.contains("NaN"));
}

#[test]
fn a_file_without_rows_is_an_input_error() {
    let scratch = Scratch::new();
    scratch.write("t.jsonl", "");
    scratch.skyfall(&["eval", "--traces", "t.jsonl"]).failed(3, &["t.jsonl", "no trace row"]);
}

#[test]
fn windows_are_checked() {
    let scratch = Scratch::new();
    scratch.write("t.jsonl", "{\"step\": 0, \"reward\": 1}\n");
    scratch.skyfall(&["eval", "--traces", "t.jsonl", "--window", "0"]).failed(2, &["window"]);
}

#[test]
fn a_threshold_is_timed() {
    let scratch = Scratch::new();
    let gold = data("gold1.jsonl");
    let gold = gold.to_str().unwrap();
    let ran =
        scratch.skyfall(&["eval", "--traces", gold, "--window", "2", "--threshold", "0.5", "--format", "json"]).ok();
    let tree = json::parse(&ran.stdout).unwrap();
    assert_eq!(at(&tree, "settings.threshold"), &Value::Float(0.5));
    // calm reaches .5 at row 3 (.4, .6), windy at row 5, calm-again at row 2.
    assert_eq!(at(&tree, "runs.0.metrics.time_to_threshold.value"), &Value::Float(3.0));
    scratch
        .skyfall(&["eval", "--traces", gold, "--threshold", "NaN"])
        .failed(2, &["`threshold` must be a finite number", "NaN"]);
}

#[test]
fn rows_that_all_fail_say_why_and_a_path_needs_no_flag() {
    let scratch = Scratch::new();
    scratch.write("t.jsonl", "{\"step\": 0, \"reward\": true}\n{\"step\": 1, \"reward\": true}\n");
    scratch.skyfall(&["eval", "t.jsonl"]).failed(3, &["no trace row in t.jsonl", "line 1: ", "`reward` is a boolean"]);
    scratch.write("t.jsonl", "{\"global_step\": 0, \"reward\": 1}\n");
    scratch.skyfall(&["eval", "t.jsonl"]).failed(3, &["line 1: a row without `step`"]);
    scratch.write("t.jsonl", "{\"step\": 0, \"reward\": 1}\n{\"step\": 1, \"reward\": 3}\n");
    let named = scratch.skyfall(&["eval", "--traces", "t.jsonl"]).ok().stdout;
    assert_eq!(scratch.skyfall(&["eval", "t.jsonl"]).ok().stdout, named);
    scratch.skyfall(&["eval"]).failed(2, &["PATH"]);
}

#[test]
fn a_metric_is_asked_for_by_its_name_or_by_its_heading() {
    let scratch = Scratch::new();
    scratch.write("t.jsonl", "{\"step\": 0, \"reward\": 1}\n{\"step\": 1, \"reward\": 3}\n");
    let asked = |name: &str| scratch.skyfall(&["eval", "t.jsonl", "--format", "json", "--metric", name]).ok().stdout;
    assert_eq!(asked("reward/step"), asked("mean_reward"));
}

#[test]
fn every_group_of_few_runs_is_named() {
    let scratch = Scratch::new();
    let row = |policy: &str, seed: u8| {
        format!("{{\"step\": 0, \"reward\": 1, \"policy_id\": \"{policy}\", \"seed\": {seed}}}\n")
    };
    scratch.write("t.jsonl", &[row("left", 1), row("left", 2), row("right", 1), row("right", 2)].concat());
    let told = scratch.skyfall(&["eval", "t.jsonl"]).ok().stderr;
    assert!(told.contains("left has 2 runs, right has 2 runs: an interval"), "{told}");
}
