//! What the native algorithms learn, in the table of `docs/algorithms.md`: every figure there is a
//! line of `cargo bench --bench learning -- all`. Runs on all cores; the figures are the same on
//! every run.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout, missing_docs, reason = "a bench")]

#[path = "../tests/learning/trial.rs"]
mod trial;

use trial::{ARS, CEM, HILL_CLIMBING, Q_LEARNING, REINFORCE, SARSA, SLIPPERY, TILES, lake_bounds, returns, stay_up};

const PPO: &str = r#"{"name": "ppo", "policy": {"id": "mlp"}}"#;

fn main() {
    // `cargo bench` and `cargo test` start it without a task.
    if std::env::args().any(|argument| argument == "all") {
        cartpole();
        cliff();
        lake();
    }
}

fn cartpole() {
    println!("CartPole-v1, 50 000 steps, 100 episodes frozen: seeds at 475 or more, 10th percentile, median");
    for (name, algorithm, seeds) in [
        ("discrete_hill_climbing", HILL_CLIMBING, 20),
        ("ars", ARS, 20),
        ("cem", CEM, 20),
        ("reinforce", REINFORCE, 20),
        ("sarsa over tiles", TILES, 20),
        ("ppo", PPO, 6),
    ] {
        let returns = returns("CartPole-v1", algorithm, 50_000, seeds, 100);
        let [tenth, median] = [10, 2].map(|part| returns[returns.len() / part]);
        println!("{name}: {} of {seeds}, {tenth:.0}, {median:.0}", stay_up(&returns));
    }
}

fn cliff() {
    println!("CliffWalking-v1, 20 seeds: the steps of the way taken, worst first");
    for (name, algorithm, steps) in [("q_learning", Q_LEARNING, 20_000), ("sarsa", SARSA, 50_000)] {
        println!("{name} after {steps} steps: {:?}", returns("CliffWalking-v1", algorithm, steps, 20, 1));
    }
}

fn lake() {
    let [best, stationary] = lake_bounds();
    println!("FrozenLake-v1, 20 seeds, 1000 episodes frozen: share that reach the goal");
    println!("the best policy: {best:.3}; without a look at the time: {stationary:.3}");
    let returns = returns("FrozenLake-v1", SLIPPERY, 100_000, 20, 1000);
    println!("q_learning after 100 000 steps: median {:.3}, worst {:.3}", returns[returns.len() / 2], returns[0]);
}
