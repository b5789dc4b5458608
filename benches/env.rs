//! The worlds' speed: a single environment's step, and a rollout of many copies on every core.
//! Actions are drawn beforehand; the resets that random actions bring about are part of it.
#![allow(clippy::unwrap_used, missing_docs, reason = "a bench")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use skyfall::env::registry;
use skyfall::env::vector::{Actions, Vector};
use skyfall::random::Rng;
use skyfall::space::{Element, Space};
use skyfall::value::Map;

const STEPS: usize = 10_000;
const COPIES: usize = 1024;
const ROLLOUT: usize = 64;

fn single(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("env");
    group.throughput(Throughput::Elements(STEPS as u64)).sample_size(10);
    for id in registry::IDS {
        let mut env = registry::make(id, &Map::new()).unwrap();
        let mut observation = env.observation_space().blank();
        let mut rng = Rng::new(1);
        let actions: Vec<Element> = (0..STEPS).map(|_| env.action_space().sample(&mut rng)).collect();
        env.reset(Some(1), &mut observation).unwrap();
        group.bench_function(id, |bencher| {
            bencher.iter(|| {
                for action in &actions {
                    let step = env.step(action, &mut observation).unwrap();
                    if step.terminated || step.truncated {
                        env.reset(None, &mut observation).unwrap();
                    }
                }
            });
        });
    }
    group.finish();
}

fn vector(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("vector");
    group.throughput(Throughput::Elements((COPIES * ROLLOUT) as u64)).sample_size(10);
    for id in registry::IDS {
        let mut vector = Vector::new(id, COPIES, &Map::new()).unwrap();
        let mut rng = Rng::new(1);
        let drawn: Vec<Element> = (0..COPIES * ROLLOUT).map(|_| vector.action_space().sample(&mut rng)).collect();
        let forces: Vec<f32> = drawn.iter().filter_map(Element::as_f32).flatten().copied().collect();
        let index = |action: &Element| if let Element::Discrete(index) = action { Some(*index) } else { None };
        let indices: Vec<i64> = drawn.iter().filter_map(index).collect();
        let actions = match vector.action_space() {
            Space::Box(_) => Actions::Continuous(&forces),
            _ => Actions::Discrete(&indices),
        };
        vector.reset(Some(1), &Map::new()).unwrap();
        group.bench_function(id, |bencher| bencher.iter(|| vector.rollout(actions, ROLLOUT).unwrap().rewards.len()));
    }
    group.finish();
}

criterion_group!(benches, single, vector);
criterion_main!(benches);
