//! Trials of learning: a policy is trained, saved, restored into a policy made anew, and judged
//! frozen over episodes with a seed of their own. `benches/learning.rs` has the same ones.

use rayon::prelude::*;
use skyfall::config::ExperimentConfig;
use skyfall::env::registry as worlds;
use skyfall::experiment::{Catalog, Experiment, Parts, Silent};
use skyfall::policy::{Context, registry};
use skyfall::text::json;
use skyfall::value::Map;

pub(crate) const HILL_CLIMBING: &str = r#"{"name": "discrete_hill_climbing", "policy": {"id": "linear_menu"}}"#;
pub(crate) const ARS: &str = r#"{"name": "ars", "policy": {"id": "linear_menu", "kwargs": {"initial": 0}}}"#;
pub(crate) const CEM: &str = r#"{"name": "cem", "policy": {"id": "linear_menu", "kwargs": {"initial": 0}}}"#;
pub(crate) const REINFORCE: &str =
    r#"{"name": "reinforce", "policy": {"id": "linear_softmax", "kwargs": {"initial": 0}}}"#;
pub(crate) const TILES: &str = r#"{"name": "sarsa", "params": {"lambda": 0.9, "learning_rate": 0.3, "epsilon": 0},
    "policy": {"id": "tabular", "kwargs": {"tilings": 8, "bins": 3, "initial": 100,
        "low": [-2.4, -2, -0.21, -2], "high": [2.4, 2, 0.21, 2]}}}"#;
pub(crate) const Q_LEARNING: &str = r#"{"name": "q_learning", "policy": {"id": "tabular"}}"#;
pub(crate) const SARSA: &str = r#"{"name": "sarsa", "policy": {"id": "tabular"}}"#;
pub(crate) const SLIPPERY: &str = r#"{"name": "q_learning", "params": {"learning_rate": 0.05, "epsilon": 0.5},
    "policy": {"id": "tabular"}}"#;

/// The experiment of `algorithm`, a JSON object, after its run.
pub(crate) fn trained(env: &str, algorithm: &str, steps: u64, seed: u64, more: &str) -> Experiment {
    let text = format!(
        r#"{{"env": {{"id": "{env}"}}, "algorithm": {algorithm}, "rollout": {{"total_steps": {steps}}},
            "run": {{"seed": {seed}}}{more}}}"#
    );
    let config = ExperimentConfig::from_value(&json::parse(&text).unwrap()).unwrap();
    let mut experiment = Experiment::new(config, &Catalog::native(), Parts::default()).unwrap();
    experiment.run(None, &mut Silent).unwrap();
    experiment
}

/// The mean return of the experiment's policy, restored from its checkpoint and frozen, in its
/// world as it is made.
pub(crate) fn judged(experiment: &Experiment, episodes: u32) -> f64 {
    let directory = tempfile::tempdir().unwrap();
    experiment.algorithm().policy().save(directory.path()).unwrap();
    let mut env = worlds::make(&experiment.config().env.id, &Map::new()).unwrap();
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
pub(crate) fn returns(env: &str, algorithm: &str, steps: u64, seeds: u64, episodes: u32) -> Vec<f64> {
    let one = |seed| judged(&trained(env, algorithm, steps, seed, ""), episodes);
    let mut returns: Vec<f64> = (0..seeds).into_par_iter().map(one).collect();
    returns.sort_by(f64::total_cmp);
    returns
}

/// How many of `returns` are those of a policy that stays up in CartPole: 475 steps of 500.
pub(crate) fn stay_up(returns: &[f64]) -> usize {
    returns.iter().filter(|mean| **mean >= 475.0).count()
}

/// With which probability FrozenLake's goal can be reached within an episode's 100 steps: by the
/// best policy that knows how many are left, and by the one that is best without a limit.
///
/// By dynamic programming over the map as Gymnasium has it: a step goes where it should, or to
/// either side of it, each with a third.
pub(crate) fn lake_bounds() -> [f64; 2] {
    const LAKE: &[u8; 16] = b"SFFFFHFHFFFHHFFG";
    let towards = |place: usize, direction: usize| match direction % 4 {
        0 => place - usize::from(!place.is_multiple_of(4)),
        1 => place + if place < 12 { 4 } else { 0 },
        2 => place + usize::from(place % 4 < 3),
        _ => place - if place >= 4 { 4 } else { 0 },
    };
    let worth = |values: &[f64; 16], place: usize, action: usize| {
        [3, 4, 5].map(|turn| values[towards(place, action + turn)]).iter().sum::<f64>() / 3.0
    };
    let sweep = |values: &[f64; 16], act: &dyn Fn(usize) -> f64| -> [f64; 16] {
        std::array::from_fn(|place| if b"HG".contains(&LAKE[place]) { values[place] } else { act(place) })
    };
    let best = |values: &[f64; 16], steps: usize| {
        (0..steps).fold(*values, |values, _| {
            sweep(&values, &|place| (0..4).map(|action| worth(&values, place, action)).fold(0.0, f64::max))
        })
    };
    let mut end = [0.0; 16];
    end[15] = 1.0;
    let limitless = best(&end, 10_000);
    let greedy = |place: usize| {
        let of = |action: usize| worth(&limitless, place, action);
        (1..4).fold(0, |first, action| if of(action) > of(first) + 1e-9 { action } else { first })
    };
    let stationary = (0..100).fold(end, |values, _| sweep(&values, &|place| worth(&values, place, greedy(place))));
    [best(&end, 100)[0], stationary[0]]
}
