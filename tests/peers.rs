//! Python peers: what we write they read, and our numbers are theirs.
//!
//! `tests/run` makes the venv and names its interpreter in `SKYFALL_PYTHON`; without it these
//! tests fail and say so, rather than pass unseen.

use std::path::Path;
use std::process::Command;

use crate::command::Scratch;

/// Runs a script of `tests/python` in `scratch` and returns what it printed.
pub(crate) fn python(scratch: &Scratch, script: &str, arguments: &[&str]) -> String {
    let interpreter = std::env::var("SKYFALL_PYTHON").expect("SKYFALL_PYTHON names no interpreter: run tests/run");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python").join(script);
    let output = Command::new(interpreter).arg(script).args(arguments).current_dir(scratch.path()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

fn acceptance(scratch: &Scratch, name: &str) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/acceptance").join(name);
    std::fs::copy(script, scratch.file(name)).unwrap();
    scratch.skyfall(&["script", name]).ok();
}

#[test]
fn zarr_python_opens_the_store_and_derives_the_same_view() {
    let scratch = Scratch::new();
    acceptance(&scratch, "05_rollouts.lua");
    assert!(python(&scratch, "check_store.py", &["rollouts.zarr"]).starts_with("ok"));
    scratch.skyfall(&["rollouts", "validate", "rollouts.zarr"]).ok();
}

#[test]
fn pyyaml_reads_the_manifest_and_prints_it_again() {
    let scratch = Scratch::new();
    acceptance(&scratch, "03_experiment.lua");
    python(&scratch, "check_manifest.py", &["out/bundle/manifest.yaml"]);
}

#[test]
fn python_s_json_reads_the_trace_and_prints_it_again() {
    let scratch = Scratch::new();
    acceptance(&scratch, "03_experiment.lua");
    python(&scratch, "check_trace.py", &["out/traces.jsonl"]);
}

#[test]
fn duckdb_reads_the_trace_as_parquet() {
    let scratch = Scratch::new();
    acceptance(&scratch, "03_experiment.lua");
    scratch.skyfall(&["trace", "cat", "out/traces.jsonl", "--format", "parquet", "-o", "t.parquet"]).ok();
    let answer = python(&scratch, "check_parquet.py", &["out/traces.jsonl", "t.parquet"]);
    assert!(answer.starts_with("ok 6000 ") && answer.contains(" reward_components.upright "), "{answer}");
}

#[test]
fn gymnasium_goes_the_same_way_on_seeds_of_no_vector() {
    let scratch = Scratch::new();
    let ours = scratch.script(include_str!("data/env/walk.lua")).ok().stdout;
    scratch.write("walks.jsonl", &ours);
    let answer = python(&scratch, "check_worlds.py", &["walks.jsonl"]);
    let steps: usize = answer.split_whitespace().nth(3).unwrap().parse().unwrap();
    assert!(answer.starts_with("ok 68 walks") && steps == 68 * 450, "{answer}");
}
