//! Metrics on small runs worked out by hand, and their reasons where they are not defined.

use skyfall::eval::{Report, Settings, evaluate};
use skyfall::trace::columns::{Input, NO_REGIME, RunColumns, TraceColumns};

use super::{assert_close, at, report_of, window};
use crate::command::Scratch;

/// A run of stretches: label, origin, rewards. An empty label stands for unlabelled rows.
pub(super) fn run(stretches: &[(&str, Option<&str>, &[f64])]) -> RunColumns {
    let mut run = RunColumns { files: vec!["a.jsonl".to_owned()], ..RunColumns::default() };
    for (label, origin, rewards) in stretches {
        let place = match run.labels.iter().position(|known| known == label) {
            _ if label.is_empty() => NO_REGIME,
            Some(place) => place.try_into().unwrap(),
            None => {
                run.labels.push((*label).to_owned());
                run.origins.push(origin.map(str::to_owned));
                (run.labels.len() - 1).try_into().unwrap()
            }
        };
        for reward in *rewards {
            run.step.push(run.step.len().try_into().unwrap());
            run.reward.push(*reward);
            run.regime.push(place);
            run.invalid_action.push(false);
            run.effective_rank.push(f64::NAN);
        }
    }
    run
}

/// The evaluation of runs made by hand.
pub(super) fn judged(runs: Vec<RunColumns>, settings: &Settings) -> Report {
    let input = Input { path: "a.jsonl".to_owned(), rows: 1, ..Input::default() };
    evaluate(TraceColumns { inputs: vec![input], runs, ..TraceColumns::default() }, settings).unwrap()
}

fn value(report: &Report, metric: &str) -> f64 {
    report.runs[0].value(metric).unwrap_or_else(|| panic!("{metric}: {:?}", reason(report, metric)))
}

fn reason<'a>(report: &'a Report, metric: &str) -> Option<&'a str> {
    assert_eq!(report.runs[0].value(metric), None, "{metric}");
    report.runs[0].metrics[metric].reason.as_deref()
}

#[test]
fn levels_of_revisits() {
    // Exits 4, then 6 of `a`; entries 1, 3, 2.
    let parts: &[(&str, Option<&str>, &[f64])] = &[
        ("a", None, &[1.0, 4.0]),
        ("b", None, &[0.0, -1.0]),
        ("a2", Some("a"), &[3.0, 6.0]),
        ("b", None, &[-2.0, 0.0]),
        ("a", None, &[2.0, 5.0]),
    ];
    let report = judged(vec![run(parts)], &window(1));
    // a: 4 - 3 and 6 - 2; b: -1 - -2.
    for (metric, expected) in [
        ("forgetting", 2.0),
        ("forgetting_macro", 1.75),
        ("bwt", -2.0),
        ("bwt_plus", 0.0),
        ("forgetting_max", (1.0 + 1.0 + 4.0) / 3.0),
        ("forgetting_norm", (1.0 / 5.0 + 1.0 / 2.0 + 4.0 / 5.0) / 3.0),
        ("retention", (3.0 / 4.0 + 2.0 / 6.0) / 2.0),
        ("jumpstart", (2.0 - 2.0 + 1.0) / 3.0),
        ("asymptote_gain", (2.0 + 1.0 - 1.0) / 3.0),
        ("final_performance", 2.5),
        ("worst_regime", -0.75),
        ("worst_window", -2.0),
        ("cvar05", -2.0),
        ("max_drawdown", 1.0),
        ("max_rise", 3.0),
    ] {
        assert_close(value(&report, metric), expected, metric);
    }
    let tree = report.to_value();
    assert_close(super::number(&tree, "runs.0.metrics.forgetting.by_regime.a"), 2.5, "of a");
    assert_close(super::number(&tree, "runs.0.metrics.forgetting.by_regime.b"), 1.0, "of b");
    assert_eq!(reason(&report, "rem"), Some("no_bounds"));
}

#[test]
fn remembering_more_than_was_left_is_transfer() {
    let report = judged(vec![run(&[("a", None, &[1.0]), ("b", None, &[0.0]), ("a", None, &[3.0])])], &window(1));
    assert_close(value(&report, "bwt_plus"), 2.0, "bwt_plus");
    assert_close(value(&report, "recovery_rows"), 0.0, "recovery_rows");
}

#[test]
fn recovery_gets_faster() {
    let parts: &[(&str, Option<&str>, &[f64])] = &[
        ("a", None, &[1.0, 1.0]),
        ("b", None, &[0.0]),
        ("a", None, &[0.0, 0.0, 0.0, 1.0]),
        ("b", None, &[0.0]),
        ("a", None, &[0.0, 1.0, 1.0]),
    ];
    let report = judged(vec![run(parts)], &window(1));
    // 4 and 2 rows for `a`, none for `b`, which has nothing to recover.
    assert_close(value(&report, "recovery_rows"), 2.0, "recovery_rows");
    assert_close(value(&report, "recovery_trend"), 2.0, "recovery_trend");
    assert_close(value(&report, "stability_gap"), 2.0 / 3.0, "stability_gap");
}

#[test]
fn the_threshold_is_timed_in_every_encounter() {
    let parts: &[(&str, Option<&str>, &[f64])] =
        &[("a", None, &[0.0, 1.0, 2.0, 3.0]), ("b", None, &[2.0, 2.0]), ("c", None, &[0.0, 0.0])];
    let settings = Settings { threshold: Some(2.0), ..window(1) };
    let report = judged(vec![run(parts)], &settings);
    let outcome = &report.runs[0].metrics["time_to_threshold"];
    assert_close(value(&report, "time_to_threshold"), 2.0, "time_to_threshold");
    assert_eq!((outcome.n, outcome.n_censored), (2, Some(1)));
    let settings = Settings { threshold: Some(9.0), ..window(1) };
    assert_eq!(reason(&judged(vec![run(parts)], &settings), "time_to_threshold"), Some("censored"));
    assert_eq!(reason(&judged(vec![run(parts)], &window(1)), "time_to_threshold"), Some("no_threshold"));
}

#[test]
fn plasticity_needs_three_regimes() {
    let (a, b, c) = (("a", None, &[0.0, 3.0][..]), ("b", None, &[0.0, 2.0][..]), ("c", None, &[1.0, 1.0][..]));
    let report = judged(vec![run(&[a, b, c])], &window(1));
    assert_close(value(&report, "plasticity_exit_slope"), -1.0, "exits 3, 2, 1");
    assert_close(value(&report, "plasticity_adapt_slope"), -1.0, "rows 2, 2, 0");
    assert_eq!(reason(&judged(vec![run(&[a, b])], &window(1)), "plasticity_exit_slope"), Some("too_few_regimes"));
}

#[test]
fn ranks_skip_what_was_not_measured() {
    let mut ranked = run(&[("a", None, &[0.0; 5])]);
    ranked.effective_rank = vec![f64::NAN, 8.0, f64::NAN, 6.0, 4.0];
    let report = judged(vec![ranked], &Settings::default());
    for (metric, expected) in [
        ("erank_first", 8.0),
        ("erank_last", 4.0),
        ("erank_change", -0.5),
        ("erank_slope", -4.0 / 3.0),
        ("erank_coverage", 0.6),
    ] {
        assert_close(value(&report, metric), expected, metric);
    }
    let report = judged(vec![run(&[("a", None, &[0.0; 5])])], &Settings::default());
    assert_eq!(reason(&report, "erank_first"), Some("not_measured"));
    assert_close(value(&report, "erank_coverage"), 0.0, "coverage");
}

#[test]
fn components_are_shared_out() {
    let mut composed = run(&[("a", None, &[1.0, 1.0]), ("b", None, &[1.0, 5.0]), ("a", None, &[2.0, f64::NAN])]);
    composed.components.insert("x".to_owned(), vec![2.0, 2.0, 1.0, 3.0, 2.0, 2.0]);
    composed.components.insert("y".to_owned(), vec![-1.0, -1.0, f64::NAN, f64::NAN, f64::NAN, f64::NAN]);
    let report = judged(vec![composed], &window(1));
    assert_close(value(&report, "residual_max"), 2.0, "5 is not 3");
    assert_close(value(&report, "residual_frac"), 0.2, "one of five finite rows");
    assert!(report.warnings.iter().any(|warning| warning.code == "components_do_not_add_up"));
    let tree = report.to_value();
    let (x, y) = (at(&tree, "runs.0.components.0"), at(&tree, "runs.0.components.1"));
    assert_close(super::number(x, "mean"), 2.0, "mean of x");
    assert_close(super::number(x, "share"), 12.0 / 14.0, "share of x");
    assert_close(super::number(y, "mean"), -2.0 / 6.0, "absent is no contribution");
    assert_close(super::number(y, "coverage"), 2.0 / 6.0, "coverage of y");
    assert_close(super::number(y, "delta.0"), 1.0, "a to b");
    assert_close(super::number(y, "pair_delta.0"), 1.0, "a to a");
}

#[test]
fn refusals_are_counted_in_the_entry_window_too() {
    let mut refused = run(&[("a", None, &[f64::NAN, 0.0, 0.0, 0.0, 0.0])]);
    refused.invalid_action = vec![true, true, false, false, false];
    let report = judged(vec![refused], &window(2));
    assert_close(value(&report, "invalid_action_rate"), 0.4, "overall");
    let tree = report.to_value();
    assert_close(super::number(&tree, "runs.0.encounters.0.invalid_action_rate"), 0.4, "encounter");
    assert_close(super::number(&tree, "runs.0.encounters.0.entry_invalid_action_rate"), 0.5, "entry");
}

#[test]
fn time_is_the_trace_s_own() {
    let timed = |times: [&str; 3]| {
        let row = |(step, time): (usize, &str)| {
            format!("{{\"step\": {step}, \"reward\": 0.0, \"regime_id\": \"a\", \"observed_at\": \"{time}\"}}\n")
        };
        let scratch = Scratch::new();
        let file = scratch.write("t.jsonl", &times.into_iter().enumerate().map(row).collect::<String>());
        report_of(&[file], &Settings::default())
    };
    let report = timed(["2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z", "2026-01-01T01:00:04+01:00"]);
    assert_close(value(&report, "span_s"), 4.0, "span_s");
    assert_close(value(&report, "steps_per_s"), 0.5, "steps_per_s");
    let mixed = timed(["2026-01-01T00:00:00Z", "2026-01-01T00:00:01", "2026-01-01T00:00:02Z"]);
    assert_eq!(reason(&mixed, "span_s"), Some("mixed_times"));
    let still = timed(["2026-01-01T00:00:00Z"; 3]);
    assert_eq!(reason(&still, "steps_per_s"), Some("zero_span"));
    assert_eq!(reason(&timed(["noon"; 3]), "span_s"), Some("no_times"));
}

#[test]
fn sums_do_not_lose_small_rewards_beside_large_ones() {
    let report = judged(vec![run(&[("a", None, &[1e16, 1.0, 1.0, -1e16])])], &window(1));
    assert_eq!(value(&report, "total_reward"), 2.0);
}
