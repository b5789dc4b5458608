//! What bounds a script: time, memory, instructions, Ctrl-C; none of it can be caught, and every
//! file is whole afterwards.

use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::command::{Ran, Scratch};

/// Runs `code` under the limits `flags`.
fn limited(scratch: &Scratch, flags: &[&str], code: &str) -> Ran {
    scratch.write("script.lua", code);
    scratch.skyfall(&[&["script"], flags, &["script.lua"]].concat())
}

/// Ways to go on without an end, and to catch what would end it.
const ENDLESS: &[&str] = &[
    "while true do end",
    "local function f() return f() end f()",
    "while true do pcall(function() while true do end end) end",
    "while true do xpcall(function() while true do end end, function() while true do end end) end",
    "xpcall(error, function() while true do end end)",
    "coroutine.wrap(function() while true do end end)()",
    "while true do coroutine.resume(coroutine.create(function() while true do end end)) end",
    "while true do coroutine.wrap(function() for i = 1, 400 do end end)() end",
    "local co co = coroutine.create(function() while true do coroutine.yield() end end) while true do coroutine.resume(co) end",
    "local c <close> = setmetatable({}, { __close = function() while true do end end })",
    "local c = coroutine.create(function() local c <close> = setmetatable({}, { __close = function() while true do end end }) coroutine.yield() end)\n\
     coroutine.resume(c) coroutine.close(c)",
    "setmetatable({}, { __index = function(t, k) return t[k + 1] end })[1] = nil local t = setmetatable({}, { __index = function(t) while true do end end }) print(t.x)",
    "for _ in function() return 1 end do end",
    "load('while true do end')()",
    "load(function() while true do end end)",
    "table.sort({ 3, 1, 2 }, function() while true do end end)",
    "(('x'):rep(10)):gsub('x', function() while true do end end)",
    "require('skyfall.array').from({ 1 }, 'f64'):map(function() while true do end end)",
    "local s = require 'skyfall' s.reward.compose { { s.reward.term('t', function() while true do end end) } }\n\
     s.run_experiment { env = { id = 'CartPole-v1' }, rollout = { total_steps = 9 },\n\
     reward = s.reward.compose { { s.reward.term('t', function() while true do end end) } } }",
    "local function again() while true do end end\n\
     local ok = pcall(again) print(ok) ok = pcall(again) print(ok) while true do pcall(pcall, again) end",
    "goto over ::over:: goto over",
];

#[test]
fn instructions_are_counted_everywhere_and_nothing_catches_their_end() {
    for code in ENDLESS {
        let ran = limited(&Scratch::new(), &["--max-instructions", "300000"], code);
        let ran = ran.failed(3, &["error[limit/instructions]: the script ran for more than 300000 instructions"]);
        assert!(ran.stderr.contains("script.lua:") || code.starts_with("load"), "{code}: {}", ran.stderr);
        assert!(ran.stdout.is_empty(), "{code}: {}", ran.stdout);
    }
}

#[test]
fn what_counts_no_instruction_is_bounded_beforehand() {
    for code in [
        "string.find(('a'):rep(1000), ('a*'):rep(30) .. 'b')",
        "(('a'):rep(100000)):gsub('.-.-.-b', '')",
        "table.move({}, 1, 1 << 60, 2)",
        "table.concat(setmetatable({}, { __len = function() return 1 << 60 end }))",
        "setmetatable({}, { __gc = function() while true do end end })",
    ] {
        limited(&Scratch::new(), &["--max-instructions", "300000"], code).failed(1, &["script.lua:1", "limited code"]);
    }
    let plain = "local t = { 3, 1 } table.sort(t) print(('a, b'):find(', ', 1, true), t[1])";
    assert_eq!(limited(&Scratch::new(), &["--max-instructions", "300000"], plain).ok().stdout, "2\t1\n");
}

#[test]
fn time_ends_what_instructions_end() {
    for code in ENDLESS {
        let ran = limited(&Scratch::new(), &["--time-limit", "300ms"], code);
        ran.failed(3, &["error[limit/time]: it took longer than 0.3 s"]);
    }
}

#[test]
fn time_ends_from_outside_what_no_instruction_ends_and_files_are_whole() {
    let native = "string.find(('a'):rep(40), ('a?'):rep(40) .. ('a'):rep(41))";
    let finaliser = "setmetatable({}, { __gc = function() while true do end end }) for i = 1, 1e6 do local _ = {} end";
    for stuck in [native, finaliser] {
        let scratch = Scratch::new();
        let code = format!(
            "local skyfall = require 'skyfall'\n\
             local plain, zipped = skyfall.trace.writer('t.jsonl', {{}}), skyfall.trace.writer('t.jsonl.gz', {{}})\n\
             for step = 0, 9 do plain:write {{ step = step, reward = 1 }} zipped:write {{ step = step, reward = 1 }} end\n\
             local file = io.open('plain.txt', 'w') file:write('kept') io.write('said')\n\
             {stuck}\nfile:write('never')"
        );
        let ran = limited(&scratch, &["--time-limit", "0.2"], &code).failed(3, &["limit/time"]);
        assert_eq!((ran.stdout.as_str(), scratch.read("plain.txt").as_str()), ("said", "kept"), "{stuck}");
        for trace in ["t.jsonl", "t.jsonl.gz"] {
            let told = scratch.skyfall(&["trace", "check", trace]).ok().stdout;
            assert!(told.contains("10 row(s), 0 line(s) lost"), "{told}");
        }
    }
}

#[test]
fn memory_is_bounded_in_lua_and_in_arrays() {
    for code in [
        "local s = 'x' while true do s = s .. s end",
        "local t = {} for i = 1, math.huge do t[i] = { i } end",
        "local t = {} while true do t[#t + 1] = coroutine.create(print) end",
        "local s = ('x'):rep(1 << 30)",
    ] {
        let ran = limited(&Scratch::new(), &["--memory-limit", "32M"], code);
        ran.failed(3, &["error[limit/memory]", "32 MiB"]);
    }
    for code in [
        "local a = require 'skyfall.array' a.new('f64', { 1 << 26 })",
        "local a, t = require 'skyfall.array', {} for i = 1, 1000 do t[i] = a.new('f32', 100000) end",
        "local a = require 'skyfall.array' local _ = a.new('f64', { 100000, 1 }) + a.new('f64', { 1, 100000 })",
        "local a = require 'skyfall.array' local x = a.new('u8', 4000000) x:astype('f64')",
    ] {
        let ran = limited(&Scratch::new(), &["--memory-limit", "32M"], code);
        ran.failed(3, &["error[limit/memory]: an array of", "too large", "script.lua:1", "--memory-limit"]);
    }
    let code = "local ok, why = pcall(string.rep, 'x', 1 << 30) print(ok, why) local a = require 'skyfall.array'\n\
                for i = 1, 100 do a.new('f64', 1000000) end print 'dropped'";
    let ran = limited(&Scratch::new(), &["--memory-limit", "32M"], code).ok();
    assert!(ran.stdout.starts_with("false\tnot enough memory\ndropped"), "{}", ran.stdout);
}

#[test]
fn arrays_without_elements_take_no_memory_either() {
    let made = "local a = require 'skyfall.array' ";
    for code in [
        "a.new('u8', { 1 << 40, 0 })",
        "a.new('u8', { 0, 1 << 40 })",
        "a.new('u8', { 1 << 62, 0 })",
        "a.new('u8', 0):reshape { 1 << 40, 0 }",
        "a.concatenate({ a.new('u8', { 1 << 20, 0 }), a.new('u8', { 1 << 24, 0 }) })",
    ] {
        let caught = format!("{made} local ok, why = pcall(function() return {code} end) print(ok, why)");
        let ran = Scratch::new().script(&caught).ok();
        assert!(
            ran.stdout.starts_with("false\t")
                && (ran.stdout.contains("too large") || ran.stdout.contains("does not fit into memory")),
            "{code}: {}",
            ran.stdout
        );
    }
    // What is made of a small one stays small: lists, sums along an axis that is empty.
    let code = "local x = a.new('f64', { 0, 3 }) local s = require 'skyfall'\n\
                print(s.json.encode(x), #x:sum(1), x:all(1)[1], pcall(x.argmax, x, 1))";
    let told = Scratch::new().script(&format!("{made}{code}")).ok().stdout;
    assert!(told.starts_with("[]\t3\ttrue\tfalse\t") && told.contains("axis 1 of shape [0, 3]"), "{told}");
}

#[test]
fn what_the_machine_cannot_hold_is_an_error_without_a_limit_too() {
    let scratch = Scratch::new();
    for code in ["print(io.read(1 << 50))", "for l in io.lines('script.lua', 1 << 50) do end"] {
        scratch.script(code).failed(3, &["error[limit/memory]: not enough memory"]);
    }
    let code = "local a = require 'skyfall.array' local x = a.new('u8', { 1 << 20, 1 })\n\
                for _, f in ipairs { function() return x + x:transpose() end, function() return x:dot(x:transpose()) end,\n\
                function() return a.where(x, x, x:transpose()) end, function() return a.range(1, 1 << 40) end } do\n\
                local ok, why = pcall(f) assert(not ok and why:find 'too large', why) end print 'refused'";
    assert_eq!(scratch.script(code).ok().stdout, "refused\n");
}

#[test]
fn what_coroutines_say_of_themselves_names_no_code_of_the_host() {
    let code = "local co co = coroutine.create(function() print(pcall(coroutine.close, co)) end) coroutine.resume(co)\n\
                local function deep() return coroutine.wrap(deep)() end print(pcall(deep))";
    let said = Scratch::new().script(code).ok().stdout;
    assert_eq!(said, "false\tcannot close a running coroutine\nfalse\tC stack overflow\n");
}

#[test]
fn a_limit_stops_a_native_run_between_two_steps() {
    let scratch = Scratch::new();
    scratch.write(
        "c.yaml",
        "env: {id: CartPole-v1}\nalgorithm: {name: discrete_hill_climbing, policy: {id: linear_menu}}\n\
         rollout: {window_steps: 1000, total_steps: 1000000000}\n",
    );
    let arguments = ["run", "c.yaml", "--traces", "t.jsonl", "--time-limit", "400ms"];
    scratch.skyfall(&arguments).failed(3, &["limit/time", "--resume goes on from here"]);
    scratch.skyfall(&["trace", "check", "t.jsonl"]).ok();
    let before = scratch.read("t.jsonl").len();
    scratch.skyfall(&[&arguments[..], &["--resume"]].concat()).failed(3, &["limit/time"]);
    assert!(scratch.read("t.jsonl").len() > before);
}

#[test]
fn limits_that_are_none_are_refused() {
    for (flag, value, says) in [
        ("--time-limit", "1..2s", "expected a number"),
        ("--time-limit", "0", "must be positive"),
        ("--time-limit", "3d", "units are ms, s, m, h"),
        ("--memory-limit", "1K", "needs at least 4M"),
        ("--memory-limit", "1T", "units are K, M, G"),
        ("--memory-limit", "99999999999999999999", "whole number"),
        ("--max-instructions", "-1", "--max-instructions"),
    ] {
        Scratch::new().skyfall(&["script", &format!("{flag}={value}"), "-e", "print(1)"]).failed(2, &[says]);
    }
    for value in ["1500ms", "90", "2.5s", "15m", "2h"] {
        Scratch::new().skyfall(&["script", "--time-limit", value, "--memory-limit", "1G", "-e", "print(1)"]).ok();
    }
}

#[test]
fn the_first_ctrl_c_stops_a_plain_loop_with_whole_files() {
    for (flags, code) in [
        (&[][..], "while true do end"),
        (&["--time-limit", "1h"][..], "while true do pcall(function() while true do end end) end"),
    ] {
        let scratch = Scratch::new();
        let code = format!(
            "local skyfall = require 'skyfall'\nlocal w = skyfall.trace.writer('t.jsonl', {{}})\n\
             w:write {{ step = 0, reward = 1 }}\nskyfall.fs.write('started', 'x') {code}"
        );
        scratch.write("script.lua", &code);
        let mut command = Command::new(env!("CARGO_BIN_EXE_skyfall"));
        command.arg("script").args(flags).arg("script.lua").current_dir(scratch.path());
        let child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        while !scratch.file("started").exists() {
            std::thread::sleep(Duration::from_millis(2));
        }
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(130), "{stderr}");
        assert!(stderr.contains("interrupted"), "{stderr}");
        scratch.skyfall(&["trace", "check", "t.jsonl"]).ok();
    }
}

#[test]
fn what_is_under_construction_leaves_nothing_behind() {
    let scratch = Scratch::new();
    let code = "local skyfall = require 'skyfall'\n\
                local w = skyfall.rollouts.writer { store_dir = 's.zarr', selected_depth_enabled = false }\n\
                local w2 = skyfall.trace.writer('t.jsonl', {}) w2:write { step = 1, reward = 2 } os.exit(4)";
    let ran = scratch.script(code);
    assert_eq!((ran.code, ran.stderr.as_str()), (4, ""));
    assert_eq!(scratch.tree(), ["script.lua", "t.jsonl"]);
    assert_eq!(scratch.read("t.jsonl").lines().count(), 1);
}

#[test]
fn a_file_that_may_not_grow_is_a_write_error_with_a_line() {
    let scratch = Scratch::new();
    let code = "local skyfall = require 'skyfall'\nlocal w = skyfall.trace.writer('t.jsonl', {})\n\
                for step = 1, 100000 do w:write { step = step, reward = 1 } end";
    scratch.write("script.lua", code);
    let output = Command::new("sh")
        .args(["-c", "ulimit -f 256; exec \"$0\" script script.lua", env!("CARGO_BIN_EXE_skyfall")])
        .current_dir(scratch.path())
        .output()
        .unwrap();
    Ran::from(output).failed(1, &["script.lua:3", "t.jsonl", "large"]);
    scratch.skyfall(&["trace", "check", "t.jsonl"]).ok();
}

#[test]
fn many_results_pass_protected_calls() {
    let code = "local function many(n) return function() return table.unpack({}, 1, n) end end\n\
                for _, n in ipairs { 29, 30, 31, 100, 240 } do\n\
                assert(select('#', pcall(many(n))) == n + 1 and select('#', xpcall(many(n), print)) == n + 1)\n\
                assert(select('#', coroutine.resume(coroutine.create(many(n)))) == n + 1) end";
    Scratch::new().script(code).ok();
}
