//! Names that are chosen badly, directories that are not what they were, trials that behave badly.

use rustix::process::{Pid, Signal, kill_process};

use super::quick;
use crate::command::Scratch;

fn trial(scratch: &Scratch, out: &str, number: &str) -> String {
    let marker =
        |name: &String| name.starts_with(&format!("{out}/trials/{number}-")) && name.ends_with("_SUCCESS.json");
    let marker = scratch.tree().into_iter().find(marker).unwrap();
    marker.rsplit_once('/').unwrap().0.to_owned()
}

#[test]
fn names_and_values_of_axes_are_text_wherever_they_stand() {
    let scratch = Scratch::new();
    let axes =
        r#"{ policy = { 1, 2 }, ["../../x"] = { 1 }, ["a/b c\nd=|ü"] = { "é/|\n,\"\27[31m", ("x"):rep(3000) } }"#;
    let script = quick(axes, "").replace("note = p.note", "note = p['a/b c\\nd=|ü']");
    scratch.write("sweep.lua", &script);
    let ran = scratch.skyfall(&["sweep", "sweep.lua"]).ok();
    assert!(
        ran.stdout.starts_with("4 of 4 trials finished\nbest mean_reward: 1.000000 at ../../x=1 "),
        "{}",
        ran.stdout
    );
    assert_eq!(ran.stdout.lines().count(), 3, "{}", ran.stdout);
    let listed = scratch.skyfall(&["sweep", "sweep.lua", "--dry-run"]).ok().stdout;
    assert!(listed.lines().count() == 4 && !listed.contains('\u{1b}'), "{listed}");
    for name in scratch.tree() {
        assert!(name == "sweep.lua" || name.starts_with("quick/"), "{name}");
    }
    let text = scratch.skyfall(&["sweep", "table", "quick"]).ok().stdout;
    assert_eq!(text.lines().count(), 5, "{text}");
    assert_eq!(scratch.skyfall(&["sweep", "table", "quick", "--format", "md"]).ok().stdout.lines().count(), 6);
    // A point is told apart from another that only reads like it.
    let axes =
        r#"sweep.list { { note = "a b=c" }, { note = "a", b = "c" }, { note = 1 }, { note = "1" }, { note = "" } }"#;
    scratch.write("sweep.lua", &quick(axes, ""));
    let listed = scratch.skyfall(&["sweep", "sweep.lua", "--dry-run", "--out", "other"]).ok().stdout;
    let points: Vec<&str> = listed.lines().map(|line| line.split_once("  ").unwrap().1).collect();
    assert_eq!(points, ["note=\"a b=c\"", "b=c note=a", "note=1", "note=\"1\"", "note=\"\""]);
}

#[test]
fn an_axis_may_be_called_like_a_result() {
    let scratch = Scratch::new();
    let axes =
        "{ trial = { 1, 2 }, n = { 3 }, plan = { 4 }, steps = { 20 }, ['result.steps'] = { 5 }, mean_reward = { 6 } }";
    scratch.write("sweep.lua", &quick(axes, "").replace("note = p.note", "note = p.trial"));
    scratch.skyfall(&["sweep", "sweep.lua"]).ok();
    for more in [&["--each"][..], &["--all"], &["--all", "--each"]] {
        let csv = scratch.skyfall(&[&["sweep", "table", "quick", "--format", "csv"], more].concat()).ok().stdout;
        let mut columns: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
        let count = columns.len();
        columns.sort_unstable();
        columns.dedup();
        assert_eq!(columns.len(), count, "{csv}");
        for column in ["trial", "n", "plan", "steps", "result.steps", "mean_reward", "result.mean_reward"] {
            assert!(columns.contains(&column), "{column}: {csv}");
        }
    }
    // A number is found however it is written.
    for only in ["steps=20", "steps=2e1", "n=3.0"] {
        let csv =
            scratch.skyfall(&["sweep", "table", "quick", "--each", "--only", only, "--format", "csv"]).ok().stdout;
        assert_eq!(csv.lines().count(), 3, "{only}");
    }
}

#[test]
fn a_damaged_trial_is_told_and_tried_again() {
    let scratch = Scratch::new();
    scratch.write("sweep.lua", &quick("{ policy = { 1, 2 } }", ""));
    scratch.skyfall(&["sweep", "sweep.lua"]).ok();
    let whole = super::left(&scratch, "quick");
    let result = format!("{}/result.json", trial(&scratch, "quick", "0001"));
    for (number, damage) in [Some("{\"point\": {"), Some(""), Some("[]"), None].into_iter().enumerate() {
        match damage {
            Some(text) => drop(scratch.write(&result, text)),
            None => std::fs::remove_file(scratch.file(&result)).unwrap(),
        }
        let hint = "--resume sets a damaged trial aside and runs it again";
        let table = scratch.skyfall(&["sweep", "table", "quick"]);
        assert!(
            table.code != 0 && table.stderr.contains("result.json") && table.stderr.contains(hint),
            "{}",
            table.stderr
        );
        let ran = scratch.skyfall(&["sweep", "sweep.lua", "--resume"]).ok();
        assert!(ran.stdout.starts_with("2 of 2 trials finished (1 of them before)"), "{}", ran.stdout);
        assert!(ran.stderr.contains("trial 0001 is damaged and tried again"), "{}", ran.stderr);
        let kept =
            scratch.tree().iter().filter(|name| name.ends_with("_SUCCESS.json") && name.contains("/.damaged/")).count();
        assert_eq!(kept, number + 1);
        let now: Vec<_> =
            super::left(&scratch, "quick").into_iter().filter(|(name, _)| !name.starts_with(".damaged")).collect();
        assert!(now == whole, "it is not what it was");
    }
}

#[test]
fn what_others_left_in_the_directory_stays_and_is_no_trial() {
    let scratch = Scratch::new();
    for name in ["trials/foo-bar/x", "trials/0003-zzzz/x", "trials/readme-2", "failed/notes.json", "notes.txt"] {
        scratch.write(&format!("quick/{name}"), "mine");
    }
    let mine = scratch.tree();
    scratch.write("sweep.lua", &quick("{ policy = { 1, 2 } }", ""));
    scratch.skyfall(&["sweep", "sweep.lua"]).ok();
    scratch.write("sweep.lua", &quick("{ policy = { 2, 3 } }", ""));
    scratch.skyfall(&["sweep", "sweep.lua", "--resume"]).ok();
    assert!(mine.iter().all(|name| scratch.read(name) == "mine"));
    for header in ["{", "[1, 2]", "{\"name\": 3}", ""] {
        scratch.write("quick/sweep.json", header);
        for look in ["status", "table", "best"] {
            scratch.skyfall(&["sweep", look, "quick"]).failed(3, &["quick/sweep.json"]);
        }
        let ran = scratch.skyfall(&["sweep", "sweep.lua", "--resume"]).ok();
        assert!(ran.stdout.starts_with("2 of 2 trials finished (2 of them before)"), "{}", ran.stdout);
    }
}

#[test]
fn ten_thousand_points_that_are_three_run_three_times() {
    let scratch = Scratch::new();
    let axes = "{ unused = (function() local all = {} for i = 1, 3334 do all[i] = i end return all end)(), policy = { 1, 2, 3 } }";
    scratch.write("sweep.lua", &quick(axes, ""));
    let ran = scratch.skyfall(&["sweep", "sweep.lua"]).ok();
    assert!(ran.stdout.starts_with("3 of 3 trials finished"), "{}", ran.stdout);
    assert!(ran.stderr.contains("9999 points came to a configuration"), "{}", ran.stderr);
}

#[test]
fn a_trial_that_is_killed_or_talks_without_end_is_one_trial() {
    let scratch = Scratch::new();
    let deed = "if p.policy == 2 then io.stderr:write(('word '):rep(1000000)) error('and now this') end";
    let term = format!("skyfall.reward.term('r', function(s) {deed} return 1 end)");
    let script = quick("{ policy = { 1, 2, 3 } }", "")
        .replace("rollout = {", &format!("reward = skyfall.reward.compose {{ {{ {term} }} }}, rollout = {{"));
    scratch.write("sweep.lua", &script);
    let ran = scratch.skyfall(&["sweep", "sweep.lua"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.starts_with("2 of 3 trials finished, 1 failed"), "{}", ran.stdout);
    let record = scratch.tree().into_iter().find(|name| name.starts_with("quick/failed/")).unwrap();
    let record = scratch.read(&record);
    assert!(record.contains("and now this") && record.len() < 1 << 18, "{}", record.len());
    // The first trial's process is killed from outside.
    scratch.write("long.lua", &quick("{ steps = { 100000000, 20 } }", ""));
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_skyfall"));
    command.args(["sweep", "long.lua", "--jobs", "1", "--out", "long"]).current_dir(scratch.path());
    let mut driver = command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
    let children = format!("/proc/{0}/task/{0}/children", driver.id());
    loop {
        // Trials are started by the workers' threads.
        let tasks = std::fs::read_dir(format!("/proc/{}/task", driver.id())).unwrap().flatten();
        let lists = tasks.map(|task| std::fs::read_to_string(task.path().join("children")).unwrap_or_default());
        let all = lists.collect::<String>() + &std::fs::read_to_string(&children).unwrap_or_default();
        let begun = scratch.tree().iter().any(|name| name.contains(".attempts/") && name.ends_with("/traces.jsonl"));
        if let Some(child) = all.split_whitespace().next().filter(|_| begun) {
            kill_process(Pid::from_raw(child.parse().unwrap()).unwrap(), Signal::KILL).unwrap();
            break;
        }
        assert!(driver.try_wait().unwrap().is_none(), "the sweep has ended");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert_eq!(driver.wait().unwrap().code(), Some(1));
    let status = scratch.skyfall(&["sweep", "status", "long"]).stdout;
    assert!(
        status.starts_with("quick: 1 of 2 trials finished, 1 failed") && status.contains("killed by signal 9"),
        "{status}"
    );
}

#[test]
fn while_a_sweep_runs_its_plan_is_not_changed_by_another() {
    let scratch = Scratch::new();
    scratch.write("sweep.lua", &quick("{ steps = { 100000000 } }", ""));
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_skyfall"));
    command.args(["sweep", "sweep.lua"]).current_dir(scratch.path()).stderr(std::process::Stdio::null());
    let mut driver = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    while !scratch.tree().iter().any(|name| name.contains(".attempts/") && name.ends_with("/traces.jsonl")) {
        assert!(driver.try_wait().unwrap().is_none(), "the sweep has ended");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let plan = scratch.read("quick/.plan.jsonl");
    scratch.write("sweep.lua", &quick("{ steps = { 20 } }", ""));
    let words = ["another process runs the sweep in quick", "its plan is another one"];
    scratch.skyfall(&["sweep", "sweep.lua", "--resume"]).failed(1, &words);
    assert_eq!(scratch.read("quick/.plan.jsonl"), plan);
    driver.kill().unwrap();
    driver.wait().unwrap();
    // The lock went with its process.
    scratch.skyfall(&["sweep", "sweep.lua", "--resume"]).ok();
}

#[test]
fn a_sweep_of_absurd_size_is_refused_before_anything_is_written() {
    let scratch = Scratch::new();
    let many = "(function() local all = {} for i = 1, 4000 do all[i] = i end return all end)()";
    for (axes, more, words) in [
        ("{ policy = { 1 } }", "repeats = 1e9,".to_owned(), "`repeats` must be at most 1000000, got 1000000000"),
        ("sweep.latin_hypercube(1e15, { policy = sweep.uniform(0, 1) })", String::new(), "has 1000000000000000 points"),
        (
            "sweep.random(9e18, { policy = sweep.uniform(0, 1) })",
            "repeats = 9,".to_owned(),
            "there are at most 10000000",
        ),
        (
            "(function() local list = MANY return { a = list, b = list, c = list } end)()",
            String::new(),
            "64000000000 points",
        ),
    ] {
        scratch.write("sweep.lua", &quick(&axes.replace("MANY", many), &more));
        for more in [&[][..], &["--dry-run"]] {
            scratch.skyfall(&[&["sweep", "sweep.lua"], more].concat()).failed(1, &[words]);
        }
        assert_eq!(scratch.tree(), ["sweep.lua"]);
    }
}

#[test]
fn there_are_no_more_workers_than_trials() {
    let scratch = Scratch::new();
    scratch.write("sweep.lua", &quick("{ policy = { 1, 2, 3 } }", ""));
    let ran = scratch.skyfall(&["sweep", "sweep.lua", "--jobs", "999999999999"]).ok();
    assert!(ran.stdout.starts_with("3 of 3 trials finished"), "{}", ran.stdout);
}

#[test]
fn every_file_of_a_finished_trial_is_looked_after() {
    let scratch = Scratch::new();
    scratch.write("sweep.lua", &quick("{ policy = { 1, 2 } }", ""));
    scratch.skyfall(&["sweep", "sweep.lua"]).ok();
    let whole = super::left(&scratch, "quick");
    let home = trial(&scratch, "quick", "0001");
    for (file, damage) in [
        ("traces.jsonl", None),
        ("traces.jsonl", Some("{}\n")),
        ("trial.json", Some("garbage")),
        ("_SUCCESS.json", Some("")),
        ("_SUCCESS.json", None),
    ] {
        let path = format!("{home}/{file}");
        match damage {
            Some(text) => drop(scratch.write(&path, text)),
            None => std::fs::remove_file(scratch.file(&path)).unwrap(),
        }
        let status = scratch.skyfall(&["sweep", "status", "quick", "--require-complete"]).failed(1, &[]);
        assert!(status.stdout.starts_with("quick: 1 of 2 trials finished, 0 failed, 1 missing"), "{}", status.stdout);
        let ran = scratch.skyfall(&["sweep", "sweep.lua", "--resume"]).ok();
        assert!(ran.stdout.starts_with("2 of 2 trials finished (1 of them before)"), "{}", ran.stdout);
        assert!(ran.stderr.contains("trial 0001 is damaged and tried again"), "{}", ran.stderr);
        let now: Vec<_> =
            super::left(&scratch, "quick").into_iter().filter(|(name, _)| !name.starts_with(".damaged")).collect();
        assert!(now == whole, "{file}: it is not what it was");
    }
}

#[test]
fn a_sweep_may_be_called_like_an_option() {
    let scratch = Scratch::new();
    scratch.write("sweep.lua", &quick("{ policy = { 1, 2 } }", "").replace("\"quick\"", "\"-x\""));
    let ran = scratch.skyfall(&["sweep", "sweep.lua"]).ok();
    assert!(ran.stdout.starts_with("2 of 2 trials finished"), "{}", ran.stdout);
}

#[test]
fn axes_do_not_take_the_place_of_each_other_or_of_what_is_set() {
    let scratch = Scratch::new();
    let sweep = |more: &[&str]| scratch.skyfall(&[&["sweep", "absent.yaml", "--axis", "run.seed=1,2"], more].concat());
    sweep(&["--set", "run.seed=5"]).failed(2, &["--set run.seed would be overwritten by --axis run.seed"]);
    sweep(&["--axis", "run.seed=3"]).failed(2, &["--axis run.seed is there twice"]);
    assert!(scratch.tree().is_empty());
}

#[test]
fn a_table_does_not_move_the_cursor() {
    let scratch = Scratch::new();
    scratch.write("sweep.lua", &quick("{ policy = { 1 }, ['\\27[2Ja'] = { '\\27[31m' } }", ""));
    scratch.skyfall(&["sweep", "sweep.lua"]).ok();
    for look in ["table", "best", "status"] {
        let text = scratch.skyfall(&["sweep", look, "quick"]).ok().stdout;
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }
    scratch.write("names_test.lua", "require('skyfall').test.it('\\27[2Jx', function() end)");
    let text = scratch.skyfall(&["test", "names_test.lua"]).ok().stdout;
    assert!(text.contains("\\u{1b}[2Jx") && !text.contains('\u{1b}'), "{text:?}");
}

#[test]
fn a_sweep_that_cannot_be_meant_says_why() {
    let scratch = Scratch::new();
    let sweep = "require('skyfall').sweep";
    scratch.script(&format!("{sweep} {{ name = '' }}")).failed(1, &["`name` is empty"]);
    scratch.script(&format!("{sweep}.choice {{}}")).failed(1, &["`choice` is of a list of values, got"]);
    std::fs::create_dir(scratch.file("d.lua")).unwrap();
    scratch.skyfall(&["sweep", "d.lua"]).failed(3, &["d.lua is a directory, not a script"]);
}

#[test]
fn of_what_a_trial_prints_without_end_both_ends_are_kept() {
    let scratch = Scratch::new();
    let prints = "experiment = function(p)\n    for line = 1, 100000 do print('line ' .. line) end\n";
    scratch.write("sweep.lua", &quick("{ policy = { 1 } }", "").replace("experiment = function(p)\n", prints));
    // The sweep's own planning prints as well, in this process; trials print into their directories.
    scratch.skyfall(&["sweep", "sweep.lua"]).ok();
    let name = scratch.tree().into_iter().find(|name| name.ends_with("/stdout.txt")).unwrap();
    let kept = scratch.read(&name);
    assert!(kept.len() < (1 << 17) + 100, "{} bytes", kept.len());
    let (first, last) = kept.split_once(" bytes are left out here]\n").unwrap();
    assert!(first.starts_with("line 1\nline 2\n") && last.ends_with("\nline 100000\n"), "{}", &last[..100]);
    let left_out: usize = first.rsplit('[').next().unwrap().parse().unwrap();
    assert!(left_out > 1_000_000, "{left_out}");
    scratch.skyfall(&["sweep", "status", "quick", "--require-complete"]).ok();
}

#[test]
fn what_a_trial_left_running_does_not_hold_up_the_sweep() {
    let scratch = Scratch::new();
    let starts = "experiment = function(p)\n    os.execute('sleep 1000 & echo $! >> started')\n";
    scratch.write("sweep.lua", &quick("{ policy = { 1, 2 } }", "").replace("experiment = function(p)\n", starts));
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_skyfall"));
    let command = command.args(["sweep", "sweep.lua", "--allow-run", "--jobs", "2"]).current_dir(scratch.path());
    // Planning starts some, too: they would hold this process's own streams open.
    let quiet = std::process::Stdio::null;
    let status = command.stdin(quiet()).stdout(quiet()).stderr(quiet()).status().unwrap();
    for process in scratch.read("started").lines() {
        let process = rustix::process::Pid::from_raw(process.parse().unwrap()).unwrap();
        let _ = rustix::process::kill_process(process, rustix::process::Signal::KILL);
    }
    assert!(status.success(), "{status}");
    scratch.skyfall(&["sweep", "status", "quick", "--require-complete"]).ok();
}
