//! What a newcomer reads when a script is wrong: the acceptance scripts, each broken on purpose, and
//! errors from everywhere else. The whole text is kept; `SKYFALL_SNAPSHOTS=write` writes it anew.

use std::path::Path;

use crate::command::{Ran, Scratch};

/// A name for the text, the script, and what is changed in it.
const BROKEN: &[(&str, &str, &str, &str)] = &[
    ("01_field", "01_trace.lua", "reward = 0.62,", "rewrad = 0.62,"),
    ("01_closed", "01_trace.lua", "writer:close()", "writer:close() writer:write { step = 18, reward = 1 }"),
    ("02_factory", "02_bundle.lua", "hill_climbing:linear_menu_policy", "hill_climbing:linear_menu_polcy"),
    ("02_key", "02_bundle.lua", "total_steps = 100", "total_step = 100"),
    ("03_term", "03_experiment.lua", "s.next_observation[3]", "s.next_observatoin[3]"),
    ("03_type", "03_experiment.lua", "steps = 2000, env", "steps = 'long', env"),
    ("03_nil", "03_experiment.lua", "skyfall.reward, skyfall.regime", "skyfall.reward"),
    ("03_parameter", "03_experiment.lua", "force_mag", "force_magnitude"),
    ("04_space", "04_providers.lua", "return { env.x }, env.x >=", "return { env.x + 20 }, env.x >="),
    ("04_provider", "04_providers.lua", "origin = windy", "orgin = windy"),
    ("04_capture", "04_providers.lua", "act = function(self)", "act = function(self) local _ = gusts"),
    ("05_shape", "05_rollouts.lua", "poses[i] = pose", "poses[i + i % 2] = pose"),
    ("06_axis", "06_sweep.lua", "noise = { 0.05, 0.2, 0.8 }", "noise = 0.05"),
    ("06_key", "06_sweep.lua", "metric = \"mean_reward\"", "metrik = \"mean_reward\""),
    ("05_option", "05_rollouts.lua", "discount_gamma = 0.95", "discount = 0.95"),
];

/// Further scripts whose errors come from nested modules, coroutines, callbacks, tables.
const ELSEWHERE: &[(&str, &str)] = &[
    ("module", "local helper = require 'helper'\nlocal function outer()\n  return helper.halve('x')\nend\nouter()"),
    ("coroutine", "local co = coroutine.wrap(function()\n  local t = nil\n  return t.field\nend)\nco()"),
    ("resume", "local co = coroutine.create(function()\n  error 'inside'\nend)\nassert(coroutine.resume(co))"),
    ("callback", "local a = require 'skyfall.array'\na.new('f32', 2):map(function(x)\n  return x + missing_name\nend)"),
    (
        "table",
        "local function check(x)\n  error { code = 'lab/empty', message = 'the list is empty', hint = 'put a run in' }\nend\ncheck {}",
    ),
    ("spoken", "error(setmetatable({}, { __tostring = function() return 'it speaks' end }))"),
    ("object", "error(print)"),
    ("recursion", "local function f(n)\n  return 1 + f(n + 1)\nend\nf(1)"),
    ("coroutines_without_end", "local function f()\n  return coroutine.wrap(f)()\nend\nf()"),
    (
        "generator",
        "local function inner(n)\n  if n == 3 then error('three is too many') end\n  coroutine.yield(n)\nend\n\
         local function all()\n  for n = 1, 5 do inner(n) end\nend\nlocal function count()\n  for n in coroutine.wrap(all) do print(n) end\nend\ncount()",
    ),
    (
        "nested_coroutines",
        "local outer = coroutine.create(function()\n  local inner = coroutine.wrap(function()\n    local t = {}\n    return t.a.b\n  end)\n  inner()\nend)\n\
         local ok, why = coroutine.resume(outer)\nif not ok then error(why, 0) end",
    ),
    (
        "callback_function",
        "local a = require 'skyfall.array'\nlocal function half(x)\n  return x / nil\nend\nlocal function all(values)\n  return values:map(function(x)\n    return half(x)\n  end)\nend\nall(a.new('f32', 2))",
    ),
    ("sorted", "local runs = { { n = 1 }, { m = 2 } }\ntable.sort(runs, function(a, b)\n  return a.n < b.n\nend)"),
    (
        "table_in_coroutine",
        "local co = coroutine.wrap(function()\n  error { code = 'lab/empty', message = 'the list is empty' }\nend)\nco()",
    ),
    (
        "caught_before",
        "local ok = coroutine.resume(coroutine.create(function() error 'elsewhere' end))\nassert(not ok)\nerror 'here'",
    ),
    ("syntax", "local x = 3\nif x then\n  print(x"),
    ("method", "local skyfall = require 'skyfall'\nlocal rng = skyfall.random.rng(1)\nrng.uniform()"),
    ("library", "local skyfall = require 'skyfall'\nskyfall.space.box {\n  low = 0,\n  hihg = { 1 },\n}"),
];

fn matches(name: &str, ran: &Ran) {
    assert_eq!(ran.code, 1, "{name}: {}{}", ran.stdout, ran.stderr);
    assert!(
        !ran.stderr.contains("0x") && !ran.stderr.contains("[C]") && !ran.stderr.contains("[skyfall]"),
        "{name}: {}",
        ran.stderr
    );
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/errors").join(format!("{name}.txt"));
    if std::env::var("SKYFALL_SNAPSHOTS").is_ok_and(|what| what == "write") {
        std::fs::write(&path, &ran.stderr).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(ran.stderr, kept, "{name}");
}

#[test]
fn a_broken_acceptance_script_says_what_where_and_how_to_mend_it() {
    for (name, script, part, with) in BROKEN {
        let scratch = Scratch::new();
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/acceptance").join(script);
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.contains(part), "{script} has no `{part}`");
        scratch.write(script, &text.replacen(part, with, 1));
        matches(name, &scratch.skyfall(&["script", script]));
    }
}

#[test]
fn errors_from_everywhere_have_one_form() {
    for (name, code) in ELSEWHERE {
        let scratch = Scratch::new();
        scratch.write("helper.lua", "local M = {}\nfunction M.halve(x)\n  return x / 2\nend\nreturn M");
        scratch.write("script.lua", code);
        matches(name, &scratch.skyfall(&["script", "script.lua"]));
    }
}

#[test]
fn errors_are_json_for_editors_and_ci() {
    let scratch = Scratch::new();
    scratch.write("script.lua", "require('skyfall').log.warn 'odd'\nlocal t = nil\nprint(t.x)");
    let ran = scratch.skyfall(&["script", "script.lua", "--error-format", "json"]);
    let lines: Vec<serde_json::Value> = ran.stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((ran.code, lines.len()), (1, 2), "{}", ran.stderr);
    assert_eq!(lines[0], serde_json::json!({ "level": "warning", "message": "odd" }));
    assert_eq!(lines[1]["code"], "script/error");
    assert_eq!(lines[1]["location"]["file"], "script.lua");
    assert_eq!((lines[1]["location"]["line"].as_u64(), lines[1]["location"]["column"].as_u64()), (Some(3), Some(7)));
    assert_eq!((lines[1]["location"]["width"].as_u64(), lines[1]["exit"].as_u64()), (Some(1), Some(1)));
    assert_eq!(lines[1]["trace"], serde_json::json!(["script.lua:3: in main chunk"]));
    for arguments in [
        &["--error-format", "json", "trace", "check", "none.jsonl"][..],
        &["script", "--error-format=json", "--frobnicate"],
        &["run", "none.yaml", "--error-format", "json"],
    ] {
        let ran = scratch.skyfall(arguments);
        let finding: serde_json::Value = serde_json::from_str(ran.stderr.trim_end()).unwrap();
        assert_eq!((finding["level"].as_str(), finding["exit"].as_i64()), (Some("error"), Some(i64::from(ran.code))));
    }
}

#[test]
fn names_from_files_cannot_write_to_the_terminal() {
    let scratch = Scratch::new();
    let label = "\u{1b}[2J\u{202e}evil";
    let row = serde_json::json!({ "step": 0, "reward": 1.0, "regime_id": label, label: 1 });
    scratch.write("t.jsonl", &format!("{row}\nno row {label}\n"));
    scratch.write("script.lua", "error('\\27[2J' .. '\\u{202e}evil')");
    let ran = scratch.skyfall(&["script", "script.lua"]).failed(1, &["\\u{1b}[2J\\u{202e}evil"]);
    assert!(!ran.stderr.contains('\u{1b}') && !ran.stderr.contains('\u{202e}'));
    let seen = crate::interrupt::on_a_terminal(&scratch, &["trace", "stats", "t.jsonl"]);
    // What the spinner clears its line with is ours.
    let seen = seen.replace("\u{1b}[2K", "");
    assert!(seen.contains("\\u{1b}[2J\\u{202e}evil") && !seen.contains('\u{1b}'), "{seen:?}");
    // Data in a pipe stays as it is.
    assert!(scratch.skyfall(&["trace", "cat", "t.jsonl"]).stdout.contains("evil"));
}
