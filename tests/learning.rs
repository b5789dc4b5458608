//! What the native algorithms learn: a policy is trained, saved, restored into a policy made anew,
//! and judged frozen over episodes with a seed of their own.
//!
//! All are deterministic, so a share of seeds is a fact, not a chance. What takes minutes is
//! ignored by default: `cargo test --release -- --ignored learning --nocapture` prints the tables
//! that `docs/algorithms.md` states.

use skyfall::experiment::{Catalog, Experiment, Parts, Silent};
use skyfall::policy::{Context, registry};
use skyfall::value::Map;

use crate::experiment::config;

/// The experiment of `algorithm`, a JSON object, after its run.
pub(crate) fn trained(env: &str, algorithm: &str, steps: u64, seed: u64, more: &str) -> Experiment {
    let text = format!(
        r#"{{"env": {{"id": "{env}"}}, "algorithm": {algorithm}, "rollout": {{"total_steps": {steps}}},
            "run": {{"seed": {seed}}}{more}}}"#
    );
    let mut experiment = Experiment::new(config(&text), &Catalog::native(), Parts::default()).unwrap();
    experiment.run(None, &mut Silent).unwrap();
    experiment
}

/// The mean return of the experiment's policy, restored from its checkpoint and frozen, in its
/// world as it is made.
pub(crate) fn judged(experiment: &Experiment, episodes: u32) -> f64 {
    let directory = tempfile::tempdir().unwrap();
    experiment.algorithm().policy().save(directory.path()).unwrap();
    let mut env = skyfall::env::registry::make(&experiment.config().env.id, &Map::new()).unwrap();
    let (observations, actions) = (env.observation_space().clone(), env.action_space().clone());
    let context = Context { observation_space: &observations, action_space: &actions, seed: 0 };
    let made = experiment.config().algorithm.policy.clone().unwrap();
    let mut policy = registry::make(&made.id, &made.kwargs, context).unwrap();
    policy.load(&directory.path().join("weights.safetensors")).unwrap();
    let (mut observation, mut action) = (observations.blank(), actions.blank());
    env.reset(Some(1_000_000 + experiment.config().run.seed), &mut observation).unwrap();
    let (mut finished, mut steps, mut total) = (0, 0, 0.0);
    while finished < episodes && steps < 200_000 {
        policy.act(&observation, &mut action).unwrap();
        let transition = env.step(&action, &mut observation).unwrap();
        total += transition.reward;
        steps += 1;
        if transition.terminated || transition.truncated {
            finished += 1;
            env.reset(None, &mut observation).unwrap();
        }
    }
    total / f64::from(episodes)
}

/// What the policies of seeds 0 to `seeds - 1` return, worst first.
fn returns(env: &str, algorithm: &str, steps: u64, seeds: u64, episodes: u32) -> Vec<f64> {
    let one = |seed| judged(&trained(env, algorithm, steps, seed, ""), episodes);
    let mut returns: Vec<f64> = (0..seeds).map(one).collect();
    returns.sort_by(f64::total_cmp);
    returns
}

/// The share of 20 seeds whose policy stays up for 475 steps of CartPole after 50 000 steps.
fn cartpole_share(algorithm: &str) -> f64 {
    let returns = returns("CartPole-v1", algorithm, 50_000, 20, 100);
    let good = returns.iter().filter(|mean| **mean >= 475.0).count();
    println!("{algorithm}: {good} of 20; p10 {:.1}, median {:.1}; {returns:?}", returns[2], returns[10]);
    good as f64 / 20.0
}

const ARS: &str = r#"{"name": "ars", "policy": {"id": "linear_menu", "kwargs": {"initial": 0}}}"#;
const CEM: &str = r#"{"name": "cem", "policy": {"id": "linear_menu", "kwargs": {"initial": 0}}}"#;
const REINFORCE: &str = r#"{"name": "reinforce", "policy": {"id": "linear_softmax", "kwargs": {"initial": 0}}}"#;
const TILES: &str = r#"{"name": "sarsa", "params": {"lambda": 0.9, "learning_rate": 0.3, "epsilon": 0},
    "policy": {"id": "tabular", "kwargs": {"tilings": 8, "bins": 3, "initial": 100,
        "low": [-2.4, -2, -0.21, -2], "high": [2.4, 2, 0.21, 2]}}}"#;

#[test]
fn ars_learns_cartpole() {
    assert!(cartpole_share(ARS) >= 0.9);
}

#[test]
fn cem_learns_cartpole() {
    assert!(cartpole_share(CEM) >= 0.8);
}

#[test]
fn reinforce_learns_cartpole() {
    assert!(cartpole_share(REINFORCE) >= 0.8);
}

#[test]
fn sarsa_learns_cartpole_over_tiles() {
    assert!(cartpole_share(TILES) >= 0.8);
}

/// The shortest way around the cliff has 13 steps.
#[test]
fn q_learning_finds_the_shortest_way_along_the_cliff() {
    let algorithm = r#"{"name": "q_learning", "policy": {"id": "tabular"}}"#;
    assert_eq!(returns("CliffWalking-v1", algorithm, 20_000, 5, 1), [-13.0; 5]);
}

/// Sarsa knows that it explores and keeps away from the edge (Sutton and Barto, example 6.6).
#[test]
fn sarsa_keeps_away_from_the_cliff() {
    let algorithm = r#"{"name": "sarsa", "policy": {"id": "tabular"}}"#;
    let returns = returns("CliffWalking-v1", algorithm, 50_000, 5, 1);
    assert!(returns.iter().all(|way| (-17.0..-13.0).contains(way)), "{returns:?}");
}

/// Within the 100 steps of an episode, the best policy of all reaches the goal with probability
/// 0.744, and the best one that does not look at the time with 0.740 (dynamic programming).
#[test]
fn q_learning_crosses_the_frozen_lake() {
    let algorithm = r#"{"name": "q_learning", "params": {"learning_rate": 0.05, "epsilon": 0.5},
        "policy": {"id": "tabular"}}"#;
    let returns = returns("FrozenLake-v1", algorithm, 100_000, 5, 1000);
    assert!(returns.iter().all(|share| *share >= 0.7), "{returns:?}");
}

#[test]
fn ppo_learns_cartpole_quickly_with_a_linear_policy() {
    let algorithm = r#"{"name": "ppo", "params": {"critic": [16], "epochs": 4, "minibatch": 64, "learning_rate": 0.02},
        "policy": {"id": "linear_softmax", "kwargs": {"initial": 0}}}"#;
    let returns = returns("CartPole-v1", algorithm, 10_000, 3, 20);
    assert!(returns.iter().all(|mean| *mean >= 195.0), "{returns:?}");
}

#[test]
#[ignore = "minutes"]
fn ppo_learns_cartpole() {
    let returns = returns("CartPole-v1", r#"{"name": "ppo", "policy": {"id": "mlp"}}"#, 50_000, 6, 100);
    println!("ppo: {returns:?}");
    assert!(returns[0] >= 475.0, "{returns:?}");
}

/// A choice by the highest score does not know the scale of the weights.
#[test]
fn ars_does_the_same_at_every_scale() {
    let scaled = |factor: f64| {
        let (learning_rate, noise) = (0.25 * factor, 0.5 * factor);
        let algorithm = format!(
            r#"{{"name": "ars", "params": {{"learning_rate": {learning_rate}, "noise": {noise}}},
                "policy": {{"id": "linear_menu", "kwargs": {{"initial": 0}}}}}}"#
        );
        trained("CartPole-v1", &algorithm, 5_000, 4, "").algorithm().policy().parameters().unwrap().to_vec()
    };
    let (one, four) = (scaled(1.0), scaled(4.0));
    assert!(one.iter().any(|weight| *weight != 0.0));
    assert_eq!(four, one.iter().map(|weight| 4.0 * weight).collect::<Vec<_>>());
}

/// Pushing the other way makes the best policy the worst one. The world comes back for just long
/// enough to notice: who kept what it knew is good at once, who began anew is not.
#[test]
fn an_oracle_remembers_what_a_reset_forgets() {
    let regimes = r#", "regime": {"provider": "schedule", "params": {"entries": [
        {"id": "there", "steps": 30000}, {"id": "back", "steps": 30000, "env": {"force_mag": -10.0}},
        {"id": "again", "origin": "there", "steps": 40}]}}"#;
    let last = |name: &str| {
        let algorithm = ARS.replace("\"ars\"", &format!("\"{name}\""));
        judged(&trained("CartPole-v1", &algorithm, 60_040, 1, regimes), 100)
    };
    assert!(last("ars+oracle_per_regime") >= 475.0);
    assert!(last("ars+reset_at_shift") < 100.0);
    assert!(last("ars") < 100.0);
}
