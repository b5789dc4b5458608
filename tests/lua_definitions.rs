//! Environments and policies that a script defines: what is checked, what a regime may set, what
//! travels in a bundle.

use crate::command::{Ran, Scratch};

/// A walk on a line, with one of its parts in another form.
fn walk(part: &str, with: &str) -> String {
    let parts = [
        ("kwargs", "kwargs = { length = 4, slip = 0.0 },"),
        (
            "observation_space",
            "observation_space = function(kwargs) return skyfall.space.box { low = { 0 }, high = { kwargs.length }, dtype = 'float32' } end,",
        ),
        ("action_space", "action_space = skyfall.space.discrete(2),"),
        ("reset", "reset = function(env) env.x = 0; return { env.x } end,"),
        ("step", "step = function(env, action) env.x = env.x + action; return { env.x }, 1, env.x >= 3 end,"),
        ("more", ""),
    ];
    let mut code = String::from("local skyfall = require 'skyfall'\nskyfall.env.define {\n  id = 'Walk-v0',\n");
    for (name, text) in parts {
        code.push_str(if name == part { with } else { text });
        code.push('\n');
    }
    code + "}\n"
}

/// Runs what follows the definition.
fn run(definition: &str, then: &str) -> Ran {
    Scratch::new().script(&format!("{definition}{then}"))
}

const TWO_STEPS: &str = "local env = skyfall.env.make('Walk-v0')\nenv:reset { seed = 1 }\nenv:step(1)\nenv:step(1)";

#[test]
fn a_defined_environment_is_made_by_its_id_and_listed() {
    let then = r#"
local env = skyfall.env.make("Walk-v0", { length = 9 })
assert(env.id == "Walk-v0" and tostring(env.observation_space):find "Box" and env.action_space:contains(1))
local first = env:reset { seed = 3 }
local seen, reward, terminated, truncated, info = env:step(1)
print(first[1], seen[1], reward, terminated, truncated, next(info))
assert(env:parameters().length == 9)
local listed = {}
for _, id in ipairs(skyfall.env.list()) do listed[id] = true end
assert(listed["Walk-v0"] and listed["CartPole-v1"])
"#;
    assert_eq!(run(&walk("", ""), then).ok().stdout, "0.0\t1.0\t1.0\tfalse\tfalse\tnil\n");
}

#[test]
fn what_a_step_returns_is_checked_and_the_field_named() {
    for (step, words) in [
        ("return { 0 / 0 }, 1, false", ["`observation[1]` is NaN", "step 1 of its episode"]),
        ("return { 5 }, 1, false", ["`observation[1]` is 5.0, outside 0.0 to 4.0", "Walk-v0"]),
        ("return { 1, 2 }, 1, false", ["`observation` has the shape [2], the space has [1]", "Walk-v0"]),
        ("return { 'x' }, 1, false", ["observation", "Walk-v0"]),
        ("return nil, 1, false", ["`observation` must be", "got nothing"]),
        ("return { 1 }, 'much', false", ["`reward` must be a number, got the text \"much\"", "script.lua:8"]),
        ("return { 1 }, 0 / 0, false", ["`reward` is NaN", "script.lua:8"]),
        ("return { 1 }, 1, 1", ["`terminated` must be a boolean, got the integer 1", "`step`"]),
        ("return { 1 }, 1, false, 'no'", ["`truncated` must be a boolean", "`step`"]),
        ("return { 1 }, 1, false, false, 3", ["`info` must be a table", "`step`"]),
        (
            "return { 1 }, 1, false, false, { invalid_action = 1 }",
            ["`info.invalid_action` must be a boolean", "`step`"],
        ),
        ("error 'the floor is gone'", ["the floor is gone", "script.lua:8"]),
    ] {
        let definition = walk("step", &format!("step = function(env, action) {step} end,"));
        run(&definition, TWO_STEPS).failed(1, &words);
    }
    run(&walk("reset", "reset = function(env) return { -1 } end,"), TWO_STEPS)
        .failed(1, &["`reset` returned a wrong value: `observation[1]` is -1.0, outside 0.0 to 4.0"]);
}

#[test]
fn a_definition_that_is_wrong_names_the_field() {
    for (part, with, words) in [
        ("more", "steps = 3,", ["env.define", "unknown key `steps`; did you mean `step`?"]),
        ("step", "", ["env.define", "`step` is missing; it must be a function"]),
        ("reset", "reset = 3,", ["env.define", "`reset` must be a function, got the integer 3"]),
        ("action_space", "action_space = 2,", ["env.define", "`action_space` must be a space"]),
        ("more", "max_episode_steps = 0,", ["env.define", "`max_episode_steps` must be at least 1"]),
        ("kwargs", "kwargs = { 1, x = 2 },", ["env.define", "kwargs"]),
    ] {
        run(&walk(part, with), "").failed(1, &words);
    }
    let space = "observation_space = function(kwargs) return kwargs end,";
    run(&walk("observation_space", space), TWO_STEPS).failed(1, &["`observation_space` must return a space"]);
    run("require('skyfall').env.define(3)", "").failed(1, &["the definition must be a table, got the integer 3"]);
    run(&walk("", "").replace("Walk-v0", "CartPole-v1"), "").failed(1, &["is a native environment"]);
}

#[test]
fn arguments_are_the_defined_ones_and_of_their_kind() {
    for (kwargs, word) in [
        ("{ lenght = 3 }", "takes no argument `lenght`; did you mean `length`?"),
        ("{ slip = 'much' }", "`slip` must be a number, got text"),
        ("{ length = {} }", "`length` must be a number"),
    ] {
        run(&walk("", ""), &format!("skyfall.env.make('Walk-v0', {kwargs})")).failed(1, &["Walk-v0", word]);
    }
}

#[test]
fn misuse_is_told() {
    let make = "local env = skyfall.env.make 'Walk-v0'\n";
    run(&walk("", ""), &format!("{make}env:step(1)")).failed(1, &["12 | env:step(1)", "call reset first"]);
    run(&walk("", ""), &format!("{make}env:reset()\nenv:step(2)")).failed(1, &["action 2 is outside Discrete(2)"]);
    run(&walk("", ""), &format!("{make}env:set_parameter('slipp', 1)")).failed(1, &["did you mean `slip`?"]);
    run(&walk("", ""), &format!("{make}env:set_parameter('length', 5)"))
        .failed(1, &["`length` would change the observation space from"]);
}

#[test]
fn a_limit_truncates_and_the_seed_decides_the_stream() {
    let definition = walk(
        "reset",
        "reset = function(env) env.x = 0; env.first = env.rng:uniform(); return { 0 }, { first = env.first } end,",
    )
    .replace("-- more", "")
    .replace("}\n", "max_episode_steps = 2,\n}\n");
    let then = r#"
local env = skyfall.env.make "Walk-v0"
local _, a = env:reset { seed = 5 }
local _, b = env:reset()
local _, c = env:reset { seed = 5 }
assert(a.first == c.first and a.first ~= b.first and a.first == skyfall.random.rng(5):uniform())
env:step(0)
local _, _, terminated, truncated = env:step(0)
assert(not terminated and truncated)
local ok, problem = pcall(env.step, env, 0)
assert(not ok and problem:find "after its episode ended", problem)
"#;
    run(&definition, then).ok();
}

#[test]
fn reset_options_reach_a_reset_that_takes_them() {
    let place = "reset = function(env, options) env.x = options.at or 0; return { env.x }, options end,";
    let then = r#"
local env = skyfall.env.make "Walk-v0"
local seen, info = env:reset { options = { at = 2, by = { "hand" } } }
assert(seen[1] == 2 and info.at == 2 and info.by[1] == "hand")
seen, info = env:reset()
assert(seen[1] == 0 and next(info) == nil)
"#;
    run(&walk("reset", place), then).ok();
    let asked = "skyfall.env.make('Walk-v0'):reset { options = { at = 2 } }";
    run(&walk("", ""), asked).failed(1, &["takes no reset option `at`: its `reset` has no second parameter"]);
}

const EXPERIMENT: &str = r#"
local function config(policy)
  return {
    env = { id = "Walk-v0" },
    algorithm = { name = "none", policy = policy },
    rollout = { window_steps = 10, total_steps = 20, auto_reset = true },
    run = { name = "walk", seed = 1 },
  }
end
"#;

#[test]
fn a_policy_of_the_script_s_own_acts_and_its_mistakes_are_named() {
    for (policy, words) in [
        ("act = function() return 7 end", vec!["policy `mine`", "`act` returned a wrong value", "`action` is 7"]),
        ("act = function() return 'left' end", vec!["policy `mine`", "`action` must be an integer"]),
        ("act = function() error 'lost' end", vec!["policy `mine`", "lost", "step 0"]),
        (
            "act = function() return 1 end, new = function() return 3 end",
            vec!["`new` must return a table, got the integer 3"],
        ),
        ("act = 3", vec!["policy.define", "`act` must be a function"]),
        ("act = function() return 1 end, save = function() end", vec!["`save` and `load` go together"]),
        ("act = function() return 1 end, kwargs = { a = 1 }", vec!["takes no argument `b`"]),
    ] {
        let then = format!(
            "skyfall.policy.define {{ id = 'mine', {policy} }}\n\
             skyfall.run_experiment(config {{ id = 'mine', kwargs = {{ b = 1 }} }}, {{ traces = 't.jsonl' }})"
        );
        run(&(walk("", "") + EXPERIMENT), &then).failed(1, &words);
    }
}

#[test]
fn what_a_policy_saves_stays_within_its_directory() {
    for (save, load, word) in [
        ("skyfall.fs.write(dir .. '/../escaped', 'x')", "", "lies outside the checkpoint directory"),
        ("skyfall.fs.write('escaped', 'x')", "", "lies outside the checkpoint directory"),
        ("io.open('escaped', 'w')", "", "lies outside the checkpoint directory"),
    ] {
        let scratch = Scratch::new();
        let then = format!(
            "skyfall.policy.define {{ id = 'mine', act = function() return 1 end,\n\
             save = function(self, dir) {save} end,\n load = function(self, dir) {load} end }}\n\
             skyfall.run_experiment(config {{ id = 'mine' }}, {{ export_dir = 'bundle' }})"
        );
        scratch.script(&(walk("", "") + EXPERIMENT + &then)).failed(1, &[word]);
        assert_eq!(scratch.tree(), ["script.lua"], "nothing is left behind");
    }
}

#[test]
fn loading_may_only_read_and_code_in_a_bundle_has_little() {
    let scratch = Scratch::new();
    for (load, word) in [
        ("skyfall.fs.write(dir .. '/more', 'x')", "may only be read while a policy is loaded"),
        ("skyfall.fs.read(dir .. '/../manifest.yaml')", "lies outside the checkpoint directory"),
        ("skyfall.trace.rows('t.jsonl')", "code in a bundle has no module `skyfall.trace`"),
        ("require 'os'", "code in a bundle has no module `os`"),
        ("os.exit(0)", "os"),
        ("io.open(dir .. '/state')", "io"),
        ("load('return 1')()", "load"),
    ] {
        let then = format!(
            "skyfall.policy.define {{ id = 'mine', act = function() return 1 end,\n\
             save = function(self, dir) skyfall.fs.write(dir .. '/state', 'x') end,\n\
             load = function(self, dir) {load} end }}\n\
             skyfall.run_experiment(config {{ id = 'mine' }}, {{ export_dir = 'bundle' }})"
        );
        scratch.script(&(walk("", "") + EXPERIMENT + &then)).ok();
        let ran = scratch.skyfall(&["serve", "bundle", "--steps", "5", "--traces", "served.jsonl"]);
        assert_ne!(ran.code, 0, "{load}");
        assert!(ran.stderr.contains(word) && !ran.stderr.contains("panicked"), "{load}: {}", ran.stderr);
        assert!(!scratch.file("served.jsonl").exists() && !scratch.file("bundle/checkpoint/more").exists());
    }
}

#[test]
fn modules_and_captured_values_travel_inside_the_bundle() {
    let scratch = Scratch::new();
    scratch.write(
        "lab/start.lua",
        "local half = require 'lab.half'\nreturn { place = function(x) return half(x) - 1 end }",
    );
    scratch.write("lab/half.lua", "#!/usr/bin/env lua\nreturn function(x) return x // 2 end");
    let definition = walk(
        "reset",
        "reset = function(env)\n  local start = require 'lab.start'\n  env.x = start.place(floor(4.5)) * table_of.one; return { env.x }, { space = tostring(kept) }\nend,",
    );
    let captured = "local floor, table_of, kept = math.floor, { one = 1 }, require('skyfall').space.discrete(3)\n";
    let then = "skyfall.policy.define { id = 'mine', act = function() return 1 end }\n\
                skyfall.run_experiment(config { id = 'mine' }, { traces = 't.jsonl', export_dir = 'bundle' })";
    scratch.script(&(captured.to_owned() + &definition + EXPERIMENT + then)).ok();
    for name in ["script.lua", "lab/start.lua", "lab/half.lua"] {
        std::fs::remove_file(scratch.file(name)).unwrap();
    }
    scratch.skyfall(&["serve", "bundle", "--steps", "20", "--traces", "served.jsonl"]).ok();
    let rewards = |name: &str| -> Vec<String> {
        scratch.read(name).lines().map(|row| row.split("\"step\"").nth(1).unwrap().to_owned()).collect()
    };
    assert_eq!(rewards("served.jsonl"), rewards("t.jsonl"));
}

#[test]
fn what_cannot_travel_is_named_before_the_run_and_runs_without_a_bundle() {
    let captured = "local stream = require('skyfall').random.rng(1)\n";
    let definition = walk("step", "step = function(env, action) return { stream:uniform() }, 1, false end,");
    let run_with = |options: &str| {
        let then = format!("skyfall.run_experiment(config {{ id = 'random' }}, {options})");
        Scratch::new().script(&(captured.to_owned() + &definition + EXPERIMENT + &then))
    };
    run_with("{}").ok();
    run_with("{ export_dir = 'bundle' }")
        .failed(1, &["Walk-v0", "cannot travel in a bundle", "captured variable `stream`"]);
}

#[test]
fn a_definition_that_was_changed_in_the_bundle_is_refused() {
    let scratch = Scratch::new();
    let then = "skyfall.policy.define { id = 'mine', act = function() return 1 end }\n\
                skyfall.run_experiment(config { id = 'mine' }, { export_dir = 'bundle' })";
    scratch.script(&(walk("", "") + EXPERIMENT + then)).ok();
    let manifest = scratch.read("bundle/manifest.yaml");
    scratch.write("bundle/manifest.yaml", &manifest.replace("env.x + action", "env.x - action"));
    scratch.skyfall(&["bundle", "check", "bundle"]).failed(1, &["Walk-v0", "was changed after export"]);
}

const CLIMBER: &str = r#"
skyfall.algorithm.define {
  name = "climber",
  params = { noise = 0.5 },
  new = function(params, policy, context)
    local best = policy:parameters()
    return { policy = policy, best = best, score = -1, noise = params.noise, rng = context.rng, steps = 0, shifts = 0 }
  end,
  on_step = function(self, s, reward)
    self.steps = self.steps + 1
    assert(reward == s.env_reward and #s.observation == 4 and s.params.noise == self.noise)
  end,
  on_episode = function(self, episode)
    if episode.total_reward >= self.score then
      self.best, self.score = self.policy:parameters(), episode.total_reward
    end
    local candidate = {}
    for i = 1, #self.best do candidate[i] = self.best[i] + self.noise * self.rng:normal() end
    self.policy:set_parameters(candidate)
  end,
  on_window = function(self, window) assert(window.done == self.steps) end,
  on_shift = function(self, regime) self.shifts = self.shifts + 1; assert(regime.env.gravity == 12.0) end,
  finish = function(self)
    self.policy:set_parameters(self.best)
    print(self.steps, self.shifts, self.score > 60)
  end,
}
local result = skyfall.run_experiment({
  env = { id = "CartPole-v1" },
  algorithm = { name = "climber", params = { noise = 0.4 }, policy = { id = "linear_menu" } },
  regime = skyfall.regime.schedule { { id = "a", steps = 4000 }, { id = "b", steps = 1000, env = { gravity = 12.0 } } },
  rollout = { window_steps = 500, total_steps = 5000, auto_reset = true },
  run = { name = "climb", seed = 2 },
}, { export_dir = "bundle" })
"#;

#[test]
fn an_algorithm_of_the_script_s_own_learns_and_its_policy_is_served() {
    let scratch = Scratch::new();
    let ran = scratch.script(&format!("local skyfall = require 'skyfall'\n{CLIMBER}")).ok();
    assert_eq!(ran.stdout, "5000\t1\ttrue\n");
    scratch.skyfall(&["serve", "bundle", "--steps", "500", "--traces", "served.jsonl"]).ok();
    let ends = scratch.read("served.jsonl").lines().filter(|row| row.contains("\"terminated\": true")).count();
    assert!(ends < 10, "the served policy fell {ends} times in 500 steps");
}

#[test]
fn an_algorithm_s_mistakes_are_named() {
    for (before, after, words) in [
        ("candidate[i] =", "candidate[i + 1] =", vec!["algorithm `climber`", "set_parameters"]),
        ("noise = 0.4", "noize = 0.4", vec!["climber", "takes no argument `noize`; did you mean `noise`?"]),
        ("on_window =", "on_windows =", vec!["algorithm.define", "unknown key `on_windows`"]),
        ("name = \"climber\",", "name = \"none\",", vec!["`none` is a native algorithm"]),
        ("id = \"linear_menu\"", "id = \"random\"", vec!["algorithm `climber`", "script.lua"]),
    ] {
        let code = format!("local skyfall = require 'skyfall'\n{CLIMBER}").replacen(before, after, 1);
        Scratch::new().script(&code).failed(1, &words);
    }
}
