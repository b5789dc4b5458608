//! The resolved configuration: printed by a dry run, left beside a trace, and enough to run the
//! experiment again with nothing else at hand.

use skyfall::config::{self, ExperimentConfig};

use crate::command::Scratch;

const CONFIG: &str = "env: {id: CartPole-v1}\nrollout: {total_steps: 120.0, window_steps: 50.0}\nrun: {seed: 3.0}\n";

fn providers() -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/acceptance/04_providers.lua");
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn a_dry_run_prints_the_resolved_configuration_and_writes_nothing() {
    let scratch = Scratch::new();
    let path = scratch.write("config.yaml", CONFIG);
    let arguments = ["run", "config.yaml", "--dry-run", "--set", "run.name=x", "--traces", "t.jsonl", "--export", "b"];
    let printed = scratch.skyfall(&arguments).ok().stdout;
    assert_eq!(scratch.tree(), ["config.yaml"]);
    let mut expected = config::load(&path).unwrap();
    expected.run.name = "x".to_owned();
    assert_eq!(printed, expected.to_document());
    assert!(printed.contains(&format!("# sha256 (of its canonical JSON): {}\n", expected.sha256())), "{printed}");
    assert!(printed.contains("  total_steps: 120\n") && printed.contains("  window_steps: 50\n"), "{printed}");
    scratch.write("bad.yaml", "env: {id: CartPole-v9}\nrollout: {total_steps: 1}\n");
    scratch.skyfall(&["run", "bad.yaml", "--dry-run"]).failed(1, &["CartPole-v9"]);
}

#[test]
fn a_dry_run_of_a_script_prints_the_experiment_it_returns() {
    let scratch = Scratch::new();
    let code = "return require('skyfall').experiment { env = { id = 'CartPole-v1' }, \
                rollout = { total_steps = 20.0, window_steps = 5 }, run = { name = 'mine', seed = 2.0 } }";
    scratch.write("script.lua", code);
    let printed = scratch.skyfall(&["script", "script.lua", "--dry-run", "--set", "run.seed=9"]).ok().stdout;
    assert!(printed.contains("  name: mine\n  seed: 9\n"), "{printed}");
    assert_eq!(scratch.skyfall(&["run", "script.lua", "--dry-run", "--seed", "9"]).ok().stdout, printed);
    assert_eq!(scratch.tree(), ["script.lua"]);
}

#[test]
fn the_resolved_configuration_stands_beside_the_trace_with_its_digest() {
    let scratch = Scratch::new();
    let path = scratch.write("config.yaml", CONFIG);
    scratch.skyfall(&["run", "config.yaml", "--traces", "out/traces.jsonl"]).ok();
    assert_eq!(scratch.tree(), ["config.yaml", "out/traces.config.yaml", "out/traces.jsonl"]);
    let config = config::load(&path).unwrap();
    assert_eq!(scratch.read("out/traces.config.yaml"), config.to_document());
    assert_eq!(config::load(&scratch.file("out/traces.config.yaml")).unwrap(), config);
    // A directory of traces is still nothing but traces to its readers.
    scratch.skyfall(&["eval", "--traces", "out"]).ok();
    for (trace, beside) in [
        ("a/b.jsonl.gz", "a/b.config.yaml"),
        ("b.zst", "b.config.yaml"),
        ("trace", "trace.config.yaml"),
        (".jsonl", ".jsonl.config.yaml"),
    ] {
        assert_eq!(config::beside(trace.as_ref()), std::path::Path::new(beside));
    }
    scratch.skyfall(&["run", "config.yaml", "--traces", "/dev/null"]).ok();
}

/// Environment, policy, terms and regime of this script are its own.
#[test]
fn what_a_script_defined_is_resolved_by_value_and_runs_without_the_script() {
    let scratch = Scratch::new();
    scratch.write("script.lua", &providers());
    scratch.skyfall(&["script", "script.lua"]).ok();
    std::fs::remove_file(scratch.file("script.lua")).unwrap();
    std::fs::rename(scratch.file("corridor/traces.config.yaml"), scratch.file("again.yaml")).unwrap();
    scratch.skyfall(&["run", "again.yaml", "--traces", "again/traces.jsonl", "--export", "again/bundle"]).ok();
    assert_eq!(scratch.read("again/traces.jsonl"), scratch.read("corridor/traces.jsonl"));
    assert_eq!(scratch.read("again/traces.config.yaml"), scratch.read("again.yaml"));
    assert_eq!(scratch.read("again/bundle/manifest.yaml"), scratch.read("corridor/bundle/manifest.yaml"));
}

#[test]
fn what_cannot_be_recorded_says_so_in_place_of_its_code() {
    let scratch = Scratch::new();
    let code = "local skyfall = require 'skyfall'\n\
                local file = io.stdout\n\
                local term = skyfall.reward.term('mine', function(s) return file and 1 or 0 end)\n\
                return skyfall.experiment { env = { id = 'CartPole-v1' }, rollout = { total_steps = 5 },\n\
                reward = skyfall.reward.compose { { term, weight = 0.5 } } }";
    scratch.write("script.lua", code);
    scratch.skyfall(&["run", "script.lua", "--traces", "t.jsonl"]).ok();
    let config = scratch.read("t.config.yaml");
    assert!(config.contains("weight: 0.5") && config.contains("unrecorded: "), "{config}");
    scratch
        .skyfall(&["run", "t.config.yaml"])
        .failed(1, &["`mine`", "its Lua was not recorded", "captured variable `file`"]);
}

/// Lua has one table for lists and maps, and no null: what a configuration says survives both.
#[test]
fn a_configuration_survives_lua() {
    let scratch = Scratch::new();
    let yaml = "env: {id: CartPole-v1, kwargs: {sutton_barto_reward: true}}\n\
                algorithm: {name: discrete_hill_climbing, params: {noise: 0.25, episodes: 2}, \
                policy: {id: linear_menu, kwargs: {n_actions: 2}}}\n\
                rollout: {total_steps: 10, window_steps: 4, auto_reset: false}\n\
                reward: {terms: [{builtin: alive, weight: 2}, {builtin: env, weight: 0.1}]}\n\
                regime: {provider: cycle, params: {entries: [{id: a, steps: 3, env: {gravity: 1.5}}, {id: b, steps: 1}]}}\n\
                run: {name: '1E5', seed: 9007199254740993, task: t, meta: {deep: [1, 2.0, {x: '1'}], big: -0.0}}\n\
                trace: {record: [observation, terminated]}\n";
    let path = scratch.write("config.yaml", yaml);
    scratch
        .script(
            "local skyfall = require 'skyfall'\n\
         local text = skyfall.fs.read('config.yaml')\n\
         local once = skyfall.experiment(skyfall.yaml.decode(text))\n\
         local twice = skyfall.experiment(once.config)\n\
         return twice",
        )
        .ok();
    let config = config::load(&path).unwrap();
    let resolved = scratch.file("1E5/traces.config.yaml");
    assert_eq!(config::load(&resolved).unwrap(), ExperimentConfig { regime: config.regime.clone(), ..config });
}
