//! The campaign of the rooms on Slurm: tasks are killed and requeued, what is missing is submitted again.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::{Signal, kill_process};

use super::Slurm;
use super::faults::process_of;
use crate::campaign::faults::{Chance, told};
use crate::campaign::rooms::{RUN, Rooms, SHARDS};

/// How many tasks are killed or requeued of the first submission, of the second, and so on.
const KILLS: [usize; 2] = [6, 2];

/// How many submissions there may be.
const MOST: usize = 8;

/// Strikes at one running task: kills its command, or has Slurm requeue it. Whether it was met.
fn strike(slurm: &Slurm, submission: &Path, job: &str, chance: &mut Chance) -> Option<&'static str> {
    let running = slurm.queue()?.into_iter().filter(|(_, word)| word == "RUNNING");
    let running: Vec<usize> = running.map(|(index, _)| index).collect();
    let index = *running.get(chance.below(running.len().max(1) as u64) as usize)?;
    if chance.below(2) == 0 {
        let process = process_of(&format!("rollouts task {} {index}", submission.display()))?;
        kill_process(process, Signal::KILL).ok().map(|()| "killed")
    } else {
        let mut requeue = Command::new("scontrol");
        requeue.args(["requeue", &format!("{job}_{index}")]).env("SLURM_CONF", slurm.conf());
        requeue.output().unwrap().status.success().then_some("requeued")
    }
}

#[test]
fn sixty_four_shards_on_slurm_under_kills_are_one_process_s_store() {
    let Some(slurm) = Slurm::start(1001) else { return };
    let mut rooms = Rooms::planned();
    let seed = std::process::id().into();
    let mut chance = Chance(seed);
    let began = Instant::now();
    let submit = [&RUN[..], &["--launcher", "slurm", "--slurm-limit", "4", "--batch", "4"]].concat();
    let (mut met, mut submitted) = (Vec::new(), Vec::new());
    for round in 1..=MOST {
        let missing: Vec<String> = rooms.missing().map(|shard| format!("shard-{shard:06}\n")).collect();
        if missing.is_empty() {
            break;
        }
        let ran = slurm.skyfall(&rooms.scratch, &submit).ok();
        let (there, gone) = (SHARDS - missing.len(), missing.len());
        assert!(
            ran.stdout.starts_with(&format!("{there} of {SHARDS} shards are there; {gone} submitted: ")),
            "{}",
            ran.stdout
        );
        let submission = rooms.scratch.file(&format!("c/shard-manifest.tasks/{round:04}")).canonicalize().unwrap();
        assert_eq!(
            std::fs::read_to_string(submission.join("units")).unwrap(),
            missing.concat(),
            "only what is missing"
        );
        let jobs = std::fs::read_to_string(submission.join("jobs.json")).unwrap();
        let jobs: serde_json::Value = serde_json::from_str(&jobs).unwrap();
        let job = jobs["parts"][0]["job"].as_str().unwrap();
        let mut due = KILLS.get(round - 1).copied().unwrap_or_default();
        while due > 0 && slurm.queue().is_none_or(|tasks| !tasks.is_empty()) {
            std::thread::sleep(Duration::from_millis(50 + chance.below(400)));
            if let Some(how) = strike(&slurm, &submission, job, &mut chance) {
                met.push(how);
                due -= 1;
            }
        }
        slurm.idle();
        let promoted = rooms.promoted();
        submitted.push(gone);
        let status = slurm.skyfall(&rooms.scratch, &["rollouts", "status", "c/shard-manifest.jsonl", "--json"]).ok();
        let status: serde_json::Value = serde_json::from_str(&status.stdout).unwrap();
        assert_eq!(status["counts"]["succeeded"].as_u64(), Some(promoted as u64), "{status}");
        assert_eq!(rooms.missing().count(), SHARDS - promoted);
    }
    let ran = began.elapsed().as_secs_f64();
    rooms.is_one_process_s_store(0, &mut chance);
    told(format!(
        "seed {seed}: {SHARDS} rooms on Slurm in {ran:.1} s, shards submitted: {submitted:?}, tasks {met:?}; \
         the store is that of one process; {:.1} s in all",
        began.elapsed().as_secs_f64()
    ));
    assert!(met.len() >= KILLS[0] && submitted.len() > 1, "the kills hit nothing");
}
