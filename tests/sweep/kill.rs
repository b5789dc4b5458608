//! A sweep that is killed and resumed leaves what an undisturbed one leaves.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::{left, quick};
use crate::command::Scratch;

fn start(scratch: &Scratch, arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skyfall"));
    command.args(arguments).current_dir(scratch.path()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_raw(child.id().try_into().unwrap()).unwrap(), signal).unwrap();
}

/// Waits until `done` holds or the process has ended.
fn until(child: &mut Child, done: impl Fn() -> bool) {
    while child.try_wait().unwrap().is_none() && !done() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn entries(path: &Path) -> usize {
    std::fs::read_dir(path)
        .map_or(0, |entries| entries.flatten().filter(|entry| entry.file_name() != ".attempts").count())
}

#[test]
fn killed_ten_times_and_resumed_it_leaves_what_an_undisturbed_one_leaves() {
    let scratch = Scratch::new();
    let script = include_str!("../acceptance/06_sweep.lua");
    // Longer trials, and more of them, so that there is something to kill.
    let script = script.replace("seed = { 1, 2, 3 }", "seed = { 1, 2, 3, 4, 5, 6, 7, 8 }").replace("2000", "20000");
    scratch.write("06_sweep.lua", &script);
    let sweep = |out| ["sweep", "06_sweep.lua", "--jobs", "2", "--resume", "--out", out];
    scratch.skyfall(&sweep("calm")).ok();
    let mut random = skyfall::random::Rng::new(6);
    let mut kills = 0;
    for _ in 0..10 {
        let finished = entries(&scratch.file("killed/trials"));
        let mut child = start(&scratch, &sweep("killed"));
        // At a random moment after something new was finished or begun.
        let more = usize::from(random.double() < 0.5);
        until(&mut child, || entries(&scratch.file("killed/trials")) >= finished + more);
        std::thread::sleep(Duration::from_micros((random.double() * 60_000.0) as u64));
        if child.try_wait().unwrap().is_none() {
            signal(&child, Signal::KILL);
            kills += 1;
        }
        child.wait().unwrap();
    }
    assert!(kills > 0, "no trial was ever killed");
    scratch.skyfall(&sweep("killed")).ok();
    let (calm, killed) = (left(&scratch, "calm"), left(&scratch, "killed"));
    assert_eq!(calm.len(), 1 + 24 * 5);
    for ((name, content), (other, again)) in calm.iter().zip(&killed) {
        assert_eq!(name, other);
        assert!(content == again, "{name} differs");
    }
    assert_eq!(calm.len(), killed.len());
    for format in ["text", "csv"] {
        let table = |out| scratch.skyfall(&["sweep", "table", out, "--format", format]).ok().stdout;
        assert_eq!(table("calm"), table("killed"));
    }
    let again = scratch.skyfall(&sweep("killed")).ok();
    assert!(again.stdout.starts_with("24 of 24 trials finished (24 of them before)"), "{}", again.stdout);
}

#[test]
fn an_interrupt_ends_trials_and_sweep_and_loses_only_what_was_under_way() {
    let scratch = Scratch::new();
    scratch.write("sweep.lua", &quick("{ steps = { 20, 100000000 } }", ""));
    let mut child = start(&scratch, &["sweep", "sweep.lua", "--jobs", "1"]);
    let attempts = scratch.file("quick/trials/.attempts");
    until(&mut child, || {
        let long = std::fs::read_dir(&attempts).into_iter().flatten().flatten();
        long.map(|entry| entry.path().join("traces.jsonl")).any(|path| path.exists())
            && entries(&scratch.file("quick/trials")) == 1
    });
    signal(&child, Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(entries(&scratch.file("quick/trials")), 1);
    assert_eq!(entries(&attempts), 0, "the trial under way is gone");
    let status = scratch.skyfall(&["sweep", "status", "quick"]);
    assert_eq!(status.stdout, "quick: 1 of 2 trials finished, 0 failed, 1 missing\n");
}

#[test]
fn a_killed_sweep_s_trials_end_with_it() {
    let scratch = Scratch::new();
    scratch.write("sweep.lua", &quick("{ steps = { 100000000 } }", ""));
    let mut child = start(&scratch, &["sweep", "sweep.lua"]);
    let attempts = scratch.file("quick/trials/.attempts");
    let trace = || {
        let entry = std::fs::read_dir(&attempts).into_iter().flatten().flatten().next();
        entry.map(|entry| entry.path().join("traces.jsonl")).filter(|path| path.exists())
    };
    until(&mut child, || trace().is_some());
    signal(&child, Signal::KILL);
    child.wait().unwrap();
    // The trial may write until the signal reaches it; then its trace stands still.
    let trace = trace().unwrap();
    let size = || std::fs::metadata(&trace).unwrap().len();
    let mut before = size();
    for _ in 0..100 {
        std::thread::sleep(Duration::from_millis(50));
        let now = size();
        if now == before {
            return;
        }
        before = now;
    }
    panic!("the trial goes on without its sweep");
}

#[test]
fn two_processes_that_run_one_sweep_at_once_leave_what_one_leaves() {
    let scratch = Scratch::new();
    scratch.write("sweep.lua", &quick("{ policy = { 1, 2, 3, 4, 5, 6 } }", ""));
    let sweep = |out| ["sweep", "sweep.lua", "--jobs", "2", "--resume", "--out", out];
    scratch.skyfall(&sweep("one")).ok();
    let mut both = [start(&scratch, &sweep("two")), start(&scratch, &sweep("two"))];
    for child in &mut both {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(left(&scratch, "one"), left(&scratch, "two"));
}
