//! The scripts in `tests/acceptance`, as users write them: they run as they stand.

use std::path::Path;

use crate::command::Scratch;

fn script(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/acceptance").join(name)).unwrap()
}

fn run(scratch: &Scratch, name: &str) -> String {
    scratch.write(name, &script(name));
    scratch.skyfall(&["script", name]).ok().stdout
}

#[test]
fn a_trace_row_is_written_and_read_back() {
    assert_eq!(run(&Scratch::new(), "01_trace.lua"), script("01_trace.expected"));
}

#[test]
fn a_bundle_s_manifest_is_the_format_document_s() {
    assert_eq!(run(&Scratch::new(), "02_bundle.lua"), script("02_bundle.expected"));
}

#[test]
fn an_experiment_leaves_the_same_bytes_in_two_processes() {
    let (first, second) = (Scratch::new(), Scratch::new());
    assert_eq!(run(&first, "03_experiment.lua"), run(&second, "03_experiment.lua"));
    let tree = first.tree();
    assert!(tree.contains(&"out/traces.jsonl".to_owned()) && tree.contains(&"out/bundle/manifest.yaml".to_owned()));
    assert_eq!(tree, second.tree());
    for name in tree {
        let read = |scratch: &Scratch| std::fs::read(scratch.file(&name)).unwrap();
        assert_eq!(read(&first), read(&second), "{name} differs");
    }
}

#[test]
fn an_experiment_s_recorded_rows_are_rescored_to_the_same_rewards() {
    let scratch = Scratch::new();
    let whole = script("03_experiment.lua");
    let recording = "rollout = { window_steps = 200, total_steps = 6000, auto_reset = true },";
    assert!(whole.contains(recording));
    let recorded = format!("{recording}\n  trace = {{ record = {{ \"next_observation\" }} }},");
    scratch.write("recorded.lua", &whole.replace(recording, &recorded));
    scratch.skyfall(&["script", "recorded.lua"]).ok();
    // The same composition, as a script of its own.
    let (head, _) = whole.split_once("local result = ").unwrap();
    scratch.write("reward.lua", &format!("{head}\nreturn config.reward"));
    scratch.skyfall(&["trace", "rescore", "out/traces.jsonl", "--reward", "reward.lua", "-o", "again.jsonl"]).ok();
    assert_eq!(scratch.read("again.jsonl"), scratch.read("out/traces.jsonl"));
    assert_eq!(scratch.read("again.jsonl").lines().count(), 6000);
}

#[test]
fn a_script_s_own_providers_run_and_their_bundle_needs_no_script() {
    let scratch = Scratch::new();
    assert_eq!(run(&scratch, "04_providers.lua"), "ok\n");
    std::fs::remove_file(scratch.file("04_providers.lua")).unwrap();
    std::fs::rename(scratch.file("corridor/bundle"), scratch.file("moved")).unwrap();
    scratch.skyfall(&["bundle", "check", "moved"]).ok();
    scratch.skyfall(&["serve", "moved", "--steps", "1000", "--traces", "served.jsonl"]).ok();
    // Served from the checkpoint: the policy goes on counting where training stopped, at 1000.
    let rows = |name: &str| std::fs::read_to_string(scratch.file(name)).unwrap().lines().count();
    assert_eq!((rows("served.jsonl"), rows("corridor/traces.jsonl")), (1000, 1000));
    assert_eq!(
        std::fs::read_to_string(scratch.file("served.jsonl")).unwrap(),
        std::fs::read_to_string(scratch.file("corridor/traces.jsonl"))
            .unwrap()
            .replace("\"algorithm_id\": \"none\", ", "\"algorithm_id\": \"none\", \"serve\": {\"steps\": 1000}, ")
    );
}

#[test]
fn a_rollout_store_is_written_validated_and_read() {
    let printed = run(&Scratch::new(), "05_rollouts.lua");
    assert!(printed.contains("candidates, manifest "), "{printed}");
}

#[test]
fn a_sweep_runs_through_either_command_and_eval_finds_its_trials() {
    let scratch = Scratch::new();
    scratch.write("06_sweep.lua", &script("06_sweep.lua"));
    scratch.skyfall(&["script", "06_sweep.lua", "--jobs", "2", "--out", "script"]).ok();
    scratch.skyfall(&["sweep", "06_sweep.lua", "--jobs", "2", "--out", "sweep"]).ok();
    assert_eq!(crate::sweep::left(&scratch, "script"), crate::sweep::left(&scratch, "sweep"));
    let report = scratch.skyfall(&["eval", "--traces", "sweep", "--group-by", "noise", "--format", "json"]).ok().stdout;
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["runs"].as_array().unwrap().len(), 9);
    assert_eq!(report["groups"].as_array().unwrap().len(), 3);
}
