//! A real Slurm, and what happens on one: tasks killed, requeued, held, dealt to several arrays.

use std::path::Path;
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};

use super::{Slurm, gate, gated, same_as_local, submitted, until};
use crate::campaign::faults::told;
use crate::command::Scratch;

const SUBMIT: [&str; 8] = ["sweep", "gated.lua", "--out", "far", "--launcher", "slurm", "--slurm-limit", "4"];

/// Whether a file of this name says that the trial is finished.
fn is_marker(name: &str, trial: &str) -> bool {
    name.starts_with(&format!("far/trials/{trial}")) && name.ends_with("/_SUCCESS.json")
}

/// How many trials are finished.
fn finished(scratch: &Scratch) -> usize {
    scratch.tree().iter().filter(|name| is_marker(name, "0")).count()
}

/// Whether the trial with this number has written something that is not finished.
fn is_writing(scratch: &Scratch, trial: &str) -> bool {
    let of_trial = |name: &String| name.starts_with(&format!("far/trials/.attempts/{trial}-"));
    let has_rows = |name: &String| {
        name.ends_with("/traces.jsonl") && std::fs::metadata(scratch.file(name)).is_ok_and(|about| about.len() > 0)
    };
    scratch.tree().iter().any(|name| of_trial(name) && has_rows(name))
}

/// The process of a task, by what it was called with, if it is there.
pub(super) fn process_of(task: &str) -> Option<Pid> {
    let of_task = |entry: &std::fs::DirEntry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let words: Vec<_> = line.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
        words.windows(4).any(|words| words.join(" ") == task)
    };
    let found = std::fs::read_dir("/proc").unwrap().flatten().find(of_task)?;
    Pid::from_raw(found.file_name().to_string_lossy().parse().unwrap())
}

/// The job of a submission.
fn job(scratch: &Scratch, submission: &str) -> String {
    let jobs: serde_json::Value =
        serde_json::from_str(&scratch.read(&format!("far/tasks/{submission}/jobs.json"))).unwrap();
    jobs["parts"][0]["job"].as_str().unwrap().to_owned()
}

#[test]
fn a_task_is_killed_and_one_requeued_and_every_trial_is_there_once() {
    let Some(slurm) = Slurm::start(1001) else { return };
    let scratch = gated();
    let _told = slurm.told(&scratch);
    gate::shut(&scratch, "gate/3");
    gate::shut(&scratch, "gate/5");
    let ran = slurm.skyfall(&scratch, &SUBMIT).ok();
    assert!(ran.stdout.starts_with("0 of 8 trials finished; 8 submitted: 8 tasks in job "), "{}", ran.stdout);
    until("six trials finish and two stand still half-way", || {
        finished(&scratch) == 6 && is_writing(&scratch, "0002") && is_writing(&scratch, "0004")
    });
    let again = slurm.skyfall(&scratch, &[&SUBMIT[..], &["--resume"]].concat()).ok();
    assert!(again.stdout.starts_with("6 of 8 trials finished, 2 under way; nothing to submit\n"), "{}", again.stdout);
    let status = slurm.skyfall(&scratch, &["sweep", "status", "far"]);
    let job = job(&scratch, "0001");
    assert_eq!(status.code, 0, "not to be finished is no failure");
    assert!(status.stdout.contains("\nslurm: 2 running, 0 queued\n"), "{}", status.stdout);
    assert!(status.stdout.contains(&format!("\nrunning 0002 (seed=3): task {job}_2\n")), "{}", status.stdout);

    let submission = scratch.file("far/tasks/0001").canonicalize().unwrap();
    kill_process(process_of(&format!("sweep task {} 2", submission.display())).unwrap(), Signal::KILL).unwrap();
    slurm.ask("scontrol", &["requeue", &format!("{job}_4")]);
    let log = scratch.file(&format!("far/tasks/0001/logs/{job}_4.log"));
    until("the requeued task writes again", || {
        std::fs::read_to_string(&log).unwrap().contains("restart 1") && is_writing(&scratch, "0004")
    });
    gate::open(&scratch, "gate/3");
    gate::open(&scratch, "gate/5");
    slurm.idle();
    let status = slurm.skyfall(&scratch, &["sweep", "status", "far"]);
    let lost = format!("lost 0002 (seed=3): task {job}_2 was killed by signal 9; far/tasks/0001/logs/{job}_2.log\n");
    assert_eq!(
        (status.code, status.stdout),
        (0, format!("gated: 7 of 8 trials finished, 0 failed, 1 missing\nslurm: 0 running, 0 queued\n{lost}"))
    );
    let ran = slurm.skyfall(&scratch, &[&SUBMIT[..], &["--resume"]].concat()).ok();
    assert!(ran.stdout.starts_with("7 of 8 trials finished; 1 submitted: 1 tasks in job "), "{}", ran.stdout);
    assert_eq!(submitted(&scratch, "far/tasks/0002"), ["0002"], "only what is missing");
    slurm.idle();
    slurm.skyfall(&scratch, &["sweep", "status", "far", "--require-complete"]).ok();
    same_as_local(&scratch, "far");
    let ran = slurm.skyfall(&scratch, &[&SUBMIT[..], &["--resume"]].concat()).ok();
    assert!(ran.stdout.starts_with("8 of 8 trials finished; nothing to submit\n"), "{}", ran.stdout);
}

/// What a killed controller makes of its tasks when it comes back depends on what it had written
/// down, and on the second: those that it knows go on, those that it does not know are killed and
/// started again under the same numbers, or given up, where they would be started in the second
/// that they were killed in. All of that is Slurm's to choose.
#[test]
fn the_controller_is_killed_and_comes_back_and_every_trial_is_there_once() {
    let Some(slurm) = Slurm::start(1001) else { return };
    let scratch = gated();
    let _told = slurm.told(&scratch);
    let gates = ["gate/1", "gate/2", "gate/3", "gate/4"];
    for gate in gates {
        gate::shut(&scratch, gate);
    }
    slurm.skyfall(&scratch, &SUBMIT).ok();
    let standing = |trial: usize| is_writing(&scratch, &format!("{trial:04}"));
    until("trials stand still half-way", || (0..gates.len()).all(standing));
    let pid = std::fs::read_to_string(slurm.directory.path().join("run/slurmctld.pid")).unwrap();
    kill_process(Pid::from_raw(pid.trim().parse().unwrap()).unwrap(), Signal::KILL).unwrap();
    let restarted = Command::new("slurmctld").arg("-f").arg(slurm.conf()).status().unwrap();
    assert!(restarted.success());
    until("it is decided what becomes of the tasks", || {
        let waits = |(index, word): &(usize, String)| *index < gates.len() && word == "PENDING";
        slurm.queue().is_some_and(|tasks| !tasks.iter().any(waits))
    });
    for gate in gates {
        gate::open(&scratch, gate);
    }
    slurm.idle();
    // Whatever became of them, that is what is said.
    let there = finished(&scratch);
    let status = slurm.skyfall(&scratch, &["sweep", "status", "far", "--json", "--require-complete"]);
    let said: serde_json::Value = serde_json::from_str(&status.stdout).unwrap();
    assert_eq!((said["finished"].as_u64(), status.code), (Some(there as u64), i32::from(there < 8)), "{said}");
    let numbers = |of: &serde_json::Value| -> Vec<String> {
        of.as_array().into_iter().flatten().map(|row| row["trial"].as_str().unwrap().to_owned()).collect()
    };
    let mut again = [numbers(&said["failures"]), numbers(&said["slurm"]["lost"])].concat();
    again.sort();
    let is_there = |trial: &String| scratch.tree().iter().any(|name| is_marker(name, trial));
    assert!(again.len() == 8 - there && !again.iter().any(is_there), "{said}");
    told(format!("a controller was killed: of 8 trials {there} were finished, and again were submitted {again:?}"));
    // Only what is missing is run again.
    let ran = slurm.skyfall(&scratch, &[&SUBMIT[..], &["--resume"]].concat()).ok();
    if again.is_empty() {
        assert!(ran.stdout.starts_with("8 of 8 trials finished; nothing to submit\n"), "{}", ran.stdout);
    } else {
        assert_eq!(submitted(&scratch, "far/tasks/0002"), again);
    }
    slurm.idle();
    slurm.skyfall(&scratch, &["sweep", "status", "far", "--require-complete"]).ok();
    // What a task left that was killed is cleared by whoever runs the sweep next.
    slurm.skyfall(&scratch, &["sweep", "gated.lua", "--out", "far", "--resume"]).ok();
    same_as_local(&scratch, "far");
}

#[test]
fn a_sweep_is_gone_on_with_from_either_side() {
    let Some(slurm) = Slurm::start(4) else { return };
    let scratch = gated();
    let _told = slurm.told(&scratch);
    // This machine begins it, with a trial that fails.
    scratch.write("gate/7", "fail");
    let local = ["sweep", "gated.lua", "--out", "far", "--resume"];
    slurm.skyfall(&scratch, &local).failed(1, &["trial 0006 (seed=7) failed", "no luck"]);
    for gone in ["0000", "0001", "0002", "0003", "0004"] {
        let name = scratch.tree().into_iter().find(|name| name.starts_with(&format!("far/trials/{gone}-"))).unwrap();
        std::fs::remove_dir_all(scratch.file(&name).parent().unwrap()).unwrap();
    }
    // The cluster gets the rest, as two arrays, one after the other.
    let held = slurm.skyfall(&scratch, &[&SUBMIT[..], &["--resume", "--slurm-option=--hold"]].concat()).ok();
    assert!(held.stdout.starts_with("2 of 8 trials finished; 6 submitted: 6 tasks in job "), "{}", held.stdout);
    assert_eq!(submitted(&scratch, "far/tasks/0001"), ["0000", "0001", "0002", "0003", "0004", "0006"]);
    let script = scratch.read("far/tasks/0001/array.sbatch");
    assert!(script.contains("\n#     sbatch --array=0-3%4 --hold array.sbatch 0\n"), "{script}");
    assert!(script.contains("\n#     sbatch --array=0-1%4 --hold array.sbatch 4\n"), "{script}");
    let status = slurm.skyfall(&scratch, &["sweep", "status", "far", "--json"]);
    let status: serde_json::Value = serde_json::from_str(&status.stdout).unwrap();
    assert_eq!((status["finished"].as_i64(), status["slurm"]["queued"].as_i64()), (Some(2), Some(5)), "{status}");
    assert_eq!(status["failures"][0]["trial"], "0006");
    // Some of it is released, and some trials fail there, too.
    let jobs: serde_json::Value = serde_json::from_str(&scratch.read("far/tasks/0001/jobs.json")).unwrap();
    let jobs: Vec<_> = (0..2).map(|part| jobs["parts"][part]["job"].as_str().unwrap()).collect();
    slurm.ask("scontrol", &["release", jobs[0], jobs[1]]);
    slurm.idle();
    let status = slurm.skyfall(&scratch, &["sweep", "status", "far"]);
    assert!(status.stdout.starts_with("gated: 7 of 8 trials finished, 1 failed, 0 missing\n"), "{}", status.stdout);
    let code = slurm.ask("scontrol", &["-o", "show", "job", &format!("{}_1", jobs[1])]);
    assert!(code.contains("ExitCode=1:0"), "{code}");
    // This machine ends it.
    scratch.write("gate/7", "go");
    let ran = slurm.skyfall(&scratch, &local).ok();
    assert!(ran.stdout.starts_with("8 of 8 trials finished (7 of them before)"), "{}", ran.stdout);
    assert!(!Path::new(&scratch.file("far/failed/0006")).exists());
    same_as_local(&scratch, "far");
}
