//! `skyfall rollouts write`: any producer's records, and a store that is never torn.

use std::process::{Command, Stdio};

use skyfall::text::json;

use super::records::{self, map, plain, record, text, with_depth};
use super::writing::files;
use crate::command::Scratch;

const LEAN: [&str; 2] = ["--set", "selected_depth_enabled=false"];

fn lines(roots: i64) -> String {
    (0..roots).map(|root| format!("{}\n", json::to_string(&plain(&record(root, 2, 4))))).collect()
}

fn write(scratch: &Scratch, name: &str, more: &[&str]) -> crate::command::Ran {
    let arguments = [&["rollouts", "write", name, "-o", "rollouts.zarr"], more].concat();
    scratch.skyfall(&arguments)
}

#[test]
fn a_file_of_records_becomes_a_store() {
    let scratch = Scratch::new();
    scratch.write("records.jsonl", &format!("{}\n\n", lines(3)));
    scratch.write("options.yaml", "selected_depth_enabled: true\ndiscount_gamma: 0.9\nsplit_manifest_hash: '7'\n");
    let more = ["--options", "options.yaml", "--json", "--set", "created_at_utc=2026-01-01T00:00:00Z"];
    let ran = write(&scratch, "records.jsonl", &[&more[..], &LEAN].concat()).ok();
    assert!(ran.stdout.contains("\"num_steps\": 24") || ran.stdout.contains("\"num_steps\":24"), "{}", ran.stdout);
    scratch.skyfall(&["rollouts", "validate", "rollouts.zarr"]).ok();
    let before = files(&scratch.file("rollouts.zarr"));
    write(&scratch, "records.jsonl", &[&more[..], &LEAN].concat()).ok();
    assert!(files(&scratch.file("rollouts.zarr")) == before, "the same records, the same bytes");
}

#[test]
fn arrays_stand_beside_the_records() {
    let scratch = Scratch::new();
    let mut datum = with_depth(record(0, 1, 1), 4, 6);
    let inline = json::to_string(&plain(&datum));
    let place = "trajectories.0.steps.0.selected_depth";
    let skyfall::rollouts::Datum::Array(depth) = records::at(&mut datum, &format!("{place}.depth_m")).clone() else {
        panic!()
    };
    skyfall::array::npy::save(&scratch.file("depth.npy"), &depth).unwrap();
    *records::at(&mut datum, &format!("{place}.depth_m")) = map([("npy", text("depth.npy"))]);
    let size = ["--set", "selected_depth_height_px=4", "--set", "selected_depth_width_px=6"];
    let fixed = ["--set", "created_at_utc=2026-01-01T00:00:00Z"];
    let options = [&size[..], &fixed].concat();
    scratch.write("inline.jsonl", &inline);
    write(&scratch, "inline.jsonl", &options).ok();
    let before = files(&scratch.file("rollouts.zarr"));
    scratch.write("beside.jsonl", &json::to_string(&plain(&datum)));
    write(&scratch, "beside.jsonl", &options).ok();
    assert!(files(&scratch.file("rollouts.zarr")) == before);

    std::fs::write(scratch.file("depth.npy"), b"\x93NUMPY\x01\x00").unwrap();
    let ran = write(&scratch, "beside.jsonl", &options);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    for word in ["beside.jsonl:1", "root-000000: trajectories[0].steps[0].selected_depth.depth_m", "depth.npy"] {
        assert!(ran.stderr.contains(word), "{}", ran.stderr);
    }
    assert!(files(&scratch.file("rollouts.zarr")) == before, "the old store stands");

    // A pipe is not waited for.
    std::fs::remove_file(scratch.file("depth.npy")).unwrap();
    let made = Command::new("mkfifo").arg(scratch.file("depth.npy")).status().unwrap();
    assert!(made.success());
    let ran = write(&scratch, "beside.jsonl", &options);
    assert!(ran.code == 3 && ran.stderr.contains("is not a file"), "{}", ran.stderr);
}

#[test]
fn a_disk_that_is_full_leaves_the_old_store() {
    let scratch = Scratch::new();
    scratch.write("old.jsonl", &lines(1));
    scratch.write("new.jsonl", &lines(40));
    write(&scratch, "old.jsonl", &LEAN).ok();
    let before = files(&scratch.file("rollouts.zarr"));
    // No file may be longer than 2 KiB: writing fails as on a full disk.
    let line = format!(
        "ulimit -f 2; exec '{}' rollouts write new.jsonl -o rollouts.zarr --set selected_depth_enabled=false",
        env!("CARGO_BIN_EXE_skyfall")
    );
    let ran = Command::new("bash").args(["-c", &line]).current_dir(scratch.path()).output().unwrap();
    let told = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(!ran.status.success() && told.contains("File too large"), "{told}");
    assert_eq!(told.lines().filter(|line| line.starts_with("error")).count(), 1, "{told}");
    assert!(files(&scratch.file("rollouts.zarr")) == before);
    scratch.write("file", "");
    let ran = scratch.skyfall(&["rollouts", "write", "old.jsonl", "-o", "file/store", LEAN[0], LEAN[1]]);
    assert!(ran.code != 0 && ran.stderr.contains("file/store"), "{}", ran.stderr);
}

#[test]
fn mistakes_name_their_line_and_leave_the_old_store() {
    let scratch = Scratch::new();
    scratch.write("good.jsonl", &lines(2));
    write(&scratch, "good.jsonl", &LEAN).ok();
    let before = files(&scratch.file("rollouts.zarr"));
    let good = lines(1);
    let cut = &good[..good.len() / 2];
    let cases: [(String, &[&str], i32); 9] = [
        (format!("{good}{cut}"), &["bad.jsonl:2", "cut off"], 3),
        (format!("{good}[1]\n"), &["bad.jsonl:2", "must be a map"], 3),
        (good.replace("\"horizon\"", "\"horizn\""), &["bad.jsonl:1", "horizn", "horizon"], 3),
        (good.replacen("true", "1", 1), &["bad.jsonl:1", "mask_valid", "must be a boolean"], 3),
        (
            format!(
                "{good}{}",
                good.replace("\"split\": \"train\"", "\"split\": \"test\"")
                    .replace("\"split\":\"train\"", "\"split\":\"test\"")
            ),
            &["bad.jsonl:2", "one split a store"],
            3,
        ),
        (String::new(), &["no record was added"], 1),
        // A label that no column holds would be lost.
        (
            good.replace("\"target_root_gain\"", "\"target_root_gian\""),
            &["bad.jsonl:1", "labels.target_root_gian", "did you mean `target_root_gain`?"],
            3,
        ),
        (good.replace("\"target_rri\"", "\"x\""), &["bad.jsonl:1", "labels.x", "labels are target_root_gain"], 3),
        (
            good.replace("gt_obbs_oracle", "detected_obbs"),
            &["bad.jsonl:1", "target.target_source", "target_source must be `gt_obbs_oracle`"],
            3,
        ),
    ];
    for (text, words, code) in cases {
        scratch.write("bad.jsonl", &text);
        let ran = write(&scratch, "bad.jsonl", &LEAN);
        assert_eq!(ran.code, code, "{}", ran.stderr);
        for word in words {
            assert!(ran.stderr.contains(word), "{word}: {}", ran.stderr);
        }
        assert_eq!(ran.stderr.lines().filter(|line| line.starts_with("error")).count(), 1, "{}", ran.stderr);
    }
    // What a producer called its record cannot write to the terminal.
    scratch.write("bad.jsonl", "{\"rollout_id_prefix\": \"evil\\n\\u001b[31m\", \"key\\nx\": 1}\n");
    let ran = write(&scratch, "bad.jsonl", &LEAN);
    assert!(ran.code == 3 && ran.stderr.lines().count() == 1, "{}", ran.stderr);
    assert!(ran.stderr.contains(r"evil\n") && ran.stderr.contains(r"key\nx"), "{}", ran.stderr);
    let ran = write(&scratch, "good.jsonl", &["--set", "discount_gama=1"]);
    assert!(ran.code == 2 && ran.stderr.contains("discount_gamma"), "{}", ran.stderr);
    assert!(files(&scratch.file("rollouts.zarr")) == before);
    let left: Vec<_> = std::fs::read_dir(scratch.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with('.')), "{left:?}");
}

#[test]
fn killed_at_any_moment_the_old_store_or_the_new_one_stands() {
    let scratch = Scratch::new();
    scratch.write("old.jsonl", &lines(2));
    scratch.write("new.jsonl", &lines(120));
    let options = [&LEAN[..], &["--set", "created_at_utc=2026-01-01T00:00:00Z"]].concat();
    let took = std::time::Instant::now();
    write(&scratch, "new.jsonl", &options).ok();
    // How long a write takes here and now; what comes through in less shortens it.
    let mut whole = took.elapsed();
    let new = files(&scratch.file("rollouts.zarr"));
    write(&scratch, "old.jsonl", &options).ok();
    let old = files(&scratch.file("rollouts.zarr"));
    let mut numbers = records::Numbers::new(7);
    let (mut killed, mut finished) = (0, 0);
    for _ in 0..50 {
        let arguments = [&["rollouts", "write", "new.jsonl", "-o", "rollouts.zarr"], &options[..]].concat();
        let mut command = Command::new(env!("CARGO_BIN_EXE_skyfall"));
        let began = std::time::Instant::now();
        let mut child = command.args(&arguments).current_dir(scratch.path()).stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(whole.mul_f64(numbers.next()));
        let late = child.try_wait().unwrap().is_some();
        let _ = child.kill();
        let done = child.wait().unwrap().success();
        if late {
            whole = whole.min(began.elapsed());
        }
        let now = files(&scratch.file("rollouts.zarr"));
        assert!(now == old || now == new, "a torn store after {killed} kills");
        if now == new {
            finished += 1;
            write(&scratch, "old.jsonl", &options).ok();
        }
        killed += usize::from(!done);
    }
    assert!(killed > 20, "only {killed} of 50 were killed in time ({finished} had finished)");
}

#[test]
fn a_store_that_is_not_finished_is_told() {
    let scratch = Scratch::new();
    let script = |end: &str| {
        let writer = "local r = require 'skyfall'.rollouts\n\
             do\n  local w <close> = r.writer { store_dir = 'toy.zarr', selected_depth_enabled = false }\n";
        scratch.script(&format!("{writer}  w:add(r.toy_record(0))\n  {end}\nend\n"))
    };
    let ran = script("").ok();
    assert!(ran.stderr.contains("toy.zarr was not written: 2 steps were added"), "{}", ran.stderr);
    assert!(!scratch.file("toy.zarr").exists());
    let ran = script("error 'no more'");
    assert!(ran.code == 1 && !ran.stderr.contains("was not written"), "{}", ran.stderr);
    assert_eq!(script("w:finish()").ok().stderr, "");
}

#[test]
fn an_integer_that_no_column_holds_is_called_that() {
    let scratch = Scratch::new();
    scratch.write("big.jsonl", &lines(1).replace("\"source_row_id\": 0", "\"source_row_id\": 9223372036854775808"));
    let ran = write(&scratch, "big.jsonl", &LEAN);
    let words = "must be an integer from -9223372036854775808 to 9223372036854775807, got 9223372036854775808";
    assert!(ran.code == 3 && ran.stderr.contains(words), "{}", ran.stderr);
}

/// Root may list everything, so that the command runs as no one.
#[test]
fn a_group_that_cannot_be_listed_is_not_replaced() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    const NOBODY: u32 = 65534;
    let scratch = Scratch::new();
    scratch.write("records.jsonl", &lines(1));
    let allow = |name: &str, mode| {
        std::fs::set_permissions(scratch.file(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    std::fs::set_permissions(scratch.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let run = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_skyfall"));
        command.args(["rollouts", "write", "records.jsonl", "-o", "rollouts.zarr"]).args(LEAN);
        command.current_dir(scratch.path());
        if rustix::process::geteuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command.output().unwrap()
    };
    assert_eq!(run().status.code(), Some(0));
    scratch.write("rollouts.zarr/q_h/mine.txt", "mine");
    allow("rollouts.zarr/q_h", 0o000);
    let ran = run();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.code() == Some(1) && said.contains("rollouts.zarr/q_h") && said.contains("denied"), "{said}");
    allow("rollouts.zarr/q_h", 0o700);
    assert_eq!(std::fs::read_to_string(scratch.file("rollouts.zarr/q_h/mine.txt")).unwrap(), "mine");
}

#[test]
fn a_place_below_a_file_is_called_that() {
    let scratch = Scratch::new();
    scratch.write("records.jsonl", &lines(1));
    scratch.write("file", "mine");
    for place in ["file/x.zarr", "file/a/b/x.zarr"] {
        let ran = scratch.skyfall(&[&["rollouts", "write", "records.jsonl", "-o", place], &LEAN[..]].concat());
        ran.failed(1, &[&format!("{place} lies below a file")]);
    }
    assert_eq!(scratch.tree(), ["file", "records.jsonl"]);
}

/// Root may read everything, so that the command runs as no one.
#[test]
fn what_may_not_be_read_is_not_taken_for_something_else() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    const NOBODY: u32 = 65534;
    let scratch = Scratch::new();
    scratch.write("records.jsonl", &lines(1));
    write(&scratch, "records.jsonl", &LEAN).ok();
    let allow = |name: &str, mode| {
        std::fs::set_permissions(scratch.file(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    std::fs::set_permissions(scratch.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    for (name, mode, usual) in [("rollouts.zarr/zarr.json", 0o000, 0o644), ("rollouts.zarr", 0o000, 0o755)] {
        allow(name, mode);
        for words in [&["validate", "rollouts.zarr"][..], &["write", "records.jsonl", "-o", "rollouts.zarr"]] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_skyfall"));
            command.arg("rollouts").args(words).current_dir(scratch.path());
            if words[0] == "write" {
                command.args(LEAN);
            }
            if rustix::process::geteuid().is_root() {
                command.uid(NOBODY).gid(NOBODY);
            }
            let output = command.output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(!output.status.success() && said.contains("Permission denied"), "{name} {words:?}: {said}");
        }
        allow(name, usual);
    }
    scratch.skyfall(&["rollouts", "validate", "rollouts.zarr"]).ok();
}

#[test]
fn half_a_character_is_no_text() {
    let scratch = Scratch::new();
    scratch.write("records.jsonl", &lines(2).replacen("root-000001", "root-\\ud800", 1));
    let ran = write(&scratch, "records.jsonl", &LEAN);
    assert!(ran.code == 3 && ran.stderr.contains("records.jsonl:2") && ran.stderr.contains("ud800"), "{}", ran.stderr);
    assert!(!scratch.file("rollouts.zarr").exists());
}

#[test]
fn an_id_that_is_there_twice_is_told_once() {
    let scratch = Scratch::new();
    scratch
        .write("records.jsonl", &lines(3).replace("root-000002", "root-000000").replace("root-000001", "root-000000"));
    let ran = write(&scratch, "records.jsonl", &LEAN).ok();
    assert_eq!(ran.stderr.matches("the rollout id `root-000000` is there twice").count(), 1, "{}", ran.stderr);
}

#[test]
fn a_name_does_not_reach_the_terminal_raw() {
    let scratch = Scratch::new();
    scratch.write("records.jsonl", &lines(1).replace("\"line\"", "\"a\\u001b[31mRED\\n\\tb\""));
    write(&scratch, "records.jsonl", &LEAN).ok();
    let shown = scratch.skyfall(&["rollouts", "info", "rollouts.zarr"]).ok().stdout;
    assert!(shown.contains("a\\u{1b}[31mRED\\u{a}\\u{9}b  ") && !shown.contains('\u{1b}'), "{shown}");
}
