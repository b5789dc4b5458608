//! Native environments against trajectories that Gymnasium 1.4.0 produced (`tests/data/env`).
//!
//! A file holds its meta line, then ten runs: a row with the seed and the first observation, and
//! 200 steps. `reset_obs` is the observation of a reset without a seed after an episode's end.
//! Floats are bits: 8 hexadecimal digits of a float32, 16 of a float64.
//!
//! `long.jsonl` holds feedback policies' actions over 2500 steps, long enough for goals and time
//! limits, with an FNV-1a hash over every bit of observation and reward so far.

use serde_json::Value as Json;
use skyfall::array::Array;
use skyfall::env::registry;
use skyfall::space::Element;
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

fn replay(id: &str, file: &str, text: &str) {
    let mut lines = text.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
    let meta = lines.next().unwrap();
    let mut env = registry::make(id, &kwargs(&meta["kwargs"])).unwrap();
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
    ($($name:ident: $id:literal $($file:literal),+;)+) => {$(
        #[test]
        fn $name() {
            $(replay($id, $file, include_str!(concat!("../data/env/", $file)));)+
        }
    )+};
}
golden! {
    blackjack_is_gymnasiums: "Blackjack-v1" "Blackjack-v1.jsonl", "Blackjack-v1_natural-True_sab-False.jsonl";
    cartpole_is_gymnasiums: "CartPole-v1" "CartPole-v1.jsonl", "CartPole-v1_sutton_barto_reward-True.jsonl";
    mountain_car_is_gymnasiums: "MountainCar-v0" "MountainCar-v0.jsonl";
    mountain_car_continuous_is_gymnasiums: "MountainCarContinuous-v0" "MountainCarContinuous-v0.jsonl";
    acrobot_is_gymnasiums: "Acrobot-v1" "Acrobot-v1.jsonl";
    pendulum_is_gymnasiums: "Pendulum-v1" "Pendulum-v1.jsonl", "Pendulum-v1_g-9.81.jsonl";
    frozen_lake_is_gymnasiums: "FrozenLake-v1" "FrozenLake-v1_map_name-4x4_is_slippery-True.jsonl",
        "FrozenLake-v1_map_name-4x4_is_slippery-False.jsonl",
        "FrozenLake-v1_map_name-8x8_is_slippery-True.jsonl";
    taxi_is_gymnasiums: "Taxi-v4" "Taxi-v4.jsonl", "Taxi-v4_is_rainy-True_fickle_passenger-True.jsonl";
    taxi_v3_is_gymnasium_1_2_s: "Taxi-v3" "Taxi-v4.jsonl", "Taxi-v3_is_rainy-True_fickle_passenger-True.jsonl";
    cliff_walking_is_gymnasiums: "CliffWalking-v1" "CliffWalking-v1.jsonl", "CliffWalking-v1_is_slippery-True.jsonl";
}

/// The bits so far, hashed as the file's maker hashed them: high byte first.
fn hash(hash: u64, bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn long_actions(row: &Json) -> Vec<Element> {
    let force = row.get("force").map(|bits| f32::from_bits(u32::from_str_radix(bits.as_str().unwrap(), 16).unwrap()));
    let action = |mark: char| match (mark, force) {
        ('+', Some(force)) => Element::Array(Array::from_vec(&[1], vec![force]).unwrap()),
        ('-', Some(force)) => Element::Array(Array::from_vec(&[1], vec![-force]).unwrap()),
        (digit, _) => Element::Discrete(i64::from(digit.to_digit(10).unwrap())),
    };
    row["actions"].as_str().unwrap().chars().map(action).collect()
}

/// One run of `long.jsonl`; whether every hash was met.
fn long_run(rows: &[Json], kwargs: &Map) -> bool {
    let mut env = registry::make(rows[0]["id"].as_str().unwrap(), kwargs).unwrap();
    let mut observation = env.observation_space().blank();
    env.reset(rows[0]["seed"].as_u64(), &mut observation).unwrap();
    let (mut sum, mut taken) = (0xcbf2_9ce4_8422_2325, 0);
    rows.iter().all(|row| {
        for (position, action) in long_actions(row).iter().enumerate() {
            let step = env.step(action, &mut observation).unwrap();
            let floats = observation.as_f32().unwrap();
            sum = hash(sum, floats.iter().flat_map(|value| value.to_bits().to_be_bytes()));
            sum = hash(sum, step.reward.to_bits().to_be_bytes());
            taken += 1;
            let last = taken - 1 == row["t"].as_u64().unwrap();
            assert_eq!(last, position + 1 == row["actions"].as_str().unwrap().len(), "{row}");
            assert_eq!(step.terminated, last && row.get("terminated").is_some(), "{row}, action {position}");
            assert_eq!(step.truncated, last && row.get("truncated").is_some(), "{row}, action {position}");
            if step.terminated || step.truncated {
                env.reset(None, &mut observation).unwrap();
            }
        }
        format!("{sum:016x}") == row["fnv"].as_str().unwrap()
    })
}

fn long_runs() -> Vec<Vec<Json>> {
    let rows = include_str!("../data/env/long.jsonl").lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
    let rows: Vec<Json> = rows.collect();
    rows.chunk_by(|a, b| (&a["id"], &a["seed"]) == (&b["id"], &b["seed"])).map(<[Json]>::to_vec).collect()
}

#[test]
fn long_runs_are_gymnasiums_to_the_last_bit() {
    let runs = long_runs();
    assert_eq!(runs.len(), 15);
    for run in runs {
        assert!(long_run(&run, &Map::new()), "{} seed {}", run[0]["id"], run[0]["seed"]);
    }
}

#[test]
fn portable_mathematics_leaves_the_cars_and_the_pole_on_gymnasiums_way() {
    let portable = Map::from_iter([("math".to_owned(), Value::from("portable"))]);
    for run in long_runs() {
        let id = run[0]["id"].as_str().unwrap();
        if matches!(id, "CartPole-v1" | "MountainCar-v0" | "MountainCarContinuous-v0") {
            assert!(long_run(&run, &portable), "{id} seed {}", run[0]["seed"]);
        }
    }
}
