//! `skyfall rollouts merge`, `select` and `split`: shards by their manifest, and a process that
//! may be killed at any moment.

use std::process::{Command, Stdio};
use std::time::Instant;

use skyfall::rollouts::{RolloutRecord, Store};
use skyfall::text::json;
use skyfall::value::Value;

use super::{same, shards, typed, write};
use crate::command::Scratch;
use crate::rollouts::records::{Numbers, record};
use crate::rollouts::writing::files;

fn some(count: i64) -> Vec<RolloutRecord> {
    typed((0..count).map(|root| record(root, 2, 4)))
}

#[test]
fn a_manifest_s_shards_are_joined_in_its_order() {
    let scratch = Scratch::new();
    let records = some(4);
    write(&scratch, "shards/shard-000001", &records[..1], |_| ());
    write(&scratch, "shards/shard-000000", &records[1..], |_| ());
    let entry = |id: &str, split: &str| format!("{{\"shard_id\": \"{id}\", \"split\": \"{split}\", \"rows\": []}}\n");
    let train = format!("{}\n{}", entry("shard-000001", "train"), entry("shard-000000", "train"));
    scratch.write("m.jsonl", &train);
    let arguments = ["rollouts", "merge", "--shard-manifest", "m.jsonl", "--final-root", "shards", "-o", "all.zarr"];
    let merge = |more: &[&str]| scratch.skyfall(&[&arguments[..], more].concat());
    let printed = merge(&["--json"]).ok().stdout;
    assert_eq!(json::parse(&printed).unwrap().as_map().unwrap()["num_rollouts"], Value::Int(8));
    let names = Store::open(&scratch.file("all.zarr")).unwrap().dictionary("rollout").unwrap();
    assert_eq!(names[..2], ["root-000000-000000", "root-000000-000001"]);

    scratch.write("m.jsonl", &format!("{train}{}", entry("shard-000002", "val")));
    let ran = merge(&[]);
    assert!(ran.code == 2 && ran.stderr.contains("shards of train, val"), "{}", ran.stderr);
    merge(&["--split", "train"]).ok();
    let ran = merge(&["--split", "test"]);
    assert!(ran.code == 2 && ran.stderr.contains("no shard of split `test`; it has train, val"), "{}", ran.stderr);
    let ran = merge(&["--split", "val"]);
    assert!(ran.code == 3 && ran.stderr.contains("shard-000002"), "{}", ran.stderr);
    for (line, word) in
        [("{}", "has no `shard_id`"), ("[", "m.jsonl:1"), (&entry("../x", "train"), "names no directory")]
    {
        scratch.write("m.jsonl", line);
        let ran = merge(&[]);
        assert!(ran.code == 3 && ran.stderr.contains(word), "{word}: {}", ran.stderr);
    }
}

#[test]
fn what_is_asked_for_is_said_back() {
    let scratch = Scratch::new();
    write(&scratch, "store.zarr", &some(2), |_| ());
    let ran = scratch.skyfall(&["rollouts", "select", "store.zarr", "-o", "out.zarr"]);
    assert!(ran.code == 2 && ran.stderr.contains("--sample-key"), "{}", ran.stderr);
    let ran = scratch.skyfall(&["rollouts", "select", "store.zarr", "--scene", "lime", "-o", "out.zarr"]);
    assert!(ran.code == 2 && ran.stderr.contains("did you mean `line`?"), "{}", ran.stderr);
    scratch.skyfall(&["rollouts", "select", "store.zarr", "--sample-key", "toy:1", "-o", "out.zarr"]).ok();
    scratch.skyfall(&["rollouts", "validate", "out.zarr"]).ok();
    let ran = scratch.skyfall(&["rollouts", "split", "store.zarr", "--by", "scene", "-o", "scenes", "--json"]).ok();
    let stores = json::parse(&ran.stdout).unwrap();
    assert_eq!(stores.as_list().unwrap()[0].as_map().unwrap()["scene"].as_text(), Some("line"));
    scratch.skyfall(&["rollouts", "validate", "scenes/line.zarr"]).ok();
}

#[test]
fn killed_at_any_moment_the_old_store_or_the_new_one_stands() {
    const KILLS: usize = 60;
    let scratch = Scratch::new();
    let records = some(60);
    shards(&scratch, &records, &[10, 30], |_| ());
    write(&scratch, "old.zarr", &records[..1], |_| ());
    write(&scratch, "whole.zarr", &records, |_| ());
    let arguments = ["rollouts", "merge", "part-0.zarr", "part-1.zarr", "part-2.zarr", "-o", "out.zarr"];
    let run = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_skyfall"));
        command.args(arguments).current_dir(scratch.path()).env("SOURCE_DATE_EPOCH", "1795996800");
        command.stdout(Stdio::null()).spawn().unwrap()
    };
    let before: Vec<_> = (0..3).map(|part| files(&scratch.file(&format!("part-{part}.zarr")))).collect();
    let took = Instant::now();
    assert!(run().wait().unwrap().success());
    // How long a merge takes here and now; what comes through in less shortens it.
    let mut whole = took.elapsed();
    let new = files(&scratch.file("out.zarr"));
    let old = files(&scratch.file("old.zarr"));
    let put_old = || {
        std::fs::remove_dir_all(scratch.file("out.zarr")).unwrap();
        let copied = Command::new("cp").args(["-r", "old.zarr", "out.zarr"]).current_dir(scratch.path()).status();
        assert!(copied.unwrap().success());
    };
    put_old();
    let mut numbers = Numbers::new(11);
    let (mut killed, mut finished) = (0, 0);
    for _ in 0..KILLS {
        let began = Instant::now();
        let mut child = run();
        std::thread::sleep(whole.mul_f64(numbers.next()));
        let late = child.try_wait().unwrap().is_some();
        let _ = child.kill();
        let came_through = child.wait().unwrap().success();
        killed += usize::from(!came_through);
        if late {
            whole = whole.min(began.elapsed());
        }
        let now = files(&scratch.file("out.zarr"));
        assert!(now == old || now == new, "a torn store after {killed} kills");
        if now == new {
            finished += 1;
            put_old();
        }
    }
    assert!(killed > KILLS / 3, "only {killed} of {KILLS} were killed in time ({finished} had finished)");
    // A rerun completes, leaves no debris, and no part was touched.
    assert!(run().wait().unwrap().success());
    assert!(files(&scratch.file("out.zarr")) == new);
    same(&scratch.file("whole.zarr"), &scratch.file("out.zarr"));
    let after: Vec<_> = (0..3).map(|part| files(&scratch.file(&format!("part-{part}.zarr")))).collect();
    assert!(before == after);
    assert!(scratch.tree().iter().all(|name| !name.starts_with(".out.zarr")), "debris is left");
}
