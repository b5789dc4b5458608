//! Every native algorithm, under every control, and every wrapper goes on where it stopped.

use std::collections::BTreeSet;

use skyfall::algorithm::Control;
use skyfall::algorithm::registry::NAMES;
use skyfall::env::wrapper::registry as wrappers;
use skyfall::experiment::{Catalog, Checkpoints, Experiment, Parts};
use skyfall::text::json;
use skyfall::value::Value;

use super::assert_resumes;
use crate::experiment::config;

/// The parameters and the policy that make each algorithm use everything it has within a few
/// hundred steps: updates, and batches that are half full where the run stops.
fn learner(name: &str) -> &'static str {
    match name {
        "none" => r#""policy": {"id": "linear_softmax", "kwargs": {"sample": true}}"#,
        "discrete_hill_climbing" => r#""params": {"episodes": 2}, "policy": {"id": "linear_menu"}"#,
        "ars" => r#""params": {"directions": 3, "top": 2, "episodes": 2}, "policy": {"id": "linear_menu"}"#,
        "cem" => r#""params": {"population": 6, "elite": 2, "episodes": 2}, "policy": {"id": "linear_menu"}"#,
        "reinforce" => r#""params": {"batch": 3, "horizon": 20}, "policy": {"id": "mlp", "kwargs": {"hidden": [4]}}"#,
        "ppo" => {
            r#""params": {"critic": [5], "horizon": 70, "minibatch": 16, "epochs": 2},
                "policy": {"id": "mlp", "kwargs": {"hidden": [4]}}"#
        }
        "q_learning" | "sarsa" => {
            r#""params": {"lambda": 0.9}, "policy": {"id": "tabular", "kwargs": {"tilings": 3, "bins": 3,
                "low": [-2.4, -2, -0.21, -2], "high": [2.4, 2, 0.21, 2]}}"#
        }
        other => panic!("how is `{other}` made to use everything it has?"),
    }
}

/// CartPole behind wrappers that remember, in regimes that return.
fn experiment(name: &str, learner: &str) -> String {
    format!(
        r#"{{"env": {{"id": "CartPole-v1", "wrappers": [
                {{"name": "observation_delay", "params": {{"steps": 1}}}},
                {{"name": "sticky_actions", "params": {{"probability": 0.2}}}}]}},
            "algorithm": {{"name": "{name}", {learner}}},
            "regime": {{"provider": "cycle", "params": {{"entries": [
                {{"id": "calm", "steps": 230}},
                {{"id": "windy", "steps": 170, "env": {{"force_mag": 6.0, "observation_delay.steps": 2}}}}]}}}},
            "rollout": {{"window_steps": 250, "total_steps": 1500}}, "run": {{"name": "r", "seed": 3}},
            "trace": {{"effective_rank": 64}}}}"#
    )
}

#[test]
fn every_algorithm_goes_on_where_it_stopped() {
    let controls = ["".to_owned()].into_iter().chain(Control::NAMES.map(|(name, _)| format!("+{name}")));
    for control in controls {
        for name in NAMES {
            let text = experiment(&format!("{name}{control}"), learner(name));
            assert_resumes(&config(&text), &[250, 471, 472, 1333]);
        }
    }
}

/// All but `action_noise`, which needs a box of actions, around discrete ones; the others around
/// continuous ones.
const DISCRETE: &str = r#"[
    {"name": "action_delay", "params": {"steps": 2}},
    {"name": "action_mask", "params": {"masked": [1]}},
    {"name": "action_permutation", "params": {"permutation": [2, 0, 1]}},
    {"name": "observation_delay", "params": {"steps": 3, "fill": "last"}},
    {"name": "observation_dropout", "params": {"probability": 0.3}},
    {"name": "observation_noise", "params": {"std": 0.1}},
    {"name": "random_action", "params": {"probability": 0.2}},
    {"name": "reward_delay", "params": {"steps": 4}},
    {"name": "reward_scale", "params": {"scale": 3, "offset": -1}},
    {"name": "sticky_actions", "params": {"probability": 0.3}},
    {"name": "sticky_actions", "params": {"probability": 0.1}}]"#;
const CONTINUOUS: &str = r#"[
    {"name": "action_noise", "params": {"std": 0.3}},
    {"name": "action_delay", "params": {"steps": 3}},
    {"name": "sticky_actions", "params": {"probability": 0.3}},
    {"name": "random_action", "params": {"probability": 0.2}},
    {"name": "observation_dropout", "params": {"probability": 0.3}}]"#;

#[test]
fn every_wrapper_goes_on_where_it_stopped() {
    let mut seen = BTreeSet::new();
    for (env, stack, shifted) in [
        ("Acrobot-v1", DISCRETE, r#""observation_delay.steps": 1, "action_mask.masked": [], "reward_scale.scale": 2"#),
        ("Pendulum-v1", CONTINUOUS, r#""action_delay.steps": 5, "action_noise.distribution": "uniform""#),
    ] {
        for wrapper in json::parse(stack).unwrap().as_list().unwrap() {
            seen.insert(wrapper.as_map().unwrap()["name"].as_text().unwrap().to_owned());
        }
        let text = format!(
            r#"{{"env": {{"id": "{env}", "wrappers": {stack}}}, "algorithm": {{"name": "none", "policy": {{"id": "random"}}}},
                "regime": {{"provider": "cycle", "params": {{"entries": [
                    {{"id": "a", "steps": 130}}, {{"id": "b", "steps": 90, "env": {{{shifted}}}}}]}}}},
                "rollout": {{"window_steps": 120, "total_steps": 1100}}, "run": {{"name": "r", "seed": 5}},
                "trace": {{"record": ["observation", "next_observation", "terminated", "truncated"]}}}}"#
        );
        assert_resumes(&config(&text), &[1, 40, 83, 84, 400, 777]);
    }
    assert_eq!(seen, wrappers::NAMES.map(str::to_owned).into());
}

/// The checkpoint with the digest of what it says now: only one who means it can damage a state.
fn resealed(checkpoint: &str) -> String {
    let Ok(Value::Map(mut map)) = json::parse(checkpoint) else { return checkpoint.to_owned() };
    map.shift_remove("sha256");
    let digest = crate::digest::sha256_hex(json::to_string(&Value::Map(map.clone())).as_bytes());
    map.insert("sha256".to_owned(), digest.into());
    json::to_string(&Value::Map(map))
}

/// A checkpoint that was tampered with is refused, or the run fails or goes on; nothing panics.
#[test]
fn a_damaged_state_is_an_error_or_a_state() {
    for name in NAMES {
        let directory = tempfile::tempdir().unwrap();
        let trace = directory.path().join("t.jsonl");
        let text = experiment(&format!("{name}+oracle_per_regime"), learner(name)).replace("1500", "600");
        let run = |resume, stop| {
            let mut experiment = Experiment::new(config(&text), &Catalog::native(), Parts::default()).unwrap();
            let checkpoints = Checkpoints { every: None, resume };
            experiment.run_with(Some(&trace), Some(checkpoints), &mut super::Until(stop))
        };
        run(false, 471).unwrap();
        let path = skyfall::experiment::checkpoint_path(&trace);
        let (whole, rows) = (std::fs::read_to_string(&path).unwrap(), std::fs::read(&trace).unwrap());
        let resumed = |checkpoint: &str| {
            std::fs::write(&path, resealed(checkpoint)).unwrap();
            std::fs::write(&trace, &rows).unwrap();
            run(true, u64::MAX)
        };
        assert_eq!(resumed(&whole).unwrap().steps, 600);
        for (from, to) in [("[", "[1e300, "), ("[", "[-1, "), (": [", ": [], \"?\": [")] {
            for (place, _) in whole.match_indices(from).step_by(17) {
                let _ = resumed(&format!("{}{to}{}", &whole[..place], &whole[place + from.len()..]));
            }
        }
        for key in ["\"env\"", "\"policy\"", "\"algorithm\"", "\"present\"", "\"resting\"", "\"rng\"", "\"wrappers\""] {
            let refused = resumed(&whole.replace(key, "\"?\"")).unwrap_err().to_string();
            assert!(refused.contains("cannot resume from"), "{name} without {key}: {refused}");
        }
    }
}
