//! No program outlives its environment, whatever becomes of either.

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use skyfall::env::foreign::Programs;
use skyfall::value::Map;

use super::{RUN, configure, rows, worlds};
use crate::command::Scratch;

/// Writes a program and returns its path.
pub(super) fn executable(scratch: &Scratch, name: &str, text: &str) -> String {
    let path = scratch.write(name, text);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

/// Whether the process lives (or is a zombie).
fn lives(pid: &str) -> bool {
    Command::new("kill").args(["-0", pid.trim()]).stderr(Stdio::null()).status().unwrap().success()
}

/// Waits until something is so; that it never is fails the test.
fn eventually(what: &str, so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}: waited in vain");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A world that notes its process and then hangs in its third step.
fn hanging(scratch: &Scratch) {
    scratch.write(
        "hanging.py",
        "import os\nfrom foreign_worlds import Hangs\n\n\n\
         class World(Hangs):\n\
         \x20   def event(self):\n\
         \x20       open('pid', 'w').write(str(os.getpid()))\n\
         \x20       super().event()\n",
    );
    configure(scratch, "python:hanging:World", &json!({}), 10);
}

/// `skyfall` with `arguments`, in the third step of that world.
fn started(scratch: &Scratch, arguments: &[&str]) -> (std::process::Child, String) {
    let child = Command::new(env!("CARGO_BIN_EXE_skyfall"))
        .args(arguments)
        .current_dir(scratch.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = || std::fs::read_to_string(scratch.file("pid")).unwrap_or_default();
    eventually("the third step", || !pid().is_empty());
    (child, pid())
}

#[test]
fn ctrl_c_ends_a_run_that_waits_in_vain_and_keeps_its_trace() {
    let scratch = worlds();
    hanging(&scratch);
    let (child, pid) = started(&scratch, &RUN);
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(stderr.contains("did not answer `step`; it was ended when you asked to stop"), "{stderr}");
    assert!(!lives(&pid));
    assert_eq!(rows(&scratch).len(), 2);
}

#[test]
fn ctrl_c_ends_a_script_that_waits_in_vain_with_its_own_exit_code() {
    for code in [
        "local world = skyfall.env.make 'python:hanging:World'\nworld:reset()\nwhile true do world:step(0) end",
        "return skyfall.experiment { env = { id = 'python:hanging:World' }, rollout = { total_steps = 10 } }",
    ] {
        let scratch = worlds();
        hanging(&scratch);
        scratch.write("script.lua", &format!("local skyfall = require 'skyfall'\n{code}"));
        let (child, _) = started(&scratch, &["script", "script.lua", "--allow-run"]);
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(130), "{stderr}");
        assert!(stderr.contains("did not answer `step`; it was ended when you asked to stop"), "{stderr}");
    }
}

#[test]
fn a_world_that_hangs_ends_when_its_run_is_killed() {
    let scratch = worlds();
    hanging(&scratch);
    let (mut child, pid) = started(&scratch, &RUN);
    assert!(lives(&pid));
    child.kill().unwrap();
    child.wait().unwrap();
    eventually("the end of the world", || !lives(&pid));
}

/// A program that answers the greeting and notes its process and that of its own child.
const STUBBORN: &str = "#!/bin/sh\n\
    sleep 1000 &\n\
    echo $$ $! >pids.new\n\
    mv pids.new pids\n\
    printf '\\016\\000\\000\\000\\000\\000\\000\\000{\"version\": 1}'\n\
    wait\n";

#[test]
fn a_program_that_does_not_end_is_killed_with_what_it_started() {
    let scratch = worlds();
    let path = executable(&scratch, "stubborn", &STUBBORN.replace("pids", &scratch.file("pids").display().to_string()));
    let programs = Programs { timeout: Some(Duration::from_millis(500)), ..Programs::default() };
    let error = programs.make(&format!("program:{path}"), &Map::new()).err().unwrap().to_string();
    assert!(error.contains("no answer to `make` within 0.5 s"), "{error}");
    let pids = scratch.read("pids");
    let (program, child) = pids.trim().split_once(' ').unwrap();
    assert!(!lives(program), "it was not reaped");
    eventually("the end of what it started", || !lives(child));
}

/// What a program started may hold its pipes open after it ended.
#[test]
fn the_end_of_a_program_is_seen_though_its_pipes_stay_open() {
    let scratch = worlds();
    let path = executable(&scratch, "leaver", "#!/bin/sh\nsleep 5 &\necho gone >&2\nexit 4\n");
    let error = Programs::default().make(&format!("program:{path}"), &Map::new()).err().unwrap().to_string();
    assert!(error.ends_with("the program ended during `hello` (exit status: 4); its last words: gone"), "{error}");
}

#[test]
fn an_environment_that_is_no_longer_used_takes_its_program_along() {
    let scratch = worlds();
    scratch.write(
        "s.lua",
        "local env = require('skyfall').env\n\
         for _ = 1, 3 do\n\
         local e = env.make('python:noted:World')\n\
         e:reset { seed = 1 }\n\
         end\n",
    );
    scratch.write(
        "noted.py",
        "import os\nfrom foreign_worlds import World as Plain\n\n\n\
         class World(Plain):\n\
         \x20   def reset(self, **kwargs):\n\
         \x20       open('pids', 'a').write(f'{os.getpid()}\\n')\n\
         \x20       return super().reset(**kwargs)\n\n\
         \x20   def close(self):\n\
         \x20       open('closed', 'a').write('x')\n",
    );
    scratch.skyfall(&["script", "--allow-run", "s.lua"]).ok();
    let pids = scratch.read("pids");
    assert_eq!(pids.lines().count(), 3);
    assert!(pids.lines().all(|pid| !lives(pid)));
    assert_eq!(scratch.read("closed"), "xxx");
}
