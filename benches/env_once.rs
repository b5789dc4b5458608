//! One stretch of steps, for `benches/peers/env_peers.py` to time from outside:
//! `single ID STEPS`, `vector ID COPIES STEPS CALLS`. Prints the wall seconds that the steps took.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, missing_docs, reason = "a bench")]

use std::time::Instant;

use skyfall::env::registry;
use skyfall::env::vector::{Actions, Vector};
use skyfall::random::Rng;
use skyfall::space::{Element, Space};
use skyfall::value::Map;

/// As many actions as the peer draws beforehand, used over and over.
const POOL: usize = 1024;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["single", id, steps] => single(id, steps.parse().unwrap()),
        ["vector", id, copies, steps, calls] => {
            vector(id, copies.parse().unwrap(), steps.parse().unwrap(), calls.parse().unwrap());
        }
        // `cargo bench` and `cargo test` start it without a task.
        [] => {}
        other => panic!("no such task: {other:?}"),
    }
}

fn single(id: &str, steps: usize) {
    let mut env = registry::make(id, &Map::new()).unwrap();
    let mut observation = env.observation_space().blank();
    let mut rng = Rng::new(1);
    let actions: Vec<Element> = (0..POOL).map(|_| env.action_space().sample(&mut rng)).collect();
    env.reset(Some(1), &mut observation).unwrap();
    let start = Instant::now();
    for action in actions.iter().cycle().take(steps) {
        let step = env.step(action, &mut observation).unwrap();
        if step.terminated || step.truncated {
            env.reset(None, &mut observation).unwrap();
        }
    }
    println!("{}", start.elapsed().as_secs_f64());
}

fn vector(id: &str, copies: usize, steps: usize, calls: usize) {
    let mut vector = Vector::new(id, copies, &Map::new()).unwrap();
    let mut rng = Rng::new(1);
    let pool: Vec<Element> = (0..POOL).map(|_| vector.action_space().sample(&mut rng)).collect();
    let all = || pool.iter().cycle().take(copies * steps);
    let forces: Vec<f32> = all().filter_map(Element::as_f32).flatten().copied().collect();
    let index = |action: &Element| if let Element::Discrete(index) = action { Some(*index) } else { None };
    let indices: Vec<i64> = all().filter_map(index).collect();
    let actions = match vector.action_space() {
        Space::Box(_) => Actions::Continuous(&forces),
        _ => Actions::Discrete(&indices),
    };
    vector.reset(Some(1), &Map::new()).unwrap();
    let start = Instant::now();
    for _ in 0..calls {
        vector.rollout(actions, steps).unwrap();
    }
    println!("{}", start.elapsed().as_secs_f64());
}
