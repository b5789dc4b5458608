//! Promotion by a marker that only one attempt can put: races, and kills at any moment.

use std::process::Child;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::{Remote, marker};
use crate::command::Ran;

const SHARD: &str = "shard-000000";

/// Waits until an attempt has so many objects there.
fn until(campaign: &Remote, objects: usize, child: &mut Child) {
    let began = Instant::now();
    let attempts = format!("c/{SHARD}/attempts/");
    while campaign.storage.keys(&attempts).len() < objects {
        assert!(child.try_wait().unwrap().is_none(), "the run ended before it had {objects} objects there");
        assert!(began.elapsed() < Duration::from_secs(120), "the run makes no progress");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The attempts that have objects there.
fn attempts(campaign: &Remote) -> Vec<String> {
    let prefix = format!("c/{SHARD}/attempts/");
    let keys = campaign.storage.keys(&prefix);
    let mut names: Vec<String> =
        keys.iter().map(|key| key.strip_prefix(&prefix).unwrap().split('/').next().unwrap().to_owned()).collect();
    names.dedup();
    names
}

#[test]
fn of_two_runs_one_wins_and_the_other_says_so() {
    let campaign = Remote::new(1);
    let words = ["--shard-id", "0"];
    // One stands still in the middle of its upload, until the other is through.
    let mut slow = campaign.start(&words);
    until(&campaign, 10, &mut slow);
    let pid = Pid::from_child(&slow);
    kill_process(pid, Signal::STOP).unwrap();
    let fast = campaign.run(&words).ok();
    assert!(fast.stdout.contains(": written, "), "{}", fast.stdout);
    let (won, winner) = (campaign.storage.get(&marker(SHARD)).unwrap(), campaign.winner(SHARD));
    assert_eq!(attempts(&campaign).len(), 2);
    kill_process(pid, Signal::CONT).unwrap();
    let slow = Ran::from(slow.wait_with_output().unwrap()).ok();
    assert!(slow.stdout.contains(": skipped: it is there already"), "{}", slow.stdout);
    // The winner's marker is untouched, and what the loser wrote is gone.
    assert_eq!(campaign.storage.get(&marker(SHARD)).unwrap(), won);
    assert_eq!(attempts(&campaign).len(), 1);
    assert!(campaign.storage.keys(&winner).len() > 100);
    campaign.status().ok();
    assert_eq!(campaign.skyfall(&["rollouts", "gc", &campaign.address("c")]).ok().stdout, "");
}

#[test]
fn two_runs_at_once_leave_one_store() {
    let campaign = Remote::new(1);
    let runs = [campaign.start(&["--shard-id", "0"]), campaign.start(&["--all"])];
    let written = runs.map(|run| Ran::from(run.wait_with_output().unwrap()).ok().stdout);
    assert!(written[0].contains(": written, ") || written[0].contains(": skipped: "), "{}", written[0]);
    assert!(written[1].starts_with("1 of 1 shards are there"), "{}", written[1]);
    assert_eq!(attempts(&campaign), [campaign.winner(SHARD).rsplit_once('/').unwrap().1]);
    campaign.status().ok();
}

#[test]
fn killed_in_its_upload_a_run_is_run_again() {
    let campaign = Remote::new(1);
    let root = campaign.address("c");
    let gc = |words: &[&str]| campaign.skyfall(&[&["rollouts", "gc", &root], words].concat());
    for (kills, objects) in [1, 60].into_iter().enumerate() {
        let before: usize = campaign.storage.keys("c/").len();
        let mut child = campaign.start(&["--shard-id", "0"]);
        until(&campaign, before + objects, &mut child);
        child.kill().unwrap();
        child.wait().unwrap();
        // Nothing of it counts, for readers or for the campaign.
        assert_eq!(attempts(&campaign).len(), kills + 1);
        assert_eq!(campaign.storage.get(&marker(SHARD)), None);
        campaign.validate(&format!("c/{SHARD}")).failed(3, &["no attempt at it was finished"]);
        assert!(campaign.status().failed(1, &[]).stdout.contains("1 missing"));
    }
    // While the shard has no store, it may be that someone is still writing.
    let told = gc(&[]).ok().stdout;
    assert_eq!(told.matches("recent ").count(), 2, "{told}");
    assert_eq!(gc(&["--remove"]).ok().stdout, told);
    let dead = gc(&["--idle", "0"]).ok();
    assert_eq!(dead.stdout.matches("dead ").count(), 2, "{}", dead.stdout);
    campaign.run(&["--shard-id", "0"]).ok();
    let winner = campaign.winner(SHARD);
    assert_eq!(gc(&[]).ok().stdout.matches("dead ").count(), 2);
    assert_eq!(gc(&["--remove"]).ok().stdout.matches("  removed").count(), 2);
    assert_eq!(attempts(&campaign), [winner.rsplit_once('/').unwrap().1]);
    campaign.status().ok();
    assert!(campaign.run(&["--shard-id", "0"]).ok().stdout.contains("skipped"));
}

#[test]
fn a_plan_that_a_bucket_has_shards_of_is_not_replaced() {
    let campaign = Remote::new(2);
    let root = campaign.address("c");
    let plan = |per_shard| {
        let words = ["rollouts", "plan", "index.jsonl", "--script", "oracle.lua", "--out", "c", "--final-root", &root];
        campaign.skyfall(&[&words[..], &["--rows-per-shard", per_shard]].concat())
    };
    plan("2").ok();
    plan("1").ok();
    campaign.run(&["--shard-id", "1"]).ok();
    plan("2").failed(2, &["is another plan", &format!("{root}/shard-000001 was promoted from it")]);
    plan("1").ok();
}
