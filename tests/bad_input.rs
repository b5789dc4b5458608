//! Bad input: one clear line, the right exit code, and nothing half-written under a final name.

use crate::command::Scratch;

/// An experiment script with parts to be replaced.
fn experiment(env: &str, reward: &str, extra: &str) -> String {
    format!(
        "local skyfall = require 'skyfall'\n\
         skyfall.run_experiment({{\n\
         env = {env},\n\
         algorithm = {{ name = 'discrete_hill_climbing', policy = {{ id = 'linear_menu', kwargs = {{ n_actions = 2 }} }} }},\n\
         reward = {reward},\n\
         rollout = {{ window_steps = 10, total_steps = 50 }},\n\
         run = {{ name = 'bad', seed = 1 }},\n\
         {extra}\n\
         }}, {{ traces = 'out/traces.jsonl', export_dir = 'out/bundle' }})\n"
    )
}

const CARTPOLE: &str = "{ id = 'CartPole-v1' }";

#[test]
fn an_unknown_key_names_the_nearest() {
    let scratch = Scratch::new();
    scratch.script(&experiment(CARTPOLE, "nil", "rolout = {}")).failed(1, &["script.lua:2", "rolout", "rollout"]);
    assert_eq!(scratch.tree(), ["script.lua"]);
}

#[test]
fn unknown_names_are_answered_with_those_there_are() {
    let scratch = Scratch::new();
    let cartpole = "env: {id: CartPole-v1}\n";
    for (part, words) in [
        ("env: {id: Pong}", ["unknown environment `Pong`", "registered environments: Acrobot-v1, "]),
        ("env: {id: CartPole-v1, wrappers: [{name: fog}]}", ["there is no wrapper `fog`", "known are action_delay, "]),
        (
            "algorithm: {name: dqn}",
            ["unknown algorithm `dqn`", "registered algorithms: none, discrete_hill_climbing, "],
        ),
        (
            "algorithm: {name: ars+later}",
            ["unknown algorithm `ars+later`", "controls: reset_at_shift, oracle_per_regime"],
        ),
        ("algorithm: {name: ars, policy: {id: cnn}}", ["unknown policy `cnn`", "registered policies: linear_menu, "]),
        ("regime: {provider: weekly}", ["provider", "known are constant, "]),
    ] {
        let env = if part.starts_with("env") { "" } else { cartpole };
        scratch.write("config.yaml", &format!("{env}{part}\nrollout: {{total_steps: 1}}\n"));
        scratch.skyfall(&["run", "config.yaml"]).failed(1, &words);
    }
    assert_eq!(scratch.tree(), ["config.yaml"]);
}

#[test]
fn what_is_no_script_and_no_report_is_told_by_its_ending() {
    let scratch = Scratch::new();
    scratch.write("config.yaml", "env: {id: CartPole-v1}\nrollout: {total_steps: 1}\n");
    for command in [&["script", "config.yaml"][..], &["script", "--check", "config.yaml"]] {
        scratch
            .skyfall(command)
            .failed(2, &["config.yaml is a configuration, not a script", "skyfall run config.yaml"]);
    }
    scratch.write("t.jsonl", "{\"step\": 0, \"reward\": 1.0}\n");
    let eval = |arguments: &[&str]| scratch.skyfall(&[&["eval", "--traces", "t.jsonl", "-o"][..], arguments].concat());
    eval(&["report.pdf"]).failed(2, &["no report has the ending `.pdf`", "--format", "html"]);
    assert_eq!(scratch.tree(), ["config.yaml", "t.jsonl"]);
    eval(&["report.pdf", "--format", "text"]).ok();
    eval(&["report"]).ok();
    eval(&["report.html"]).ok();
    let page = scratch.read("report.html");
    assert!(page.contains("1 run in 1 group, 1 row from 1 file."), "{page}");
}

#[test]
fn a_wrong_type_names_its_path() {
    let scratch = Scratch::new();
    let config = "env: {id: CartPole-v1}\nrollout: {total_steps: many}\n";
    scratch.write("config.yaml", config);
    scratch.skyfall(&["run", "config.yaml", "--traces", "t.jsonl"]).failed(1, &["rollout.total_steps", "integer"]);
    assert_eq!(scratch.tree(), ["config.yaml"]);
}

#[test]
fn every_mistake_is_told_at_once() {
    let scratch = Scratch::new();
    scratch.write("config.json", r#"{"env": {"idd": "CartPole-v1"}, "rollout": {"total_steps": -1}}"#);
    scratch.skyfall(&["run", "config.json"]).failed(1, &["idd", "rollout.total_steps"]);
}

#[test]
fn missing_files_are_input_errors() {
    let scratch = Scratch::new();
    scratch.skyfall(&["script", "none.lua"]).failed(3, &["none.lua"]);
    scratch.skyfall(&["run", "none.yaml"]).failed(3, &["none.yaml"]);
    scratch.skyfall(&["eval", "--traces", "none.jsonl"]).failed(3, &["none.jsonl"]);
    scratch.skyfall(&["serve", "none"]).failed(3, &["none"]);
    scratch.skyfall(&["rollouts", "validate", "none"]).failed(3, &["none"]);
}

#[test]
fn malformed_yaml_shows_its_line() {
    let scratch = Scratch::new();
    scratch.write("config.yaml", "env:\n  id: [CartPole-v1\nrollout: {}\n");
    scratch.skyfall(&["run", "config.yaml"]).failed(3, &["config.yaml:"]);
}

#[test]
fn an_unknown_environment_names_the_nearest() {
    let scratch = Scratch::new();
    scratch
        .script(&experiment("{ id = 'CartPole-v2' }", "nil", ""))
        .failed(1, &["CartPole-v2", "did you mean `CartPole-v"]);
    assert_eq!(scratch.tree(), ["script.lua"]);
}

/// A composition of one term whose body is `body`, on line 5 of the script.
fn composed(body: &str) -> String {
    format!("skyfall.reward.compose {{ {{ skyfall.reward.term('mine', function(s) {body} end) }} }}")
}

#[test]
fn a_term_that_raises_stops_the_run_at_its_line_and_keeps_what_was_written() {
    let scratch = Scratch::new();
    let body = "if s.step == 7 then error('out of luck') end return 1";
    scratch
        .script(&experiment(CARTPOLE, &composed(body), ""))
        .failed(1, &["script.lua:5", "`mine`", "step 7", "out of luck"]);
    assert_eq!(
        scratch.tree(),
        ["out/traces.config.yaml", "out/traces.jsonl", "script.lua"],
        "rows are kept, no bundle appears"
    );
    assert_eq!(scratch.read("out/traces.jsonl").lines().count(), 7);
    scratch.skyfall(&["trace", "check", "out/traces.jsonl"]).ok();
}

#[test]
fn a_term_that_returns_something_else_than_a_finite_number_is_named() {
    for (body, word) in [("return 'high'", "text"), ("return 0/0", "NaN"), ("", "nothing")] {
        let scratch = Scratch::new();
        scratch.script(&experiment(CARTPOLE, &composed(body), "")).failed(1, &["`mine`", "step 0", word]);
    }
}

#[test]
fn a_trace_that_cannot_be_written_is_told_before_the_run() {
    let scratch = Scratch::new();
    scratch.write("out", "a file where a directory should be");
    scratch.script(&experiment(CARTPOLE, "nil", "")).failed(1, &["out"]);
    assert_eq!(scratch.tree(), ["out", "script.lua"]);
}

#[test]
fn an_unknown_override_is_a_usage_error() {
    let scratch = Scratch::new();
    scratch.write("config.yaml", "env: {id: CartPole-v1}\nrollout: {total_steps: 10}\n");
    scratch.skyfall(&["run", "config.yaml", "--set", "run.sed=1"]).failed(2, &["sed", "seed"]);
    scratch.skyfall(&["run", "config.yaml", "--set", "run.seed=4"]).ok();
}

#[test]
fn a_record_that_does_not_fit_names_its_field_and_writes_nothing() {
    let scratch = Scratch::new();
    let code = "local skyfall = require 'skyfall'\n\
                local w = skyfall.rollouts.writer { store_dir = 's.zarr', selected_depth_enabled = false }\n\
                w:add { rollout_id_prefix = 'r', horizon = 'long' }";
    scratch.script(code).failed(1, &["script.lua:3", "r: root_pose_world", "missing"]);
    let code = "require('skyfall').rollouts.writer { store_dir = 's.zarr', q_h_chunk_state = 3 }";
    scratch.script(code).failed(1, &["q_h_chunk_state", "q_h_chunk_states"]);
    assert_eq!(scratch.tree(), ["script.lua"]);
}

#[test]
fn what_is_not_a_rollout_store_is_never_replaced() {
    let scratch = Scratch::new();
    scratch.write("precious/data.txt", "mine");
    scratch
        .script("require('skyfall').rollouts.writer { store_dir = 'precious' }")
        .failed(1, &["precious", "not replaced"]);
    assert_eq!(scratch.read("precious/data.txt"), "mine");
}

#[test]
fn what_cannot_travel_in_a_bundle_is_named_before_the_run() {
    let scratch = Scratch::new();
    let reward = "(function() local file = io.stdout\n\
                  return skyfall.reward.compose { { skyfall.reward.term('mine', function(s) return file and 1 or 0 end) } }\n\
                  end)()";
    scratch.script(&experiment(CARTPOLE, reward, "")).failed(1, &["`mine`", "captured variable `file`"]);
    assert_eq!(scratch.tree(), ["script.lua"]);
}

#[test]
fn a_bundle_whose_code_was_changed_is_not_served() {
    let scratch = Scratch::new();
    scratch.script(&experiment(CARTPOLE, &composed("return 1"), "")).ok();
    let manifest = scratch.read("out/bundle/manifest.yaml");
    assert!(manifest.contains("return 1 end"), "{manifest}");
    scratch.write("out/bundle/manifest.yaml", &manifest.replace("return 1 end", "return 2 end"));
    scratch.skyfall(&["serve", "out/bundle", "--traces", "served.jsonl"]).failed(1, &["`mine`", "sha256"]);
    assert!(!scratch.file("served.jsonl").exists());
}

#[test]
fn what_is_read_is_not_written_over() {
    let scratch = Scratch::new();
    scratch.write("runs/t.jsonl", "{\"step\": 0, \"reward\": 1}\n");
    let config = "env: {id: CartPole-v1}\nalgorithm: {policy: {id: random}}\nrollout: {total_steps: 9}\n";
    scratch.write("c.yaml", config);
    scratch.skyfall(&["run", "c.yaml", "--export", "b"]).ok();
    let manifest = scratch.read("b/manifest.yaml");
    for command in [
        &["eval", "--traces", "runs/t.jsonl", "-o", "runs/t.jsonl"][..],
        &["eval", "--traces", "runs", "-o", "runs/../runs/t.jsonl"],
        &["trace", "cat", "runs/t.jsonl", "-o", "runs/t.jsonl"],
        &["run", "c.yaml", "--traces", "c.yaml"],
        &["serve", "b", "--steps", "5", "--traces", "b/manifest.yaml"],
    ] {
        scratch.skyfall(command).failed(2, &["is among what is read; it is not written over"]);
    }
    assert_eq!(scratch.read("runs/t.jsonl"), "{\"step\": 0, \"reward\": 1}\n");
    assert!(scratch.read("c.yaml") == config && scratch.read("b/manifest.yaml") == manifest);
}

#[test]
fn output_that_is_cut_is_a_failure() {
    let scratch = Scratch::new();
    scratch.write("t.jsonl", "{\"step\": 0, \"reward\": 1}\n");
    for command in [
        &["eval", "--traces", "t.jsonl"][..],
        &["trace", "stats", "t.jsonl"],
        &["eval", "--schema"],
        &["script", "-e", "print(1)"],
        &["script", "-e", "io.write(('x'):rep(1 << 20)) os.exit(0)"],
        &["script", "-e", "io.stdout:setvbuf('no') io.stdout:write('x')"],
        &["script", "-e", "for _ = 1, 3 do io.write(('x'):rep(5000)) end"],
        &["script", "-e", "require 'skyfall.pretty'.print { 1 }"],
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_skyfall"))
            .args(command)
            .current_dir(scratch.path())
            .stdout(full)
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{command:?}: {stderr}");
        assert!(stderr.contains("cannot write to standard output"), "{stderr}");
    }
}

#[test]
fn a_link_stays_one_and_an_occupied_place_is_told_before_the_run() {
    let scratch = Scratch::new();
    scratch.write("t.jsonl", "{\"step\": 0, \"reward\": 1}\n");
    scratch.write("real/report.txt", "old");
    std::os::unix::fs::symlink("real/report.txt", scratch.file("link")).unwrap();
    scratch.skyfall(&["eval", "--traces", "t.jsonl", "-o", "link"]).ok();
    assert!(scratch.read("real/report.txt").contains("reward/step"));
    assert!(scratch.file("link").symlink_metadata().unwrap().is_symlink());
    let config = "env: {id: CartPole-v1}\nalgorithm: {policy: {id: random}}\nrollout: {total_steps: 9}\n";
    scratch.write("c.yaml", config);
    scratch.skyfall(&["run", "c.yaml", "--traces", "r.jsonl", "--export", "real"]).failed(1, &["real"]);
    assert!(!scratch.file("r.jsonl").exists());
}

#[test]
fn a_line_without_an_end_is_not_held() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_skyfall"))
        .args(["trace", "check", "/dev/zero"])
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("a line is longer than 256 MiB"), "{stderr}");
}

#[test]
fn ctrl_c_ends_what_does_not_look_for_it_at_once() {
    let scratch = Scratch::new();
    let pipe = scratch.file("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_skyfall"))
        .args(["trace", "check", "pipe"])
        .current_dir(scratch.path())
        .spawn()
        .unwrap();
    // It has opened the pipe once this end can be opened, too; it then waits for rows.
    let writer = std::fs::File::options().write(true).open(&pipe).unwrap();
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    drop(writer);
}
