//! Programs that stand for Slurm's: what is handed to them, and what is made of what they say.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::{gated, left, submitted};
use crate::command::{Ran, Scratch};
use crate::sweep::quick;

/// What runs an array's tasks one after the other, at once: an `sbatch` without a cluster.
const SBATCH: &str = r#"
for word; do
  case $word in
    --array=0-*) last=${word#--array=0-}; last=${last%%%*} ;;
    *.sbatch) script=$word ;;
  esac
  first=$word
done
job=$(cat "$FAKE/job" 2>/dev/null || echo 7); echo $((job + 1)) >"$FAKE/job"
printf '%s\n' "$*" >>"$FAKE/asked"
for index in $(seq 0 "$last"); do
  SLURM_SUBMIT_DIR=$PWD SLURM_ARRAY_JOB_ID=$job SLURM_ARRAY_TASK_ID=$index \
    bash "$script" "$first" >>"logs/${job}_$index.log" 2>&1
done
echo "$job"
"#;

/// A directory of programs, before all others on the path.
struct Fake {
    directory: tempfile::TempDir,
}

impl Fake {
    /// A cluster whose arrays have at most `most` tasks and whose `sbatch` runs them.
    fn new(most: usize) -> Self {
        let fake = Self { directory: tempfile::tempdir().unwrap() };
        fake.put("scontrol", &format!("echo 'MaxArraySize            = {most}'"));
        fake.put("sbatch", SBATCH);
        fake.put("squeue", "");
        fake.put("sacct", "echo 'Slurm accounting storage is disabled' >&2; exit 1");
        fake
    }

    fn put(&self, program: &str, code: &str) {
        let path = self.directory.path().join(program);
        std::fs::write(&path, format!("#!/bin/bash\n{code}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn skyfall(&self, scratch: &Scratch, arguments: &[&str]) -> Ran {
        let directory = self.directory.path();
        let path = format!("{}:{}", directory.display(), std::env::var("PATH").unwrap());
        let mut command = Command::new(env!("CARGO_BIN_EXE_skyfall"));
        command.args(arguments).current_dir(scratch.path()).env("PATH", path).env("FAKE", directory);
        Ran::from(command.output().unwrap())
    }
}

fn submit<'a>(out: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["sweep", "sweep.lua", "--out", out, "--launcher", "slurm", "--resume"], more].concat()
}

#[test]
fn names_that_mean_something_to_a_shell_are_only_names() {
    let scratch = Scratch::new();
    let name = r#"a 'b' "c" $(touch hit) `touch hit` ; # \\ é"#;
    scratch.write("sweep.lua", &quick("{ policy = { 1, 2, 3 } }", "").replace("\"quick\"", &format!("[[{name}]]")));
    let out = "o'u\"t $(touch hit); & é\nx";
    let ran =
        Fake::new(1001).skyfall(&scratch, &submit(out, &["--batch", "2", "--slurm-option=--comment=$(touch hit) 'x"]));
    assert!(ran.stdout.contains("; 3 submitted: 2 tasks in job 7\n"), "{}{}", ran.stdout, ran.stderr);
    scratch.skyfall(&["sweep", "status", out, "--require-complete"]).ok();
    assert!(scratch.tree().iter().all(|name| !name.ends_with("hit")), "a name was run");
    for place in ["per%Acent", "back\\slash"] {
        let ran = Fake::new(1001).skyfall(&scratch, &submit(place, &[]));
        ran.failed(2, &["launcher/place", "Slurm reads `%` and `\\`"]);
        assert!(!scratch.file(place).join("tasks/0001").exists());
    }
}

#[test]
fn the_script_says_what_is_asked_for_and_nothing_of_when_or_by_whom() {
    let scratch = Scratch::new();
    scratch.write("sweep.lua", &quick("{ policy = { 1, 2, 3, 4, 5 } }", ""));
    let more = [
        "--batch",
        "2",
        "--slurm-limit",
        "4",
        "--slurm-cpus",
        "2",
        "--slurm-memory",
        "500M",
        "--slurm-time",
        "1:00:00",
        "--slurm-partition",
        "main",
        "--slurm-option=--account=lab",
    ];
    let fake = Fake::new(2);
    fake.skyfall(&scratch, &submit("far", &more)).ok();
    let script = scratch.read("far/tasks/0001/array.sbatch").replace(env!("CARGO_BIN_EXE_skyfall"), "skyfall");
    assert_eq!(script, include_str!("../data/cluster/array.sbatch"));
    let asked = std::fs::read_to_string(fake.directory.path().join("asked")).unwrap();
    assert_eq!(
        asked,
        "--parsable --array=0-1%4 --account=lab array.sbatch 0\n\
         --parsable --array=0-0%4 --account=lab --dependency=afterany:7 array.sbatch 2\n"
    );
    assert_eq!(scratch.read("far/tasks/0001/units").lines().count(), 5);
    let ended = |task: u32| scratch.read(&format!("far/tasks/0001/ended/{task}"));
    assert_eq!([ended(0), ended(1), ended(2)], ["0\n", "0\n", "0\n"]);
}

#[test]
fn what_slurm_refuses_is_said_and_what_it_took_is_kept() {
    let scratch = Scratch::new();
    scratch.write("sweep.lua", &quick("{ policy = { 1, 2, 3 } }", ""));
    let fake = Fake::new(2);
    fake.put("sbatch", "echo 'sbatch: error: invalid partition specified: x' >&2; exit 1");
    let ran = fake.skyfall(&scratch, &submit("far", &["--slurm-partition", "x"]));
    ran.failed(1, &["launcher/refused", "invalid partition specified: x"]);
    assert!(!scratch.file("far/tasks/0001").exists(), "nothing came of it");
    // The second of two arrays is one too many.
    fake.put(
        "sbatch",
        &format!("[ -e $FAKE/job ] && {{ echo 'error: QOSMaxSubmitJobPerUserLimit' >&2; exit 1; }}\n{SBATCH}"),
    );
    fake.skyfall(&scratch, &submit("far", &[])).failed(1, &["QOSMaxSubmitJobPerUserLimit"]);
    let status = fake.skyfall(&scratch, &["sweep", "status", "far"]);
    assert!(status.stdout.starts_with("quick: 2 of 3 trials finished, 0 failed, 1 missing\n"), "{}", status.stdout);
    std::fs::remove_file(fake.directory.path().join("job")).unwrap();
    fake.skyfall(&scratch, &submit("far", &[])).ok();
    assert_eq!(submitted(&scratch, "far/tasks/0002"), ["0002"]);
    fake.skyfall(&scratch, &["sweep", "status", "far", "--require-complete"]).ok();
}

#[test]
fn what_does_not_go_with_a_launcher_is_refused_by_name() {
    let scratch = Scratch::new();
    scratch.write("sweep.lua", &quick("{ policy = { 1 } }", ""));
    let search = "skyfall.sweep.tpe(4, { policy = skyfall.sweep.integer(1, 9) })";
    scratch.write("search.lua", &quick("nil", "").replace("axes = nil", &format!("search = {search}")));
    let fake = Fake::new(1001);
    let far = ["--out", "far", "--launcher", "slurm"];
    let refused = |script: &str, more: &[&str], words: &[&str]| {
        fake.skyfall(&scratch, &[&["sweep", script], &far[..], more].concat()).failed(2, words);
    };
    refused("search.lua", &[], &["a search's next point depends on how earlier trials come out"]);
    refused("sweep.lua", &["--jobs", "2"], &["--jobs is for trials that this command runs", "--slurm-limit"]);
    refused("sweep.lua", &["--fail-fast"], &["--fail-fast is for trials that this command runs"]);
    refused("sweep.lua", &["--slurm-time", "1 hour"], &["--time \"1 hour\": it must be one plain word"]);
    let option = |option| format!("--slurm-option={option}");
    refused("sweep.lua", &["--resume", &option("--array=0-9")], &["--array is the submission's own"]);
    refused("sweep.lua", &["--resume", &option("-Dx")], &["-D is the submission's own"]);
    refused("sweep.lua", &["--resume", &option("x")], &["an option begins with `-`"]);
    fake.skyfall(&scratch, &["sweep", "sweep.lua", "--slurm-time", "5"]).failed(2, &["--launcher"]);
}

#[test]
fn what_became_of_tasks_is_asked_of_whoever_knows() {
    let scratch = gated();
    let fake = Fake::new(1001);
    // Taken, and never run.
    fake.put("sbatch", "echo 7");
    fake.skyfall(&scratch, &["sweep", "gated.lua", "--out", "far", "--launcher", "slurm"]).ok();
    fake.put(
        "squeue",
        "printf '7|0|PENDING|Priority\n7|1|RUNNING|None\n7|2|TIMEOUT|TimeLimit\n7|3|FAILED|NonZeroExitCode\n\
         7|4|NODE_FAIL|NodeDown\n'",
    );
    fake.put("scontrol", "echo 'JobId=9 ArrayJobId=7 ArrayTaskId=3 JobName=x JobState=FAILED ExitCode=0:9 RunTime=1'");
    fake.put("sacct", "printf '7_5|OUT_OF_MEMORY|0:125\n7_6|CANCELLED by 0|0:0\n7_7|FAILED|65:0\n'");
    let status = fake.skyfall(&scratch, &["sweep", "status", "far"]);
    let lost = |trial: u32, how: &str| format!("lost {trial:04} (seed={}): task 7_{trial} {how}\n", trial + 1);
    let lines = [
        "gated: 0 of 8 trials finished, 0 failed, 8 missing\nslurm: 1 running, 1 queued (Priority: 1)\n".to_owned(),
        "running 0001 (seed=2): task 7_1\n".to_owned(),
        lost(2, "took longer than its time limit"),
        lost(3, "was killed by signal 9"),
        lost(4, "ended: Slurm says NODE_FAIL"),
        lost(5, "took more memory than its limit"),
        lost(6, "ended: Slurm says CANCELLED"),
        lost(7, "failed: its configuration is at fault (exit code 65)"),
    ];
    assert_eq!((status.code, status.stdout), (0, lines.concat()));
    // Where Slurm does not answer, files are what there is, and that is said.
    fake.put("squeue", "echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1");
    let status = fake.skyfall(&scratch, &["sweep", "status", "far"]);
    assert_eq!(status.stdout, "gated: 0 of 8 trials finished, 0 failed, 8 missing\n");
    status.failed(0, &["this is what the files say", "Unable to contact slurm controller"]);
    // A job that is forgotten is no reason not to answer.
    fake.put("squeue", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1");
    fake.put("sacct", "exit 1");
    let status = fake.skyfall(&scratch, &["sweep", "status", "far"]);
    assert!(status.stdout.ends_with("8 missing\nslurm: 0 running, 0 queued\n"), "{}", status.stdout);
}

#[test]
fn a_task_that_slurm_gave_up_is_told_from_one_that_failed() {
    let scratch = gated();
    let fake = Fake::new(1001);
    fake.put("sbatch", "echo 7");
    fake.skyfall(&scratch, &["sweep", "gated.lua", "--out", "far", "--launcher", "slurm"]).ok();
    fake.put("squeue", "printf '7|0|FAILED|NonZeroExitCode\n7|1|FAILED|NonZeroExitCode\n'");
    let job = "'JobId=9 ArrayJobId=7 ArrayTaskId=%d JobName=x JobState=FAILED ExitCode=1:0 RunTime=1\n' 0 1";
    fake.put("scontrol", &format!("printf {job}"));
    // Only the second task's script came to its end.
    scratch.write("far/tasks/0001/ended/1", "1\n");
    let status = fake.skyfall(&scratch, &["sweep", "status", "far"]);
    let lines = "lost 0000 (seed=1): task 7_0 was given up by Slurm (exit code 1) before its script came to its end\n\
                 lost 0001 (seed=2): task 7_1 failed (exit code 1)\n";
    assert!(status.stdout.ends_with(lines), "{}", status.stdout);
}

#[test]
fn another_engine_starts_a_command_by_its_number() {
    let scratch = gated();
    let ran = scratch.skyfall(&["sweep", "gated.lua", "--out", "far", "--launcher", "files", "--batch", "3"]).ok();
    assert!(
        ran.stdout.contains("8 submitted: 3 tasks in far/tasks/0001\nstart each K from 0 to 2: "),
        "{}",
        ran.stdout
    );
    for task in ["2", "0", "1", "1"] {
        scratch.skyfall(&["sweep", "task", "far/tasks/0001", task]).ok();
    }
    scratch.skyfall(&["sweep", "task", "far/tasks/0001", "3"]).failed(2, &["has tasks 0 to 2, there is no task 3"]);
    scratch.skyfall(&["sweep", "status", "far", "--require-complete"]).ok();
    assert_eq!(left(&scratch, "far"), left(&scratch, "local"));
}
