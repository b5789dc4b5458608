//! Runs beside others: groups compared, learning from scratch, learning switched off.

use indexmap::IndexMap;
use skyfall::eval::{Material, Report, Settings, evaluate};
use skyfall::trace::columns::{Identity, RunColumns, TraceColumns};
use skyfall::value::Value;

use super::asked::asked;
use super::table::run;
use super::{assert_close, at, number};

/// A run of a policy with a seed, or without.
fn of(policy: &str, seed: Option<i64>, stretches: &[(&str, Option<&str>, &[f64])]) -> RunColumns {
    let mut own = run(stretches);
    let mut fields = IndexMap::new();
    fields.extend(seed.map(|seed| ("seed", Value::Int(seed))));
    fields.insert("policy_id", Value::from(policy));
    own.identity = Identity { fields, ..Identity::default() };
    own
}

fn traces(runs: Vec<RunColumns>) -> TraceColumns {
    TraceColumns { runs, ..TraceColumns::default() }
}

fn value(report: &Report, metric: &str) -> f64 {
    report.runs[0].value(metric).unwrap_or_else(|| panic!("{metric}: {:?}", report.runs[0].metrics[metric]))
}

#[test]
fn seeds_pair_two_groups() {
    let levels = [("linear", [5.0, 7.0, 9.0]), ("knn", [1.0, 2.0, 9.0])];
    let runs = levels.iter().flat_map(|(policy, levels)| {
        (0..).zip(levels).map(|(seed, level)| of(policy, Some(seed), &[("a", None, &[*level])]))
    });
    let settings = asked(&[("compare", r#"["linear", "knn"]"#)]);
    let tree = evaluate(traces(runs.collect()), &settings).unwrap().to_value();
    let contrast = at(&tree, "comparisons.0.metrics.mean_reward");
    assert_close(number(contrast, "difference"), 3.0, "difference");
    assert_close(number(contrast, "p_greater"), 2.5 / 3.0, "a tie counts half");
    assert_eq!(at(contrast, "n_pairs"), &Value::Int(3));
    assert_eq!(at(contrast, "better"), &Value::Null, "the interval holds zero");
    assert_eq!(number(contrast, "ci.0"), 0.0);
}

#[test]
fn groups_without_common_seeds_are_independent_samples() {
    let level = |policy, level: f64| of(policy, None, &[("a", None, &[level])]);
    let mut runs = vec![level("a", 5.0), level("a", 6.0), level("a", 8.0), level("b", 1.0), level("b", 2.0)];
    runs.reverse();
    let settings = asked(&[("compare", r#"["a", "b"]"#)]);
    let report = evaluate(traces(runs), &settings).unwrap();
    let contrast = &report.comparisons[0].metrics["mean_reward"];
    assert_eq!((contrast.n, contrast.n_pairs, contrast.p_greater), ((3, 2), None, Some(1.0)));
    assert_eq!(contrast.better.as_deref(), Some("a"));
    let (low, high) = contrast.ci.unwrap();
    assert!(low >= 3.0 && high <= 7.0 && low < high, "{low} {high}");
    let lower_is_better = &report.comparisons[0].metrics["empirical_regret_per_step"];
    assert_eq!(lower_is_better.better.as_deref(), Some("a"));
    let error = evaluate(traces(vec![level("a", 1.0)]), &settings).unwrap_err();
    assert_eq!(error.to_string(), "`b` names 0 of the groups, not one");
}

#[test]
fn groups_are_by_any_key_and_intervals_keep_every_task() {
    let of_task = |task: &str, level: f64| {
        let mut own = of("p", Some(0), &[("a", None, &[level])]);
        own.identity.fields.insert("task", Value::from(task));
        own.meta.insert("lr".to_owned(), Value::Float(0.1));
        own
    };
    let runs = vec![of_task("easy", 9.0), of_task("hard", 1.0)];
    let report = evaluate(traces(runs.clone()), &asked(&[("group_by", "\"lr\"")])).unwrap();
    assert_eq!(report.groups[0].label(), "0.1");
    let summary = &report.groups[0].metrics["mean_reward"];
    assert_eq!(summary.ci, Some((5.0, 5.0)), "one run a task: nothing to resample");
    let error = evaluate(traces(runs), &asked(&[("group_by", "\"lrr\"")])).unwrap_err();
    assert_eq!(error.to_string(), "no run has `lrr` to group by");
    // Beside the usual keys, too, which a run may lack.
    let runs = vec![of("a", Some(0), &[("a", None, &[1.0])]), of("b", Some(0), &[("a", None, &[1.0])])];
    let with = |key: &str| asked(&[("group_by", &format!("\"policy_id, task, algorithm_id{key}\""))]);
    assert!(evaluate(traces(runs.clone()), &with("")).is_ok());
    let error = evaluate(traces(runs), &with(", lrr")).unwrap_err();
    assert!(error.to_string().contains("no run has `lrr`"), "{error}");
}

#[test]
fn runs_are_ordered_by_identity() {
    let runs = vec![of("b", Some(10), &[("a", None, &[1.0])]), of("b", Some(9), &[("a", None, &[1.0])])];
    let report = evaluate(traces(runs), &Settings::default()).unwrap();
    assert_eq!(report.runs[0].identity.fields["seed"], Value::Int(9));
}

#[test]
fn learning_from_scratch_is_the_baseline() {
    let own = of("p", None, &[("a", None, &[2.0, 4.0, 4.0, 9.0]), ("b", None, &[1.0])]);
    let baseline = vec![
        of("x", Some(0), &[("a", None, &[0.0, 1.0, 4.0]), ("c", None, &[7.0])]),
        of("x", Some(1), &[("c", None, &[7.0]), ("a", None, &[0.0, 1.0, 2.0, 50.0])]),
    ];
    let settings = asked(&[("bounds", r#"{"a": {"max": 10}}"#)]);
    let material =
        || Material { traces: traces(vec![own.clone()]), frozen: None, baseline: Some(traces(baseline.clone())) };
    let report = evaluate(material(), &settings).unwrap();
    // Over three rows: own mean 10/3; baseline rows 0, 1, 3, mean 4/3.
    for (metric, expected) in [
        ("auc_diff", 2.0),
        ("ft_norm", 2.0 / (10.0 - 4.0 / 3.0)),
        ("transfer_ratio", 1.5),
        ("rel_perf", 2.5),
        // 4 at row 2 against 3 at row 3.
        ("sample_eff", 4.0 / 3.0 * 1.5),
        ("jumpstart_baseline", 2.0),
    ] {
        assert_close(value(&report, metric), expected, metric);
        assert_eq!(report.runs[0].metrics[metric].n, 1);
    }
    let reason = |report: &Report, metric: &str| report.runs[0].metrics[metric].reason.clone().unwrap();
    let unbounded = evaluate(material(), &asked(&[])).unwrap();
    assert_eq!(reason(&unbounded, "ft_norm"), "no_bounds");
    let without = evaluate(traces(vec![own]), &settings).unwrap();
    assert_eq!(reason(&without, "auc_diff"), "no_baseline");
}

/// A run that learned a, then b, and three checkpoints of it; a served trace of another run.
pub(super) fn served_report() -> Report {
    served_report_with(&asked(&[]))
}

pub(super) fn served_report_with(settings: &Settings) -> Report {
    let mut own = of("p", Some(3), &[("a", None, &[1.0, 5.0]), ("b", None, &[1.0, 7.0])]);
    own.step = vec![0, 1, 2, 3];
    let served = |checkpoint: i64, a: f64, b: f64| {
        let mut served = of("p", Some(3), &[("a", None, &[a, a]), ("b", None, &[b])]);
        served.meta.insert("checkpoint_step".to_owned(), Value::Int(checkpoint));
        served
    };
    let frozen =
        vec![served(3, 2.0, 6.0), served(0, 1.0, -2.0), served(1, 4.0, 0.0), of("q", None, &[("a", None, &[0.0])])];
    let material = Material { traces: traces(vec![own]), frozen: Some(traces(frozen)), baseline: None };
    evaluate(material, settings).unwrap()
}

#[test]
fn served_traces_fill_the_matrix() {
    let report = served_report();
    for (metric, expected) in [
        ("average_performance", 4.0),
        ("forgetting_frozen", 5.0 - 2.0),
        ("bwt_frozen", 2.0 - 4.0),
        ("isolated_forgetting", (4.0 - 2.0) / 4.0),
        ("zero_shot_transfer", (0.0 - -2.0) / 6.0),
    ] {
        assert_close(value(&report, metric), expected, metric);
    }
    let tree = report.to_value();
    assert_eq!(at(&tree, "runs.0.frozen.checkpoints"), &Value::List([0, 1, 3].map(Value::Int).to_vec()));
    assert_eq!(number(&tree, "runs.0.frozen.performance.1.0"), 4.0);
    assert!(report.warnings.iter().any(|warning| warning.code == "frozen_unpaired"));
}

/// Bundles of one run cut at several lengths, each served: the matrix R, from commands alone.
#[test]
fn served_checkpoints_make_the_matrix() {
    let scratch = crate::command::Scratch::new();
    scratch.write(
        "experiment.json",
        r#"{"env": {"id": "CartPole-v1"},
            "algorithm": {"name": "discrete_hill_climbing", "policy": {"id": "linear_menu", "kwargs": {"n_actions": 2}}},
            "regime": {"provider": "schedule", "params": {"entries": [
                {"id": "calm", "steps": 200}, {"id": "windy", "steps": 200, "env": {"force_mag": 6.0}}]}},
            "rollout": {"window_steps": 100, "total_steps": 400},
            "run": {"name": "r", "seed": 7}}"#,
    );
    for steps in ["200", "400"] {
        let (bundle, trace) = (format!("bundle-{steps}"), format!("traces-{steps}.jsonl"));
        let total = format!("rollout.total_steps={steps}");
        let run = ["run", "experiment.json", "--set", &total, "--traces", &trace, "--export", &bundle];
        scratch.skyfall(&run).ok();
        let served = format!("served/{steps}.jsonl");
        scratch.skyfall(&["serve", &bundle, "--checkpoint-step", steps, "--traces", &served]).ok();
    }
    let eval = ["eval", "--traces", "traces-400.jsonl", "--frozen", "served", "--format", "json"];
    let ran = scratch.skyfall(&eval).ok();
    let tree = skyfall::text::json::parse(&ran.stdout).unwrap();
    assert_eq!(at(&tree, "runs.0.frozen.checkpoints"), &Value::List([200, 400].map(Value::Int).to_vec()));
    assert!(number(&tree, "runs.0.metrics.bwt_frozen.value").is_finite(), "{}", ran.stdout);
}
