//! Evaluation: the golden numbers, and what happens to odd input.

use std::path::{Path, PathBuf};

use skyfall::eval::{self, Report, Settings, Window};
use skyfall::text::json;
use skyfall::trace::{self, ReadOptions};
use skyfall::value::Value;

use crate::command::Scratch;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/eval").join(name)
}

fn report(path: PathBuf, window: &str) -> Report {
    let columns = trace::read_columns(&[path], &ReadOptions::default()).unwrap();
    eval::evaluate(columns, &Settings { window: window.parse().unwrap() }).unwrap()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * b.abs().max(1.0)
}

#[test]
fn the_golden_run_has_its_golden_numbers() {
    let text = std::fs::read_to_string(data("gold1_expected_window2.json")).unwrap();
    let expected = json::parse(&text).unwrap();
    let expected = expected.as_map().unwrap();
    let report = report(data("gold1.jsonl"), "2");
    let run = &report.runs[0];
    let mut compared = 0;
    for (name, value) in expected["gold1"].as_map().unwrap() {
        if let Some(value) = value.as_float() {
            let ours = run.value(name).unwrap_or_else(|| panic!("{name} is not defined"));
            assert!(near(ours, value), "{name}: {ours} instead of {value}");
            compared += 1;
        }
    }
    assert!(compared >= 24, "{compared}");
    let tree = report.to_value();
    let run = tree.as_map().unwrap()["runs"].as_list().unwrap()[0].as_map().unwrap().clone();
    let pair = run["pairs"].as_list().unwrap()[0].as_map().unwrap().clone();
    assert_eq!(pair["recovery_rows"], Value::Int(5));
    assert!(near(pair["jumpstart"].as_float().unwrap(), 0.2));
    for component in run["components"].as_list().unwrap() {
        let component = component.as_map().unwrap();
        let name = component["name"].as_text().unwrap();
        let gold = expected["gold1"].as_map().unwrap();
        assert!(near(
            component["share"].as_float().unwrap(),
            gold["component_share"].as_map().unwrap()[name].as_float().unwrap()
        ));
        assert!(near(
            component["mean"].as_float().unwrap(),
            gold["component_mean"].as_map().unwrap()[name].as_float().unwrap()
        ));
    }
}

#[test]
fn the_window_is_part_of_the_result() {
    assert!(near(report(data("gold1.jsonl"), "10%").runs[0].value("forgetting").unwrap(), 0.4));
}

#[test]
fn nulls_origins_of_origins_and_non_finite_rewards() {
    let scratch = Scratch::new();
    let mut text = String::new();
    let mut step = 0;
    let mut rows = |label: &str, origin: &str, rewards: &[&str]| {
        for reward in rewards {
            text.push_str(&format!(
                "{{\"run_id\": \"g2\", \"step\": {step}, \"reward\": {reward}, \"regime_id\": {label}, \"regime_origin\": {origin}}}\n"
            ));
            step += 1;
        }
    };
    rows("null", "null", &["0.5", "0.5", "0.5", "0.5"]);
    rows("\"a\"", "null", &["0.0", "0.5", "1.0", "1.0"]);
    rows("\"a2\"", "\"a\"", &["1.0", "1.0", "1.0", "1.0"]);
    rows("\"b\"", "null", &["NaN", "0.2", "0.2", "0.2"]);
    rows("\"a3\"", "\"a2\"", &["0.1", "0.1", "0.2", "0.2"]);
    let report = report(scratch.write("g2.jsonl", &text), "2");
    let run = &report.runs[0];
    for (name, value) in [
        ("n_segments", 5.0),
        ("n_encounters", 4.0),
        ("n_shifts", 3.0),
        ("n_regimes", 2.0),
        ("n_nonfinite", 1.0),
        ("forgetting", 0.9),
    ] {
        assert!(near(run.value(name).unwrap(), value), "{name}: {:?}", run.value(name));
    }
    let recovery = &run.metrics["recovery_rows"].1;
    assert_eq!((recovery.value.clone(), recovery.reason, recovery.n_censored), (None, Some("censored"), Some(1)));
}

#[test]
fn undefined_is_null_with_a_reason() {
    let scratch = Scratch::new();
    scratch.write("t.jsonl", "{\"step\": 0, \"reward\": 1}\n{\"step\": 1, \"reward\": 3}\n");
    let ran = scratch.skyfall(&["eval", "--traces", "t.jsonl", "--format", "json"]).ok();
    let tree = json::parse(&ran.stdout).unwrap();
    let run = tree.as_map().unwrap()["runs"].as_list().unwrap()[0].as_map().unwrap().clone();
    let metrics = run["metrics"].as_map().unwrap();
    let field = |metric: &str, field: &str| metrics[metric].as_map().unwrap()[field].clone();
    assert_eq!(field("mean_reward", "value"), Value::Float(2.0));
    assert_eq!(field("forgetting", "value"), Value::Null);
    assert_eq!(field("forgetting", "reason"), Value::from("no_revisit"));
    assert_eq!(field("erank_first", "reason"), Value::from("not_measured"));
    assert!(!ran.stdout.contains("NaN"));
}

#[test]
fn a_file_without_rows_is_an_input_error_and_windows_are_checked() {
    let scratch = Scratch::new();
    scratch.write("t.jsonl", "");
    scratch.skyfall(&["eval", "--traces", "t.jsonl"]).failed(3, &["t.jsonl", "no trace row"]);
    scratch.skyfall(&["eval", "--traces", "t.jsonl", "--window", "0"]).failed(2, &["window"]);
    assert!("90%".parse::<Window>().is_err());
}
