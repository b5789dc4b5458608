//! What a reward term sees of a step: the same at its first look and at every later one.

use crate::command::Scratch;

/// A world whose observation is `observation` of its step's number `n`, in the space `space`, run
/// for six steps with a term whose body is `term`; then `after` with its rows.
fn script(space: &str, observation: &str, term: &str, after: &str) -> String {
    format!(
        "local skyfall = require 'skyfall'\n\
         local space, kept = skyfall.space, {{}}\n\
         skyfall.env.define {{ id = 'World-v0',\n\
         observation_space = function() return {space} end,\n\
         action_space = function() return space.discrete(5) end,\n\
         reset = function(env) env.n = 0 local n = 0 return {observation} end,\n\
         step = function(env) env.n = env.n + 1 local n = env.n return {observation}, n, n == 5, n == 3, {{ lap = n }} end }}\n\
         local term = skyfall.reward.term('term', function(s)\n{term}\nend, {{ scale = 2 }})\n\
         skyfall.run_experiment({{ env = {{ id = 'World-v0' }},\n\
         algorithm = {{ name = 'none', policy = {{ id = 'constant', kwargs = {{ action = 3 }} }} }},\n\
         reward = skyfall.reward.compose {{ term }},\n\
         regime = skyfall.regime.schedule {{ {{ steps = 2 }}, {{ id = 'b', steps = 2 }}, {{ id = 'c' }} }},\n\
         rollout = {{ total_steps = 6 }} }}, {{ traces = 't.jsonl' }})\n\
         local rewards = {{}}\n\
         for row in skyfall.trace.rows 't.jsonl' do rewards[#rewards + 1] = row.reward end\n{after}\n"
    )
}

const PAIR: [&str; 2] = ["space.box { low = -10, high = 10, shape = { 2 } }", "{ n, -n / 2 }"];

fn passes(space: &str, observation: &str, term: &str, after: &str) {
    Scratch::new().script(&script(space, observation, term, after)).ok();
}

fn refused(term: &str, words: &[&str]) {
    Scratch::new().script(&script(PAIR[0], PAIR[1], term, "")).failed(1, words);
}

#[test]
fn every_field_is_this_steps_own() {
    let [space, observation] = PAIR;
    let term = "kept[#kept + 1] = table.concat({ s.step, s.observation[1], s.next_observation[2], s.action, s.env_reward,\n\
                tostring(s.terminated), tostring(s.truncated), tostring(s.regime_id), s.info.lap, s.params.scale }, ' ')\n\
                return s.step * s.params.scale";
    let after = "assert(table.concat(kept, ',') == '0 0.0 -0.5 3 1.0 false false nil 1 2,1 1.0 -1.0 3 2.0 false false nil 2 2,'\n\
                 .. '2 2.0 -1.5 3 3.0 false true b 3 2,3 0.0 -0.5 3 1.0 false false b 1 2,'\n\
                 .. '4 1.0 -1.0 3 2.0 false false c 2 2,5 2.0 -1.5 3 3.0 false true c 3 2', table.concat(kept, ','))\n\
                 assert(rewards[6] == 10)";
    passes(space, observation, term, after);
}

#[test]
fn a_field_looked_up_late_is_there() {
    let [space, observation] = PAIR;
    let term = "if s.step < 3 then return s.env_reward end\n\
                return s.step == 4 and s.next_observation[1] * 100 or s.observation[2] + (s.regime_id == 'c' and 1 or 0)";
    passes(
        space,
        observation,
        term,
        "assert(table.concat(rewards, ' ') == '1.0 2.0 3.0 0.0 200.0 0.0', table.concat(rewards, ' '))",
    );
}

#[test]
fn an_observation_is_a_list_to_look_at() {
    let [space, observation] = PAIR;
    let term = "local o = s.next_observation\n\
                local a, b = table.unpack(o)\n\
                local sum, count = 0, 0\n\
                for _, x in ipairs(o) do sum, count = sum + x, count + 1 end\n\
                assert(a == o[1] and b == o[2] and #o == 2 and count == 2 and sum == a + b)\n\
                assert(o[3] == nil and o[0] == nil and o.shape[1] == 2 and #o.shape == 1)\n\
                assert(o == s.next_observation and tostring(o) == 'next_observation' and tostring(s) == 'step')\n\
                return 1, { seen = o }";
    passes(space, observation, term, "");
    let traced =
        "for row in skyfall.trace.rows 't.jsonl' do assert(row.reward_detail.term.seen[1] == (row.step % 3) + 1) end";
    passes(space, observation, term, traced);
}

#[test]
fn whatever_the_observation_is_it_can_be_seen() {
    passes(
        "space.discrete(9)",
        "n",
        "return s.next_observation + s.observation",
        "assert(rewards[2] == 3 and rewards[3] == 5)",
    );
    let square = "space.box { low = -10, high = 10, shape = { 2, 2 } }";
    passes(
        square,
        "{ { n, 1 }, { 2, 3 } }",
        "return s.next_observation[1][1] * #s.observation",
        "assert(rewards[2] == 4)",
    );
    let long = "space.box { low = -10, high = 10, shape = { 40 } }";
    let many = "(function() local t = {} for i = 1, 40 do t[i] = n end return t end)()";
    passes(long, many, "return s.next_observation[40] + s.observation[1] + #s.observation", "assert(rewards[2] == 43)");
    let dict = "space.dict { near = space.discrete(9), far = space.box { low = 0, high = 9, shape = { 1 } } }";
    passes(
        dict,
        "{ near = n, far = { n } }",
        "return s.next_observation.near + s.observation.far[1]",
        "assert(rewards[2] == 3)",
    );
    let text = "space.text { max_length = 6 }";
    passes(text, "('x'):rep(n + 1)", "return #s.next_observation", "assert(rewards[2] == 3)");
}

#[test]
fn what_code_writes_into_a_list_is_gone_at_the_next_step() {
    let [space, observation] = PAIR;
    let term = "local seen = s.next_observation[1]\ns.next_observation[1] = 70\nreturn seen";
    passes(space, observation, term, "assert(table.concat(rewards, ' ') == '1.0 2.0 3.0 1.0 2.0 3.0')");
}

#[test]
fn recorded_steps_may_have_other_shapes_each() {
    let scratch = Scratch::new();
    let list = |length: usize| vec!["1.5"; length].join(", ");
    let row = |(step, length)| format!("{{\"step\": {step}, \"reward\": 0.0, \"observation\": [{}]}}\n", list(length));
    scratch.write("t.jsonl", &[40, 3, 5, 2, 2, 40, 1].into_iter().enumerate().map(row).collect::<String>());
    for (name, body) in [("plain", "return #s.observation"), ("hidden", "local t = s return #t.observation")] {
        scratch.write(
            "reward.lua",
            &format!(
                "local r = require 'skyfall.reward'\nreturn r.compose {{ r.term('length', function(s)\n{body}\nend) }}"
            ),
        );
        scratch.skyfall(&["trace", "rescore", "t.jsonl", "--reward", "reward.lua", "-o", name]).ok();
        let lengths = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["reward"].as_f64().unwrap();
        let lengths: Vec<f64> = scratch.read(name).lines().map(lengths).collect();
        assert_eq!(lengths, [40.0, 3.0, 5.0, 2.0, 2.0, 40.0, 1.0], "{name}");
    }
}

#[test]
fn a_step_is_for_looking_at() {
    refused("s.step = 3\nreturn 1", &["script.lua:9", "`step` is for looking at; nothing can be added to it"]);
    refused("local x = s.step\ns.step = 3\nreturn 1", &["script.lua:10", "`step` is for looking at"]);
    refused("s.note = 3\nreturn 1", &["`step` is for looking at"]);
    refused("s.observation.note = 3\nreturn 1", &["script.lua:9", "`observation` is for looking at"]);
    refused("s.next_observation[3] = 3\nreturn 1", &["`next_observation` is for looking at"]);
    refused(
        "return s.observations[1]",
        &["script.lua:9", "a step has no field `observations`; did you mean `observation`?"],
    );
    refused("return s.observation.x", &["script.lua:9", "`observation` is indexed by integers from 1"]);
    refused("return s[1]", &["script.lua:9", "a step has no field `1`"]);
    refused("return 1, { whole = s }", &["script.lua:8", "`detail.whole` must be plain data, got an object"]);
    refused("return 1, s", &["`detail` must be plain data, got an object"]);
    refused("setmetatable(s, nil)\nreturn 1", &["script.lua:9", "protected metatable"]);
}
