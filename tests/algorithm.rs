//! Algorithms by name: what they refuse and say, controls at shifts, and effective rank.

use std::collections::{BTreeMap, BTreeSet};

use allocation_counter::measure;
use skyfall::algorithm::{Episode, registry as algorithms};
use skyfall::diagnostic::Problem;
use skyfall::experiment::{Catalog, Experiment, Parts, Silent};
use skyfall::policy::Context;
use skyfall::space::Space;
use skyfall::text::json;
use skyfall::value::{Map, Value};

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

/// What every algorithm says it takes, and what `docs/algorithms.md` says of it.
#[test]
fn the_documented_parameters_are_those_taken() {
    let (_, table) = include_str!("../docs/algorithms.md").split_once("| algorithm | parameter |").unwrap();
    let mut documented: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut names: Vec<&str> = Vec::new();
    for row in table.lines().skip(2).take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.split('|').collect();
        let quoted = |cell: usize| cells[cell].split('`').skip(1).step_by(2);
        if quoted(1).next().is_some() {
            names = quoted(1).collect();
        }
        for name in &names {
            documented.entry(name).or_insert_with(|| BTreeSet::from(["seed"])).extend(quoted(2));
        }
    }
    let space = Space::discrete(3, 0).unwrap();
    let context = Context { observation_space: &space, action_space: &space, seed: 0 };
    let unknown = Map::from_iter([("?".to_owned(), Value::Int(1))]);
    for name in algorithms::NAMES.into_iter().filter(|name| *name != "none") {
        let refusal = algorithms::make(name, &unknown, None, context).err().unwrap().to_string();
        let (_, taken) = refusal.split_once("it takes ").unwrap();
        assert_eq!(documented.remove(name).unwrap(), taken.split(", ").collect(), "{name}");
    }
    assert_eq!(documented.into_keys().collect::<Vec<_>>(), [""; 0]);
}

/// Sizes that no memory has are refused like any other mistake, before anything is made of them.
#[test]
fn what_does_not_fit_memory_is_refused() {
    for (name, params) in [
        ("ars", r#"{"directions": 2000000000}"#),
        ("cem", r#"{"population": 2000000000}"#),
        ("ppo", r#"{"critic": [2000000000, 2000000000]}"#),
    ] {
        let line = refusal(&format!(r#"{{"name": "{name}", "params": {params}}}"#));
        assert!(line.contains("too many"), "{line}");
    }
    // A horizon fills up as it goes.
    assert!(experiment(r#"{"name": "ppo", "params": {"horizon": 2000000000}}"#, 10, "").is_ok());
}

/// An episode whose return is not finite is no reason to go anywhere.
#[test]
fn returns_that_are_not_finite_move_nothing() {
    let space = Space::discrete(2, 0).unwrap();
    let context = Context { observation_space: &space, action_space: &space, seed: 0 };
    for name in ["ars", "cem"] {
        let mut algorithm = algorithms::make(name, &Map::new(), None, context).unwrap();
        for index in 0..400 {
            let episode = Episode { index, steps: 1, total_reward: f64::NAN, ..Episode::default() };
            algorithm.on_episode(&episode).unwrap();
        }
        algorithm.finish().unwrap();
        assert_eq!(algorithm.policy().parameters().unwrap(), [0.0; 4], "{name}");
    }
}

/// Steps beyond the first ones cost the loop and its parts no allocation.
#[test]
fn a_step_of_the_loop_allocates_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let tiles = r#"{"tilings": 3, "bins": 4, "low": [null, -2, null, -2], "high": [null, 2, null, 2]}"#;
    for algorithm in [
        r#"{"name": "none"}"#.to_owned(),
        r#"{"name": "ars"}"#.to_owned(),
        r#"{"name": "ppo", "params": {"horizon": 64, "epochs": 1}}"#.to_owned(),
        format!(r#"{{"name": "q_learning", "policy": {{"id": "tabular", "kwargs": {tiles}}}}}"#),
    ] {
        let allocations = |steps| {
            let mut experiment = experiment(&algorithm, steps, "").unwrap();
            let path = directory.path().join("t.jsonl");
            measure(|| assert_eq!(experiment.run(Some(&path), &mut Silent).unwrap().steps, steps)).count_total
        };
        let (short, long) = (allocations(1_000), allocations(3_000));
        assert!(long < short + 20, "{algorithm}: {short} allocations in 1000 steps, {long} in 3000");
    }
}
