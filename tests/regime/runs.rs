//! Whole runs under `random` and `drift`: traced, served, in Lua.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use skyfall::algorithm::{Algorithm, AlgorithmError, registry::frozen};
use skyfall::bundle::{Bundle, ExportOptions, ServeOptions, export, serve};
use skyfall::config::ExperimentConfig;
use skyfall::experiment::{Catalog, Experiment, Parts, Silent};
use skyfall::policy::Policy;
use skyfall::regime::Regime;
use skyfall::value::Map;

use crate::command::Scratch;
use crate::experiment::{config, rows};

const SWITCHING: &str = r#"{"provider": "random", "params": {"mean_steps": 30, "min_steps": 10, "states": [
    {"id": "calm"},
    {"id": "windy", "env": {"force_mag": 6.0, "observation_noise.std": 0.1}},
    {"id": "stiff", "env": {"action_delay.steps": 1}, "reward": {"alive": 0.5}}]}}"#;
const DRIFTING: &str = r#"{"provider": "drift", "params": {"path": "random_walk", "std": 0.1, "every": 4, "buckets": 3,
    "env": {"force_mag": {"from": 10, "to": 5}, "observation_noise.std": {"from": 0, "to": 0.2}},
    "reward": {"alive": {"from": 1, "to": 0.5}}}}"#;

fn cartpole(regime: &str, seed: u64) -> String {
    format!(
        r#"{{"env": {{"id": "CartPole-v1", "wrappers": [{{"name": "observation_noise"}}, {{"name": "action_delay"}}]}},
        "algorithm": {{"name": "none", "policy": {{"id": "linear_menu", "kwargs": {{"seed": 3}}}}}},
        "rollout": {{"total_steps": 400}},
        "reward": {{"terms": [{{"builtin": "alive", "weight": 1}}]}},
        "regime": {regime}, "run": {{"name": "moving", "seed": {seed}}}}}"#
    )
}

fn run(config: ExperimentConfig, trace: &Path) -> Experiment {
    let mut experiment = Experiment::new(config, &Catalog::native(), Parts::default()).unwrap();
    experiment.run(Some(trace), &mut Silent).unwrap();
    experiment
}

/// The rows' steps, labels and weights.
fn told(rows: &[Map]) -> Vec<(Option<i64>, String, f64)> {
    let weight = |row: &Map| row["reward_components"].as_map().unwrap()["alive"].as_float().unwrap();
    rows.iter().map(|row| (row["step"].as_int(), row["regime_id"].as_text().unwrap().to_owned(), weight(row))).collect()
}

#[test]
fn a_served_bundle_goes_through_the_same_regimes() {
    for regime in [SWITCHING, DRIFTING] {
        let directory = tempfile::tempdir().unwrap();
        let [trained, again, served, dir, other] =
            ["trained.jsonl", "again.jsonl", "served.jsonl", "bundle", "other.jsonl"]
                .map(|name| directory.path().join(name));
        let text = cartpole(regime, 5);
        let experiment = run(config(&text), &trained);
        run(config(&text), &again);
        let bytes = |path: &Path| std::fs::read(path).unwrap();
        assert_eq!(bytes(&trained), bytes(&again));
        export(&experiment, &dir, ExportOptions::default()).unwrap();
        let bundle = Bundle::open(&dir).unwrap();
        assert_eq!(bundle.manifest().regime, config(&text).regime);
        let options = ServeOptions { steps: Some(400), ..ServeOptions::default() };
        serve(&bundle, &Catalog::native(), &options, Some(&served), &mut Silent).unwrap();
        let trained = told(&rows(&trained));
        assert_eq!(told(&rows(&served)), trained);
        let shifts = trained.windows(2).filter(|pair| pair[0].1 != pair[1].1).count();
        assert!((3..60).contains(&shifts), "{shifts}");
        // Under another seed the world takes another way.
        let options = ServeOptions { seed: Some(6), ..options };
        serve(&bundle, &Catalog::native(), &options, Some(&other), &mut Silent).unwrap();
        assert_ne!(told(&rows(&other)), trained);
    }
}

#[test]
fn a_drift_moves_values_within_one_segment() {
    let directory = tempfile::tempdir().unwrap();
    let trace = directory.path().join("t.jsonl");
    let regime =
        r#"{"provider": "drift", "params": {"steps": 400, "buckets": 2, "reward": {"alive": {"from": 1, "to": 0}}}}"#;
    run(config(&cartpole(regime, 1)), &trace);
    for (step, (_, label, weight)) in told(&rows(&trace)).into_iter().enumerate() {
        assert_eq!(label, if step < 200 { "drift-0" } else { "drift-1" });
        assert!(weight == 0.0 || weight == 1.0 - step as f64 / 400.0, "a fall is worth nothing");
    }
}

/// Keeps the labels it was told of.
struct Listening(Box<dyn Algorithm>, Rc<RefCell<Vec<String>>>);

impl Algorithm for Listening {
    fn policy(&self) -> &dyn Policy {
        self.0.policy()
    }

    fn policy_mut(&mut self) -> &mut dyn Policy {
        self.0.policy_mut()
    }

    fn on_shift(&mut self, regime: &Regime) -> Result<(), AlgorithmError> {
        self.1.borrow_mut().push(regime.id.clone().unwrap_or_default());
        Ok(())
    }
}

#[test]
fn an_algorithm_is_told_of_another_label_only() {
    let heard = Rc::new(RefCell::new(Vec::new()));
    let mut catalog = Catalog::native();
    let kept = Rc::clone(&heard);
    catalog.define_algorithm(
        "listening",
        Rc::new(move |_, policy, _| {
            Ok(Box::new(Listening(frozen(policy.unwrap()), Rc::clone(&kept))) as Box<dyn Algorithm>)
        }),
    );
    let drift = r#"{"provider": "drift", "params": {"path": "sine", "steps": 100, "buckets": 2,
        "env": {"force_mag": {"from": 10, "to": 5}}}}"#;
    let text = cartpole(drift, 1).replace(r#""name": "none""#, r#""name": "listening""#);
    Experiment::new(config(&text), &catalog, Parts::default()).unwrap().run(None, &mut Silent).unwrap();
    let expected: Vec<String> = (1..=8).map(|shift| format!("drift-{}", shift % 2)).collect();
    assert_eq!(*heard.borrow(), expected);
}

#[test]
fn what_the_world_cannot_follow_is_refused_before_the_run() {
    let whole =
        r#"{"provider": "drift", "params": {"steps": 50, "env": {"action_delay.steps": {"from": 0, "to": 4}}}}"#;
    let unknown = r#"{"provider": "random", "params": {"mean_steps": 3, "states": [{"id": "a"}, {"id": "b", "env": {"force": 1}}]}}"#;
    let weight = r#"{"provider": "drift", "params": {"steps": 50, "reward": {"alve": {"from": 0, "to": 4}}}}"#;
    for (regime, told) in [(whole, "an integer from 0 to 10000"), (unknown, "`force_mag`"), (weight, "`alve`")] {
        let error = Experiment::new(config(&cartpole(regime, 1)), &Catalog::native(), Parts::default()).err().unwrap();
        assert!(error.to_string().contains(told), "{error}");
    }
}

#[test]
fn lua_and_the_command_line_run_the_same_regimes() {
    for (regime, call) in [(SWITCHING, "random"), (DRIFTING, "drift")] {
        let scratch = Scratch::new();
        let text = cartpole(regime, 2);
        scratch.write("moving.json", &text);
        scratch.skyfall(&["run", "moving.json", "--traces", "a.jsonl"]).ok();
        let script = format!(
            "local skyfall = require 'skyfall'\nlocal config = skyfall.json.decode [==[{text}]==]\n\
             config.regime = skyfall.regime.{call}(config.regime.params)\n\
             skyfall.run_experiment(config, {{ traces = 'b.jsonl', export_dir = 'bundle' }})"
        );
        scratch.script(&script).ok();
        assert_eq!(scratch.read("a.jsonl"), scratch.read("b.jsonl"));
        scratch.skyfall(&["serve", "bundle", "--steps", "400", "--traces", "c.jsonl"]).ok();
        assert_eq!(told(&rows(&scratch.file("c.jsonl"))), told(&rows(&scratch.file("a.jsonl"))));
    }
    Scratch::new()
        .script("require('skyfall').regime.random { states = { { id = 'a' } } }")
        .failed(1, &["script.lua:1", "`params.states[0].mean_steps`: missing"]);
}
