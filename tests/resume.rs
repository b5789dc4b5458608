//! Runs that stop anywhere go on to the very same bytes, or refuse at the start and say why.

mod parts;

use std::num::NonZeroU64;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use skyfall::bundle::{ExportOptions, export};
use skyfall::config::ExperimentConfig;
use skyfall::experiment::{Catalog, Checkpoints, Experiment, Observer, Parts, RunResult, Silent, checkpoint_path};
use skyfall::reward::StepView;

use crate::command::Scratch;
use crate::experiment::config;

/// Asks the run to stop before a step.
struct Until(u64);

impl Observer for Until {
    fn on_step(&mut self, step: &StepView<'_>, _: f64) -> Result<(), String> {
        self.0 = if step.step + 1 == self.0 { 0 } else { self.0 };
        Ok(())
    }

    fn interrupted(&self) -> bool {
        self.0 == 0
    }
}

fn run(config: &ExperimentConfig, trace: &Path, resume: bool, observer: &mut dyn Observer) -> (RunResult, Experiment) {
    let mut experiment = Experiment::new(config.clone(), &Catalog::native(), Parts::default()).unwrap();
    let checkpoints = Checkpoints { every: NonZeroU64::new(1), resume };
    let result = experiment.run_with(Some(trace), Some(checkpoints), observer).unwrap();
    (result, experiment)
}

/// Runs `config` whole, then in pieces that end before each of `stops`; both leave the same.
fn assert_resumes(config: &ExperimentConfig, stops: &[u64]) {
    let directory = tempfile::tempdir().unwrap();
    let [whole, pieces] = ["whole", "pieces"].map(|name| directory.path().join(name));
    let (expected, experiment) = run(config, &whole.join("traces.jsonl"), false, &mut Silent);
    export(&experiment, &whole.join("bundle"), ExportOptions::default()).unwrap();
    let trace = pieces.join("traces.jsonl");
    for stop in stops {
        let (result, _) = run(config, &trace, true, &mut Until(*stop));
        assert_eq!((result.interrupted, result.steps), (true, *stop));
        assert!(checkpoint_path(&trace).exists());
        // What a killed process wrote after its last checkpoint is cut off.
        let mut bytes = std::fs::read(&trace).unwrap();
        bytes.extend_from_slice(b"{\"step\": 9}\n{\"torn");
        std::fs::write(&trace, bytes).unwrap();
    }
    let (result, experiment) = run(config, &trace, true, &mut Silent);
    export(&experiment, &pieces.join("bundle"), ExportOptions::default()).unwrap();
    assert_eq!(result, expected);
    for file in ["traces.jsonl", "traces.config.yaml", "bundle/manifest.yaml"] {
        assert!(std::fs::read(whole.join(file)).unwrap() == std::fs::read(pieces.join(file)).unwrap(), "{file}");
    }
    let policy = |experiment: &Experiment| experiment.algorithm().policy().snapshot().unwrap();
    let mut reopened =
        skyfall::bundle::Bundle::open(pieces.join("bundle")).unwrap().policy(&Catalog::native()).unwrap();
    assert_eq!(reopened.parameters_mut().map(|weights| weights.to_vec()), {
        let (_, again) = run(config, &directory.path().join("again.jsonl"), false, &mut Silent);
        assert_eq!(policy(&again), policy(&experiment));
        again.algorithm().policy().parameters().map(<[f64]>::to_vec)
    });
}

#[test]
fn every_native_world_goes_on_where_it_stopped() {
    for id in skyfall::env::registry::IDS {
        let text = format!(
            r#"{{"env": {{"id": "{id}"}}, "algorithm": {{"name": "none", "policy": {{"id": "random"}}}},
                "rollout": {{"window_steps": 40, "total_steps": 700}}, "run": {{"name": "r", "seed": 5}},
                "trace": {{"record": ["observation", "next_observation", "terminated", "truncated"]}}}}"#
        );
        assert_resumes(&config(&text), &[1, 40, 83, 400]);
    }
}

#[test]
fn learning_regimes_and_composed_rewards_go_on_where_they_stopped() {
    let regimes = [
        r#"{"provider": "cycle", "params": {"entries": [
            {"id": "calm", "steps": 300}, {"id": "windy", "steps": 170, "env": {"force_mag": 6.0}, "reward": {"alive": 2}}]}}"#,
        r#"{"provider": "random", "params": {"mean_steps": 90, "states": [
            {"id": "a"}, {"id": "b", "env": {"gravity": 12.0}}, {"id": "c", "reward": {"env": 0.5}}]}}"#,
        r#"{"provider": "drift", "params": {"path": "random_walk", "std": 0.05, "every": 7,
            "env": {"length": {"from": 0.4, "to": 0.6}}}}"#,
    ];
    let learners = [
        r#""name": "discrete_hill_climbing", "params": {"episodes": 2}"#,
        r#""name": "ars", "params": {"directions": 3, "top": 2, "episodes": 2}"#,
        r#""name": "cem", "params": {"population": 6, "elite": 2, "episodes": 2}"#,
    ];
    for (regime, learner) in regimes.iter().flat_map(|regime| learners.map(|learner| (regime, learner))) {
        let text = format!(
            r#"{{"env": {{"id": "CartPole-v1"}},
                "algorithm": {{{learner}, "policy": {{"id": "linear_menu"}}}},
                "rollout": {{"window_steps": 100, "total_steps": 2500}}, "run": {{"name": "r", "seed": 3}},
                "reward": {{"terms": [{{"builtin": "env"}}, {{"builtin": "alive", "weight": 0.1}}]}},
                "regime": {regime}}}"#
        );
        assert_resumes(&config(&text), &[100, 471, 1200, 1201, 2499]);
    }
}

const CONFIG: &str = "env: {id: CartPole-v1}\n\
    algorithm: {name: discrete_hill_climbing, policy: {id: linear_menu}}\n\
    rollout: {window_steps: 500, total_steps: 60000}\nrun: {seed: 4}\n\
    regime: {provider: cycle, params: {entries: [{id: a, steps: 3000}, {id: b, steps: 2000, env: {force_mag: 7.0}}]}}\n";

fn start(scratch: &Scratch, arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skyfall"));
    command.args(arguments).current_dir(scratch.path()).stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(Stdio::null()).spawn().unwrap()
}

/// Starts the command and kills it once the trace has `bytes`; whether it was still running.
fn killed_at(scratch: &Scratch, arguments: &[&str], trace: &str, bytes: u64) -> bool {
    let mut child = start(scratch, arguments);
    loop {
        if std::fs::metadata(scratch.file(trace)).is_ok_and(|about| about.len() >= bytes) {
            child.kill().unwrap();
            child.wait().unwrap();
            return true;
        }
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// What has the most to remember: networks, half a batch, wrappers, and a learner a regime.
const DEEP: &str = "env: {id: CartPole-v1, wrappers: [{name: action_delay, params: {steps: 1}},\n\
    \x20 {name: observation_noise, params: {std: 0.02}}, {name: sticky_actions, params: {probability: 0.1}}]}\n\
    algorithm:\n\
    \x20 name: ppo+oracle_per_regime\n\
    \x20 params: {critic: [8], epochs: 3}\n\
    \x20 policy: {id: mlp, kwargs: {hidden: [8]}}\n\
    rollout: {window_steps: 500, total_steps: 30000}\nrun: {seed: 4}\n\
    regime: {provider: cycle, params: {entries: [{id: a, steps: 3000}, {id: b, steps: 2000, env: {force_mag: 7.0}}]}}\n";

#[test]
fn a_killed_process_goes_on_to_the_same_trace_and_bundle() {
    let scratch = Scratch::new();
    scratch.write("config.yaml", DEEP);
    scratch.skyfall(&["run", "config.yaml", "--traces", "whole/traces.jsonl", "--export", "whole/bundle"]).ok();
    let run = ["run", "config.yaml", "--traces", "t/traces.jsonl", "--export", "t/bundle", "--checkpoint-every", "1"];
    let resumed = [&run[..], &["--resume"]].concat();
    let length = std::fs::metadata(scratch.file("whole/traces.jsonl")).unwrap().len();
    assert!(killed_at(&scratch, &run, "t/traces.jsonl", 1), "killed at its first rows");
    let mut kills = 0;
    for tenth in 2..9 {
        kills += u64::from(killed_at(&scratch, &resumed, "t/traces.jsonl", length * tenth / 10));
    }
    assert!(kills > 0);
    scratch.skyfall(&resumed).ok();
    for file in ["traces.jsonl", "traces.config.yaml", "bundle/manifest.yaml", "bundle/checkpoint/weights.safetensors"]
    {
        let read = |directory: &str| std::fs::read(scratch.file(directory).join(file)).unwrap();
        assert!(read("whole") == read("t"), "{file} differs");
    }
    assert!(!scratch.file("t/traces.checkpoint.json").exists(), "nothing is left to resume");
}

/// Kills the command once `trace` is a third as long as `whole`, and starts it again.
fn killed_and_resumed(scratch: &Scratch, arguments: &[&str], trace: &str, whole: &str) {
    let length = std::fs::metadata(scratch.file(whole)).unwrap().len();
    assert!(killed_at(scratch, arguments, trace, length / 3));
    assert!(checkpoint_path(&scratch.file(trace)).exists());
    scratch.skyfall(arguments).ok();
}

/// A run of a script whose term's code is `term`, up to the options of its run.
fn scripted(term: &str) -> String {
    format!(
        "local skyfall = require 'skyfall'\nlocal target, count, seen = 0.5, 0, {{}}\n\
         local term = skyfall.reward.term('mine', function(s)\n{term}\nend, {{ scale = 2 }})\n\
         local regime = skyfall.regime.provider('coin', {{ every = 50 }}, function(step, params, rng)\n\
         local draw = rng:uniform() return {{ id = step // params.every % 2 == 0 and 'a' or 'b', env = {{ force_mag = 9 + draw }} }}\n\
         end)\n\
         return skyfall.experiment {{ env = {{ id = 'CartPole-v1' }}, regime = regime,\n\
         reward = skyfall.reward.compose {{ {{ term, weight = 0.5 }} }},\n\
         algorithm = {{ name = 'discrete_hill_climbing', policy = {{ id = 'linear_menu' }} }},\n\
         rollout = {{ window_steps = 100, total_steps = 20000 }}, run = {{ name = 'r', seed = 1 }} }}\n"
    )
}

#[test]
fn terms_and_regimes_in_lua_that_keep_no_state_go_on_too() {
    let scratch = Scratch::new();
    scratch.write("script.lua", &scripted("return s.params.scale * target - s.next_observation[1]"));
    scratch.skyfall(&["script", "script.lua", "--out", "whole"]).ok();
    let run = ["script", "script.lua", "--out", "t", "--checkpoint-every", "1", "--resume"];
    killed_and_resumed(&scratch, &run, "t/traces.jsonl", "whole/traces.jsonl");
    for file in ["traces.jsonl", "bundle/manifest.yaml", "bundle/checkpoint/weights.safetensors"] {
        let read = |directory: &str| std::fs::read(scratch.file(directory).join(file)).unwrap();
        assert!(read("whole") == read("t"), "{file} differs");
    }
}

#[test]
fn the_flags_are_for_a_script_that_runs_its_experiment_itself_too() {
    let scratch = Scratch::new();
    let script = "local skyfall = require 'skyfall'\n\
        skyfall.run_experiment({ env = { id = 'CartPole-v1' },\n\
        algorithm = { name = 'discrete_hill_climbing', policy = { id = 'linear_menu' } },\n\
        rollout = { window_steps = 100, total_steps = 60000 } }, { traces = arg[1] })";
    scratch.write("script.lua", script);
    scratch.skyfall(&["script", "script.lua", "--", "whole.jsonl"]).ok();
    let run = ["script", "script.lua", "--checkpoint-every", "1", "--resume", "--", "t.jsonl"];
    let length = std::fs::metadata(scratch.file("whole.jsonl")).unwrap().len();
    assert!(killed_at(&scratch, &run, "t.jsonl", length / 3));
    assert!(scratch.file("t.checkpoint.json").exists());
    scratch.skyfall(&run).ok();
    assert!(scratch.read("whole.jsonl") == scratch.read("t.jsonl"));
    let dry = ["script", "script.lua", "--dry-run", "--", "dry.jsonl"];
    scratch.skyfall(&dry).failed(1, &["script.lua:2", "--dry-run prints an experiment that a script returns"]);
    assert!(!scratch.file("dry.jsonl").exists());
    let elsewhere = scratch.skyfall(&["script", "-e", "return 1", "--out", "there"]).ok();
    assert!(elsewhere.stderr.contains("--out had no part in this"), "{}", elsewhere.stderr);
}

#[test]
fn what_keeps_state_is_named_at_the_start() {
    for (term, says) in [
        ("count = count + 1 return count", "the variable `count`"),
        ("seen[1] = s.step return 1", "`seen`"),
        ("return math.random()", "math.random"),
        ("rawset(s.params, 'count', 1) return 1", "rawset"),
    ] {
        let scratch = Scratch::new();
        scratch.write("script.lua", &scripted(term));
        let run = ["run", "script.lua", "--traces", "t.jsonl"];
        scratch
            .skyfall(&[&run[..], &["--resume"]].concat())
            .failed(1, &["cannot be resumed", "reward term `mine`", says]);
        assert_eq!(scratch.tree(), ["script.lua"]);
        scratch.skyfall(&run).ok();
    }
}

#[test]
fn environments_and_policies_in_lua_are_named_at_the_start() {
    let scratch = Scratch::new();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/acceptance/04_providers.lua");
    let script = std::fs::read_to_string(path).unwrap();
    scratch.write("script.lua", &script.replace("export_dir", "resume = true, export_dir"));
    scratch
        .skyfall(&["script", "script.lua"])
        .failed(1, &["script.lua:", "environment `Corridor-v0`", "written in Lua"]);
    assert_eq!(scratch.tree(), ["script.lua"]);
}

/// A run of a policy whose table is `own` and whose actions are `act`.
fn acting(own: &str, act: &str) -> String {
    format!(
        "local skyfall = require 'skyfall'\n\
         skyfall.policy.define {{ id = 'lean', kwargs = {{ index = 3 }},\n\
         new = function(kwargs, context) return {own} end,\n\
         act = function(self, observation) {act} end }}\n\
         return skyfall.experiment {{ env = {{ id = 'CartPole-v1', wrappers = {{ {{ name = 'sticky_actions' }} }} }},\n\
         algorithm = {{ name = 'none', policy = {{ id = 'lean' }} }},\n\
         rollout = {{ window_steps = 100, total_steps = 20000 }}, run = {{ name = 'r', seed = 1 }} }}\n"
    )
}

#[test]
fn policies_in_lua_that_keep_no_state_go_on_too() {
    let scratch = Scratch::new();
    let act = "return observation[self.index] > self.at[1] and 1 or 0";
    scratch.write("script.lua", &acting("{ index = kwargs.index, at = { 0.01, 2 } }", act));
    scratch.skyfall(&["run", "script.lua", "--traces", "whole.jsonl"]).ok();
    let run = ["run", "script.lua", "--traces", "t.jsonl", "--checkpoint-every", "1", "--resume"];
    killed_and_resumed(&scratch, &run, "t.jsonl", "whole.jsonl");
    assert_eq!(scratch.read("whole.jsonl"), scratch.read("t.jsonl"));
    for (own, act) in [
        ("{ n = 0 }", "self.n = self.n + 1 return self.n % 2"),
        ("{ rng = context.rng }", "return self.rng:integers(2)"),
        ("{ flip = function() return 1 end }", "return self.flip()"),
        ("{}", "return math.random(2) - 1"),
    ] {
        scratch.write("script.lua", &acting(own, act));
        let words = ["cannot be resumed", "policy `lean`", "written in Lua"];
        scratch.skyfall(&["run", "script.lua", "--traces", "new.jsonl", "--resume"]).failed(1, &words);
        assert!(!scratch.file("new.jsonl").exists(), "{own}");
    }
}

#[test]
fn an_algorithm_in_lua_is_named_at_the_start() {
    let scratch = Scratch::new();
    scratch.write(
        "script.lua",
        "local skyfall = require 'skyfall'\n\
         skyfall.algorithm.define { name = 'idle', policy = 'linear_menu', on_step = function() end }\n\
         return skyfall.experiment { env = { id = 'CartPole-v1' }, algorithm = { name = 'idle+reset_at_shift' },\n\
         rollout = { total_steps = 100 } }\n",
    );
    let run = ["run", "script.lua", "--traces", "t.jsonl"];
    scratch
        .skyfall(&[&run[..], &["--resume"]].concat())
        .failed(1, &["cannot be resumed", "algorithm `idle`", "written in Lua"]);
    assert_eq!(scratch.tree(), ["script.lua"]);
    scratch.skyfall(&run).ok();
}

/// `tests/run` makes the venv with Gymnasium that this needs.
#[test]
fn an_environment_in_another_process_is_named_at_the_start_through_its_wrappers() {
    let scratch = Scratch::new();
    scratch.write(
        "config.yaml",
        "env: {id: 'python:gymnasium/CartPole-v1', wrappers: [{name: sticky_actions}]}\n\
         algorithm: {name: none, policy: {id: random}}\nrollout: {total_steps: 100}\n",
    );
    let run = ["run", "config.yaml", "--traces", "t.jsonl"];
    scratch
        .skyfall(&[&run[..], &["--resume"]].concat())
        .failed(1, &["cannot be resumed", "environment `python:gymnasium/CartPole-v1`"]);
    assert_eq!(scratch.tree(), ["config.yaml"]);
    scratch.skyfall(&run).ok();
}

#[test]
fn a_resume_that_cannot_be_right_is_refused() {
    let scratch = Scratch::new();
    scratch.write("config.yaml", CONFIG);
    let run = ["run", "config.yaml", "--checkpoint-every", "1", "--resume", "--traces"];
    let with = |arguments: &[&str]| scratch.skyfall(&[&run[..], arguments].concat());
    scratch.skyfall(&["run", "config.yaml", "--resume"]).failed(1, &["no trace is written"]);
    with(&["t.jsonl.gz"]).failed(1, &["t.jsonl.gz is compressed"]);
    with(&["/dev/null"]).failed(1, &["/dev/null is not a file"]);
    assert_eq!(scratch.tree(), ["config.yaml"]);
    assert!(killed_at(&scratch, &[&run[..], &["t.jsonl"]].concat(), "t.jsonl", 1_000_000));
    let trace = std::fs::read(scratch.file("t.jsonl")).unwrap();
    with(&["t.jsonl", "--seed", "9"]).failed(1, &["t.checkpoint.json", "another configuration"]);
    let checkpoint = scratch.read("t.checkpoint.json");
    for (from, to, says) in [
        ("\"version\": 1", "\"version\": 2", "another version"),
        ("\"rng\"", "\"rgn\"", "`sha256`"),
        ("{\"version\"", "{version", "t.checkpoint.json"),
    ] {
        assert!(checkpoint.contains(from), "{checkpoint}");
        scratch.write("t.checkpoint.json", &checkpoint.replace(from, to));
        with(&["t.jsonl"]).failed(3, &["cannot resume from t.checkpoint.json", says]);
        assert!(std::fs::read(scratch.file("t.jsonl")).unwrap() == trace, "the trace is left as it was");
    }
    scratch.write("t.checkpoint.json", &checkpoint);
    scratch.write("t.jsonl", "{\"step\": 0}\n");
    with(&["t.jsonl"]).failed(1, &["t.jsonl", "does not hold the"]);
    assert_eq!(scratch.read("t.jsonl"), "{\"step\": 0}\n");
    // A run from its beginning has no use for another one's checkpoint.
    scratch.skyfall(&["run", "config.yaml", "--traces", "t.jsonl", "--set", "rollout.total_steps=10"]).ok();
    assert_eq!(scratch.tree(), ["config.yaml", "t.config.yaml", "t.jsonl"]);
}
