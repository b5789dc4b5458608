//! What the native algorithms learn: a policy is trained, saved, restored into a policy made anew,
//! and judged frozen over 100 episodes with a seed of their own.
//!
//! The quick tests train a few seeds. The tables over 20 seeds that `docs/algorithms.md` states
//! are made by `cargo test --release -- --ignored learning --nocapture`.

use skyfall::experiment::{Catalog, Experiment, Parts, Silent};
use skyfall::policy::{Context, registry};
use skyfall::space::{Element, Space};
use skyfall::value::Map;

use crate::experiment::config;

/// Trains `algorithm`, a JSON object, and gives the mean return of its policy, frozen.
fn learned(env: &str, algorithm: &str, steps: u64, seed: u64) -> f64 {
    let text = format!(
        r#"{{"env": {{"id": "{env}"}}, "algorithm": {algorithm}, "rollout": {{"total_steps": {steps}}},
            "run": {{"seed": {seed}}}}}"#
    );
    let mut experiment = Experiment::new(config(&text), &Catalog::native(), Parts::default()).unwrap();
    experiment.run(None, &mut Silent).unwrap();
    judged(&experiment, env, seed)
}

/// The mean return of the experiment's policy, restored from its checkpoint, over 100 episodes.
fn judged(experiment: &Experiment, env: &str, seed: u64) -> f64 {
    let directory = tempfile::tempdir().unwrap();
    experiment.algorithm().policy().save(directory.path()).unwrap();
    let mut env = skyfall::env::registry::make(env, &Map::new()).unwrap();
    let (observations, actions) = (env.observation_space().clone(), env.action_space().clone());
    let context = Context { observation_space: &observations, action_space: &actions, seed: 0 };
    let made = experiment.config().algorithm.policy.clone().unwrap();
    let mut policy = registry::make(&made.id, &made.kwargs, context).unwrap();
    policy.load(&directory.path().join("weights.safetensors")).unwrap();
    let (mut observation, mut action) = (observations.blank(), actions.blank());
    env.reset(Some(1_000_000 + seed), &mut observation).unwrap();
    let (mut episodes, mut steps, mut total) = (0, 0, 0.0);
    while episodes < 100 && steps < 100_000 {
        policy.act(&observation, &mut action).unwrap();
        let transition = env.step(&action, &mut observation).unwrap();
        total += transition.reward;
        steps += 1;
        if transition.terminated || transition.truncated {
            episodes += 1;
            env.reset(None, &mut observation).unwrap();
        }
    }
    total / 100.0
}

fn policy(id: &str) -> String {
    format!(r#"{{"id": "{id}"}}"#)
}

/// The returns of seeds 0 to `n - 1`, worst first.
fn returns(env: &str, algorithm: &str, steps: u64, n: u64) -> Vec<f64> {
    let mut returns: Vec<f64> = (0..n).map(|seed| learned(env, algorithm, steps, seed)).collect();
    returns.sort_by(f64::total_cmp);
    returns
}

fn share(returns: &[f64], least: f64) -> f64 {
    returns.iter().filter(|mean| **mean >= least).count() as f64 / returns.len() as f64
}

#[test]
#[ignore = "for tuning: ALGORITHM, ENV, STEPS, SEEDS from the environment"]
fn tune() {
    let get = |key: &str, default: &str| std::env::var(key).unwrap_or_else(|_| default.to_owned());
    let env = get("ENV", "CartPole-v1");
    let seeds = get("SEEDS", "20").parse().unwrap();
    for steps in get("STEPS", "50000").split(',') {
        for algorithm in get("ALGORITHM", "").split('\n') {
            let start = std::time::Instant::now();
            let returns = returns(&env, algorithm, steps.parse().unwrap(), seeds);
            println!(
                "{algorithm} {steps}: share {:.2} median {:.1} p10 {:.1} | {:?} {:.1}s",
                share(&returns, 475.0),
                returns[returns.len() / 2],
                returns[returns.len() / 10],
                returns.iter().map(|mean| mean.round()).collect::<Vec<_>>(),
                start.elapsed().as_secs_f64()
            );
        }
    }
}
