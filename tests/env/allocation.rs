//! A native step allocates nothing, nor does an episode's beginning.

use allocation_counter::measure;
use skyfall::env::registry;
use skyfall::env::vector::{Actions, Vector};
use skyfall::random::Rng;
use skyfall::space::{Element, Space};
use skyfall::value::Map;

const STEPS: usize = 2000;

#[test]
fn a_single_environment_steps_and_resets_without_allocating() {
    for id in registry::IDS {
        let mut env = registry::make(id, &Map::new()).unwrap();
        let mut observation = env.observation_space().blank();
        let mut rng = Rng::new(3);
        let actions: Vec<Element> = (0..STEPS).map(|_| env.action_space().sample(&mut rng)).collect();
        env.reset(Some(3), &mut observation).unwrap();
        let allocations = measure(|| {
            for action in &actions {
                let step = env.step(action, &mut observation).unwrap();
                if step.terminated || step.truncated {
                    env.reset(None, &mut observation).unwrap();
                }
            }
        });
        assert_eq!(allocations.count_total, 0, "{id}");
    }
    assert_eq!(measure(|| drop(vec![1_u8])).count_total, 1, "the counter counts");
}

#[test]
fn a_worker_s_copies_step_without_allocating() {
    const N: usize = 20;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for id in registry::IDS {
        let mut vector = Vector::new(id, N, &Map::new()).unwrap();
        let forces = vec![0.5; N * STEPS];
        let indices = vec![1; N * STEPS];
        let actions = match vector.action_space() {
            Space::Box(_) => Actions::Continuous(&forces),
            _ => Actions::Discrete(&indices),
        };
        vector.reset(Some(3), &Map::new()).unwrap();
        vector.rollout(actions, STEPS).unwrap();
        // The thread that counts is the pool's only worker.
        let allocations = pool.install(|| measure(|| assert!(vector.rollout(actions, STEPS).is_ok())));
        assert_eq!(allocations.count_total, 0, "{id}");
    }
}
