//! A campaign on Slurm: a task is requeued and one killed while they write.

use rustix::process::{Signal, kill_process};

use super::faults::process_of;
use super::{Slurm, gate, until};
use crate::command::Scratch;

/// After the first record of a shard it stands still until `gate/SPLIT`, if there is one, says `go`.
const ORACLE: &str = r#"
local skyfall = require "skyfall"
local array, rollouts, random, fs = skyfall.array, skyfall.rollouts, skyfall.random, skyfall.fs
local IDENTITY = { 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0 }

local function step(rng)
  local no, yes = array.new("bool", { 2 }), { true, true }
  local gain = { rng:uniform(0, 0.5), 0 }
  return {
    step_index = 0, selected_shell_index = 0,
    selection_score_label = "target_root_gain", selection_policy = "oracle_greedy",
    candidates = {
      shell_poses = { IDENTITY, IDENTITY }, mask_valid = yes, masks = { { "FreeSpaceRule", yes } },
      strategy_id = array.new("i32", { 2 }), position_id = array.new("i32", { 2 }),
      mixture_id = array.new("i32", { 2 }), sampler_probability = array.new("f32", { 2 }) + 0.5,
      extras = { path_collision_mask = no, path_collision_applicable_mask = no, path_collision_evaluated_mask = no },
    },
    labels = { target_root_gain = gain, target_rri = gain },
  }
end

return rollouts.oracle {
  options = { selected_depth_enabled = false, discount_gamma = 0.95, created_at_utc = "2026-01-01T00:00:00Z" },
  records = function(rows, shard)
    for place, row in ipairs(rows) do
      local gate = "gate/" .. row.scene_id
      if place == 2 and fs.exists(gate) then
        repeat until fs.read(gate) == "go"
      end
      shard:add {
        rollout_id_prefix = row.sample_key,
        root_pose_world = IDENTITY, horizon = 1, branch_factor = 1, selection_policy = "oracle_greedy",
        source = row.source,
        target = {
          target_id = "point", target_source = "gt_obbs_oracle", target_source_index = 0,
          matched_gt_target_row_id = 0, matched_gt_target_id = "point", gt_match_status = "matched",
          target_crop_policy = "none", target_center_world = { 0, 0, 0 }, target_extents = { 1, 1, 1 },
          target_pose_world_object = IDENTITY, target_relative_pose_reference_object = IDENTITY,
        },
        policy = { candidate_config_hash = "c", oracle_config_hash = "o", rollout_config_hash = "r", random_seed = 1 },
        trajectories = { { terminated_early = false, steps = { step(random.rng(row.sample_index)) } } },
      }
    end
  end,
}
"#;

const RUN: [&str; 7] =
    ["rollouts", "run", "--shard-manifest", "c/shard-manifest.jsonl", "--script", "oracle.lua", "--all"];

/// Four shards of two rows, a scene each.
fn planned() -> Scratch {
    let scratch = Scratch::new();
    let row = |row| {
        format!(
            "{{\"sample_index\": {row}, \"sample_key\": \"k:{row}\", \"scene_id\": \"scene-{}\", \"snippet_id\": \"r{row}\", \
             \"split\": \"train\", \"source_shard_id\": \"s\", \"source_shard_row\": {row}}}\n",
            row / 2
        )
    };
    scratch.write("index.jsonl", &(0..8).map(row).collect::<String>());
    scratch.write("oracle.lua", ORACLE);
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
        gate::shut(&scratch, &format!("gate/scene-{scene}"));
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
    gate::open(&scratch, "gate/scene-1");
    gate::open(&scratch, "gate/scene-2");
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
