//! Odd runs, groups, and the report's tree and text.

use skyfall::diagnostic::{Exit, Problem};
use skyfall::eval::output::{self, Format};
use skyfall::eval::{EvalError, Report, Settings, Window, evaluate};
use skyfall::text::json;
use skyfall::trace::columns::{Identity, Input, RunColumns, TraceColumns, Warning};
use skyfall::value::Value;

use super::table::{judged, run};
use super::{assert_close, at, number, window};

const NAN: f64 = f64::NAN;

fn render(report: &Report, width: usize) -> String {
    output::render(report, Format::Text, width)
}

/// Every metric has a value or a reason, and the printed tree is strict JSON.
fn assert_sound(report: &skyfall::eval::Report) {
    for run in &report.runs {
        for (name, outcome) in &run.metrics {
            assert!(outcome.value.is_some() || outcome.reason.is_some(), "{name}");
        }
    }
    let text = json::to_string(&report.to_value());
    serde_json::from_str::<serde_json::Value>(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert!(render(report, 80).ends_with('\n'));
}

#[test]
fn odd_runs_have_reasons() {
    for (parts, metric, reason) in [
        (&[("", None, &[1.0][..])][..], "forgetting", "no_revisit"),
        (&[("", None, &[1.0, 2.0][..])], "macro_reward", "no_regimes"),
        (&[("a", None, &[NAN, NAN][..])], "mean_reward", "no_finite_reward"),
        (&[("a", None, &[NAN][..]), ("b", None, &[1.0][..])], "shift_drop", "no_finite_reward"),
        (
            &[("a", None, &[1.0][..]), ("b", None, &[1.0][..]), ("a", None, &[NAN][..])],
            "forgetting",
            "no_finite_reward",
        ),
        (&[("a", None, &[-1.0][..]), ("b", None, &[1.0][..]), ("a", None, &[1.0][..])], "retention", "sign"),
        (&[("a", None, &[1.0][..]), ("b", None, &[1.0][..]), ("a", None, &[1.0][..])], "forgetting_norm", "zero_range"),
        (&[("a", None, &[1.0][..])], "shift_drop", "no_shift"),
        (&[("a", None, &[1e308, 1e308][..])], "total_reward", "overflow"),
    ] {
        let report = judged(vec![run(parts)], &Settings::default());
        assert_eq!(report.runs[0].value(metric), None, "{metric}");
        assert_eq!(report.runs[0].metrics[metric].reason.as_deref(), Some(reason), "{metric}");
        assert_sound(&report);
    }
}

#[test]
fn labels_that_name_each_other_are_one_regime() {
    let parts: &[(&str, Option<&str>, &[f64])] = &[
        ("left", Some("right"), &[1.0]),
        ("x", None, &[0.0]),
        ("right", Some("left"), &[3.0]),
        ("y", Some("left"), &[1.0]),
    ];
    let report = judged(vec![run(parts)], &window(1));
    let tree = report.to_value();
    assert_eq!(number(&tree, "runs.0.metrics.n_regimes.value"), 2.0);
    assert_eq!(number(&tree, "runs.0.metrics.n_encounters.value"), 3.0);
    assert_eq!(at(&tree, "runs.0.encounters.2.regime").as_text(), Some("left"));
    assert_eq!(at(&tree, "warnings.0.code").as_text(), Some("origin_cycle"));
}

/// A regime may come back very often, and labels may be without number.
#[test]
fn many_encounters_and_many_labels_take_no_quadratic_time() {
    const ROWS: u32 = 20_000;
    let mut many = RunColumns { labels: (0..ROWS).map(|label| label.to_string()).collect(), ..RunColumns::default() };
    many.origins =
        (0..ROWS).map(|label| label.checked_sub(1).filter(|_| label % 2 == 1).map(|l| l.to_string())).collect();
    for row in 0..ROWS {
        many.step.push(i64::from(row));
        many.reward.push(f64::from(row % 7));
        many.regime.push(if row % 2 == 0 { row / 2 } else { 1 });
        many.invalid_action.push(false);
        many.effective_rank.push(NAN);
    }
    let report = judged(vec![many], &Settings::default());
    assert_eq!(report.runs[0].value("n_encounters"), Some(f64::from(ROWS - 3)));
}

#[test]
fn relabelling_changes_labels_only() {
    let parts = |names: [&'static str; 3]| {
        let [a, b, again] = names;
        run(&[(a, None, &[1.0, 2.0, 5.0]), (b, None, &[0.5, 0.25]), (again, Some(a), &[3.0, 2.0, 4.0, 8.0])])
    };
    let plain = judged(vec![parts(["a", "b", "c"])], &window(2));
    let renamed = judged(vec![parts(["=1+1", "<img src=x>", "\u{202e}\"\n|"])], &window(2));
    for (name, outcome) in &plain.runs[0].metrics {
        assert_eq!(outcome.value, renamed.runs[0].metrics[name].value, "{name}");
    }
    assert_sound(&renamed);
}

#[test]
fn nothing_to_evaluate_is_an_error() {
    let inputs = vec![Input { path: "empty.jsonl".to_owned(), ..Input::default() }];
    let traces = TraceColumns { inputs, runs: vec![RunColumns::default()], ..TraceColumns::default() };
    let error = evaluate(traces, &Settings::default()).unwrap_err();
    assert_eq!((error.code(), error.exit()), ("eval/no-rows", Exit::Input));
    assert!(error.to_string().contains("empty.jsonl"));
}

#[test]
fn an_empty_input_beside_a_full_one_is_listed() {
    let input = |path: &str, rows| Input { path: path.to_owned(), rows, ..Input::default() };
    let warning = |code, path: &str| Warning {
        code,
        message: String::new(),
        file: Some(path.to_owned()),
        line: None,
        step: None,
        count: 1,
    };
    let traces = TraceColumns {
        inputs: vec![input("a", 1), input("b", 0), input("c", 0)],
        runs: vec![run(&[("a", None, &[1.0])])],
        warnings: vec![warning("not_a_trace", "c"), warning("truncated_tail", "a")],
    };
    let tree = evaluate(traces, &Settings::default()).unwrap().to_value();
    assert!(at(&tree, "inputs.0").as_map().unwrap().get("reason").is_none());
    assert_eq!(at(&tree, "inputs.0.warnings.0").as_text(), Some("truncated_tail"));
    assert_eq!(at(&tree, "inputs.1.reason").as_text(), Some("empty"));
    assert_eq!(at(&tree, "inputs.2.reason").as_text(), Some("not_a_trace"));
    assert_eq!(at(&tree, "warnings.1.code").as_text(), Some("truncated_tail"));
}

/// A run of one policy with a seed.
fn seeded(seed: i64, rewards: &[f64]) -> RunColumns {
    let mut seeded = run(&[("a", None, rewards)]);
    let fields = [("seed", Value::Int(seed)), ("policy_id", Value::from("linear"))];
    seeded.identity = Identity { fields: fields.into_iter().collect(), ..Identity::default() };
    seeded
}

#[test]
fn seeds_of_one_policy_are_one_group() {
    let runs = vec![seeded(0, &[1.0, 1.0]), seeded(1, &[3.0]), seeded(2, &[NAN, NAN])];
    let report = judged(runs, &Settings::default());
    assert_eq!(report.groups.len(), 1);
    let group = &report.groups[0];
    let summary = &group.metrics["mean_reward"];
    assert_eq!((group.n_runs(), summary.n, summary.n_missing), (3, 2, 1));
    assert_close(summary.mean.unwrap(), 2.0, "mean");
    assert_close(summary.sd.unwrap(), 2.0_f64.sqrt(), "sd");
    assert_eq!(summary.ci, Some((1.0, 3.0)));
    let codes: Vec<&str> = report.warnings.iter().map(|warning| warning.code).collect();
    assert_eq!(codes, ["few_runs", "unequal_lengths"]);
}

#[test]
fn intervals_of_one_run_and_of_equal_runs() {
    let one = judged(vec![seeded(0, &[1.0])], &Settings::default());
    assert_eq!(one.groups[0].metrics["mean_reward"].ci, None);
    let equal = judged((0..5).map(|seed| seeded(seed, &[1.5])).collect(), &Settings::default());
    assert_eq!(equal.groups[0].metrics["mean_reward"].ci, Some((1.5, 1.5)));
    assert!(equal.warnings.is_empty());
}

#[test]
fn the_interquartile_mean_trims_a_quarter_at_each_end() {
    let runs = [9.0, 0.0, 2.0, 4.0, 100.0].iter().zip(0..).map(|(reward, seed)| seeded(seed, &[*reward])).collect();
    let report = judged(runs, &Settings::default());
    assert_close(report.groups[0].metrics["mean_reward"].iqm.unwrap(), 5.0, "of 2, 4, 9");
}

#[test]
fn the_text_fits_and_names_what_it_leaves_out() {
    let runs = (0..3).map(|seed| seeded(seed, &[0.123_456, 7.0 + f64::from(i32::try_from(seed).unwrap())])).collect();
    let report = judged(runs, &window(1));
    let wide = render(&report, 120);
    assert!(wide.starts_with("group   n"), "{wide}");
    assert!(wide.contains("not defined on any run: forgetting (no_revisit)"), "{wide}");
    assert!(wide.contains("window 1 row;"));
    for width in [60, 80, 120] {
        for line in render(&report, width).lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
    }
    let words: Vec<String> = render(&report, 30).split_whitespace().map(str::to_owned).collect();
    assert!(words.join(" ").contains("left out of a table for want of width: worst regime, invalid"), "{words:?}");
}

#[test]
fn names_do_not_move_the_cursor() {
    let mut hostile = run(&[("a", None, &[1.0])]);
    hostile.identity.fields.insert("policy_id", Value::from("\u{1b}[2J\u{202e}evil\n"));
    let text = render(&judged(vec![hostile], &Settings::default()), 80);
    assert!(!text.contains(['\u{1b}', '\u{202e}']));
    assert!(text.lines().nth(1).unwrap().starts_with("\u{fffd}[2J\u{fffd}evil\u{fffd}"));
}

#[test]
fn windows_read_as_rows_or_shares() {
    assert_eq!("200".parse::<Window>().unwrap(), Window::Rows(200));
    assert_eq!("12.5%".parse::<Window>().unwrap(), Window::Percent(12.5));
    for text in ["", "0", "-1", "0%", "60%", "NaN%", "many", "1e3"] {
        assert!(matches!(text.parse::<Window>(), Err(EvalError::Window(_))), "{text}");
    }
    assert_eq!(Window::Percent(10.0).rows(30), 3);
    assert_eq!(Window::Percent(10.0).rows(31), 4);
    assert_eq!((Window::Rows(9).rows(7), Window::Rows(9).rows(1), Window::Rows(9).rows(0)), (3, 1, 1));
}
