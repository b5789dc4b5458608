//! A campaign on Slurm: a task is requeued and one killed while they write.

use rustix::process::{Signal, kill_process};

use super::faults::process_of;
use super::{Slurm, gate, until};
use crate::campaign::{data, index};
use crate::command::Scratch;

const RUN: [&str; 7] =
    ["rollouts", "run", "--shard-manifest", "c/shard-manifest.jsonl", "--script", "oracle.lua", "--all"];

/// Four shards of two rows, a scene each. After the first record of a shard the oracle stands still
/// until the gate `gate/SCENE`, if there is one, says `go`.
fn planned() -> Scratch {
    let scratch = Scratch::new();
    let gate = "for place, row in ipairs(rows) do
      local gate = 'gate/' .. row.scene_id
      if place == 2 and skyfall.fs.exists(gate) then
        repeat until skyfall.fs.read(gate) == 'go'
      end";
    let oracle = data("oracle.lua");
    let gated = oracle.replacen("for _, row in ipairs(rows) do", gate, 1);
    assert_ne!(gated, oracle);
    scratch.write("oracle.lua", &gated);
    scratch.write("index.jsonl", &index(8));
    let plan = ["rollouts", "plan", "index.jsonl", "--script", "oracle.lua", "--rows-per-shard", "2", "--out", "c"];
    scratch.skyfall(&plan).ok();
    scratch
}

/// Every file of the stores below `root`, but for what says which attempt wrote them.
fn stores(scratch: &Scratch, root: &str) -> Vec<(String, Vec<u8>)> {
    let names = scratch.tree().into_iter().filter(|name| name.starts_with(&format!("{root}/shard-")));
    let names = names.filter(|name| !name.ends_with("/_owner.json") && !name.ends_with("/_SUCCESS.json"));
    names.map(|name| (name[root.len()..].to_owned(), std::fs::read(scratch.file(&name)).unwrap())).collect()
}

/// Whether an attempt at a shard is under way.
fn is_begun(scratch: &Scratch, shard: usize) -> bool {
    let attempts = std::fs::read_dir(scratch.file("c/shards/tmp")).into_iter().flatten().flatten();
    let of_shard =
        |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with(&format!("shard-{shard:06}-"));
    attempts.into_iter().any(|entry| of_shard(&entry))
}

#[test]
fn a_campaign_s_task_is_killed_and_one_requeued_while_they_write_and_all_shards_validate() {
    let Some(slurm) = Slurm::start(1001) else { return };
    let scratch = planned();
    let _told = slurm.told(&scratch);
    scratch.skyfall(&[&RUN[..], &["--final-root", "local"]].concat()).ok();
    for scene in [1, 2] {
        gate::shut(&scratch, &format!("gate/line-{scene}"));
    }
    let submit = [&RUN[..], &["--launcher", "slurm", "--slurm-limit", "4"]].concat();
    let ran = slurm.skyfall(&scratch, &submit).ok();
    assert!(ran.stdout.starts_with("0 of 4 shards are there; 4 submitted: 4 tasks in job "), "{}", ran.stdout);
    let there = || slurm.skyfall(&scratch, &["rollouts", "status", "c/shard-manifest.jsonl"]).ok().stdout;
    until("two shards are there and two tasks write", || {
        is_begun(&scratch, 1) && is_begun(&scratch, 2) && there().starts_with("2 of 4 shards")
    });
    let status = there();
    assert!(status.contains("\nslurm: 2 running, 0 queued\nrunning shard-000001 (2 rows, train): task "), "{status}");

    let submission = scratch.file("c/shard-manifest.tasks/0001").canonicalize().unwrap();
    let jobs: serde_json::Value = serde_json::from_str(&scratch.read("c/shard-manifest.tasks/0001/jobs.json")).unwrap();
    let job = jobs["parts"][0]["job"].as_str().unwrap();
    kill_process(process_of(&format!("rollouts task {} 1", submission.display())).unwrap(), Signal::KILL).unwrap();
    slurm.ask("scontrol", &["requeue", &format!("{job}_2")]);
    let log = submission.join(format!("logs/{job}_2.log"));
    until("the requeued task runs again", || std::fs::read_to_string(&log).unwrap().contains("restart 1"));
    gate::open(&scratch, "gate/line-1");
    gate::open(&scratch, "gate/line-2");
    slurm.idle();
    let status = there();
    assert!(status.starts_with("3 of 4 shards"), "{status}");
    assert!(
        status.contains(&format!("\nlost shard-000001 (2 rows, train): task {job}_1 was killed by signal 9; ")),
        "{status}"
    );
    let ran = slurm.skyfall(&scratch, &submit).ok();
    assert!(ran.stdout.starts_with("3 of 4 shards are there; 1 submitted: 1 tasks in job "), "{}", ran.stdout);
    assert_eq!(scratch.read("c/shard-manifest.tasks/0002/units"), "shard-000001\n", "only what is missing");
    slurm.idle();
    slurm.skyfall(&scratch, &["rollouts", "status", "c/shard-manifest.jsonl", "--require-complete"]).ok();
    for shard in 0..4 {
        scratch.skyfall(&["rollouts", "validate", &format!("c/shards/shard-{shard:06}")]).ok();
    }
    assert_eq!(stores(&scratch, "c/shards"), stores(&scratch, "local"));
    let ran = slurm.skyfall(&scratch, &submit).ok();
    assert!(ran.stdout.starts_with("4 of 4 shards are there"), "{}", ran.stdout);
}
