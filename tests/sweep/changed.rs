//! A sweep whose script has changed since it was run.

use std::collections::BTreeMap;

use super::quick;
use crate::command::Scratch;

/// Runs the sweep on; how many trials there are and how many of them were there before.
fn resumed(scratch: &Scratch, axes: &str, more: &str) -> (usize, usize) {
    scratch.write("sweep.lua", &quick(axes, more));
    let said = scratch.skyfall(&["sweep", "sweep.lua", "--resume"]).ok().stdout;
    let number = |after: &str| {
        let place = said.find(after)? + after.len();
        said[place..].split(|byte: char| !byte.is_ascii_digit()).next()?.parse().ok()
    };
    (number(" of ").unwrap(), number("(").unwrap_or(0))
}

/// The trial that each line of the table is about, by the rest of the line.
fn trials(scratch: &Scratch) -> BTreeMap<String, String> {
    let csv = scratch.skyfall(&["sweep", "table", "quick", "--each", "--format", "csv"]).ok().stdout;
    csv.lines().skip(1).map(|line| line.split_once(',').unwrap()).map(|(id, axes)| (axes.into(), id.into())).collect()
}

#[test]
fn more_values_more_repeats_and_more_axes_leave_the_trials_that_are_there() {
    let scratch = Scratch::new();
    assert_eq!(resumed(&scratch, "{ policy = { 2, 3 } }", "repeats = 2,"), (4, 0));
    let first = trials(&scratch);
    // Values before, between and after.
    assert_eq!(resumed(&scratch, "{ policy = { 1, 2, 9, 3, 4 } }", "repeats = 2,"), (10, 4));
    let second = trials(&scratch);
    assert!(first.iter().all(|(axes, id)| second.get(axes) == Some(id)), "{first:?}\n{second:?}");
    assert_eq!(resumed(&scratch, "{ policy = { 1, 2, 9, 3, 4 } }", "repeats = 3,"), (15, 10));
    // An axis with what was so far the usual value, and another one; its trials are labelled by it.
    assert_eq!(resumed(&scratch, "{ policy = { 1, 2, 9, 3, 4 }, steps = { 30, 20 } }", "repeats = 3,"), (30, 15));
    let csv = scratch.skyfall(&["sweep", "table", "quick", "--format", "csv"]).ok().stdout;
    assert!(csv.contains("\n2,20,3,"), "{csv}");
    assert_eq!(csv.lines().count(), 11);
    // Every number is one trial's.
    let mut ids: Vec<String> = trials(&scratch).into_values().collect();
    ids.sort();
    let mut names: Vec<String> = std::fs::read_dir(scratch.file("quick/trials"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.starts_with('.'))
        .map(|name| name.split_once('-').unwrap().0.to_owned())
        .collect();
    names.sort();
    names.dedup();
    assert_eq!(ids, names);
    assert_eq!(ids.len(), 30);
}

#[test]
fn more_draws_keep_the_first_ones() {
    let scratch = Scratch::new();
    for method in ["random", "sobol"] {
        let axes = |n| format!("sweep.{method}({n}, {{ policy = sweep.integer(1, 1000000) }})");
        let _ = std::fs::remove_dir_all(scratch.file("quick"));
        assert_eq!(resumed(&scratch, &axes(3), ""), (3, 0));
        assert_eq!(resumed(&scratch, &axes(5), ""), (5, 3));
    }
}

#[test]
fn what_a_plan_does_not_hold_any_more_is_kept_out_of_its_results() {
    let scratch = Scratch::new();
    resumed(&scratch, "{ policy = { 1, 2, 3 } }", "repeats = 2,");
    scratch.write("sweep.lua", &quick("{ policy = { 2, 4 } }", "repeats = 2,"));
    let ran = scratch.skyfall(&["sweep", "sweep.lua", "--resume"]).ok();
    assert!(ran.stdout.starts_with("4 of 4 trials finished (2 of them before)"), "{}", ran.stdout);
    assert!(ran.stderr.contains("4 finished trials are not part of this plan"), "{}", ran.stderr);
    let table = |more: &[&str]| {
        let words = [&["sweep", "table", "quick", "--format", "csv"], more].concat();
        scratch.skyfall(&words).ok().stdout.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(table(&[]).len(), 1 + 2);
    assert_eq!(table(&["--all"])[0], "policy,plan,n,mean_reward,mean_reward_low,mean_reward_high");
    let [one, three] = [1, 3].map(|policy| format!("{policy},earlier,2,"));
    assert!(table(&["--all"]).iter().any(|line| line.starts_with(&one)));
    assert!(table(&["--all"])[4].starts_with(&three));
    assert_eq!(table(&["--all", "--each"]).len(), 1 + 4 + 4);
    assert_eq!(table(&["--all", "--each", "--only", "plan=earlier"]).len(), 1 + 4);
    let status = scratch.skyfall(&["sweep", "status", "quick"]).ok().stdout;
    assert!(status.contains("4 finished for earlier plans are kept"), "{status}");
    // Evaluation sees the present plan's.
    let eval = ["eval", "--traces", "quick", "--group-by", "policy", "--format", "json"];
    let report: serde_json::Value = serde_json::from_str(&scratch.skyfall(&eval).ok().stdout).unwrap();
    let runs = report["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 4, "{report}");
    // They come back when they are asked for again.
    assert_eq!(resumed(&scratch, "{ policy = { 1, 2, 3, 4 } }", "repeats = 2,"), (8, 8));
    assert_eq!(table(&["--all"]).len(), 1 + 4);
    let report = scratch.skyfall(&["sweep", "report", "quick", "--all", "-o", "page.html"]).ok();
    assert_eq!(report.code, 0);
}

#[test]
fn another_metric_is_read_from_the_trials_that_are_there() {
    let scratch = Scratch::new();
    resumed(&scratch, "{ steps = { 20, 30 } }", "");
    assert_eq!(resumed(&scratch, "{ steps = { 20, 30 } }", "metric = 'n_steps',"), (2, 2));
    let csv = scratch.skyfall(&["sweep", "table", "quick", "--format", "csv"]).ok().stdout;
    assert!(csv.contains("\n20,1,20") && csv.contains("\n30,1,30"), "{csv}");
}

#[test]
fn a_rule_that_ends_trials_is_part_of_what_they_are() {
    let scratch = Scratch::new();
    resumed(&scratch, "{ policy = { 1, 2, 3, 4 } }", "stop = sweep.asha { factor = 2 },");
    // Without it none of them may stand for a whole one.
    assert_eq!(resumed(&scratch, "{ policy = { 1, 2, 3, 4 } }", ""), (4, 0));
    assert!(scratch.tree().iter().all(|name| !name.starts_with("quick/.rungs/")), "{:?}", scratch.tree());
}

#[test]
fn a_plan_that_is_cut_short_is_told_and_mended() {
    let scratch = Scratch::new();
    resumed(&scratch, "{ policy = { 1, 2, 3 } }", "");
    let plan = scratch.read("quick/.plan.jsonl");
    let whole = scratch.skyfall(&["sweep", "table", "quick", "--each"]).ok().stdout;
    for cut in [plan.len() - 1, plan.len() - 20, plan.find('\n').unwrap() + 1, 0] {
        std::fs::write(scratch.file("quick/.plan.jsonl"), &plan[..cut]).unwrap();
        scratch.skyfall(&["sweep", "table", "quick"]).failed(3, &[".plan.jsonl", "--resume plans anew"]);
        scratch.skyfall(&["sweep", "status", "quick"]).failed(3, &[".plan.jsonl"]);
        assert_eq!(resumed(&scratch, "{ policy = { 1, 2, 3 } }", ""), (3, 3));
        assert_eq!(scratch.skyfall(&["sweep", "table", "quick", "--each"]).ok().stdout, whole);
    }
    let file = scratch.file("quick/.plan.jsonl");
    std::fs::write(&file, [plan.as_bytes(), b"\xff\n"].concat()).unwrap();
    scratch.skyfall(&["sweep", "table", "quick"]).failed(3, &[".plan.jsonl:4: it is not UTF-8"]);
    std::fs::remove_file(&file).unwrap();
    scratch.skyfall(&["sweep", "table", "quick"]).failed(3, &[".plan.jsonl: the list of the sweep's trials is gone"]);
    assert_eq!(resumed(&scratch, "{ policy = { 1, 2, 3 } }", ""), (3, 3));
    for hostile in ["../../../etc", "", "0"] {
        let row = format!("{{\"trial\":\"0000\",\"point\":{{}},\"identity\":\"{hostile}\",\"steps\":1}}\n");
        std::fs::write(scratch.file("quick/.plan.jsonl"), row).unwrap();
        scratch.skyfall(&["sweep", "table", "quick"]).failed(3, &["`identity` must be 64 hexadecimal digits"]);
    }
}
