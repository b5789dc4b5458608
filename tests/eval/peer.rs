//! Random traces, judged by an independent reference in Python.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Output};

use skyfall::eval::metrics::TABLE;
use skyfall::eval::{Report, Settings, Window};
use skyfall::random::Rng;
use skyfall::text::json;

use super::{data, report_of};

fn compare(trace: &Path, report: &Path) -> Output {
    let python = std::env::var("SKYFALL_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let reference = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/eval_reference.py");
    let mut command = Command::new(&python);
    command.arg(reference).arg("--compare").arg(trace).arg(report);
    command.output().unwrap_or_else(|error| panic!("these tests need {python}: {error}"))
}

fn agree(trace: &Path, report: &Report, folder: &Path) {
    let path = folder.join("report.json");
    std::fs::write(&path, json::to_string(&report.to_value())).unwrap();
    let output = compare(trace, &path);
    assert!(output.status.success(), "{}: {}", trace.display(), String::from_utf8_lossy(&output.stderr));
}

/// Labels and the origins they may be given: chains, a circle, an origin that is no label.
const LABELS: [(&str, &str); 8] = [
    ("calm", "null"),
    ("windy", "null"),
    ("calm-2", "\"calm\""),
    ("calm-3", "\"calm-2\""),
    ("left", "\"right\""),
    ("right", "\"left\""),
    ("ghost-2", "\"ghost\""),
    ("windy-2", "\"windy\""),
];

/// Interleaved runs of different lengths with everything a row may have or lack.
fn random_trace(rng: &mut Rng) -> String {
    let mut text = String::new();
    let runs = usize::try_from(rng.integers(1, 8)).unwrap();
    let mut states: Vec<(usize, i64, i64)> = (0..runs).map(|_| (0, 0, 0)).collect();
    let (gaps, ranks, timed, zoned) = (rng.double(), rng.double(), rng.double() < 0.5, rng.double() < 0.5);
    let patience = rng.integers(2, 40);
    for row in 0..rng.integers(1, 500) {
        let run = usize::try_from(rng.integers(0, i64::try_from(runs).unwrap())).unwrap();
        let (label, left, step) = &mut states[run];
        if *left == 0 {
            *left = rng.integers(1, patience);
            *label = usize::try_from(rng.integers(0, 10)).unwrap();
        }
        *left -= 1;
        let (regime, origin) =
            LABELS.get(*label).map_or(("null".to_owned(), "null"), |(label, origin)| (format!("\"{label}\""), *origin));
        let reward = match rng.integers(0, 30) {
            0 => "NaN".to_owned(),
            1 => "-Infinity".to_owned(),
            _ => rng.standard_normal().to_string(),
        };
        write!(
            text,
            r#"{{"run_id": "r{run}", "seed": {run}, "task": "t{}", "step": {step}, "reward": {reward}, "regime_id": {regime}, "regime_origin": {origin}"#,
            run % 2
        )
        .unwrap();
        if rng.double() < gaps {
            let rest =
                if rng.double() < 0.5 { format!(r#", "pole": {}"#, rng.standard_normal()) } else { String::new() };
            write!(text, r#", "reward_components": {{"cart": {}{rest}}}"#, rng.standard_normal()).unwrap();
        }
        if rng.double() < ranks {
            write!(text, r#", "effective_rank": {}"#, 1.0 + 10.0 * rng.double()).unwrap();
        }
        if timed {
            let zone = if zoned && row % 2 == 0 {
                "+01:00"
            } else if zoned {
                "+00:30"
            } else {
                ""
            };
            write!(text, r#", "observed_at": "2026-02-28T23:{:02}:{:02}.125{zone}""#, row / 60, row % 60).unwrap();
        }
        writeln!(text, r#", "invalid_action": {}}}"#, rng.double() < 0.2).unwrap();
        *step += rng.integers(1, 3);
    }
    text
}

#[test]
fn random_traces_agree_with_the_python_reference() {
    let folder = tempfile::tempdir().unwrap();
    let windows = ["1", "2", "7", "10%", "33.3%", "1000"];
    let mut undefined: BTreeSet<&str> = TABLE.iter().map(|metric| metric.name).collect();
    for seed in 0..24 {
        let trace = folder.path().join(format!("{seed}.jsonl"));
        std::fs::write(&trace, random_trace(&mut Rng::new(seed))).unwrap();
        let window: Window = windows[usize::try_from(seed).unwrap() % windows.len()].parse().unwrap();
        let settings = Settings { window, threshold: (seed % 2 == 0).then_some(0.1) };
        let report = report_of(std::slice::from_ref(&trace), &settings);
        agree(&trace, &report, folder.path());
        undefined.retain(|name| report.runs.iter().all(|run| run.value(name).is_none()));
    }
    assert_eq!(undefined, BTreeSet::from(["rem"]), "metrics no random trace put to the test");
}

#[test]
fn the_golden_runs_agree_with_the_python_reference() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["gold1.jsonl", "gold2.jsonl"] {
        for window in [Window::Rows(2), Window::default()] {
            let settings = Settings { window, ..Settings::default() };
            agree(&data(name), &report_of(&[data(name)], &settings), folder.path());
        }
    }
}

#[test]
fn the_python_reference_notices_a_wrong_number() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    let right = json::to_string(&report_of(&[data("gold1.jsonl")], &super::window(2)).to_value());
    let wrong = right.replace("\"mean_reward\": {\"value\": 0.544444444", "\"mean_reward\": {\"value\": 0.544444443");
    assert_ne!(right, wrong);
    std::fs::write(&path, wrong).unwrap();
    let output = compare(&data("gold1.jsonl"), &path);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("mean_reward: the report says 0.544444443"));
}
