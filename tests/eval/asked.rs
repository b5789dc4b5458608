//! What can be asked for: settings by name, which rows count, conditions.

use skyfall::diagnostic::{Exit, Problem};
use skyfall::eval::{EvalError, Settings, evaluate};
use skyfall::text::json;
use skyfall::trace::columns::{RunColumns, TraceColumns};
use skyfall::value::Value;

use super::table::{judged, run};
use super::{assert_close, at, data, window};
use crate::command::Scratch;

/// The default settings with options set from JSON.
pub(super) fn asked(options: &[(&str, &str)]) -> Settings {
    let mut settings = window(1);
    for (name, value) in options {
        settings.set(name, &json::parse(value).unwrap()).unwrap();
    }
    settings
}

fn values(report: &skyfall::eval::Report, metrics: &[(&str, f64)]) {
    for (metric, expected) in metrics {
        let found = report.runs[0].value(metric).unwrap_or_else(|| panic!("{:?}", report.runs[0].metrics[*metric]));
        assert_close(found, *expected, metric);
    }
}

/// Rewards 0 to 9: four rows of a, two of b, two unlabelled, two of a again.
fn ten() -> RunColumns {
    run(&[
        ("a", None, &[0.0, 1.0, 2.0, 3.0]),
        ("b", None, &[4.0, 5.0]),
        ("", None, &[6.0, 7.0]),
        ("a2", Some("a"), &[8.0, 9.0]),
    ])
}

#[test]
fn stretches_of_a_run() {
    let part = |options: &[(&str, &str)]| judged(vec![ten()], &asked(options));
    values(&part(&[("until_frac", "0.25")]), &[("n_steps", 3.0), ("total_reward", 3.0)]);
    values(&part(&[("from_frac", "0.25")]), &[("n_steps", 7.0), ("total_reward", 42.0)]);
    values(&part(&[("from_step", "2"), ("until_step", "5")]), &[("n_steps", 3.0), ("total_reward", 9.0)]);
    let nothing = asked(&[("from_step", "100")]);
    let traces = TraceColumns { runs: vec![ten()], ..TraceColumns::default() };
    let error = evaluate(traces, &nothing).unwrap_err();
    assert_eq!((error.code(), error.exit()), ("eval/nothing-selected", Exit::Input));
}

#[test]
fn a_regime_alone_keeps_its_encounters_apart() {
    for name in ["\"a\"", "[\"a\"]"] {
        let report = judged(vec![ten()], &asked(&[("regime", name)]));
        values(&report, &[("n_steps", 6.0), ("n_encounters", 2.0), ("n_shifts", 0.0), ("forgetting", 3.0 - 8.0)]);
        assert_eq!(report.runs[0].metrics["shift_drop"].reason.as_deref(), Some("no_shift"));
    }
    let relabelled = judged(vec![ten()], &asked(&[("regime", "\"a2\"")]));
    values(&relabelled, &[("n_steps", 2.0)]);
    let traces = TraceColumns { runs: vec![ten()], ..TraceColumns::default() };
    let error = evaluate(traces, &asked(&[("regime", "\"c\"")])).unwrap_err();
    assert_eq!(error.to_string(), "no run has a regime `c`");
    assert_eq!(error.hint().unwrap(), "known: a, a2, b");
}

#[test]
fn unlabelled_rows_can_be_skipped() {
    values(&judged(vec![ten()], &window(1)), &[("n_encounters", 4.0), ("n_shifts", 3.0)]);
    let report = judged(vec![ten()], &asked(&[("skip_null", "true")]));
    values(&report, &[("n_steps", 8.0), ("n_encounters", 3.0), ("n_shifts", 2.0), ("shift_drop", (-1.0 - 3.0) / 2.0)]);
}

#[test]
fn repeated_steps_count_as_asked() {
    let twice = || {
        let mut twice = run(&[("a", None, &[1.0, 2.0, 3.0])]);
        twice.step = vec![0, 1, 1];
        twice
    };
    for (which, mean) in [("all", 2.0), ("last", 2.0), ("first", 1.5)] {
        let report = judged(vec![twice()], &asked(&[("on_duplicate", &format!("{which:?}"))]));
        values(&report, &[("mean_reward", mean), ("n_steps", if which == "all" { 3.0 } else { 2.0 })]);
    }
    let traces = TraceColumns { runs: vec![twice()], ..TraceColumns::default() };
    let error = evaluate(traces, &asked(&[("on-duplicate", "\"error\"")])).unwrap_err();
    assert_eq!(error.to_string(), "step 1 of (anonymous) has more than one row");
}

#[test]
fn bounds_and_levels_are_taken_as_given() {
    let parts: &[(&str, Option<&str>, &[f64])] = &[("a", None, &[0.0, 4.0]), ("b", None, &[1.0]), ("a", None, &[2.0])];
    let bounds = ("bounds", r#"{"a": {"min": 0, "max": 8}}"#);
    let report = judged(vec![run(parts)], &asked(&[bounds, ("regret_ref", r#"{"a": 5}"#)]));
    values(&report, &[("forgetting_norm", 0.25), ("rem", 0.75), ("empirical_regret", 9.0)]);
    assert_eq!(report.runs[0].metrics["empirical_regret"].n, 3);
}

#[test]
fn options_are_refused_by_name() {
    for (name, value, words) in [
        ("windw", "3", "unknown option `windw`"),
        ("window", "0", "window `0`"),
        ("recover", "0", "`recover` must be a share above 0 and at most 1, got 0"),
        ("threshold", "NaN", "`threshold` must be a finite number, got NaN"),
        ("until_frac", "\"1.5\"", "got `1.5`"),
        ("reps", "1", "between 2 and 1000000, got 1"),
        ("ci", "1", "`ci`"),
        ("ci_seed", "-1", "`ci_seed`"),
        ("skip_null", "\"yes\"", "true or false"),
        ("bounds", r#"{"a": {"min": 1, "max": 1}}"#, "regime `a`"),
        ("bounds", r#"{"a": {"low": 1}}"#, "regime `a`"),
        ("regret_ref", "\"best\"", "run, set"),
        ("on_duplicate", "\"some\"", "all, last, first or error"),
        ("on_restart", "true", "keep or supersede"),
        ("compare", "[\"a\"]", "two groups"),
        ("fail_if", "\"forgetting\"", "condition `forgetting`"),
        ("fail_if", "\">1\"", "condition `>1`"),
        ("fail_if", "\"forgetting=1\"", "condition"),
    ] {
        let error = Settings::default().set(name, &json::parse(value).unwrap()).unwrap_err();
        assert!(error.to_string().contains(words), "{name}: {error}");
        assert_eq!(error.exit(), Exit::Usage);
    }
}

#[test]
fn metrics_can_be_picked() {
    let report =
        judged(vec![ten()], &asked(&[("metric", "[\"forgetting\", \"n_steps\"]"), ("fail_if", "\"bwt < 9\"")]));
    let names: Vec<&str> = report.runs[0].metrics.keys().map(String::as_str).collect();
    assert_eq!(names, ["n_steps", "forgetting", "bwt"]);
    let traces = TraceColumns { runs: vec![ten()], ..TraceColumns::default() };
    let error = evaluate(traces, &asked(&[("metric", "\"forgeting\"")])).unwrap_err();
    assert!(matches!(&error, EvalError::UnknownMetric { known, .. } if known == "forgetting"), "{error}");
}

#[test]
fn conditions_hold_do_not_hold_or_are_undecided() {
    let report = judged(vec![ten()], &asked(&[("fail_if", "[\"mean_reward>=4.5\", \"mean_reward<4.5\", \"rem>0\"]")]));
    let holds: Vec<Option<bool>> = report.verdicts.iter().map(|verdict| verdict.holds).collect();
    assert_eq!(holds, [Some(true), Some(false), None]);
    assert!(report.fails());
    assert!(report.warnings.iter().any(|warning| warning.code == "fail_if_undefined"));
}

#[test]
fn the_command_fails_where_a_condition_holds() {
    let scratch = Scratch::new();
    let gold = data("gold1.jsonl");
    let gold = gold.to_str().unwrap();
    let eval = |condition: &str| scratch.skyfall(&["eval", "--traces", gold, "--window", "2", "--fail-if", condition]);
    let ran = eval("forgetting>0.1").failed(1, &["fail-if forgetting>0.1 holds: steady has 0.3"]);
    // The mean is a bit off 0.5444, which is said where it makes the difference.
    eval("mean_reward>0.5").failed(1, &["steady has 0.5444\n"]);
    eval("mean_reward>0.5444").failed(1, &["steady has 0.544444444444444"]);
    assert!(ran.stdout.contains("forgetting"), "the report all the same");
    eval("forgetting>0.5").ok();
    eval("forgeting>0.5").failed(2, &["unknown metric `forgeting`", "forgetting"]);
}

#[test]
fn every_setting_is_in_the_report() {
    let settings = asked(&[("from_frac", "0.5"), ("group_by", "\"task, seed\""), ("ci", "0.9"), ("strict", "true")]);
    let tree = Value::Map(settings.to_value());
    assert_eq!(at(&tree, "from_frac"), &Value::Float(0.5));
    assert_eq!(at(&tree, "group_by.1"), &Value::from("seed"));
    assert_eq!(at(&tree, "until_frac"), &Value::Null);
    assert_eq!(at(&tree, "on_duplicate"), &Value::from("all"));
    assert_eq!(at(&tree, "strict"), &Value::Bool(true));
}
