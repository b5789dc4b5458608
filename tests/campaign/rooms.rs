//! The campaign of the rooms in `scripts/`: 64 shards that are killed again and again come out, merged,
//! as the store that one process writes in one go.
//!
//! The rooms are small here, a row a shard; with `SKYFALL_ROOMS=full` they are those of the scripts.

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use skyfall::campaign::gc::{self, Kind};
use skyfall::rollouts::validate;

use super::faults::{Chance, settle_below, told};
use super::{bytes, data};
use crate::command::{Ran, Scratch};
use crate::rollouts::join::same;

/// How many shards there are.
pub(crate) const SHARDS: usize = 64;

/// What a run of everything is called with.
pub(crate) const RUN: [&str; 7] =
    ["rollouts", "run", "--shard-manifest", "c/shard-manifest.jsonl", "--script", "room_oracle.lua", "--all"];

/// A planned campaign, the store that it is to come to, and the bytes of every shard that was seen promoted.
pub(crate) struct Rooms {
    pub(crate) scratch: Scratch,
    /// What writes all rows in one go, meanwhile.
    whole: Child,
    seen: BTreeMap<usize, BTreeMap<String, Vec<u8>>>,
}

impl Rooms {
    pub(crate) fn planned() -> Self {
        let scratch = Scratch::in_memory();
        let full = std::env::var_os("SKYFALL_ROOMS").is_some_and(|size| size == "full");
        for name in ["room_oracle.lua", "room_index.lua", "rooms/rollouts.lua", "rooms/room.lua"] {
            let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts").join(name);
            let text = std::fs::read_to_string(script).unwrap();
            let small = text.replacen("HORIZON = 7, 3, 5", "HORIZON = 7, 3, 2", 1);
            assert_eq!(small != text, name == "rooms/rollouts.lua", "{name}: how long a chain is");
            scratch.write(name, if full { &text } else { &small });
        }
        scratch.write("whole.lua", &data("whole.lua"));
        let index = scratch.skyfall(&["script", "room_index.lua", "--", "64"]).ok().stdout;
        let per_shard = if full { 3 } else { 1 };
        let lines = index.lines().take(SHARDS * per_shard).map(|line| format!("{line}\n"));
        scratch.write("index.jsonl", &lines.collect::<String>());
        let plan = ["rollouts", "plan", "index.jsonl", "--script", "room_oracle.lua", "--out", "c"];
        let more = ["--source-manifest-hash", "rooms", "--rows-per-shard", &per_shard.to_string()];
        let said = scratch.skyfall(&[&plan[..], &more].concat()).ok().stdout;
        let rows = SHARDS * per_shard;
        assert!(said.contains(&format!("{SHARDS} shards, {rows} rows in all")), "{said}");
        let (_, hash) = said.lines().next().unwrap().rsplit_once(' ').unwrap();
        let mut whole = Command::new(env!("CARGO_BIN_EXE_skyfall"));
        whole.args(["script", "whole.lua", "--", hash, &rows.to_string()]).current_dir(scratch.path());
        let whole = whole.stdout(Stdio::null()).spawn().unwrap();
        Self { scratch, whole, seen: BTreeMap::new() }
    }

    fn place(&self, shard: usize) -> PathBuf {
        self.scratch.file(&format!("c/shards/shard-{shard:06}"))
    }

    /// The shards that are not promoted and sealed.
    pub(crate) fn missing(&self) -> impl Iterator<Item = usize> {
        (0..SHARDS).filter(|shard| !self.place(*shard).join("_SUCCESS.json").exists())
    }

    /// How many shards are promoted and sealed; none of them may be gone later, or changed.
    pub(crate) fn promoted(&mut self) -> usize {
        for shard in 0..SHARDS {
            if self.place(shard).join("_SUCCESS.json").exists() {
                let place = self.place(shard);
                self.seen.entry(shard).or_insert_with(|| bytes(&place));
            }
        }
        assert!(self.seen.keys().all(|shard| self.place(*shard).is_dir()), "a promoted shard is gone");
        self.seen.len()
    }

    /// Merges the shards, killed at `kills` moments, and compares with one process's store.
    /// Everything that is there now is what it was when it was first seen.
    pub(crate) fn is_one_process_s_store(&mut self, kills: usize, chance: &mut Chance) {
        assert_eq!(self.promoted(), SHARDS);
        let scratch = &self.scratch;
        scratch.skyfall(&["rollouts", "status", "c/shard-manifest.jsonl", "--require-complete"]).ok();
        for leftover in gc::leftovers(&scratch.file("c/shards"), Duration::ZERO, Duration::ZERO).unwrap() {
            assert!(leftover.kind == Kind::Dead && gc::remove(&leftover), "{leftover:?}");
        }
        let merge = ["rollouts", "merge", "--shard-manifest", "c/shard-manifest.jsonl", "--final-root", "c/shards"];
        let merge = [&merge[..], &["-o", "merged.zarr"]].concat();
        let merged = scratch.file("merged.zarr");
        let start = || {
            let mut command = Command::new(env!("CARGO_BIN_EXE_skyfall"));
            // The time that the rooms' stores say they were made at.
            command.args(&merge).current_dir(scratch.path()).env("SOURCE_DATE_EPOCH", "1767225600");
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
        };
        for _ in 0..kills {
            let mut child = start();
            std::thread::sleep(Duration::from_millis(chance.below(300)));
            child.kill().unwrap();
            child.wait().unwrap();
            assert!(!merged.exists() || validate(&merged).unwrap().ok(), "a torn store");
        }
        Ran::from(start().wait_with_output().unwrap()).ok();
        assert!(scratch.tree().iter().all(|name| !name.starts_with(".merged.zarr")), "debris is left");
        assert_eq!(validate(&merged).unwrap().errors, Vec::<String>::new());
        for (shard, seen) in &self.seen {
            assert!(bytes(&self.place(*shard)) == *seen, "shard {shard} has changed");
        }
        assert!(self.whole.wait().unwrap().success());
        same(&scratch.file("whole.zarr"), &merged);
    }
}

#[test]
fn sixty_four_shards_under_kills_are_one_process_s_store() {
    let mut rooms = Rooms::planned();
    let seed = std::process::id().into();
    let mut chance = Chance(seed);
    let began = Instant::now();
    rooms.scratch.skyfall(&[&RUN[..6], &["--shard-id", "0"]].concat()).ok();
    // How long a process with one shard takes here and now, in microseconds.
    let shard = began.elapsed().as_micros() as u64;
    let (mut kills, mut killed_at, mut promoted) = (0, Vec::new(), rooms.promoted());
    loop {
        let mut command = Command::new(env!("CARGO_BIN_EXE_skyfall"));
        command.args(RUN).args(["--jobs", "2"]).current_dir(rooms.scratch.path()).process_group(0);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let group = Pid::from_child(&child);
        // A run is killed while it works on: a moment after so many shards more are promoted, be the
        // machine fast or slow.
        let enough = promoted + chance.below(8) as usize;
        let ended = loop {
            let ended = child.try_wait().unwrap();
            if ended.is_some() || SHARDS - rooms.missing().count() >= enough {
                break ended;
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        if ended.is_none() {
            std::thread::sleep(Duration::from_micros(chance.below(shard)));
        }
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "{status}");
            break;
        }
        kill_process_group(group, Signal::KILL).unwrap();
        child.wait().unwrap();
        settle_below(&rooms.scratch.file("c/shards"));
        kills += 1;
        let now = rooms.promoted();
        killed_at.push(now - promoted);
        promoted = now;
    }
    let ran = began.elapsed().as_secs_f64();
    rooms.is_one_process_s_store(6, &mut chance);
    told(format!(
        "seed {seed}: {SHARDS} rooms, {kills} kills of a whole run in {ran:.1} s, shards promoted between them: \
         {killed_at:?}; 6 kills of the merge; the store is that of one process; {:.1} s in all",
        began.elapsed().as_secs_f64()
    ));
    assert!(kills >= 3, "the kills hit nothing");
}
