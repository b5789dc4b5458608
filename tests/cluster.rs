//! Clusters: what Slurm starts, kills and starts again ends as one run on one machine does.
//!
//! Where no Slurm can be started, the tests that need one say so on standard error and in the
//! file that `SLURM_TESTS_NOT_RUN` names, which `tests/run` shows at its end; the others go
//! through programs that stand for Slurm's.

mod campaign;
mod faults;
mod gate;
mod rooms;
mod stand_in;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::command::{Ran, Scratch};

/// A Slurm of one node, below a directory of its own.
struct Slurm {
    directory: TempDir,
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/slurm").join(name)
}

impl Slurm {
    /// Starts one whose arrays have at most `max_array_size` tasks; `None`, loudly, where that cannot be.
    fn start(max_array_size: usize) -> Option<Self> {
        let slurm = Self { directory: tempfile::tempdir().unwrap() };
        let mut up = Command::new(script("up.sh"));
        let up = up.arg(slurm.directory.path()).env("MAX_ARRAY_SIZE", max_array_size.to_string()).output().unwrap();
        if up.status.success() {
            return Some(slurm);
        }
        let reason = String::from_utf8_lossy(&up.stderr).trim().to_owned();
        // Not through `eprintln!`, which is only shown when a test fails.
        std::io::stderr().write_all(format!("\nSLURM TESTS NOT RUN: {reason}\n").as_bytes()).unwrap();
        if let Some(note) = std::env::var_os("SLURM_TESTS_NOT_RUN") {
            std::fs::write(note, reason).unwrap();
        }
        None
    }

    fn conf(&self) -> PathBuf {
        self.directory.path().join("slurm.conf")
    }

    /// Runs `skyfall ARGUMENTS` where this Slurm is the cluster.
    fn skyfall(&self, scratch: &Scratch, arguments: &[&str]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_skyfall"));
        command.args(arguments).current_dir(scratch.path()).env("SLURM_CONF", self.conf());
        Ran::from(command.output().unwrap())
    }

    /// What one of Slurm's own programs prints.
    #[track_caller]
    fn ask(&self, program: &str, arguments: &[&str]) -> String {
        let output = Command::new(program).args(arguments).env("SLURM_CONF", self.conf()).output().unwrap();
        let ran = Ran::from(output);
        assert_eq!(ran.code, 0, "{program} {arguments:?}: {}", ran.stderr);
        ran.stdout
    }

    /// The tasks of the first array that are not over, by index, with Slurm's word for how they
    /// are; `None` while the controller does not answer.
    fn queue(&self) -> Option<Vec<(usize, String)>> {
        let mut squeue = Command::new("squeue");
        let output = squeue.args(["-h", "-r", "-o", "%K %T"]).env("SLURM_CONF", self.conf()).output().unwrap();
        let ran = Ran::from(output);
        let task = |line: &str| {
            let (index, word) = line.trim().split_once(' ').unwrap();
            (index.parse().unwrap(), word.to_owned())
        };
        (ran.code == 0).then(|| ran.stdout.lines().map(task).collect())
    }

    /// Waits until nothing is queued or runs.
    #[track_caller]
    fn idle(&self) {
        until("the queue is empty", || self.queue().is_some_and(|tasks| tasks.is_empty()));
    }

    /// Shows what this Slurm and its tasks said if the test fails while the result is there.
    fn told<'a>(&'a self, scratch: &'a Scratch) -> Told<'a> {
        Told { slurm: self, scratch }
    }
}

/// What Slurm and the tasks of a directory said, for a test that fails.
struct Told<'a> {
    slurm: &'a Slurm,
    scratch: &'a Scratch,
}

impl Drop for Told<'_> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        let of_tasks = self.scratch.tree().into_iter().filter(|name| name.contains("/logs/"));
        let of_tasks = of_tasks.map(|name| self.scratch.file(&name));
        let of_slurm = ["slurmctld", "slurmd"].map(|of| self.slurm.directory.path().join(format!("log/{of}.log")));
        for path in of_tasks.chain(of_slurm) {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let last = text.lines().count().saturating_sub(40);
            let text: Vec<_> = text.lines().skip(last).collect();
            let told = format!("--- {}\n{}\n", path.display(), text.join("\n"));
            std::io::stderr().write_all(told.as_bytes()).unwrap();
        }
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        let down = Command::new(script("down.sh")).arg(self.directory.path()).status();
        assert!(std::thread::panicking() || down.unwrap().success());
    }
}

/// Waits until `done` holds: minutes, for a machine may have much else to do.
#[track_caller]
fn until(what: &str, done: impl Fn() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(300), "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Eight trials. Half-way, a trial of seed N stands still until the gate `gate/N`, if there is one,
/// says `go`; if it says `fail`, it fails.
const GATED: &str = r#"
local skyfall = require "skyfall"
local reward = skyfall.reward
local function gated(s)
  local name = "gate/" .. s.params.seed
  if s.step == s.params.half and skyfall.fs.exists(name) then
    local said
    repeat
      said = skyfall.fs.read(name)
      if said == "fail" then error("no luck") end
    until said == "go"
  end
  return s.action
end
return skyfall.sweep {
  name = "gated",
  axes = { seed = { 1, 2, 3, 4, 5, 6, 7, 8 } },
  experiment = function(p)
    return {
      env = { id = "CartPole-v1" },
      algorithm = { name = "none", policy = { id = "linear_menu", kwargs = { n_actions = 2, seed = p.seed } } },
      reward = reward.compose { { reward.term("gated", gated, { half = 500, seed = p.seed }), weight = 1 } },
      rollout = { window_steps = 100, total_steps = 1000, auto_reset = true },
      run = { seed = p.seed },
    }
  end,
}
"#;

/// A scratch directory with the gated sweep and what a run of it on this machine leaves, in `local`.
fn gated() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("gated.lua", GATED);
    scratch.skyfall(&["sweep", "gated.lua", "--out", "local"]).ok();
    scratch
}

/// Everything a sweep left, but for how it was submitted.
fn left(scratch: &Scratch, directory: &str) -> Vec<(String, Vec<u8>)> {
    let all = crate::sweep::left(scratch, directory).into_iter();
    all.filter(|(name, _)| !name.starts_with("tasks/")).collect()
}

/// The sweep in `directory` is what the one in `local` is.
#[track_caller]
fn same_as_local(scratch: &Scratch, directory: &str) {
    let (local, other) = (left(scratch, "local"), left(scratch, directory));
    let names = |left: &[(String, Vec<u8>)]| left.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&local), names(&other));
    for ((name, content), (_, again)) in local.iter().zip(&other) {
        assert!(content == again, "{name} differs");
    }
    let table = |of| scratch.skyfall(&["sweep", "table", of, "--each", "--format", "csv"]).ok().stdout;
    assert_eq!(table("local"), table(directory));
}

/// The units of a submission, by the numbers of their trials.
fn submitted(scratch: &Scratch, submission: &str) -> Vec<String> {
    let number = |line: &str| {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        row["trial"].as_str().unwrap().to_owned()
    };
    scratch.read(&format!("{submission}/units")).lines().map(number).collect()
}
