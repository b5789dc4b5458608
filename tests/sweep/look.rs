//! Tables of sweeps.

use super::quick;
use crate::command::Scratch;
use crate::peers::python;

/// Trials of different lengths over three seeds.
fn swept() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("sweep.lua", &quick("{ steps = { 20, 40, 30 } }", "repeats = 3, metric = 'total_reward', "));
    scratch.skyfall(&["sweep", "sweep.lua"]).ok();
    scratch
}

#[test]
fn a_table_has_means_over_seeds_with_intervals() {
    let scratch = swept();
    let table = |arguments: &[&str]| scratch.skyfall(&[&["sweep", "table", "quick"], arguments].concat()).ok().stdout;
    let csv = table(&["--format", "csv"]);
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines[0], "steps,n,total_reward,total_reward_low,total_reward_high");
    assert_eq!(lines.len(), 4);
    let cells: Vec<f64> = lines[1].split(',').map(|cell| cell.parse().unwrap()).collect();
    assert_eq!(cells[..2], [20.0, 3.0]);
    assert!(cells[3] <= cells[2] && cells[2] <= cells[4], "{lines:?}");
    let sorted = table(&["--sort", "-steps", "--format", "csv"]);
    let first: Vec<&str> = sorted.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(first, ["40", "30", "20"]);
    assert_eq!(table(&["--only", "steps=30", "--format", "csv"]).lines().count(), 2);
    assert_eq!(
        table(&["--over", "steps", "--format", "csv"]).lines().next(),
        Some("seed,n,total_reward,total_reward_low,total_reward_high")
    );
    let each = table(&["--each", "--format", "csv"]);
    assert!(each.starts_with("trial,steps,seed,result.steps,episodes,windows,"), "{each}");
    assert_eq!(each.lines().count(), 10);
    assert!(table(&["--format", "md"]).starts_with("| steps | n | total_reward |"));
    assert!(table(&[]).lines().all(|line| !line.ends_with(' ')));
    let json: serde_json::Value = serde_json::from_str(&table(&["--format", "json"])).unwrap();
    assert_eq!(json[2]["steps"], 30);
    scratch
        .skyfall(&["sweep", "table", "quick", "--sort", "stpes"])
        .failed(2, &["no column `stpes`; did you mean `steps`?"]);
    scratch.skyfall(&["sweep", "table", "quick", "--format", "parquet"]).failed(2, &["-o FILE"]);
}

#[test]
fn a_parquet_table_is_read_by_others() {
    let scratch = swept();
    scratch.skyfall(&["sweep", "table", "quick", "-o", "table.parquet"]).ok();
    let bytes = std::fs::read(scratch.file("table.parquet")).unwrap();
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    let told = python(&scratch, "check_table.py", &["table.parquet"]);
    assert!(told.contains("'total_reward_high'] 3"), "{told}");
}

#[test]
fn the_best_is_the_best_mean_and_its_trials_are_named() {
    let scratch = swept();
    let best = scratch.skyfall(&["sweep", "best", "quick"]).ok().stdout;
    let csv = scratch.skyfall(&["sweep", "table", "quick", "--sort", "-total_reward", "--format", "csv"]).ok().stdout;
    let steps = csv.lines().nth(1).unwrap().split(',').next().unwrap().to_owned();
    let lines: Vec<&str> = best.lines().collect();
    assert_eq!(lines[0], format!("steps={steps}"));
    assert!(lines[1].starts_with("total_reward: ") && lines[1].ends_with("n = 3"), "{best}");
    assert_eq!(lines.len(), 5);
    assert!(lines[2..].iter().all(|path| scratch.file(path).join("traces.jsonl").exists()), "{best}");
}

#[test]
fn a_metric_of_evaluation_is_computed_and_its_direction_is_the_goal() {
    let scratch = Scratch::new();
    scratch.write("sweep.lua", &quick("{ policy = { 1, 2 } }", "metric = 'n_steps',"));
    scratch.skyfall(&["sweep", "sweep.lua"]).ok();
    let csv = scratch.skyfall(&["sweep", "table", "quick", "--format", "csv"]).ok().stdout;
    assert!(csv.lines().nth(1).unwrap().starts_with("1,1,20"), "{csv}");
    scratch.write("sweep.lua", &quick("{ policy = { 1 } }", "metric = 'forgetting',"));
    scratch.skyfall(&["sweep", "sweep.lua", "--out", "f"]).ok();
    assert!(scratch.read("f/sweep.json").contains("\"goal\": \"minimize\""));
    scratch.write("sweep.lua", &quick("{ policy = { 1 } }", "metric = 'forgeting',"));
    scratch.skyfall(&["sweep", "sweep.lua", "--out", "g"]).failed(1, &["did you mean `forgetting`?"]);
}

#[test]
fn a_report_shows_the_table_and_what_the_axes_do() {
    let scratch = Scratch::new();
    let axes = "{ steps = { 20, 40 }, sweep.list { { note = '<b>&' }, { note = 'plain' }, {} } }";
    scratch.write("sweep.lua", &quick(axes, "repeats = 2, metric = 'total_reward', "));
    scratch.skyfall(&["sweep", "sweep.lua"]).ok();
    scratch.skyfall(&["sweep", "report", "quick", "-o", "report.html"]).ok();
    let page = scratch.read("report.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<title>Sweep quick</title>"));
    assert_eq!(page.matches("<figure>").count(), 2 + 3, "parallel, importance, and one an axis");
    assert!(page.contains("12 of 12 trials finished") && page.contains("total_reward against steps"));
    assert!(!page.contains("<b>&") && page.contains("&lt;b&gt;"), "user text is text");
    // The reward is the number of steps: that axis explains all of it, the others nothing.
    assert!(page.contains(">100 %<"), "importance");
    assert_eq!(page.matches(">0 %<").count(), 2);
    scratch.skyfall(&["sweep", "report", "quick", "-o", "again.html"]).ok();
    assert_eq!(page, scratch.read("again.html"));
    // Also of a sweep without axes, or without a finished trial.
    scratch.write("one.lua", &quick("{ steps = { 20 } }", ""));
    scratch.skyfall(&["sweep", "one.lua", "--out", "one"]).ok();
    scratch.skyfall(&["sweep", "report", "one", "-o", "one.html"]).ok();
    scratch.write("none.lua", &quick("{ fail = { 'a', 'b' } }", ""));
    scratch.skyfall(&["sweep", "none.lua", "--out", "none"]).failed(1, &["no luck"]);
    scratch.skyfall(&["sweep", "report", "none", "-o", "none.html"]).ok();
    scratch.skyfall(&["sweep", "best", "none"]).failed(1, &["no finished trial has the metric `mean_reward`"]);
}
