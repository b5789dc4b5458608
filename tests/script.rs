//! The script host: how scripts are run, what they can require, how their errors look.

use crate::command::Scratch;

#[test]
fn arguments_arrive_both_ways() {
    let scratch = Scratch::new();
    scratch.write("args.lua", "#!/usr/bin/env -S skyfall script\nprint(arg[0], arg[1], #arg, ...)");
    let ran = scratch.skyfall(&["script", "args.lua", "--", "one", "--two"]).ok();
    assert_eq!(ran.stdout, "args.lua\tone\t2\tone\t--two\n");
}

#[test]
fn code_comes_from_the_command_line_and_from_standard_input() {
    let scratch = Scratch::new();
    assert_eq!(scratch.skyfall(&["script", "-e", "print(1 + 1)"]).ok().stdout, "2\n");
    assert_eq!(scratch.skyfall_with_input(&["script", "-"], "print(2 + 2)").ok().stdout, "4\n");
    scratch.skyfall_with_input(&["script", "-"], "\nerror 'no'").failed(1, &["stdin:2", "no"]);
}

#[test]
fn modules_stand_beside_the_script_whatever_the_working_directory() {
    let scratch = Scratch::new();
    scratch.write("lab/main.lua", "print(require('parts.one').name, require('two'))");
    scratch.write("lab/parts/one.lua", "return { name = 'one' }");
    scratch.write("lab/two/init.lua", "return 'two'");
    scratch.write("two.lua", "return 'of the working directory'");
    assert_eq!(scratch.skyfall(&["script", "lab/main.lua"]).ok().stdout, "one\ttwo\n");
}

#[test]
fn a_configuration_that_is_returned_but_no_experiment_is_told() {
    let scratch = Scratch::new();
    let ran = scratch.script("return { env = { id = 'CartPole-v1' }, rollout = { total_steps = 3 } }").ok();
    assert!(
        ran.stderr.contains("returned a plain table, which is not run; return `skyfall.experiment`"),
        "{}",
        ran.stderr
    );
    assert!(scratch.script("return { 1, 2 }").ok().stderr.is_empty());
}

#[test]
fn what_a_script_makes_by_calls_is_not_set_in_silence() {
    let scratch = Scratch::new();
    let script = "local skyfall = require 'skyfall'\n\
        return skyfall.experiment { env = { id = 'CartPole-v1' },\n\
        algorithm = { policy = { id = 'random' } }, rollout = { total_steps = 9 },\n\
        reward = skyfall.reward.compose { skyfall.reward.builtin 'alive' },\n\
        regime = skyfall.regime.schedule { { id = 'a' } } }";
    scratch.write("script.lua", script);
    let set = |assignment| scratch.skyfall(&["script", "script.lua", "--dry-run", "--set", assignment]);
    for (assignment, section) in
        [("regime.provider=constant", "regime"), ("reward=null", "reward"), ("reward.terms.0.weight=5", "reward")]
    {
        let says = format!("--set {assignment}: the script makes its `{section}` by calls");
        set(assignment).failed(1, &["script.lua:2", &says, "--dry-run"]);
    }
    assert!(set("rollout.total_steps=3").ok().stdout.contains("total_steps: 3"));
}

#[test]
fn a_missing_module_names_the_nearest() {
    Scratch::new()
        .script("require 'skyfall.rewards'")
        .failed(1, &["script.lua:1", "skyfall.rewards", "`skyfall.reward`"]);
}

#[test]
fn an_error_shows_its_line_and_the_way_there() {
    let scratch = Scratch::new();
    scratch.write("helper.lua", "local M = {}\nfunction M.divide(x)\n  return x.value / 2\nend\nreturn M");
    let ran = scratch.script("local helper = require 'helper'\nlocal function outer()\n  local y = helper.divide(nil)\n  return y\nend\nouter()");
    let ran = ran.failed(
        1,
        &["helper.lua:3", "return x.value / 2", "trace:", "script.lua:3: in", "script.lua:6: in main chunk"],
    );
    assert!(!ran.stderr.contains("[C]") && !ran.stderr.contains("0x"), "{}", ran.stderr);
}

#[test]
fn a_syntax_error_shows_its_line() {
    Scratch::new().script("local x = \nprint(x").failed(1, &["script.lua:2"]);
}

#[test]
fn errors_of_the_library_are_text_that_begins_with_the_line() {
    let ran = Scratch::new().script(
        "local skyfall = require 'skyfall'\nlocal ok, problem = pcall(function()\n  skyfall.random.rng 'x'\nend)\nprint(ok, type(problem), problem)",
    );
    let stdout = ran.ok().stdout;
    assert!(stdout.starts_with("false\tstring\tscript.lua:3: "), "{stdout}");
}

#[test]
fn an_error_that_is_a_table_shows_its_message_and_never_an_address() {
    Scratch::new().script("error { message = 'out of luck' }").failed(1, &["out of luck"]);
    let ran = Scratch::new().script("error {}").failed(1, &["table"]);
    assert!(!ran.stderr.contains("0x"), "{}", ran.stderr);
}

#[test]
fn unknown_and_new_globals_are_refused_with_a_remedy() {
    Scratch::new().script("prnt(1)").failed(1, &["script.lua:1", "`prnt`", "`print`"]);
    Scratch::new().script("count = 1").failed(1, &["script.lua:1", "local count"]);
}

#[test]
fn exit_ends_the_script_with_its_code_and_cannot_be_caught() {
    let ran = Scratch::new().script("io.write 'half'\npcall(os.exit, 7)\nprint 'never'");
    assert_eq!((ran.code, ran.stdout.as_str()), (7, "half"), "{}", ran.stderr);
    assert_eq!(Scratch::new().script("os.exit(true)").code, 0);
}

#[test]
fn a_script_stays_below_its_directories() {
    let scratch = Scratch::new();
    let outside = tempfile::tempdir().unwrap();
    let path = outside.path().join("x.txt").display().to_string();
    let code = format!("io.open('{path}', 'w'):write('x')");
    scratch.script(&code).failed(1, &["script.lua:1", "--allow-path"]);
    let ran = scratch.skyfall(&["script", "--allow-path", &outside.path().display().to_string(), "script.lua"]).ok();
    assert_eq!(ran.stderr, "");
    scratch.script("print(io.popen, os.execute, os.getenv 'PATH', debug)").failed(1, &["unknown name `debug`"]);
    assert_eq!(scratch.script("print(io.popen, os.execute, os.getenv 'PATH')").ok().stdout, "nil\tnil\tnil\n");
}

#[test]
fn code_is_loaded_from_text_only() {
    let ran = Scratch::new().script("print(load 'return 1 + 1'())\nprint(string.dump)\nprint(load('\\27Lua'))");
    let stdout = ran.ok().stdout;
    assert!(stdout.starts_with("2\nnil\nnil\t"), "{stdout}");
}

#[test]
fn random_numbers_of_lua_are_the_same_in_every_process() {
    let draw = || Scratch::new().script("print(math.random(1 << 40), math.random())").ok().stdout;
    assert_eq!(draw(), draw());
}

#[test]
fn what_a_run_draws_from_math_random_is_of_its_seed() {
    const EXPERIMENT: &str = "local skyfall = require 'skyfall'
        local reward = skyfall.reward
        local noise = reward.term('noise', function() return math.random() end)
        local function experiment(seed)
          return {
            env = { id = 'CartPole-v1' }, reward = reward.compose { { noise } }, rollout = { total_steps = 20 },
            run = { name = 'noise', seed = seed },
          }
        end\n";
    let scratch = Scratch::new();
    let ran = scratch.script(&format!(
        "{EXPERIMENT}local own, runs = {{}}, {{}}
        for i, seed in ipairs {{ 1, 1, 2 }} do
          own[i] = math.random()
          runs[i] = skyfall.run_experiment(experiment(seed)).total_reward
        end
        print(runs[1] == runs[2], runs[1] == runs[3], own[1] == own[2], own[2] == own[3])"
    ));
    assert_eq!(ran.ok().stdout, "true\tfalse\tfalse\tfalse\n");
    // What the script drew before is nothing to it, and the code by value draws the same.
    scratch.write("one.lua", &format!("{EXPERIMENT}return skyfall.experiment(experiment(1))"));
    scratch.write("two.lua", &format!("{EXPERIMENT}math.random()\nreturn skyfall.experiment(experiment(1))"));
    let config = scratch.skyfall(&["script", "--dry-run", "one.lua"]).ok().stdout;
    scratch.write("by-value.yaml", &config);
    let summary = |file: &str| {
        let ran = scratch.skyfall(&["run", file, "--traces", &format!("{file}.jsonl")]).ok();
        ran.stdout.lines().next().unwrap().to_owned()
    };
    let one = summary("one.lua");
    assert!(!one.contains("mean reward 1.0"), "{one}");
    assert_eq!([summary("two.lua"), summary("by-value.yaml")], [one.clone(), one]);
}

#[test]
fn a_term_in_place_of_a_composition_is_told_how_to_compose_it() {
    for given in ["term", "{ term }", "{ { term, weight = 1.0 } }"] {
        let ran = Scratch::new().script(&format!(
            "local skyfall = require 'skyfall'
            local term = skyfall.reward.builtin 'alive'
            skyfall.experiment {{ env = {{ id = 'CartPole-v1' }}, rollout = {{ total_steps = 1 }}, reward = {given} }}"
        ));
        ran.failed(1, &["script.lua:3", "reward.compose { { term, weight = 1.0 } }"]);
    }
}

#[test]
fn an_error_in_a_run_has_its_line_and_its_trace() {
    let scratch = Scratch::new();
    scratch.write("helper.lua", "local M = {}\nfunction M.half(x)\n  return x.value / 2\nend\nreturn M\n");
    let experiment = |part: &str| {
        format!(
            "local skyfall = require 'skyfall'
            local helper = require 'helper'
            skyfall.env.define {{ id = 'mine', observation_space = skyfall.space.box {{ low = {{ -1 }}, high = {{ 1 }} }},
              action_space = skyfall.space.discrete(2), reset = function() return {{ 0 }} end,
              step = function() local x = helper.half(nil) return {{ x }}, 0, false end }}
            local broken = skyfall.reward.term('broken', function(s)
              local half = helper.half(s.step > 5 and {{}} or {{ value = 1 }})
              return half
            end)
            return skyfall.experiment {{ rollout = {{ total_steps = 9 }}, run = {{ name = 'broken' }}, {part} }}"
        )
    };
    let excerpt = "\n  |\n3 |   return x.value / 2\n";
    scratch
        .write("term.lua", &experiment("env = { id = 'CartPole-v1' }, reward = skyfall.reward.compose { { broken } }"));
    for command in [&["script", "term.lua"][..], &["run", "term.lua", "--traces", "t.jsonl"]] {
        let ran = scratch.skyfall(command);
        ran.failed(
            1,
            &[
                "error[run/failed]: step 6: reward term `broken`: ",
                "  --> helper.lua:3:12\n",
                excerpt,
                "trace:\n  helper.lua:3: in ",
                "\n  term.lua:7: in ",
            ],
        );
    }
    scratch.write("env.lua", &experiment("env = { id = 'mine' }"));
    scratch.skyfall(&["script", "env.lua"]).failed(1, &["environment `mine`: ", excerpt, "\n  env.lua:5: in "]);
    // From within a script the way goes on to where it ran the experiment.
    let code = experiment("env = { id = 'CartPole-v1' }, reward = skyfall.reward.compose { { broken } }");
    let ran = scratch.script(&code.replace("return skyfall.experiment", "skyfall.run_experiment"));
    ran.failed(1, &["step 6", excerpt, "\n  script.lua:7: in ", "\n  script.lua:10: in main chunk"]);
}

#[test]
fn json_and_yaml_keep_what_lua_tells_apart() {
    let ran = Scratch::new().script(
        "local skyfall = require 'skyfall'\nprint(skyfall.json.encode { b = 1, a = 1.0, c = { 1, 'x' } })\nprint(skyfall.json.decode('[1, 2.0, null]')[2])\nio.write(skyfall.yaml.encode { a = 'yes', b = { 1.5 } })",
    );
    assert_eq!(ran.ok().stdout, "{\"a\": 1.0, \"b\": 1, \"c\": [1, \"x\"]}\n2.0\na: 'yes'\nb:\n- 1.5\n");
}

#[test]
fn tables_that_are_not_plain_data_are_refused_by_name() {
    for (table, word) in [
        ("{ 1, nil, 3 }", "hole at [2]"),
        ("{ 1, 2, k = 3 }", "mixes a list with named fields"),
        ("{ x = print }", "`value.x`"),
        ("(function() local t = {}; t.t = t; return t end)()", "contain itself"),
    ] {
        let code = format!("local skyfall = require 'skyfall'\nskyfall.json.encode({table})");
        Scratch::new().script(&code).failed(1, &["script.lua:2", word]);
    }
}
