//! What the native algorithms learn. All are deterministic, so a share of seeds is a fact, not a
//! chance; `benches/learning.rs` prints the figures that `docs/algorithms.md` states.

mod trial;

use trial::{ARS, CEM, HILL_CLIMBING, Q_LEARNING, REINFORCE, SARSA, SLIPPERY, TILES, lake_bounds, returns, stay_up};
pub(crate) use trial::{judged, trained};

/// How many of 20 seeds have a policy that stays up in CartPole after 50 000 steps.
fn that_stay_up(algorithm: &str) -> usize {
    stay_up(&returns("CartPole-v1", algorithm, 50_000, 20, 100))
}

#[test]
fn hill_climbing_learns_cartpole() {
    assert!(that_stay_up(HILL_CLIMBING) >= 16);
}

#[test]
fn ars_learns_cartpole() {
    assert!(that_stay_up(ARS) >= 18);
}

#[test]
fn cem_learns_cartpole() {
    assert!(that_stay_up(CEM) >= 16);
}

#[test]
fn reinforce_learns_cartpole() {
    assert!(that_stay_up(REINFORCE) >= 16);
}

#[test]
fn sarsa_learns_cartpole_over_tiles() {
    assert!(that_stay_up(TILES) >= 16);
}

/// The shortest way around the cliff has 13 steps.
#[test]
fn q_learning_finds_the_shortest_way_along_the_cliff() {
    assert_eq!(returns("CliffWalking-v1", Q_LEARNING, 20_000, 5, 1), [-13.0; 5]);
}

/// Sarsa knows that it explores and keeps away from the edge (Sutton and Barto, example 6.6).
#[test]
fn sarsa_keeps_away_from_the_cliff() {
    let returns = returns("CliffWalking-v1", SARSA, 50_000, 5, 1);
    assert!(returns.iter().all(|way| (-17.0..-13.0).contains(way)), "{returns:?}");
}

#[test]
fn q_learning_crosses_the_frozen_lake_nearly_as_often_as_can_be() {
    let [best, stationary] = lake_bounds();
    assert!(best > stationary);
    let returns = returns("FrozenLake-v1", SLIPPERY, 100_000, 5, 1000);
    assert!(returns.iter().all(|share| (stationary - 0.04..best + 0.04).contains(share)), "{returns:?}");
}

#[test]
fn ppo_learns_cartpole_quickly_with_a_linear_policy() {
    let algorithm = r#"{"name": "ppo", "params": {"critic": [16], "epochs": 4, "minibatch": 64, "learning_rate": 0.02},
        "policy": {"id": "linear_softmax", "kwargs": {"initial": 0}}}"#;
    let returns = returns("CartPole-v1", algorithm, 10_000, 3, 20);
    assert!(returns.iter().all(|mean| *mean >= 195.0), "{returns:?}");
}

/// Through hidden layers, by their gradient: a policy that was not trained stays up for some 10 steps.
#[test]
fn ppo_learns_cartpole_with_a_network() {
    let algorithm = r#"{"name": "ppo", "params": {"critic": [32], "learning_rate": 0.003},
        "policy": {"id": "mlp", "kwargs": {"hidden": [32, 32]}}}"#;
    let returns = returns("CartPole-v1", algorithm, 12_000, 2, 20);
    assert!(returns.iter().all(|mean| *mean >= 195.0), "{returns:?}");
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
