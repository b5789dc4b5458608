//! Algorithms by name: what they refuse and say, controls at shifts, and effective rank.

use skyfall::diagnostic::Problem;
use skyfall::experiment::{Catalog, Experiment, Parts, Silent};
use skyfall::text::json;
use skyfall::value::Value;

use crate::experiment::{config, rows};

fn experiment(algorithm: &str, steps: u64, more: &str) -> Result<Experiment, String> {
    let text = format!(
        r#"{{"env": {{"id": "CartPole-v1"}}, "algorithm": {algorithm}, "rollout": {{"total_steps": {steps}}}{more}}}"#
    );
    let made = Experiment::new(config(&text), &Catalog::native(), Parts::default());
    made.map_err(|error| format!("{error} {}", error.hint().unwrap_or_default()))
}

fn refusal(algorithm: &str) -> String {
    experiment(algorithm, 10, "").err().unwrap()
}

#[test]
fn every_mistake_is_named_at_once() {
    let line = refusal(r#"{"name": "ars", "params": {"nose": 1, "noise": 0, "top": 5, "seed": "x"}}"#);
    for part in ["`params.nose`; did you mean `noise`?", "above 0, got 0", "`params.top` is 5", "`params.seed`"] {
        assert!(line.contains(part), "{part}: {line}");
    }
    let line = refusal(r#"{"name": "cem", "params": {"population": 4, "elite": 9}}"#);
    assert!(line.contains("`params.elite` is 9, but the population is 4"), "{line}");
    let line = refusal(r#"{"name": "ppo", "params": {"discount": 1.5}, "policy": {"id": "linear_menu"}}"#);
    assert!(line.contains("from 0 to 1, got 1.5") && line.contains("no gradient"), "{line}");
    let line = refusal(r#"{"name": "q_learning", "policy": {"id": "mlp"}}"#);
    assert!(line.contains("`tabular` does"), "{line}");
    let line = refusal(r#"{"name": "none", "params": {"noise": 1}}"#);
    assert!(line.contains("it takes none"), "{line}");
    assert!(refusal(r#"{"name": "ars+reset_at_shfit"}"#).contains("did you mean `ars+reset_at_shift`"));
    assert!(refusal(r#"{"name": "arss+reset_at_shift"}"#).contains("did you mean `ars`"));
}

#[test]
fn the_same_seed_learns_the_same_and_another_seed_another() {
    for name in ["ars", "cem", "reinforce", "ppo", "ars+reset_at_shift"] {
        let steps = if name == "ppo" { 600 } else { 5_000 };
        let learned = |seed: u64| {
            let more = format!(r#", "run": {{"seed": {seed}}}"#);
            let mut experiment = experiment(&format!(r#"{{"name": "{name}"}}"#), steps, &more).unwrap();
            experiment.run(None, &mut Silent).unwrap();
            experiment.algorithm().policy().parameters().unwrap().to_vec()
        };
        assert_eq!(learned(5), learned(5), "{name}");
        assert_ne!(learned(5), learned(6), "{name}");
    }
}

#[test]
fn too_few_episodes_and_rewards_without_difference_are_told() {
    let warnings = |name: &str, steps, more: &str| {
        let mut experiment = experiment(&format!(r#"{{"name": "{name}"}}"#), steps, more).unwrap();
        experiment.run(None, &mut Silent).unwrap().warnings
    };
    for name in ["ars", "cem", "cem+oracle_per_regime"] {
        let told = warnings(name, 5, "");
        assert!(told.len() == 1 && told[0].contains("too few finished episodes"), "{name}: {told:?}");
        let told = warnings(name, 6_000, r#", "reward": {"terms": [{"builtin": "env", "weight": 0}]}"#);
        assert!(told.len() == 1 && told[0].contains("tell policies apart"), "{name}: {told:?}");
    }
}

/// From the shift on, a learner that begins anew does what it did from the start, if the world
/// does: here a world of one state, in which only the learner's own draws differ.
#[test]
fn a_reset_begins_anew() {
    let lake = |name: &str| {
        let text = format!(
            r#"{{"env": {{"id": "FrozenLake-v1", "kwargs": {{"desc": ["SG"], "is_slippery": false}}}},
                "algorithm": {{"name": "{name}", "params": {{"epsilon": 1}}}},
                "regime": {{"provider": "schedule", "params": {{"entries": [
                    {{"id": "a", "steps": 100}}, {{"id": "a2", "origin": "a", "steps": 50}}, {{"id": "b", "steps": 100}}]}}}},
                "rollout": {{"total_steps": 250}}}}"#
        );
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("t.jsonl");
        let mut experiment = Experiment::new(config(&text), &Catalog::native(), Parts::default()).unwrap();
        experiment.run(Some(&path), &mut Silent).unwrap();
        rows(&path).iter().map(|row| row["action"].as_map().unwrap()["index"].as_int().unwrap()).collect::<Vec<_>>()
    };
    for name in ["q_learning+reset_at_shift", "q_learning+oracle_per_regime"] {
        let actions = lake(name);
        assert_eq!(actions[150..], actions[..100], "{name}");
        assert_ne!(actions[100..150], actions[..50], "{name}: `a2` goes on where `a` was");
    }
    let actions = lake("q_learning");
    assert_ne!(actions[150..], actions[..100]);
}

#[test]
fn effective_rank_is_measured_once_a_window_and_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.jsonl");
    let asked = r#", "trace": {"effective_rank": 50}"#;
    let mlp = r#"{"name": "ppo", "policy": {"id": "mlp", "kwargs": {"hidden": [8]}}}"#;
    let mut learner = experiment(mlp, 220, asked).unwrap();
    assert_eq!(learner.run(Some(&path), &mut Silent).unwrap().warnings, [""; 0]);
    for (step, row) in rows(&path).iter().enumerate() {
        assert_eq!(row["effective_rank_kind"], Value::from("roy_vetterli_2007"));
        assert_eq!(row["effective_rank_window"], Value::Int(50));
        match row["effective_rank"].as_float() {
            Some(rank) => assert!(step % 50 == 49 && rank > 1.0 && rank <= 8.0, "{step}: {rank}"),
            None => assert!(step % 50 != 49 && row["effective_rank"].is_null(), "{step}"),
        }
    }
    assert!(learner.identity().contains_key("effective_rank_kind"));

    let mut linear = experiment(r#"{"name": "ars"}"#, 120, asked).unwrap();
    let told = linear.run(Some(&path), &mut Silent).unwrap().warnings;
    assert!(told.iter().any(|line| line.contains("no hidden layer")), "{told:?}");
    assert!(rows(&path).iter().all(|row| row["effective_rank"].is_null() && !row.contains_key("effective_rank_kind")));

    let parsed = json::parse(r#"{"env": {"id": "x"}, "rollout": {"total_steps": 1}, "trace": {"effective_rank": 1}}"#);
    let line = skyfall::config::ExperimentConfig::from_value(&parsed.unwrap()).unwrap_err().to_string();
    assert!(line.contains("`trace.effective_rank`") && line.contains("at least 2"), "{line}");
}
