//! What a script hears of its run: steps, windows, episodes; and actions that a world refuses.

use crate::command::Scratch;

/// A world of three steps an episode that refuses action 1, and a run of `options`.
fn script(options: &str) -> String {
    format!(
        "local skyfall = require 'skyfall'\n\
         skyfall.env.define {{ id = 'Three-v0',\n\
         observation_space = function() return skyfall.space.discrete(4) end,\n\
         action_space = function() return skyfall.space.discrete(2) end,\n\
         reset = function(env) env.n = 0 return 0 end,\n\
         step = function(env, action) env.n = env.n + 1\n\
         return env.n, 2.0, env.n == 3, false, {{ invalid_action = action == 1 }} end }}\n\
         local function run(options, action) return skyfall.run_experiment({{ env = {{ id = 'Three-v0' }},\n\
         algorithm = {{ name = 'none', policy = {{ id = 'constant', kwargs = {{ action = action or 0 }} }} }},\n\
         regime = skyfall.regime.schedule {{ {{ id = 'a', steps = 4 }}, {{ id = 'b' }} }},\n\
         rollout = {{ window_steps = 5, total_steps = 8 }} }}, options) end\n{options}\n"
    )
}

#[test]
fn steps_windows_and_episodes_are_told_in_order() {
    let scratch = Scratch::new();
    let code = "run { on_step = function(s) print('step', s.step, s.reward, s.terminated, s.truncated, s.regime_id) end,\n\
                on_window = function(w) print('window', w.window, w.steps, w.done, w.total_reward, w.regime_id) end,\n\
                on_episode = function(e) print('episode', e.episode, e.steps, e.total_reward, e.terminated, e.truncated) end }";
    let told = scratch.script(&script(code)).ok().stdout;
    let expected = "step 0 2.0 false false a\nstep 1 2.0 false false a\nstep 2 2.0 true false a\n\
                    episode 0 3 6.0 true false\nstep 3 2.0 false false a\nstep 4 2.0 false false b\n\
                    window 0 5 5 10.0 b\nstep 5 2.0 true false b\nepisode 1 3 6.0 true false\n\
                    step 6 2.0 false false b\nstep 7 2.0 false false b\nwindow 1 3 8 6.0 b\n";
    assert_eq!(told.replace('\t', " "), expected);
}

#[test]
fn a_callback_that_raises_stops_the_run_at_its_line_and_keeps_the_rows() {
    for (callback, rows) in [("on_step", 6), ("on_window", 5), ("on_episode", 3)] {
        let scratch = Scratch::new();
        let body = "if (e.step or 9) >= 5 then error('enough of it') end";
        let code = format!("run {{ traces = 't.jsonl', {callback} = function(e)\n{body} end }}");
        scratch.script(&script(&code)).failed(1, &["script.lua:13", "enough of it", &format!("step {}", rows - 1)]);
        assert_eq!(scratch.read("t.jsonl").lines().count(), rows);
        scratch.skyfall(&["trace", "check", "t.jsonl"]).ok();
    }
    let scratch = Scratch::new();
    scratch.script(&script("run { on_steps = print }")).failed(1, &["unknown option `on_steps`", "`on_step`"]);
    scratch.script(&script("run { on_step = 3 }")).failed(1, &["`on_step` must be a function"]);
}

#[test]
fn refused_actions_are_recorded_as_the_world_reports_them() {
    let scratch = Scratch::new();
    scratch.script(&script("run({ traces = 'kept.jsonl' }) run({ traces = 'refused.jsonl' }, 1)")).ok();
    let all = |name: &str, word: &str| scratch.read(name).lines().all(|row| row.contains(word));
    assert!(all("kept.jsonl", "\"invalid_action\": false") && all("refused.jsonl", "\"invalid_action\": true"));
}
