//! Random traces, judged by an independent reference in Python.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Output};

use skyfall::eval::metrics::TABLE;
use skyfall::eval::{Material, Paths, Report, Settings, Window, evaluate};
use skyfall::random::Rng;
use skyfall::text::json;

use super::{data, report_of};

fn compare(trace: &Path, report: &Path, beside: &Paths) -> Output {
    let python = std::env::var("SKYFALL_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let reference = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/eval_reference.py");
    let mut command = Command::new(&python);
    command.arg(reference).arg("--compare").arg(trace).arg(report);
    for (flag, paths) in [("--baseline", &beside.baseline), ("--frozen", &beside.frozen)] {
        if !paths.is_empty() {
            command.arg(flag).args(paths);
        }
    }
    command.output().unwrap_or_else(|error| panic!("these tests need {python}: {error}"))
}

fn agree(trace: &Path, report: &Report, folder: &Path, beside: &Paths) {
    let path = folder.join("report.json");
    std::fs::write(&path, json::to_string(&report.to_value())).unwrap();
    let output = compare(trace, &path, beside);
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
pub(super) fn random_trace(rng: &mut Rng, meta: &str) -> String {
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
            r#"{{"run_id": "r{run}", "seed": {run}, "task": "t{}"{meta}, "step": {step}, "reward": {reward}, "regime_id": {regime}, "regime_origin": {origin}"#,
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

/// Settings that differ in everything a metric may depend on.
fn random_settings(rng: &mut Rng) -> Settings {
    const WINDOWS: [&str; 6] = ["1", "2", "7", "10%", "33.3%", "1000"];
    let mut settings = Settings::default();
    let mut set = |name: &str, value: &str| settings.set(name, &json::parse(value).unwrap()).unwrap();
    set("window", &format!("{:?}", WINDOWS[usize::try_from(rng.integers(0, 6)).unwrap()]));
    if rng.double() < 0.5 {
        set("threshold", "0.1");
        set("recover", "0.5");
        set("adapt", "0.75");
    }
    if rng.double() < 0.7 {
        set("bounds", r#"{"calm": {"min": -4, "max": 4}, "windy": {"max": 0.5}, "ghost": {"min": -9}}"#);
    }
    match rng.integers(0, 3) {
        0 => set("regret_ref", "\"run\""),
        1 => set("regret_ref", r#"{"calm": 0.75, "left": -1}"#),
        _ => {}
    }
    settings
}

#[test]
fn random_traces_agree_with_the_python_reference() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| {
        std::fs::write(folder.path().join(name), text).unwrap();
        folder.path().join(name)
    };
    let mut undefined: BTreeSet<&str> = TABLE.iter().map(|metric| metric.name).collect();
    for seed in 0..24 {
        let mut rng = Rng::new(seed);
        let settings = random_settings(&mut rng);
        let trace = write("trace.jsonl", random_trace(&mut rng, ""));
        let mut paths = Paths { traces: vec![trace.clone()], ..Paths::default() };
        for number in 0..rng.integers(0, 3) {
            paths.baseline.push(write(&format!("scratch{number}.jsonl"), random_trace(&mut rng, "")));
        }
        for number in 0..rng.integers(0, 5) {
            let meta = if number == 0 { String::new() } else { format!(", \"checkpoint_step\": {}", number * 17) };
            paths.frozen.push(write(&format!("served{number}.jsonl"), random_trace(&mut rng, &meta)));
        }
        let report = evaluate(Material::read(&paths, &settings).unwrap(), &settings).unwrap();
        agree(&trace, &report, folder.path(), &paths);
        undefined.retain(|name| report.runs.iter().all(|run| run.value(name).is_none()));
    }
    assert_eq!(undefined, BTreeSet::new(), "metrics no random trace put to the test");
}

#[test]
fn the_golden_runs_agree_with_the_python_reference() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["gold1.jsonl", "gold2.jsonl"] {
        for window in [Window::Rows(2), Window::default()] {
            let settings = Settings { window, ..Settings::default() };
            agree(&data(name), &report_of(&[data(name)], &settings), folder.path(), &Paths::default());
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
    let output = compare(&data("gold1.jsonl"), &path, &Paths::default());
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("mean_reward: the report says 0.544444443"));
}
