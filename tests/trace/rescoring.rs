//! `skyfall trace rescore`: recorded rows scored anew.

use crate::command::Scratch;

const REWARD: &str = r#"
local reward = require("skyfall").reward
local upright = reward.term("upright", function(s) return math.cos(s.next_observation[3]) end)
local centred = reward.term("centred", function(s)
  local x = s.next_observation[1]
  return 1 - math.abs(x) / s.params.half_width, { distance = math.abs(x) }
end, { half_width = 2.4 })
local timed = reward.term("timed", function(s) return #s.observed_at end)
"#;

fn experiment(reward: &str, record: &str, out: &str) -> String {
    format!(
        "{REWARD}\nreturn require('skyfall').run_experiment({{ env = {{ id = 'CartPole-v1' }},\n\
         algorithm = {{ name = 'discrete_hill_climbing', params = {{ seed = 7 }}, policy = {{ id = 'linear_menu', kwargs = {{ n_actions = 2, seed = 7 }} }} }},\n\
         reward = {reward}, rollout = {{ window_steps = 50, total_steps = 400 }},\n\
         regime = require('skyfall').regime.schedule {{ {{ id = 'calm', steps = 200 }}, {{ id = 'windy', steps = 200, env = {{ force_mag = 6.0 }} }} }},\n\
         trace = {{ record = {{ {record} }} }}, run = {{ name = 'r', seed = 7 }} }}, {{ traces = '{out}' }})"
    )
}

const BOTH: &str = "reward.compose { { upright, weight = 0.8 }, { centred, weight = 0.2 } }";

#[test]
fn the_composition_of_the_run_gives_the_rows_of_the_run() {
    let scratch = Scratch::new();
    scratch.script(&experiment(BOTH, "'next_observation'", "t.jsonl")).ok();
    scratch.write("reward.lua", &format!("{REWARD}\nreturn {BOTH}"));
    let ran = scratch.skyfall(&["trace", "rescore", "t.jsonl", "--reward", "reward.lua", "-o", "again.jsonl"]).ok();
    assert!(ran.stderr.contains("400 row(s), 0 with another reward"), "{}", ran.stderr);
    assert_eq!(scratch.read("again.jsonl"), scratch.read("t.jsonl"));

    // Another composition changes the reward and its parts, and nothing else.
    scratch.write("sets.lua", &format!("{REWARD}\nreturn {{ plain = reward.compose {{ upright }} }}"));
    scratch.skyfall(&["trace", "rescore", "t.jsonl", "--reward", "sets.lua:plain", "-o", "plain.jsonl.gz"]).ok();
    let rows = scratch.skyfall(&["trace", "cat", "plain.jsonl.gz"]).ok().stdout;
    for (old, new) in scratch.read("t.jsonl").lines().zip(rows.lines()) {
        let mut old: serde_json::Value = serde_json::from_str(old).unwrap();
        let mut new: serde_json::Value = serde_json::from_str(new).unwrap();
        assert_eq!(new["reward"], new["reward_components"]["upright"]);
        assert_eq!(
            (new["reward_components"].as_object().unwrap().len(), &new["reward_detail"]),
            (1, &serde_json::json!({}))
        );
        for row in [&mut old, &mut new] {
            for key in ["reward", "reward_components", "reward_detail"] {
                row.as_object_mut().unwrap().remove(key);
            }
        }
        assert_eq!(old, new);
    }
}

#[test]
fn the_clock_is_replayed_as_it_was_recorded() {
    let scratch = Scratch::new();
    let timed = "reward.compose { reward.term('second', function(s) return tonumber(s.observed_at:sub(18, 19)) + #s.observed_at end) }";
    scratch.script(&experiment(timed, "", "t.jsonl")).ok();
    scratch.write("reward.lua", &format!("{REWARD}\nreturn {timed}"));
    scratch.skyfall(&["trace", "rescore", "t.jsonl", "--reward", "reward.lua", "-o", "again.jsonl"]).ok();
    assert_eq!(scratch.read("again.jsonl"), scratch.read("t.jsonl"));
}

#[test]
fn a_term_that_reads_what_rows_do_not_hold_stops_with_the_fields_name() {
    let scratch = Scratch::new();
    scratch.script(&experiment(BOTH, "'next_observation'", "t.jsonl")).ok();
    for (term, field) in [
        ("function(s) return s.observation[1] end", "observation"),
        ("function(s) return s.env_reward end", "env_reward"),
        ("function(s) return s.terminated and 1 or 0 end", "terminated"),
        ("function(s) return #s.observed_at end", "observed_at"),
        ("function(s) return s.info.lives end", "info"),
    ] {
        scratch.write(
            "reward.lua",
            &format!("local r = require 'skyfall.reward'\nreturn r.compose {{ r.term('new', {term}) }}"),
        );
        scratch
            .skyfall(&["trace", "rescore", "t.jsonl", "--reward", "reward.lua", "-o", "out.jsonl"])
            .failed(1, &["t.jsonl:1: step 0", "`new`", &format!("does not hold `{field}`")]);
        assert!(!scratch.file("out.jsonl").exists(), "nothing half-written");
    }
    scratch.write("reward.lua", "local r = require 'skyfall.reward'\nreturn r.compose { r.builtin('env', {}) }");
    scratch
        .skyfall(&["trace", "rescore", "t.jsonl", "--reward", "reward.lua", "-o", "out.jsonl"])
        .failed(1, &["`env_reward`"]);
}

#[test]
fn rows_of_other_producers_keep_every_other_byte() {
    let scratch = Scratch::new();
    let rows = concat!(
        "{\"seed\":3.0,\"step\":0,\"reward\":1,\"x\":[1,2.50],\"action\":{\"value\":[0.5,-1]}}\n",
        "torn\n",
        "{ \"reward_detail\" : {\"old\": {}}, \"step\" : 1 , \"reward\": null, \"reward_components\":{\"old\":1}, \"action\": {\"index\": 2}, \"note\":\"\\u00e9\" }\n",
    );
    scratch.write("in/deep/t.jsonl", rows);
    scratch.write("in/u.jsonl", "{\"step\": 0, \"reward\": 0, \"action\": {\"index\": 7}}\n");
    let script = "local r = require 'skyfall.reward'\nlocal n = 0\n\
                  return { reward = r.compose { r.term('n', function(s) n = n + 1; return n, s.step == 1 and { k = 2 } or nil end),\n\
                  r.term('a', function(s) return type(s.action) == 'number' and s.action or s.action[1] end) } }";
    scratch.write("reward.lua", script);
    let ran = scratch.skyfall(&["trace", "rescore", "in", "--reward", "reward.lua", "-o", "out"]).ok();
    assert!(ran.stderr.contains("in/deep/t.jsonl:2: "), "{}", ran.stderr);
    assert_eq!(
        scratch.read("out/deep/t.jsonl"),
        concat!(
            "{\"seed\":3.0,\"step\":0,\"reward\":1.5,\"x\":[1,2.50],\"action\":{\"value\":[0.5,-1]}, \"reward_components\": {\"n\": 1.0, \"a\": 0.5}}\n",
            "{ \"reward_detail\" : {\"n\": {\"k\": 2}}, \"step\" : 1 , \"reward\": 4.0, \"reward_components\":{\"n\": 2.0, \"a\": 2.0}, \"action\": {\"index\": 2}, \"note\":\"\\u00e9\" }\n",
        )
    );
    assert!(scratch.read("out/u.jsonl").contains("\"reward\": 8.0"), "each file has a composition of its own");
}

#[test]
fn what_is_no_composition_is_told() {
    let scratch = Scratch::new();
    scratch.write("t.jsonl", "{\"step\": 0, \"reward\": 0}\n");
    let rescore = |reward: &str| scratch.skyfall(&["trace", "rescore", "t.jsonl", "--reward", reward, "-o", "o.jsonl"]);
    scratch.write("none.lua", "return 3");
    rescore("none.lua").failed(1, &["must return a composition", "got"]);
    scratch.write("table.lua", "return { mine = 3 }");
    rescore("table.lua:mine").failed(1, &["`mine`"]);
    rescore("missing.lua").failed(3, &["missing.lua"]);
    scratch.write(
        "fine.lua",
        "local r = require 'skyfall.reward'\nreturn r.compose { r.term('x', function() return 1 end) }",
    );
    scratch
        .skyfall(&["trace", "rescore", "t.jsonl", "--reward", "fine.lua", "-o", "t.jsonl"])
        .failed(2, &["another place"]);
    assert_eq!(scratch.read("t.jsonl"), "{\"step\": 0, \"reward\": 0}\n");
}
