//! A person at the terminal: Ctrl-C, and progress.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::command::Scratch;

const CONFIG: &str = "env: {id: CartPole-v1}\nalgorithm: {name: discrete_hill_climbing, policy: {id: linear_menu}}\n\
    rollout: {window_steps: 1000, total_steps: 1000000000}\nrun: {seed: 4}\n";

fn start(scratch: &Scratch, arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skyfall"));
    command.args(arguments).current_dir(scratch.path()).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn wait_for(scratch: &Scratch, name: &str, bytes: u64) {
    while !std::fs::metadata(scratch.file(name)).is_ok_and(|about| about.len() >= bytes) {
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn interrupt(child: &Child) {
    kill_process(Pid::from_child(child), Signal::INT).unwrap();
}

#[test]
fn ctrl_c_stops_between_two_steps_with_a_valid_trace() {
    let scratch = Scratch::new();
    scratch.write("config.yaml", CONFIG);
    let arguments = ["run", "config.yaml", "--traces", "t.jsonl", "--export", "bundle"];
    let child = start(&scratch, &arguments);
    wait_for(&scratch, "t.jsonl", 200_000);
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("interrupted; --resume goes on from here"), "{stderr}");
    scratch.skyfall(&["trace", "check", "t.jsonl"]).ok();
    scratch.skyfall(&["bundle", "check", "bundle"]).ok();
    let trace = scratch.read("t.jsonl");
    let steps = trace.lines().count();
    assert!(trace.ends_with("}\n") && String::from_utf8(output.stdout).unwrap().starts_with(&format!("{steps} steps")));
    // It goes on where it stopped: nothing that was written is written again.
    let child = start(&scratch, &[&arguments[..], &["--resume"]].concat());
    wait_for(&scratch, "t.jsonl", trace.len() as u64 + 200_000);
    interrupt(&child);
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    assert!(scratch.read("t.jsonl").starts_with(&trace));
}

#[test]
fn ctrl_c_stops_a_script_that_runs_experiments() {
    let scratch = Scratch::new();
    let code = "local skyfall = require 'skyfall'\n\
                local result = skyfall.run_experiment({ env = { id = 'CartPole-v1' }, \
                rollout = { total_steps = 1000000000 } }, { traces = 't.jsonl' })\n\
                print(result.interrupted)";
    scratch.write("script.lua", code);
    let child = start(&scratch, &["script", "script.lua"]);
    wait_for(&scratch, "t.jsonl", 200_000);
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "true\n");
    scratch.skyfall(&["trace", "check", "t.jsonl"]).ok();
}

#[test]
fn a_second_ctrl_c_ends_the_process_at_once() {
    let scratch = Scratch::new();
    scratch.write("script.lua", "require('skyfall').fs.write('started', 'x') while true do end");
    let mut child = start(&scratch, &["script", "script.lua"]);
    wait_for(&scratch, "started", 1);
    while child.try_wait().unwrap().is_none() {
        interrupt(&child);
        std::thread::sleep(Duration::from_millis(20));
    }
    let status = child.wait().unwrap();
    assert_eq!((status.code(), status.signal()), (Some(130), None));
}

#[test]
fn a_terminal_sees_progress_with_speed_and_regime() {
    let scratch = Scratch::new();
    let regime = "regime: {provider: constant, params: {id: windy-season}}\n";
    scratch.write("config.yaml", &format!("{CONFIG}{regime}").replace("1000000000", "200000"));
    let seen = on_a_terminal(&scratch, &["run", "config.yaml", "--traces", "seen.jsonl"]);
    assert!(seen.contains("/200000 steps") && seen.contains("/s ") && seen.contains("windy-season"), "{seen:?}");
    let piped = scratch.skyfall(&["run", "config.yaml", "--traces", "piped.jsonl"]).ok();
    assert_eq!(piped.stderr, "", "a pipe sees none");
}

#[test]
fn ctrl_c_stops_a_line_typed_at_a_terminal_and_the_prompt_goes_on() {
    let scratch = Scratch::new();
    let (mut ours, theirs) = terminal();
    let mut command = Command::new(env!("CARGO_BIN_EXE_skyfall"));
    command.arg("repl").env("XDG_STATE_HOME", scratch.file("state")).env("TERM", "xterm");
    command.current_dir(scratch.path()).stdin(theirs.try_clone().unwrap());
    let mut child = command.stdout(theirs.try_clone().unwrap()).stderr(theirs).spawn().unwrap();
    drop(command);
    let mut type_and_see = |typed: &str, awaited: &str| {
        ours.write_all(typed.as_bytes()).unwrap();
        let mut seen = String::new();
        while !seen.contains(awaited) {
            let mut some = [0; 1024];
            let length = ours.read(&mut some).unwrap();
            seen.push_str(&String::from_utf8_lossy(&some[..length]));
        }
    };
    for (line, printed) in
        [("print(6 * 7) while true do end\r", "\n42\r"), ("print(6 * 8) repeat until false\r", "\n48\r")]
    {
        type_and_see(line, printed);
        interrupt(&child);
        type_and_see("", "interrupted");
    }
    type_and_see("6 * 9\r", "\n54\r");
    // What was typed is at hand again: the line before the last.
    type_and_see("\x1b[A\x1b[A\x1b[A", "print(6 * 7)");
    type_and_see("\x03", "> ");
    ours.write_all(b"\x04").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// Both ends of a terminal: a person's, and the program's.
fn terminal() -> (File, File) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let theirs = ptsname(&ours, Vec::new()).unwrap();
    let theirs = File::options().read(true).write(true).open(theirs.to_str().unwrap()).unwrap();
    (File::from(ours), theirs)
}

/// What a person sees of `skyfall ARGUMENTS`, on both streams.
pub(crate) fn on_a_terminal(scratch: &Scratch, arguments: &[&str]) -> String {
    let (mut ours, theirs) = terminal();
    let mut command = Command::new(env!("CARGO_BIN_EXE_skyfall"));
    command.args(arguments).current_dir(scratch.path()).env("TERM", "xterm").stdin(Stdio::null());
    let mut child = command.stdout(theirs.try_clone().unwrap()).stderr(theirs).spawn().unwrap();
    drop(command);
    let mut seen = Vec::new();
    // The other end's close is an error to this one, not an end of file.
    let _ = ours.read_to_end(&mut seen);
    child.wait().unwrap();
    String::from_utf8_lossy(&seen).into_owned()
}
