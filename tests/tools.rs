//! The tools for writing scripts: `test`, `repl`, `new`, `types`, `doc`, `--check`, `--watch`,
//! `--check-determinism`, `completions`.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::command::Scratch;

#[test]
fn the_library_s_own_tests_pass() {
    let scratch = Scratch::new();
    let stdlib = Path::new(env!("CARGO_MANIFEST_DIR")).join("stdlib").display().to_string();
    let ran = scratch.skyfall(&["test", &stdlib]).ok();
    assert!(ran.stdout.contains("stats_test.lua: moments > are those of NumPy"), "{}", ran.stdout);
    assert!(ran.stdout.ends_with(" passed, 0 failed\n"), "{}", ran.stdout);
    assert!(scratch.tree().is_empty(), "{:?}", scratch.tree());
}

#[test]
fn a_test_that_exits_fails_and_the_others_run() {
    let scratch = Scratch::new();
    let code = |body: &str| {
        format!(
            "local t = require 'skyfall.test'\nt.it('ends', function() {body} end)\n\
             t.it('differs', function() t.expect(1):equals(2) end)\nt.it('holds', function() end)\n"
        )
    };
    scratch.write("a_test.lua", &code("os.exit(0)"));
    let ran = scratch.skyfall(&["test", "."]).failed(1, &[]);
    assert!(ran.stdout.contains("1 passed, 2 failed"), "{}", ran.stdout);
    // An exit outside of tests leaves the rest of them unseen.
    scratch.write("a_test.lua", &format!("{}os.exit(0)", code("")));
    scratch.skyfall(&["test", "."]).failed(1, &[]);
    scratch.write("a_test.lua", &code("while true do end"));
    scratch.skyfall(&["test", ".", "--time-limit", "300ms"]).failed(3, &[]);
}

#[test]
fn an_exit_at_the_prompt_ends_with_its_code() {
    for (line, code) in [("os.exit(0)", 0), ("os.exit(7)", 7), ("os.exit(false)", 1)] {
        let ran = Scratch::new().skyfall_with_input(&["repl"], &format!("{line}\nprint 'still here'\n"));
        assert_eq!(ran.code, code, "{line}: {}", ran.stderr);
        assert!(!ran.stdout.contains("still here"), "{}", ran.stdout);
    }
}

const TESTS: &str = "local t = require 'skyfall.test'\n\
    t.describe('sums', function()\n\
    t.it('fit', function() t.expect(1 + 1):equals(2) end)\n\
    t.it('<do not> fit', function()\n t.expect({ 1, { a = 2 } }):equals { 1, { a = 3 } }\n end)\n\
    t.it('raise', function() local x = nil; return x.y end)\n\
    end)\n\
    t.it('has a directory', function() require('skyfall').fs.write(t.tmpdir() .. '/a', 'x') end)\n\
    t.it('draws', function() print(t.rng():uniform(), math.random(1000)) end)\n";

#[test]
fn tests_are_found_run_and_reported() {
    let scratch = Scratch::new();
    scratch.write("lab/sum_test.lua", TESTS);
    scratch.write("lab/deep/test_more.lua", "require('skyfall.test').it('more', function() end)");
    scratch.write("lab/other.lua", "error 'not a test'");
    scratch.write("lab/.hidden/test_no.lua", "error 'hidden'");
    let ran = scratch.skyfall(&["test", "lab", "--junit", "results.xml"]);
    let ran = ran.failed(1, &["lab/sum_test.lua:5", "expected { 1, { a = 3 } }, got { 1, { a = 2 } }", "local 'x'"]);
    for line in
        ["ok   lab/deep/test_more.lua: more", "FAIL lab/sum_test.lua: sums > <do not> fit", "4 passed, 2 failed"]
    {
        assert!(ran.stdout.contains(line), "{}", ran.stdout);
    }
    let junit = scratch.read("results.xml");
    assert!(junit.contains("<testsuite name=\"lab/sum_test.lua\" tests=\"5\" failures=\"2\""), "{junit}");
    assert!(junit.contains("name=\"sums &gt; &lt;do not&gt; fit\""), "{junit}");
    let again =
        |seed: &str| scratch.skyfall(&["test", "lab/sum_test.lua", "--filter", "draws", "--seed", seed]).ok().stdout;
    assert_eq!(again("1"), again("1"));
    assert_ne!(again("1"), again("2"));
    scratch.skyfall(&["test", "lab", "--filter", "nothing"]).failed(1, &["no test's name has `nothing` in it"]);
    scratch.skyfall(&["test", "none"]).failed(3, &["none"]);
    scratch.write("broken_test.lua", "local x =");
    scratch.skyfall(&["test", "broken_test.lua"]).failed(1, &["broken_test.lua:1"]);
    scratch.script("require('skyfall.test').it('x', print)").failed(1, &["skyfall test FILE"]);
}

#[test]
fn a_new_project_runs_is_tested_and_checked() {
    let scratch = Scratch::new();
    scratch.skyfall(&["new", "lab"]).ok();
    let inside = |arguments: &[&str]| {
        let output =
            Command::new(env!("CARGO_BIN_EXE_skyfall")).args(arguments).current_dir(scratch.file("lab")).output();
        crate::command::Ran::from(output.unwrap()).ok()
    };
    assert!(inside(&["test", "."]).stdout.ends_with("2 passed, 0 failed\n"));
    inside(&["script", "--check", "experiment.lua"]);
    inside(&["script", "--check", "rewards_test.lua"]);
    assert!(inside(&["script", "experiment.lua"]).stdout.contains("6000 steps"));
    inside(&["serve", "steady/bundle", "--steps", "20"]);
    inside(&["eval", "--traces", "steady"]);
    assert!(scratch.read("lab/.luarc.json").contains(".skyfall/types"));
    assert!(scratch.file("lab/.skyfall/types/skyfall/reward.lua").exists());
    scratch.skyfall(&["new", "lab"]).failed(2, &["lab is there already"]);
}

#[test]
fn check_names_what_is_not_there_without_running_anything() {
    let scratch = Scratch::new();
    let code = "local skyfall = require 'skyfall'\n\
                local reward, array = skyfall.reward, require 'skyfall.array'\n\
                local helper = require 'lab.helper'\nlocal gone = require 'lab.gone'\n\
                print(reward.trem, skyfall.reward.term, skyfall.fs.reed('x'), array.new)\n\
                local function f(array) return array.whatever end\n\
                cuont = 1\nprnt(f)\nlocal t = { prnt = 1, new = helper }\nt.skyfall = gone\nerror 'never run'";
    scratch.write("script.lua", code);
    scratch.write("lab/helper.lua", "local M = {}\nreturn M, undefined_name");
    let ran = scratch.skyfall(&["script", "--check", "script.lua"]);
    let ran = ran.failed(
        1,
        &[
            "error[check/unknown-module]: module `lab.gone` not found",
            "script.lua:4:23",
            "error[check/unknown-field]: `skyfall.reward` has no `trem`",
            "did you mean `term`?",
            "`skyfall.fs` has no `reed`",
            "error[check/new-global]: `cuont` would be a new global",
            "error[check/unknown-name]: unknown name `prnt`",
            "did you mean `print`?",
            "lab/helper.lua:2",
            "`undefined_name`",
        ],
    );
    assert_eq!(ran.stderr.matches("error[").count(), 6, "{}", ran.stderr);
    scratch.write("script.lua", "local x = = 3");
    scratch.skyfall(&["script", "--check", "script.lua"]).failed(1, &["error[check/syntax]", "script.lua:1:9"]);
    scratch.write(
        "script.lua",
        "#!/usr/bin/env skyfall\nlocal skyfall = require 'skyfall'\nprint(skyfall.version, _G, arg, ...)",
    );
    scratch.skyfall(&["script", "--check", "script.lua"]).ok();
    scratch.skyfall(&["script", "--check", "-e", "prnt(1)"]).failed(1, &["`prnt`"]);
}

#[test]
fn check_finds_nothing_in_scripts_that_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut checked = 0;
    for directory in ["tests/acceptance", "scripts"] {
        for entry in std::fs::read_dir(root.join(directory)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "lua") {
                Scratch::new().skyfall(&["script", "--allow-all", "--check", path.to_str().unwrap()]).ok();
                checked += 1;
            }
        }
    }
    assert!(checked >= 9, "{checked}");
}

#[test]
fn what_differs_from_run_to_run_is_found() {
    let scratch = Scratch::new();
    let write =
        "local skyfall = require 'skyfall'\nlocal w <close> = skyfall.trace.writer('t.jsonl', { run_id = 'a' })\n";
    scratch.write(
        "same.lua",
        &format!(
            "{write}local time = require('skyfall.json').encode(os.time()) .. os.clock()\n\
             for step = 0, 9 do w:write {{ step = step, reward = math.random(), observed_at = '2026-01-01T00:00:0' .. step % 10 .. '+00:00' }} end\n\
             local t = {{}} for k in skyfall.tables.sorted {{ a = 1, b = 2, c = 3 }} do t[#t + 1] = k end print(table.concat(t))"
        ),
    );
    let ran = scratch.skyfall(&["script", "--check-determinism", "same.lua"]).ok();
    assert!(ran.stdout.contains("the same twice") && ran.stdout.contains("t.jsonl "), "{}", ran.stdout);
    let order = "local t = {} for i = 1, 64 do t['key' .. i] = i end local keys = {} for k in pairs(t) do keys[#keys + 1] = k end\n";
    scratch.write("order.lua", &format!("{order}print(table.concat(keys, ' '))"));
    scratch.skyfall(&["script", "--check-determinism", "order.lua"]).failed(
        1,
        &["error[script/not-deterministic]: what it prints differs from line 1 on", "skyfall.tables.sorted"],
    );
    scratch
        .write("row.lua", &format!("{write}{order}for i = 1, 64 do w:write {{ step = i, reward = t[keys[i]] }} end"));
    scratch.skyfall(&["script", "--check-determinism", "row.lua"]).failed(1, &["t.jsonl differs from line 1 on"]);
    scratch.skyfall(&["script", "--check-determinism", "none.lua"]).failed(1, &["none.lua"]);
    scratch.skyfall(&["script", "--check-determinism", "-"]).failed(2, &["name a file"]);
}

#[test]
fn stores_and_other_directories_are_compared_as_one() {
    let scratch = Scratch::new();
    let store = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/acceptance/05_rollouts.lua"))
        .unwrap();
    scratch.write("same.lua", &store);
    let ran = scratch.skyfall(&["script", "--check-determinism", "same.lua"]).ok();
    assert!(ran.stdout.contains("rollouts.zarr ") && ran.stdout.contains(" files)"), "{}", ran.stdout);
    let order = "local t = {} for i = 1, 64 do t['key' .. i] = i end\n\
                 local first = 0 for _, i in pairs(t) do first = (first * 31 + i) % 1000003 end\n";
    assert!(store.contains("random_seed = root }"));
    let odd = store.replace("random_seed = root }", "random_seed = root + first }");
    let odd = odd.replace("print((\"%d", "local _ = ((\"%d");
    scratch.write("odd.lua", &format!("{order}{odd}"));
    let ran = scratch.skyfall(&["script", "--check-determinism", "odd.lua"]);
    ran.failed(1, &["error[script/not-deterministic]", "rollouts.zarr/", "differs"]);
}

#[test]
fn a_watched_script_runs_anew_when_a_module_of_it_changes() {
    let scratch = Scratch::new();
    scratch.write("main.lua", "print(require 'part')");
    scratch.write("part.lua", "return 'one'");
    let mut child = Command::new(env!("CARGO_BIN_EXE_skyfall"))
        .args(["script", "--watch", "main.lua"])
        .current_dir(scratch.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut told = BufReader::new(child.stderr.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "one");
    assert!(told.next().unwrap().unwrap().contains("watching"));
    scratch.write("part.lua", "return 'two'");
    assert_eq!(lines.next().unwrap().unwrap(), "two");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn the_prompt_keeps_names_shows_values_and_goes_on_after_errors() {
    let scratch = Scratch::new();
    let input = "1 + 1\nlocal x = 20\nfor i = 1, 2 do\n  x = x + i\nend\nx\n{ b = 1, a = { 2 } }\nx.y.z\nskyfall.array.new('f32', 3)\nprint = 1\nnil\nprint 'said'\n\
                 local function f() return 5 end\nf()\nlocal c <const> = 1\nexit\nskyfall.json\nio.stdout\n\
                 skyfall.env.make 'CartPole-v1'\nskyfall.random.rng(1)\nskyfall.array.range(0, 64)\n";
    let mut child = Command::new(env!("CARGO_BIN_EXE_skyfall"))
        .args(["repl"])
        .current_dir(scratch.path())
        .env("XDG_STATE_HOME", scratch.file("state"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let ran = crate::command::Ran::from(child.wait_with_output().unwrap()).ok();
    let numbers: Vec<String> = (0..64).map(|number| number.to_string()).collect();
    let lines: Vec<&str> = ran.stdout.lines().collect();
    let (shown, long) = lines.split_at(lines.len() - 66);
    assert_eq!(
        shown,
        [
            "2",
            "23",
            "{ a = { 2 }, b = 1 }",
            "array(f32, [3]) { 0.0, 0.0, 0.0 }",
            "nil",
            "said",
            "5",
            "{ decode = <function>, encode = <function> }",
            "file",
            "env(CartPole-v1)",
            "skyfall.Rng"
        ]
    );
    assert_eq!(long[0], "array(i64, [65]) {");
    assert_eq!(long[65], "} and so on");
    assert!(numbers.iter().zip(&long[1..65]).all(|(number, line)| line.trim().trim_end_matches(',') == number));
    assert!(!ran.stdout.contains("0x"), "{}", ran.stdout);
    assert!(ran.stderr.contains("Ctrl-D ends") && !ran.stderr.contains("`next`"), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("`print` is not a script's to change")
            && ran.stderr.contains("input-6:1")
            && ran.stderr.contains("attempt to index"),
        "{}",
        ran.stderr
    );
}

#[test]
fn definitions_and_reference_are_at_hand() {
    let scratch = Scratch::new();
    scratch.skyfall(&["types", "defs"]).ok();
    let reward = scratch.read("defs/skyfall/reward.lua");
    assert!(
        reward.starts_with("---@meta skyfall.reward\n") && reward.contains("function M.term(name, fn, params) end"),
        "{reward}"
    );
    assert!(scratch.read(".luarc.json").contains("\"defs\""));
    for name in scratch.tree().into_iter().filter(|name| name.ends_with(".lua")) {
        scratch.skyfall(&["script", "-e", &format!("assert(load(require('skyfall.fs').read('{name}')))")]).ok();
    }
    let doc = |name: &str| scratch.skyfall(&["doc", name]).ok().stdout;
    assert!(doc("reward.term").starts_with("skyfall.reward.term(name: string, fn: fun("), "{}", doc("reward.term"));
    assert!(doc("skyfall.Array").contains("slice"));
    assert!(doc("Array:sum").contains("along an axis"));
    assert!(doc("array").contains("skyfall.array.load_npy"));
    assert!(scratch.skyfall(&["doc"]).ok().stdout.contains("skyfall.shaping"));
    scratch.skyfall(&["doc", "reward.trem"]).failed(2, &["no `reward.trem`", "did you mean `reward.term`?"]);
    scratch.skyfall(&["doc", "compose"]).failed(2, &["there is skyfall.reward.compose"]);
    for (shell, word) in [("bash", "complete -F"), ("zsh", "#compdef"), ("fish", "complete -c skyfall")] {
        assert!(scratch.skyfall(&["completions", shell]).ok().stdout.contains(word), "{shell}");
    }
}

#[test]
fn no_test_of_that_name_is_told_as_such() {
    let scratch = Scratch::new();
    scratch.write("a_test.lua", "require('skyfall').test.it('one', function() end)");
    scratch.skyfall(&["test", "--filter", "two", "."]).failed(1, &["no test's name has `two` in it"]);
    scratch.skyfall(&["script", "--watch", "-e", "print(1)"]).failed(2, &["'--watch' cannot be used with '-e <CODE>'"]);
}
