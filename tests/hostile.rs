//! Bundles from strangers: refused or bounded, one line each, and never a way out.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use crate::command::Scratch;

/// An exported bundle at `bundle`, whose manifest `edit` changes.
fn bundle(edit: impl Fn(&str) -> String) -> Scratch {
    let scratch = Scratch::new();
    scratch.write(
        "config.yaml",
        "env: {id: CartPole-v1}\nrollout: {total_steps: 20}\nalgorithm: {name: none, policy: {id: linear_menu}}\n",
    );
    scratch.skyfall(&["run", "config.yaml", "--export", "bundle"]).ok();
    let manifest = scratch.read("bundle/manifest.yaml");
    let edited = edit(&manifest);
    assert_ne!(edited, manifest);
    scratch.write("bundle/manifest.yaml", &edited);
    scratch
}

fn refused(scratch: &Scratch, words: &[&str]) {
    let ran = scratch.skyfall(&["serve", "bundle", "--steps", "5", "--traces", "served.jsonl"]);
    assert!(ran.code == 1 || ran.code == 3, "{} {}", ran.code, ran.stderr);
    ran.failed_with(words);
    assert!(!scratch.file("served.jsonl").exists() || scratch.read("served.jsonl").is_empty());
}

impl crate::command::Ran {
    #[track_caller]
    fn failed_with(self, words: &[&str]) {
        let code = self.code;
        self.failed(code, words);
    }
}

#[test]
fn checkpoint_paths_lead_nowhere_else() {
    for path in ["../other", "/etc", "checkpoint/../../other", "./../other", "''"] {
        let scratch = bundle(|text| text.replace("checkpoint: checkpoint\n", &format!("checkpoint: {path}\n")));
        scratch.write("other/weights.safetensors", "x");
        refused(&scratch, &["`policy.checkpoint`", "leads out of the bundle"]);
    }
}

#[test]
fn links_and_pipes_are_not_followed() {
    let scratch = bundle(|text| format!("{text}more: 1\n"));
    let weights = scratch.file("bundle/checkpoint/weights.safetensors");
    fs::rename(&weights, scratch.file("outside.safetensors")).unwrap();
    symlink(scratch.file("outside.safetensors"), &weights).unwrap();
    refused(&scratch, &["a link leads out of the bundle"]);
    fs::remove_file(&weights).unwrap();
    symlink(&weights, &weights).unwrap();
    refused(&scratch, &["cannot be read"]);
    fs::remove_file(&weights).unwrap();
    assert!(Command::new("mkfifo").arg(&weights).status().unwrap().success());
    refused(&scratch, &["neither a file nor a directory"]);
    let manifest = scratch.file("bundle/manifest.yaml");
    fs::remove_file(&manifest).unwrap();
    symlink("/etc/passwd", &manifest).unwrap();
    refused(&scratch, &["manifest.yaml", "not a file of the bundle"]);
    fs::remove_file(&manifest).unwrap();
    assert!(Command::new("mkfifo").arg(&manifest).status().unwrap().success());
    refused(&scratch, &["manifest.yaml", "not a file of the bundle"]);
}

#[test]
fn yaml_that_grows_is_refused() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
    }
    for more in [bomb, "loop: &l [*l]\n".to_owned(), format!("deep: {}\n", "[".repeat(200_000))] {
        let scratch = bundle(|text| format!("{text}{more}"));
        refused(&scratch, &["manifest.yaml"]);
    }
}

#[test]
fn spaces_beyond_memory_are_refused() {
    for space in [
        "{type: Box, low: 0, high: 1, shape: [1000000, 1000000], dtype: float32}",
        "{type: Box, low: 0, high: 1, shape: [9223372036854775807, 9223372036854775807], dtype: float32}",
        "{type: Box, low: 0, high: 1, shape: [-1], dtype: float32}",
        "{type: MultiBinary, n: [1000000, 1000000]}",
    ] {
        let scratch = bundle(|text| {
            let (head, rest) = text.split_once("observation_space:").unwrap();
            let (_, tail) = rest.split_once("action_space:").unwrap();
            format!("{head}observation_space: {space}\naction_space:{tail}")
        });
        refused(&scratch, &["`observation_space`"]);
    }
}

/// A bundle whose reward is the recorded code `source`.
fn scored(source: &str) -> Scratch {
    let digest = crate::digest::sha256_hex(source.as_bytes());
    let indented = source.replace('\n', "\n        ");
    let spec = format!(
        "reward_spec:\n  terms:\n  - name: evil\n    weight: 1.0\n    params: {{}}\n    lua:\n      sha256: {digest}\n      source: |-\n        {indented}\n"
    );
    bundle(|text| text.replace("reward_spec: null\n", &spec))
}

/// What a term's code may try at each step.
fn term(body: &str) -> Scratch {
    scored(&format!("return function(s)\n{body}\nreturn 1\nend"))
}

#[test]
fn lua_without_an_end_is_stopped() {
    let scratch = scored("while true do end");
    refused(&scratch, &["`evil`", "instructions in one call"]);
    for body in [
        "while true do end",
        "while true do pcall(function() while true do end end) end",
        "local function f() return f() end f()",
        "for i = 1, math.huge do end",
    ] {
        refused(&term(body), &["`evil`", "instructions in one call"]);
    }
}

#[test]
fn library_calls_without_an_end_are_refused() {
    for (body, says) in [
        ("table.move({}, 1, 1 << 60, 2)", "elements at once"),
        ("table.insert(setmetatable({}, { __len = function() return 1 << 60 end }), 1, 1)", "elements at once"),
        ("string.find(('a'):rep(1000), ('a*'):rep(30) .. 'b')", "repetitions"),
        ("local s = ('a'):rep(100) s:gsub('.-.-.-.-.-.-b', '')", "repetitions"),
    ] {
        refused(&term(body), &["`evil`", says]);
    }
    // What ordinary code does still works.
    let scratch =
        term("assert(('a, b'):find(',') == 2) local t = { 3, 1 } table.sort(t) table.insert(t, 5) assert(#t == 3)");
    scratch.skyfall(&["serve", "bundle", "--steps", "5"]).ok();
}

#[test]
fn code_has_no_finalisers_and_a_detail_has_its_bounds() {
    for (body, says) in [
        ("setmetatable({}, { __gc = function() while true do end end })", "no finalisers"),
        (
            "local s = ('x'):rep(1 << 20) local t = {} for i = 1, 500 do t['k' .. i] = s end do return 1, t end",
            "too much in it",
        ),
        ("local t = {} for i = 1, 300000 do t[i] = i end do return 1, { t = t } end", "too much in it"),
        ("local t = {} for i = 1, 300000 do t['k' .. i] = i end do return 1, t end", "too much in it"),
    ] {
        refused(&term(body), &["`evil`", says]);
    }
}

#[test]
fn lua_that_takes_all_memory_is_stopped() {
    for (body, says) in [
        ("local s = 'x' while true do s = s .. s end", "memory"),
        ("local t = {} for i = 1, math.huge do t[i] = { i } end", "memory"),
        ("local a = require('skyfall.array') a.new('f64', { 1 << 30 })", "too large"),
        (
            "local a, t = require('skyfall.array'), {} for i = 1, 1000 do t[i] = a.new('f64', { 1000000 }) end",
            "too large",
        ),
        (
            "local a = require('skyfall.array') local x = a.new('f64', { 100000, 1 }) + a.new('f64', { 1, 100000 })",
            "too large",
        ),
        ("require('skyfall.random').rng(1):normal(0, 1, { 1 << 30 })", "too large"),
    ] {
        refused(&term(body), &["`evil`", says]);
    }
    // What is dropped does not count.
    let scratch = term("local a = require('skyfall.array') for i = 1, 100 do a.new('f64', { 1000000 }) end");
    scratch.skyfall(&["serve", "bundle", "--steps", "2"]).ok();
}

#[test]
fn lua_that_reaches_out_finds_nothing() {
    for name in [
        "io",
        "os",
        "debug",
        "package",
        "load",
        "loadstring",
        "dofile",
        "loadfile",
        "collectgarbage",
        "xpcall",
        "coroutine",
        "_G",
    ] {
        let scratch = term(&format!("assert({name} == nil, '{name} is there')"));
        scratch.skyfall(&["serve", "bundle", "--steps", "1"]).ok();
    }
    for (body, says) in [
        ("require('skyfall').run_experiment({})", "no module"),
        ("require('skyfall.bundle')", "no module"),
        ("require('skyfall.fs').read('/etc/passwd')", "/etc/passwd"),
        ("require('skyfall.fs').write('owned', 'x')", "owned"),
        ("getmetatable('').__index.rep = 1", ""),
        ("count = 1", "new global"),
    ] {
        let scratch = term(body);
        refused(&scratch, &["`evil`", says]);
        assert!(!scratch.file("owned").exists());
    }
}
