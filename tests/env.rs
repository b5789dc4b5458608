//! Native environments against trajectories that Gymnasium 1.4.0 produced (`tests/data/env`).
//!
//! A file holds its meta line, then ten runs: a row with the seed and the first observation, and
//! 200 steps. `reset_obs` is the observation of a reset without a seed after an episode's end.
//! Floats are bits: 8 hexadecimal digits of a float32, 16 of a float64.

use serde_json::Value as Json;
use skyfall::array::Array;
use skyfall::env::{Env, EnvError, registry};
use skyfall::space::{Element, Space};
use skyfall::value::{Map, Value};

fn kwargs(json: &Json) -> Map {
    let value = |json: &Json| match json {
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => number.as_i64().map_or_else(|| Value::Float(number.as_f64().unwrap()), Value::Int),
        Json::String(text) => Value::Text(text.clone()),
        other => panic!("no kwarg: {other}"),
    };
    json.as_object().unwrap().iter().map(|(name, json)| (name.clone(), value(json))).collect()
}

/// An observation's numbers, as the files write them.
fn numbers(element: &Element) -> Vec<String> {
    match element {
        Element::Discrete(value) => vec![value.to_string()],
        Element::Array(array) => {
            array.as_f32().unwrap().iter().map(|value| format!("{:08x}", value.to_bits())).collect()
        }
        Element::Tuple(items) => items.iter().flat_map(numbers).collect(),
        other => panic!("no observation of these worlds: {other}"),
    }
}

fn expected(json: &Json) -> Vec<String> {
    let text = |json: &Json| json.as_str().map_or_else(|| json.to_string(), str::to_owned);
    json.as_array().unwrap().iter().map(text).collect()
}

fn action(json: &Json) -> Element {
    match json.as_str() {
        Some(bits) => {
            let value = f32::from_bits(u32::from_str_radix(bits, 16).unwrap());
            Element::Array(Array::from_vec(&[1], vec![value]).unwrap())
        }
        None => Element::Discrete(json.as_i64().unwrap()),
    }
}

fn replay(file: &str, text: &str) {
    let mut lines = text.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
    let meta = lines.next().unwrap();
    let mut env = registry::make(meta["id"].as_str().unwrap(), &kwargs(&meta["kwargs"])).unwrap();
    let mut observation = env.observation_space().blank();
    let mut rows = 0;
    for (number, row) in lines.enumerate() {
        let place = format!("{file}:{}", number + 2);
        if let Some(seed) = row.get("seed") {
            env.reset(Some(seed.as_u64().unwrap()), &mut observation).unwrap();
            assert_eq!(numbers(&observation), expected(&row["obs"]), "{place}");
            continue;
        }
        let step = env.step(&action(&row["action"]), &mut observation).unwrap();
        assert_eq!(numbers(&observation), expected(&row["obs"]), "{place}");
        assert_eq!(format!("{:016x}", step.reward.to_bits()), row["reward"].as_str().unwrap(), "{place}");
        assert_eq!(step.terminated, row.get("terminated").is_some(), "{place}");
        assert_eq!(step.truncated, row.get("truncated").is_some(), "{place}");
        if let Some(first) = row.get("reset_obs") {
            env.reset(None, &mut observation).unwrap();
            assert_eq!(numbers(&observation), expected(first), "{place}, reset");
        }
        rows += 1;
    }
    assert_eq!(rows, 2000, "{file}");
}

macro_rules! golden {
    ($($name:ident: $($file:literal),+;)+) => {$(
        #[test]
        fn $name() {
            $(replay($file, include_str!(concat!("data/env/", $file)));)+
        }
    )+};
}
golden! {
    cartpole_is_gymnasiums: "CartPole-v1.jsonl", "CartPole-v1_sutton_barto_reward-True.jsonl";
    mountain_car_is_gymnasiums: "MountainCar-v0.jsonl";
    mountain_car_continuous_is_gymnasiums: "MountainCarContinuous-v0.jsonl";
    acrobot_is_gymnasiums: "Acrobot-v1.jsonl";
    pendulum_is_gymnasiums: "Pendulum-v1.jsonl", "Pendulum-v1_g-9.81.jsonl";
    frozen_lake_is_gymnasiums: "FrozenLake-v1_map_name-4x4_is_slippery-True.jsonl",
        "FrozenLake-v1_map_name-4x4_is_slippery-False.jsonl",
        "FrozenLake-v1_map_name-8x8_is_slippery-True.jsonl";
    taxi_is_gymnasiums: "Taxi-v4.jsonl", "Taxi-v4_is_rainy-True_fickle_passenger-True.jsonl";
    cliff_walking_is_gymnasiums: "CliffWalking-v1.jsonl", "CliffWalking-v1_is_slippery-True.jsonl";
}

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
