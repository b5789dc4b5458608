//! Ways out of the sandbox, and what becomes of each: a table of attempts.
//!
//! A secret lies beside the directory a script may touch, and links in that directory lead to it.
//! No attempt may print it, change it, or leave anything else outside. What each one must say is
//! in its row; where it says nothing, the attempt finds nothing and the script ends well.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::process::Command;

use crate::command::{Ran, Scratch};

const SECRET: &str = "TOPSECRET";

/// `in/` is where scripts run; `secret.txt` and `vault/` are beside it.
fn prison() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("secret.txt", SECRET);
    scratch.write("vault/t.jsonl", &format!("{{\"step\": 0, \"reward\": 1, \"run_id\": \"{SECRET}\"}}\n"));
    scratch.write("vault/mod.lua", &format!("return '{SECRET}'"));
    scratch.write("in/own.txt", "own");
    for (target, link) in [
        ("../secret.txt", &b"link"[..]),
        ("../secret.txt", &b"l\xff"[..]),
        ("..", &b"up"[..]),
        ("../vault", &b"vault"[..]),
        ("../vault/mod.lua", &b"evil.lua"[..]),
        ("../new.txt", &b"dangling"[..]),
    ] {
        symlink(target, scratch.file("in").join(OsStr::from_bytes(link))).unwrap();
    }
    scratch
}

fn attempt(flags: &[&str], code: &str) -> Ran {
    let scratch = prison();
    let before = outside(&scratch);
    scratch.write("in/script.lua", code);
    let output = Command::new(env!("CARGO_BIN_EXE_skyfall"))
        .arg("script")
        .args(flags)
        .arg("script.lua")
        .current_dir(scratch.file("in"))
        .env("SECRET_VARIABLE", SECRET)
        .output()
        .unwrap();
    let ran = Ran::from(output);
    assert!(!ran.stdout.contains(SECRET) && !ran.stderr.contains(SECRET), "{code}\n{}\n{}", ran.stdout, ran.stderr);
    assert!(!ran.stderr.contains("panicked"), "{code}: {}", ran.stderr);
    assert_eq!(outside(&scratch), before, "{code}");
    ran
}

/// The files outside the script's directory and what is in them.
fn outside(scratch: &Scratch) -> Vec<(String, Vec<u8>)> {
    let mut found: Vec<(String, Vec<u8>)> = Vec::new();
    for directory in ["", "vault"] {
        for entry in std::fs::read_dir(scratch.file(directory)).unwrap() {
            let path = entry.unwrap().path();
            let content = if path.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
            found.push((path.display().to_string(), content));
        }
    }
    found.sort();
    found
}

/// Refused, with these words.
const REFUSED: &[(&str, &str)] = &[
    // Paths: by `..`, by links, absolute, odd.
    ("print(io.open('../secret.txt'):read('a'))", "--allow-path"),
    ("print(io.open('link'):read('a'))", "--allow-path"),
    ("print(io.open('link\\0'):read('a'))", "not a path"),
    ("print(io.open('l\\xff'):read('a'))", "not a path"),
    ("print(io.open('up/secret.txt'):read('a'))", "--allow-path"),
    ("print(io.open('./up/./secret.txt'):read('a'))", "--allow-path"),
    ("print(io.open('up/in/../secret.txt'):read('a'))", "--allow-path"),
    ("print(io.open('none/../../secret.txt'):read('a'))", "`..` below a directory that does not exist"),
    ("print(io.open('/proc/self/cwd/../secret.txt'):read('a'))", "--allow-path"),
    ("print(io.open('/proc/self/environ'):read('a'))", "--allow-path"),
    ("print(io.open('/proc/self/fd/0'):read('a'))", "--allow-path"),
    ("io.open('dangling', 'w'):write('x')", "cannot resolve dangling"),
    ("io.open('up/new.txt', 'w'):write('x')", "--allow-path"),
    ("io.open('../secret.txt', 'a'):write('x')", "--allow-path"),
    ("for line in io.lines('link') do print(line) end", "--allow-path"),
    ("io.input('link') print(io.read('a'))", "--allow-path"),
    ("io.output('../new.txt') io.write('x')", "--allow-path"),
    ("os.remove('../secret.txt')", "--allow-path"),
    ("os.remove('up/secret.txt')", "--allow-path"),
    ("os.rename('own.txt', '../new.txt')", "--allow-path"),
    ("os.rename('../secret.txt', 'mine.txt')", "--allow-path"),
    ("os.rename('up/secret.txt', 'mine.txt')", "--allow-path"),
    ("print(require('skyfall.fs').read('link'))", "--allow-path"),
    ("print(require('skyfall.fs').read('link\\0'))", "not a path"),
    ("require('skyfall.fs').write('dangling', 'x')", "cannot resolve dangling"),
    ("print(require('skyfall.fs').exists('../secret.txt'))", "--allow-path"),
    ("print(require('evil'))", "--allow-path"),
    ("print(require('vault.mod'))", "--allow-path"),
    ("print(require('../vault/mod'))", "not found"),
    ("print(require('..vault.mod'))", "not found"),
    ("print(require('/etc/passwd'))", "not found"),
    // Every function of the library that takes a path.
    ("for row in require('skyfall.trace').rows('vault/t.jsonl') do print(row.run_id) end", "--allow-path"),
    ("print(require('skyfall.trace').load('vault')[1].run_id)", "--allow-path"),
    ("print(#require('skyfall.trace').check('../vault/t.jsonl'))", "--allow-path"),
    ("require('skyfall.trace').writer('../vault/t.jsonl', {})", "--allow-path"),
    ("require('skyfall.trace').writer('vault/t.jsonl', {}, { append = true })", "--allow-path"),
    ("require('skyfall.eval').traces('vault')", "--allow-path"),
    ("require('skyfall.eval').traces('own.txt', { frozen = 'vault' })", "--allow-path"),
    ("require('skyfall.eval').traces('own.txt', { baseline = { 'vault' } })", "--allow-path"),
    ("require('skyfall.eval').traces('own.txt', { regret_ref = '../secret.txt' })", "--allow-path"),
    ("require('skyfall.eval').traces('own.txt', { bounds = 'link' })", "--allow-path"),
    ("require('skyfall.eval').report('own.txt', '../new.html')", "--allow-path"),
    ("require('skyfall.eval').report('own.txt', 'r.html', { plots = 'up' })", "--allow-path"),
    ("require('skyfall.bundle').load('vault')", "--allow-path"),
    ("require('skyfall.bundle').manifest('up/vault')", "--allow-path"),
    ("require('skyfall.bundle').check('../vault')", "--allow-path"),
    ("require('skyfall.rollouts').writer { store_dir = '../vault' }", "--allow-path"),
    ("require('skyfall.rollouts').open('vault')", "--allow-path"),
    ("require('skyfall.rollouts').validate('vault')", "--allow-path"),
    ("require('skyfall.array').load_npy('link')", "--allow-path"),
    ("require('skyfall.array').save_npy('dangling', { 1 })", "cannot resolve dangling"),
    ("require('skyfall.array').load_npz('up/secret.txt')", "--allow-path"),
    ("require('skyfall.array').save_npz('../new.npz', { a = { 1 } })", "--allow-path"),
    (
        "require('skyfall').run_experiment({ env = { id = 'CartPole-v1' }, rollout = { total_steps = 3 } }, { traces = '../new.jsonl' })",
        "--allow-path",
    ),
    (
        "require('skyfall').run_experiment({ env = { id = 'CartPole-v1' }, rollout = { total_steps = 3 } }, { export_dir = 'up/new' })",
        "--allow-path",
    ),
    // Programs and native code.
    ("require('skyfall.env').make('python:gymnasium/CartPole-v1')", "--allow-run"),
    ("require('skyfall.env').make('program:/bin/sh')", "--allow-run"),
    ("io.popen('cat ../secret.txt')", "popen"),
    ("os.execute('cat ../secret.txt')", "execute"),
    ("package.loadlib('libc.so.6', 'system')", "loadlib"),
    ("package.searchpath('vault.mod', './?.lua')", "searchpath"),
    // What was taken away, and what is locked.
    ("debug.getregistry()", "unknown name `debug`"),
    ("loadfile('../vault/mod.lua')", "unknown name `loadfile`"),
    ("dofile('../vault/mod.lua')", "unknown name `dofile`"),
    ("collectgarbage('stop')", "unknown name `collectgarbage`"),
    ("string.dump(print)", "field 'dump'"),
    ("setmetatable(_G, nil)", "protected metatable"),
    ("rawset(_G, 'count', 1)", "the table is locked; `count` cannot be set"),
    ("rawset(math, 'cos', 1)", "the table is locked; `cos` cannot be set"),
    ("rawset(require 'skyfall.fs', 'read', 1)", "the table is locked"),
    // What is there stays what it is.
    ("print = 1", "`print` is not a script's to change"),
    ("_G.print = function() end", "`print` is not a script's to change"),
    ("_ENV.string = {}", "`string` is not a script's to change"),
    ("string.format = 1", "`string.format` is not a script's to change"),
    ("function math.cos() end", "`math.cos` is not a script's to change"),
    ("io.open = nil", "`io.open` is not a script's to change"),
    ("table.insert(table, print)", "`table.1` is not a script's to change"),
    ("local n, t = pairs(math) t.cos = nil", "`math.cos` is not a script's to change"),
    ("require('skyfall.fs').read = print", "`skyfall.fs.read` is not a script's to change"),
    ("require('skyfall').version = 1", "`skyfall.version` is not a script's to change"),
    ("require('skyfall').extra = 1", "`skyfall.extra` is not a script's to change"),
    ("package.loaded['skyfall.fs'] = {}", "`skyfall.fs` is a module of the library"),
    ("package.loaded = {}", "`package.loaded` is not a script's to change"),
    ("setmetatable(math, {})", "protected metatable"),
    ("_G.count = 1", "new global"),
    ("getmetatable('').__index = {}", "index"),
    ("setmetatable(getmetatable(io.stdout), {})", "table expected"),
    ("getmetatable(require('skyfall.random').rng(1)).__index = nil", "index"),
    ("getmetatable(require('skyfall.space').discrete(2)).__gc()", "index"),
    ("io.stdout.__gc(io.stdout)", "nil value"),
    ("os.tmpname()", "tmpname"),
    ("io.tmpfile()", "tmpfile"),
];

/// Finds nothing and says so itself.
const FUTILE: &[&str] = &[
    "print = print string.format = string.format assert(rawget(_G, 'print') == print and rawget(math, 'pi') == math.pi)",
    "local n = 0 for k, v in pairs(math) do n = n + 1 end assert(n > 20 and next(math) == nil)",
    "local n = 0 for k, v in pairs(_G) do n = n + 1 end assert(n > 20 and pairs(_G) ~= next)",
    "local n = 0 for k, v in pairs(require 'skyfall') do n = n + 1 end assert(n == 26, n)",
    "package.loaded['mine'] = 3 assert(require 'mine' == 3) package.loaded['mine'] = nil assert(not pcall(require, 'mine'))",
    "assert(os.getenv('SECRET_VARIABLE') == nil)",
    "assert(not load('\\27Lua'))",
    "assert(not load(string.char(27) .. 'LuaT', 'x', 'b'))",
    "local parts = { '\\27', 'Lua' } local i = 0 assert(not load(function() i = i + 1 return parts[i] end))",
    "assert(getmetatable('') == 'locked' and getmetatable(_G) == 'locked' and getmetatable(io.stdout) == 'locked')",
    "assert(not getmetatable(require('skyfall.random').rng(1)))",
    "assert(not pcall(load, 'return debug', 'x', 't', 3) or load('return _G')() == _G)",
    "assert(not pcall(load('return debug')) and not pcall(load('x = 1')))",
    "local ok, why = pcall(io.open, '../secret.txt') assert(not ok and type(why) == 'string' and not why:find('0x'))",
    "assert(package.path == nil and package.cpath == nil and package.preload == nil and package.searchers == nil)",
    "assert(not pcall(require, 'skyfall.native') and not pcall(require, 'debug') and not pcall(require, 'io'))",
    "local seen = {} for k in pairs(require 'skyfall.fs') do seen[#seen + 1] = k end table.sort(seen) assert(table.concat(seen, ' ') == 'exists read write')",
];

#[test]
fn every_attempt_is_refused_or_futile() {
    assert!(REFUSED.len() + FUTILE.len() >= 60);
    for (code, says) in REFUSED {
        let ran = attempt(&[], code);
        assert_eq!(ran.code, 1, "{code}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains(says) && ran.stderr.contains("script.lua:1"), "{code}: {}", ran.stderr);
    }
    for code in FUTILE {
        let ran = attempt(&[], code);
        assert_eq!(ran.code, 0, "{code}: {}", ran.stderr);
    }
}

#[test]
fn what_was_allowed_is_allowed_and_no_more() {
    let scratch = prison();
    let run = |flags: &[&str], code: &str| {
        scratch.write("in/script.lua", code);
        let mut command = Command::new(env!("CARGO_BIN_EXE_skyfall"));
        command.arg("script").args(flags).arg("script.lua").current_dir(scratch.file("in"));
        Ran::from(command.env("SECRET_VARIABLE", SECRET).output().unwrap())
    };
    let vault = scratch.file("vault").display().to_string();
    let read = "print(require('skyfall.fs').read('../vault/mod.lua'), (io.open('vault/mod.lua'):read('a')))";
    assert_eq!(run(&["--allow-path", &vault], read).ok().stdout.matches(SECRET).count(), 2);
    run(&["--allow-path", &vault], "io.open('link')").failed(1, &["--allow-path"]);
    run(&["--allow-path", "nowhere"], "").failed(2, &["nowhere"]);
    assert_eq!(run(&["--allow-env"], "print(os.getenv 'SECRET_VARIABLE', io.popen)").ok().stdout, "TOPSECRET\tnil\n");
    let ran = run(&["--allow-run"], "print(io.popen('echo yes'):read('l'), os.getenv 'SECRET_VARIABLE')");
    assert_eq!(ran.ok().stdout, "yes\tnil\n");
    run(&["--allow-run"], "io.open('link')").failed(1, &["--allow-path"]);
    assert_eq!(run(&["--allow-all"], "print((io.open('link'):read('a')))").ok().stdout, "TOPSECRET\n");
    // A script elsewhere has its own directory and the one it was started in, and nothing between.
    scratch.write(
        "lab/deep/script.lua",
        "print(io.open('own.txt'):read('a')) print(io.open('../lab/deep/note'):read('a'))",
    );
    scratch.write("lab/deep/note", "note");
    let mut command = Command::new(env!("CARGO_BIN_EXE_skyfall"));
    let output = command.args(["script", "../lab/deep/script.lua"]).current_dir(scratch.file("in")).output().unwrap();
    assert_eq!(Ran::from(output).ok().stdout, "own\nnote\n");
}

#[test]
fn what_a_script_returns_is_written_only_where_the_script_may_write() {
    const EXPERIMENT: &str =
        "local skyfall = require 'skyfall'\nlocal function experiment(name) return skyfall.experiment {
        env = { id = 'CartPole-v1' }, rollout = { total_steps = 5 }, run = { name = name } } end\n";
    for name in ["../vault", "../new", "..", "vault/deep", "up/new"] {
        let experiment = format!("{EXPERIMENT}return experiment '{name}'");
        let sweep = format!(
            "{EXPERIMENT}return skyfall.sweep {{ name = '{name}', axes = {{ seed = {{ 1 }} }},
             experiment = function() return experiment 'x' end }}"
        );
        for code in [experiment, sweep] {
            attempt(&[], &code).failed(1, &["script/out", "--allow-path", "--out"]);
        }
    }
}
