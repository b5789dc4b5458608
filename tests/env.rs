//! Native environments through their public interface. `allocation`: none; `golden`: Gymnasium's recorded
//! trajectories; `vector`: many copies at once.

mod allocation;
mod golden;
mod vector;

use skyfall::env::{Env, EnvError, registry};
use skyfall::space::{Element, Space};
use skyfall::value::{Map, Value};

fn make(id: &str) -> (Box<dyn Env>, Element) {
    let env = registry::make(id, &Map::new()).unwrap();
    let observation = env.observation_space().blank();
    (env, observation)
}

#[test]
fn every_registered_world_runs_within_its_spaces() {
    for id in registry::IDS {
        let (mut env, mut observation) = make(id);
        assert_eq!(env.id(), id);
        assert!(Space::decode(&env.observation_space().encode()).unwrap() == *env.observation_space(), "{id}");
        let mut rng = skyfall::random::Rng::new(7);
        env.reset(Some(7), &mut observation).unwrap();
        for _ in 0..300 {
            assert!(env.observation_space().contains(&observation), "{id}: {observation}");
            let action = env.action_space().sample(&mut rng);
            let step = env.step(&action, &mut observation).unwrap();
            if step.terminated || step.truncated {
                env.reset(None, &mut observation).unwrap();
            }
        }
    }
}

#[test]
fn the_time_limit_truncates() {
    let (mut env, mut observation) = make("CartPole-v0");
    env.reset(Some(0), &mut observation).unwrap();
    env.set_parameter("theta_threshold_radians", &Value::Float(1e9)).unwrap();
    env.set_parameter("x_threshold", &Value::Float(1e9)).unwrap();
    for t in 1..=200 {
        let step = env.step(&Element::Discrete(t % 2), &mut observation).unwrap();
        assert_eq!((step.terminated, step.truncated), (false, t == 200), "step {t}");
    }
    let refused = env.step(&Element::Discrete(0), &mut observation).unwrap_err();
    assert_eq!(refused.to_string(), "environment `CartPole-v0`: stepped after its episode ended; call reset first");
}

#[test]
fn misuse_is_refused_and_changes_nothing() {
    let (mut env, mut observation) = make("CartPole-v1");
    let early = env.step(&Element::Discrete(0), &mut observation).unwrap_err();
    assert_eq!(early.to_string(), "environment `CartPole-v1`: stepped before its first reset; call reset first");
    env.reset(Some(3), &mut observation).unwrap();
    let before = observation.clone();
    let outside = env.step(&Element::Discrete(2), &mut observation).unwrap_err();
    assert_eq!(outside.to_string(), "environment `CartPole-v1`: action 2 is outside Discrete(2)");
    assert!(matches!(env.step(&Element::Text("left".into()), &mut observation), Err(EnvError::Action { .. })));
    assert_eq!(observation, before);

    let (mut twin, mut other) = make("CartPole-v1");
    twin.reset(Some(3), &mut other).unwrap();
    twin.step(&Element::Discrete(1), &mut other).unwrap();
    env.step(&Element::Discrete(1), &mut observation).unwrap();
    assert_eq!(observation, other);
}

#[test]
fn unknown_names_are_answered_with_the_nearest() {
    let unknown = registry::make("CartPol-v1", &Map::new()).err().unwrap();
    assert!(matches!(unknown, EnvError::UnknownId { nearest: Some(near), .. } if near == "CartPole-v1"));
    let argument = Map::from_iter([("suton_barto_reward".to_owned(), Value::Bool(true))]);
    let message = registry::make("CartPole-v1", &argument).err().unwrap().to_string();
    assert!(message.contains("did you mean `sutton_barto_reward`?"), "{message}");
    let (mut env, _) = make("CartPole-v1");
    let message = env.set_parameter("gravty", &Value::Float(1.0)).unwrap_err().to_string();
    assert_eq!(message, "environment `CartPole-v1`: parameter `gravty` does not exist; did you mean `gravity`?");
    let message = env.set_parameter("masspole", &Value::Float(0.0)).unwrap_err().to_string();
    assert_eq!(message, "environment `CartPole-v1`: parameter `masspole` must be a finite number above 0, got 0");
}

#[test]
fn parameters_shift_the_dynamics() {
    let (mut env, mut observation) = make("CartPole-v1");
    let (mut moon, mut other) = make("CartPole-v1");
    moon.set_parameter("gravity", &Value::Float(1.62)).unwrap();
    assert_eq!(moon.parameters()["gravity"], Value::Float(1.62));
    env.reset(Some(1), &mut observation).unwrap();
    moon.reset(Some(1), &mut other).unwrap();
    assert_eq!(observation, other);
    env.step(&Element::Discrete(1), &mut observation).unwrap();
    moon.step(&Element::Discrete(1), &mut other).unwrap();
    assert_ne!(observation, other);
    assert!(registry::make("CartPole-v1", &Map::from_iter([("gravity".to_owned(), Value::Float(1.0))])).is_err());
}

#[test]
fn reset_options_hold_for_the_episode_they_begin() {
    let options = |pairs: &[(&str, f64)]| -> Map {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), Value::Float(*value))).collect()
    };
    let (mut env, mut observation) = make("CartPole-v1");
    env.reset_with(Some(4), &options(&[("low", 0.01), ("high", 0.02)]), &mut observation).unwrap();
    assert!(observation.as_f32().unwrap().iter().all(|value| (0.01..=0.02).contains(value)), "{observation}");
    assert_eq!(env.parameters()["low"], Value::Float(-0.05));
    let (mut plain, mut other) = make("CartPole-v1");
    plain.reset(Some(4), &mut other).unwrap();
    plain.reset(None, &mut other).unwrap();
    env.reset(None, &mut observation).unwrap();
    assert_eq!(observation, other);
    let message = env.reset_with(None, &options(&[("hig", 1.0)]), &mut observation).unwrap_err().to_string();
    let expected = "environment `CartPole-v1`: takes no reset option `hig`; did you mean `high`?";
    assert_eq!(message, expected);
    let message = env.reset_with(None, &options(&[("low", 1.0)]), &mut observation).unwrap_err().to_string();
    assert_eq!(message, "environment `CartPole-v1`: reset option `low` (1) must not exceed `high` (0.05)");
    assert_eq!(observation, other);
    let (mut taxi, mut place) = make("Taxi-v4");
    let message = taxi.reset_with(None, &options(&[("low", 1.0)]), &mut place).unwrap_err().to_string();
    assert_eq!(message, "environment `Taxi-v4`: takes no reset option `low`; it takes none");
}

#[test]
fn a_regime_may_shift_a_world_s_every_parameter() {
    for id in registry::IDS {
        let (mut env, mut observation) = make(id);
        env.reset(Some(1), &mut observation).unwrap();
        for (name, value) in env.parameters() {
            env.set_parameter(&name, &value).unwrap();
            let shifted = match value {
                Value::Float(number) => Value::Float(number * 0.5),
                Value::Bool(flag) => Value::Bool(!flag),
                Value::Text(_) => Value::from("portable"),
                other => other,
            };
            env.set_parameter(&name, &shifted).unwrap();
            assert_eq!(env.parameters()[&name], shifted, "{id}: {name}");
            assert!(env.set_parameter(&name, &Value::Null).is_err(), "{id}: {name}");
            assert_eq!(env.parameters()[&name], shifted, "{id}: {name}");
        }
        let mut rng = skyfall::random::Rng::new(7);
        for _ in 0..50 {
            if env.step(&env.action_space().sample(&mut rng), &mut observation).unwrap().terminated {
                env.reset(None, &mut observation).unwrap();
            }
        }
    }
}

#[test]
fn the_lake_may_change_under_the_walker_but_not_its_size() {
    let rows = |rows: &[&str]| Value::List(rows.iter().map(|row| Value::from(*row)).collect());
    let kwargs = Map::from_iter([
        ("desc".to_owned(), rows(&["SFG", "FFF"])),
        ("is_slippery".to_owned(), Value::Bool(false)),
        ("reward_schedule".to_owned(), Value::List(vec![5.into(), (-2).into(), Value::Float(-0.5)])),
    ]);
    let mut env = registry::make("FrozenLake-v1", &kwargs).unwrap();
    let mut observation = env.observation_space().blank();
    env.reset(Some(0), &mut observation).unwrap();
    assert_eq!(env.step(&Element::Discrete(2), &mut observation).unwrap().reward, -0.5);
    env.set_parameter("desc", &rows(&["SFH", "FFG"])).unwrap();
    let step = env.step(&Element::Discrete(2), &mut observation).unwrap();
    assert_eq!((step.reward, step.terminated), (-2.0, true));
    let message = env.set_parameter("desc", &rows(&["SG"])).unwrap_err().to_string();
    assert_eq!(message, "environment `FrozenLake-v1`: parameter `desc` would change the observation space");
    assert_eq!(env.parameters()["desc"], rows(&["SFH", "FFG"]));
    for wrong in [rows(&[]), rows(&["SF", "G"]), rows(&["FG"]), rows(&["SX"]), Value::from("SG")] {
        let kwargs = Map::from_iter([("desc".to_owned(), wrong)]);
        let message = registry::make("FrozenLake-v1", &kwargs).err().unwrap().to_string();
        assert!(message.contains("`desc` must be a list of rows of one length"), "{message}");
    }
    let unnamed = Map::from_iter([("map_name".to_owned(), Value::Null)]);
    let message = registry::make("FrozenLake-v1", &unnamed).err().unwrap().to_string();
    assert!(message.ends_with("`map_name` must be 4x4 or 8x8; give any other map as `desc`"), "{message}");
}

#[test]
fn mathematics_is_chosen_by_name() {
    let kwargs = |mode: &str| Map::from_iter([("math".to_owned(), Value::from(mode))]);
    for id in ["Acrobot-v1", "CartPole-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Pendulum-v1"] {
        let env = registry::make(id, &kwargs("portable")).unwrap();
        assert_eq!(env.parameters()["math"], Value::from("portable"));
        let message = registry::make(id, &kwargs("fast")).err().unwrap().to_string();
        assert_eq!(message, format!("environment `{id}`: `math` must be `system` or `portable`"));
    }
    assert!(registry::make("Taxi-v4", &kwargs("portable")).is_err());
}

/// The bits of portable mathematics, which no platform may change: a hash over 2000 steps.
#[test]
fn portable_mathematics_has_the_same_bits_everywhere() {
    let portable = Map::from_iter([("math".to_owned(), Value::from("portable"))]);
    let hashes = ["Acrobot-v1", "CartPole-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Pendulum-v1"].map(|id| {
        let mut env = registry::make(id, &portable).unwrap();
        let mut observation = env.observation_space().blank();
        let mut rng = skyfall::random::Rng::new(11);
        env.reset(Some(11), &mut observation).unwrap();
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for _ in 0..2000 {
            let step = env.step(&env.action_space().sample(&mut rng), &mut observation).unwrap();
            let floats = observation.as_f32().unwrap().iter().flat_map(|value| value.to_bits().to_be_bytes());
            for byte in floats.chain(step.reward.to_bits().to_be_bytes()) {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
            if step.terminated || step.truncated {
                env.reset(None, &mut observation).unwrap();
            }
        }
        hash
    });
    let expected = [
        0x7902_ccf1_1bde_b1b6,
        0x270b_09b2_8b9f_61fd,
        0x3829_c9ab_0457_951b,
        0x830d_fccd_6a3e_6e7e,
        0x74a1_60ed_2f7d_5d1b,
    ];
    assert_eq!(hashes, expected, "{hashes:016x?}");
}
