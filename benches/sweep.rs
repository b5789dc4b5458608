//! Sweeps of empty trials: what a trial costs beside its own work, how much memory the driver needs,
//! how long it takes to look at them; and what a second job is worth. `cargo bench --bench sweep --
//! 1000` takes a thousand trials in place of ten thousand.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout, missing_docs, reason = "a bench")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What a command took.
struct Cost {
    wall: f64,
    /// Seconds of processor time, of its children too.
    cpu: f64,
    /// The process's own peak, in kB.
    memory: u64,
}

/// The processor time of all children that were waited for, in seconds.
fn cpu_of_children() -> f64 {
    const TICKS: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    // The fields after the name, which is in brackets: the third is the first of these.
    let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
    fields[13..15].iter().map(|field| field.parse::<f64>().unwrap()).sum::<f64>() / TICKS
}

fn skyfall(directory: &Path, arguments: &[&str]) -> Cost {
    let (before, begun) = (cpu_of_children(), Instant::now());
    let mut command = Command::new(env!("CARGO_BIN_EXE_skyfall"));
    command.args(arguments).current_dir(directory).stdout(Stdio::null()).stderr(Stdio::inherit());
    let mut child = command.spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut memory = 0;
    while child.try_wait().unwrap().is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let peak = text.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse().ok());
        memory = peak.unwrap_or(0).max(memory);
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(child.wait().unwrap().success(), "{arguments:?}");
    Cost { wall: begun.elapsed().as_secs_f64(), cpu: cpu_of_children() - before, memory }
}

const CONFIG: &str = r#"
  env = { id = "CartPole-v1" },
  algorithm = { name = "none", policy = { id = "linear_menu", kwargs = { n_actions = 2 } } },
"#;

/// A script that sweeps over as many seeds as it is told, trials of `steps` steps.
fn sweep(steps: u64) -> String {
    format!(
        "local n = tonumber((...))\nreturn require('skyfall').sweep {{ repeats = n, experiment = function(p) return {{{CONFIG}
           rollout = {{ window_steps = {steps}, total_steps = {steps}, auto_reset = true }}, run = {{ seed = p.seed }} }} end }}"
    )
}

fn main() {
    let trials: u64 = std::env::args().filter_map(|word| word.parse().ok()).next().unwrap_or(10_000);
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    std::fs::write(directory.join("empty.lua"), sweep(1)).unwrap();
    std::fs::write(directory.join("long.lua"), sweep(500_000)).unwrap();
    let one = format!(
        "return require('skyfall').experiment {{{CONFIG} rollout = {{ window_steps = 1, total_steps = 1 }}, run = {{ seed = 1 }} }}"
    );
    std::fs::write(directory.join("one.lua"), one).unwrap();

    let alone = (0..50).map(|run| skyfall(directory, &["script", "one.lua", "--out", &format!("one{run}")]).cpu);
    let alone = alone.sum::<f64>() / 50.0;
    println!("an empty run by itself: {:.1} ms of CPU", alone * 1e3);
    let mut peaks = Vec::new();
    for (out, count) in [("few", trials / 10), ("many", trials)] {
        let cost = skyfall(directory, &["sweep", "empty.lua", "--jobs", "2", "--out", out, "--", &count.to_string()]);
        let each = cost.cpu / count as f64;
        println!(
            "{count} empty trials: {:.1} ms of CPU each, {:.1} ms beside the run's own; {:.1} s; driver's peak {:.1} MB",
            each * 1e3,
            (each - alone) * 1e3,
            cost.wall,
            cost.memory as f64 / 1e3
        );
        peaks.push(cost.memory as f64);
    }
    println!("ten times the trials, {:.2} times the memory", peaks[1] / peaks[0]);
    let count = trials.to_string();
    for look in [
        &["sweep", "empty.lua", "--resume", "--out", "many", "--", &count][..],
        &["sweep", "status", "many"],
        &["sweep", "table", "many", "--each", "-o", "many.csv"],
        &["sweep", "table", "many", "--over", "none"],
        &["sweep", "best", "many"],
        &["sweep", "report", "many", "-o", "many.html"],
    ] {
        let cost = skyfall(directory, look);
        println!("{}: {:.2} s of CPU, {:.1} MB", look[..3].join(" "), cost.cpu, cost.memory as f64 / 1e3);
    }
    let [one, two] = ["1", "2"].map(|jobs| {
        skyfall(directory, &["sweep", "long.lua", "--jobs", jobs, "--out", &format!("jobs{jobs}"), "--", "64"]).wall
    });
    println!("64 trials of 500000 steps: {one:.1} s with one job, {two:.1} s with two; {:.2} times as fast", one / two);
}
