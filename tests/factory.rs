//! Policies by the dotted name of a module's function, from Lua and from a configuration file.

use crate::command::Scratch;

const MODULE: &str = r#"
local fs = require "skyfall.fs"
local threshold = require "my.threshold"
local M = {}

local Leaning = {}
Leaning.__index = Leaning

function Leaning:act(observation)
  self.acted = self.acted + 1
  return threshold(observation[3], self.at) and 1 or 0
end

function Leaning:save(dir) fs.write(dir .. "/at.txt", tostring(self.at)) end
function Leaning:load(dir) self.at = tonumber(fs.read(dir .. "/at.txt")) end

function M.make(kwargs, context)
  assert(context.action_space.n == 2)
  return setmetatable({ at = kwargs.at or context.rng:uniform() / 100, acted = 0 }, Leaning)
end

function M.idle() return {} end
function M.broken() error "no such policy today" end
function M.text() return "a policy" end
function M.half() return { act = function() return 0 end, save = print } end
M.number = 7

return M
"#;

const CONFIG: &str = "env: {id: CartPole-v1}\n\
    algorithm: {name: none, policy: {id: 'my.policies:make', kwargs: {at: 0.01}}}\n\
    rollout: {window_steps: 50, total_steps: 400}\nrun: {name: r, seed: 4}\n\
    trace: {record: [observation]}\n";

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("my/policies.lua", MODULE);
    scratch.write("my/threshold.lua", "return function(number, at) return number > at end\n");
    scratch.write("config.yaml", CONFIG);
    scratch
}

/// The script with the same experiment, its policy called `id`.
fn script(id: &str) -> String {
    format!(
        "return require('skyfall').experiment {{ env = {{ id = 'CartPole-v1' }},\n\
         algorithm = {{ name = 'none', policy = {{ id = '{id}', kwargs = {{ at = 0.01 }} }} }},\n\
         rollout = {{ window_steps = 50, total_steps = 400 }}, run = {{ name = 'r', seed = 4 }},\n\
         trace = {{ record = {{ 'observation' }} }} }}\n"
    )
}

#[test]
fn a_script_and_a_configuration_name_it_and_leave_the_same() {
    let scratch = scratch();
    scratch.write("script.lua", &script("my.policies:make"));
    scratch.skyfall(&["run", "script.lua", "--traces", "a/traces.jsonl", "--export", "a/bundle"]).ok();
    scratch.skyfall(&["run", "config.yaml", "--traces", "b/traces.jsonl", "--export", "b/bundle"]).ok();
    for file in ["traces.jsonl", "traces.config.yaml", "bundle/manifest.yaml", "bundle/checkpoint/at.txt"] {
        let read = |directory: &str| scratch.read(&format!("{directory}/{file}"));
        assert_eq!(read("a"), read("b"), "{file}");
    }
    assert!(scratch.read("a/bundle/manifest.yaml").contains("id: my.policies:make\n"));
    let rows = scratch.read("a/traces.jsonl");
    for row in rows.lines() {
        let row: serde_json::Value = serde_json::from_str(row).unwrap();
        let leans = row["observation"][2].as_f64().unwrap() > 0.01;
        assert_eq!(row["action"]["index"], u8::from(leans));
    }
    assert_eq!(rows.lines().count(), 400);
}

#[test]
fn the_bundle_acts_alike_when_script_and_modules_are_gone() {
    let scratch = scratch();
    scratch.skyfall(&["run", "config.yaml", "--traces", "t.jsonl", "--export", "bundle"]).ok();
    let elsewhere = Scratch::new();
    std::fs::rename(scratch.file("bundle"), elsewhere.file("bundle")).unwrap();
    elsewhere.skyfall(&["serve", "bundle", "--traces", "served.jsonl", "--steps", "400"]).ok();
    let actions = |text: String| -> Vec<serde_json::Value> {
        let rows = text.lines().map(|row| serde_json::from_str::<serde_json::Value>(row).unwrap());
        rows.map(|row| row["action"].clone()).collect()
    };
    let (ran, served) = (actions(scratch.read("t.jsonl")), actions(elsewhere.read("served.jsonl")));
    assert!(ran == served && ran.len() == 400);
    // The configuration beside the trace has the code by value: it needs the modules no longer.
    elsewhere.write("again.yaml", &scratch.read("t.config.yaml"));
    elsewhere.skyfall(&["run", "again.yaml", "--traces", "again.jsonl"]).ok();
    assert_eq!(elsewhere.read("again.jsonl"), scratch.read("t.jsonl"));
}

#[test]
fn what_is_not_there_or_makes_no_policy_is_named() {
    let scratch = scratch();
    for (id, words) in [
        ("my.polices:make", vec!["module `my.polices` not found"]),
        ("my.policies:mak", vec!["module `my.policies` has no function `mak`", "did you mean `make`?"]),
        ("my.policies:number", vec!["`number` of module `my.policies` must be a function, got the integer 7"]),
        ("my.threshold:make", vec!["module `my.threshold` must return a table of functions"]),
        ("my.policies:idle", vec!["policy `my.policies:idle`", "no method `act`"]),
        ("my.policies:half", vec!["policy `my.policies:half`", "`save` and `load` go together"]),
        ("my.policies:text", vec!["policy `my.policies:text`", "`new` must return a table, got the text"]),
        ("my.policies:broken", vec!["my/policies.lua:23", "no such policy today"]),
        ("skyfall_crl.train.backends.hill_climbing:linear_menu", vec!["unknown policy", "did you mean"]),
    ] {
        scratch.write("script.lua", &script(id));
        for arguments in
            [vec!["run", "script.lua"], vec!["run", "config.yaml", "--set", &format!("algorithm.policy.id={id}")]]
        {
            scratch.skyfall(&arguments).failed(1, &words);
        }
    }
}
