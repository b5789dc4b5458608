//! Copies stepped together do what each does alone.

use crate::command::Scratch;
use skyfall::env::vector::{Action, Actions, Batch, Observation, Vector};
use skyfall::env::{EnvError, registry};
use skyfall::random::Rng;
use skyfall::space::{Element, Space};
use skyfall::value::{Map, Value};

/// A copy's way through `actions`, as the rules of the vector have it, made with a single
/// environment: per step the observation's numbers, reward, flags.
type Way = Vec<(Vec<f64>, f64, bool, bool)>;

fn numbers(element: &Element) -> Vec<f64> {
    match element {
        Element::Discrete(value) => vec![*value as f64],
        Element::Array(array) => array.numbers().collect(),
        Element::Tuple(items) => items.iter().flat_map(numbers).collect(),
        other => panic!("no observation of these worlds: {other}"),
    }
}

fn alone(id: &str, seed: u64, actions: &[Element]) -> (Vec<f64>, Way) {
    let mut env = registry::make(id, &Map::new()).unwrap();
    let mut observation = env.observation_space().blank();
    env.reset(Some(seed), &mut observation).unwrap();
    let first = numbers(&observation);
    let mut ended = false;
    let way = actions
        .iter()
        .map(|action| {
            if ended {
                env.reset(None, &mut observation).unwrap();
                ended = false;
                return (numbers(&observation), 0.0, false, false);
            }
            let step = env.step(action, &mut observation).unwrap();
            ended = step.terminated || step.truncated;
            (numbers(&observation), step.reward, step.terminated, step.truncated)
        })
        .collect();
    (first, way)
}

/// Actions of `n` copies over `steps`, copy by copy.
fn actions(space: &Space, n: usize, steps: usize) -> Vec<Element> {
    let mut rng = Rng::new(5);
    (0..n * steps).map(|_| space.sample(&mut rng)).collect()
}

fn discrete(actions: &[Element]) -> Vec<i64> {
    actions
        .iter()
        .filter_map(|action| if let Element::Discrete(index) = action { Some(*index) } else { None })
        .collect()
}

fn continuous(actions: &[Element]) -> Vec<f32> {
    actions.iter().filter_map(Element::as_f32).flatten().copied().collect()
}

/// The way of every copy in a batch of `steps`.
fn ways(batch: &Batch, n: usize, steps: usize) -> Vec<Way> {
    let all: Vec<f64> = batch.observations.numbers().collect();
    let rows: Vec<&[f64]> = all.chunks(all.len() / (n * steps)).collect();
    let (rewards, terminated) = (batch.rewards.as_f64().unwrap(), batch.terminated.as_bool().unwrap());
    let truncated = batch.truncated.as_bool().unwrap();
    let at = |index: usize| (rows[index].to_vec(), rewards[index], terminated[index], truncated[index]);
    (0..n).map(|copy| (0..steps).map(|step| at(copy * steps + step)).collect()).collect()
}

fn given<'a>(discrete: &'a [i64], continuous: &'a [f32]) -> Actions<'a> {
    if discrete.is_empty() { Actions::Continuous(continuous) } else { Actions::Discrete(discrete) }
}

#[test]
fn every_world_s_copies_do_what_each_does_alone_on_any_number_of_threads() {
    const N: usize = 37;
    const STEPS: usize = 530;
    for id in registry::IDS {
        let mut vector = Vector::new(id, N, &Map::new()).unwrap();
        let actions = actions(vector.action_space(), N, STEPS);
        let alone: Vec<_> = (0..N).map(|copy| alone(id, 90 + copy as u64, &actions[copy * STEPS..][..STEPS])).collect();
        let (discrete, continuous) = (discrete(&actions), continuous(&actions));
        for threads in [1, 2, 3, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let first: Vec<f64> = vector.reset(Some(90), &Map::new()).unwrap().numbers().collect();
                assert_eq!(first, alone.iter().flat_map(|(first, _)| first.clone()).collect::<Vec<_>>(), "{id}");
                let batch = vector.rollout(given(&discrete, &continuous), STEPS).unwrap();
                for (copy, way) in ways(batch, N, STEPS).into_iter().enumerate() {
                    assert_eq!(way, alone[copy].1, "{id}, copy {copy}, {threads} threads");
                }
            });
        }
    }
}

#[test]
fn one_step_at_a_time_is_a_rollout() {
    const N: usize = 5;
    const STEPS: usize = 60;
    let mut vector = Vector::new("CartPole-v1", N, &Map::new()).unwrap();
    let actions = discrete(&actions(vector.action_space(), N, STEPS));
    vector.reset(Some(1), &Map::new()).unwrap();
    let batch = vector.rollout(Actions::Discrete(&actions), STEPS).unwrap().clone();
    assert_eq!(batch.observations.shape(), [N, STEPS, 4]);
    let whole = ways(&batch, N, STEPS);
    assert_eq!(vector.reset(Some(1), &Map::new()).unwrap().shape(), [N, 4]);
    for step in 0..STEPS {
        let now: Vec<i64> = (0..N).map(|copy| actions[copy * STEPS + step]).collect();
        let batch = vector.step(Actions::Discrete(&now)).unwrap();
        assert_eq!((batch.observations.shape(), batch.rewards.shape()), (&[N, 4][..], &[N][..]));
        for (copy, way) in ways(batch, N, 1).into_iter().enumerate() {
            assert_eq!(way[0], whole[copy][step], "copy {copy}, step {step}");
        }
    }
}

#[test]
fn a_policy_sees_each_copy_s_own_observation() {
    const N: usize = 300;
    const STEPS: usize = 40;
    let upright = |_: usize, observation: Observation<'_>| match observation {
        Observation::Floats([_, _, angle, speed]) => Action::Discrete(i64::from(angle + speed > 0.0)),
        other => panic!("no cart pole: {other:?}"),
    };
    let mut chosen = Vector::new("CartPole-v1", N, &Map::new()).unwrap();
    let mut given = Vector::new("CartPole-v1", N, &Map::new()).unwrap();
    let mut seen = given.reset(Some(3), &Map::new()).unwrap().clone();
    chosen.reset(Some(3), &Map::new()).unwrap();
    let batch = chosen.rollout(Actions::Policy(&upright), STEPS).unwrap();
    let ways = ways(batch, N, STEPS);
    for step in 0..STEPS {
        let rows = seen.as_f32().unwrap().chunks(4);
        let actions: Vec<i64> = rows.map(|row| i64::from(row[2] + row[3] > 0.0)).collect();
        seen = given.step(Actions::Discrete(&actions)).unwrap().observations.clone();
        let rows: Vec<Vec<f64>> = ways.iter().map(|way| way[step].0.clone()).collect();
        assert_eq!(seen.numbers().collect::<Vec<_>>(), rows.concat(), "step {step}");
    }
}

#[test]
fn parameters_and_reset_options_reach_every_copy() {
    let mut vector = Vector::new("Pendulum-v1", 3, &Map::new()).unwrap();
    vector.set_parameter("g", &Value::Float(1.62)).unwrap();
    assert_eq!(vector.parameters()["g"], Value::Float(1.62));
    let options = Map::from_iter([("x_init".to_owned(), 0.0.into()), ("y_init".to_owned(), 0.0.into())]);
    let still = vector.reset(Some(0), &options).unwrap();
    assert_eq!(still.as_f32().unwrap(), [1.0, 0.0, 0.0].repeat(3));
    let batch = vector.step(Actions::Continuous(&[0.0, 1.0, -1.0])).unwrap();
    assert_eq!(batch.rewards.as_f64().unwrap()[0], 0.0);
    assert!(vector.set_parameter("gg", &Value::Float(1.0)).is_err());
    assert!(vector.reset(None, &Map::from_iter([("low".to_owned(), 0.0.into())])).is_err());
}

#[test]
fn without_a_seed_the_streams_are_those_of_seed_zero_and_go_on() {
    let mut unseeded = Vector::new("CartPole-v1", 4, &Map::new()).unwrap();
    let mut zero = Vector::new("CartPole-v1", 4, &Map::new()).unwrap();
    for seed in [Some(0), None] {
        assert_eq!(unseeded.reset(None, &Map::new()).unwrap(), zero.reset(seed, &Map::new()).unwrap());
    }
}

#[test]
fn misuse_is_refused_before_any_copy_moves() {
    let none = Vector::new("CartPole-v1", 0, &Map::new()).err().unwrap();
    assert_eq!(none.to_string(), "environment `CartPole-v1`: a vector needs at least one copy");
    assert!(Vector::new("CartPole-v1", usize::MAX, &Map::new()).is_err());
    assert!(matches!(Vector::new("CartPol-v1", 1, &Map::new()).err().unwrap(), EnvError::UnknownId { .. }));
    let mut vector = Vector::new("CartPole-v1", 2, &Map::new()).unwrap();
    let early = vector.step(Actions::Discrete(&[0, 0])).unwrap_err().to_string();
    assert_eq!(early, "environment `CartPole-v1`: stepped before the copies were reset; call reset first");
    vector.reset(Some(0), &Map::new()).unwrap();
    let few = vector.step(Actions::Discrete(&[0])).unwrap_err().to_string();
    assert_eq!(few, "environment `CartPole-v1`: got 1 actions for 2 copies and 1 steps");
    let kind = vector.step(Actions::Continuous(&[0.0, 0.0])).unwrap_err().to_string();
    assert_eq!(kind, "environment `CartPole-v1`: these actions are not elements of Discrete(2)");
    let outside = vector.rollout(Actions::Discrete(&[0, 1, 0, 7]), 2).unwrap_err().to_string();
    let expected = "environment `CartPole-v1`, copy 1, step 1 (both from 0): action 7 is outside Discrete(2)";
    assert_eq!(outside, expected);
    let after = vector.rollout(Actions::Discrete(&[0, 1, 0, 1]), 2).unwrap().clone();
    let mut fresh = Vector::new("CartPole-v1", 2, &Map::new()).unwrap();
    fresh.reset(Some(0), &Map::new()).unwrap();
    assert_eq!(*fresh.rollout(Actions::Discrete(&[0, 1, 0, 1]), 2).unwrap(), after);
}

#[test]
fn a_policy_s_wrong_action_names_the_first_copy_and_asks_for_a_reset() {
    let mut vector = Vector::new("CartPole-v1", 5000, &Map::new()).unwrap();
    vector.reset(Some(0), &Map::new()).unwrap();
    let wrong = |copy: usize, _: Observation<'_>| Action::Discrete(if copy >= 4000 { 2 } else { 1 });
    let refused = vector.step(Actions::Policy(&wrong)).unwrap_err();
    assert!(matches!(refused, EnvError::CopyAction { copy: 4000, step: 0, .. }), "{refused}");
    assert!(matches!(vector.step(Actions::Policy(&|_, _| Action::Discrete(0))), Err(EnvError::Failed { .. })));
    vector.reset(None, &Map::new()).unwrap();
    vector.step(Actions::Policy(&|_, _| Action::Discrete(0))).unwrap();
}

#[test]
fn a_script_steps_copies_as_native_arrays() {
    let script = r#"
        local skyfall = require "skyfall"
        local v = skyfall.env.vector("CartPole-v1", 3)
        assert(v.id == "CartPole-v1" and v.n == 3)
        local alone = skyfall.env.make("CartPole-v1")
        local first = v:reset { seed = 5 }
        local o = alone:reset { seed = 6 }
        for i = 1, 4 do assert(first[2][i] == o[i]) end
        local actions = skyfall.array.from({ { 0, 1 }, { 1, 1 }, { 0, 0 } }, "i64")
        local observations, rewards, terminated, truncated = v:rollout(actions)
        assert(table.concat(observations.shape, " ") == "3 2 4" and rewards.dtype == "f64")
        alone:step(1)
        o = alone:step(1)
        for i = 1, 4 do assert(observations[2][2][i] == o[i]) end
        assert(rewards[3][2] == 1.0 and terminated[1][1] == false and truncated[1][2] == false)
        v:set_parameter("gravity", 1.0)
        assert(v:parameters().gravity == 1.0)
        v:reset { options = { low = 0.0, high = 0.0 } }
        observations = v:step { 0, 0, 1 }
        assert(table.concat(observations.shape, " ") == "3 4" and observations[1][2] == -observations[3][2])
        for _, wrong in ipairs {
            { function() v:step { 0, 0 } end, "`actions` must have the shape [3], got [2]" },
            { function() v:step { 0, 0, 2 } end, "copy 2, step 0 (both from 0): action 2 is outside Discrete(2)" },
            { function() v:step { 0, 0, 0.5 } end, "actions" },
            { function() v:reset { options = { lo = 1 } } end, "did you mean `low`?" },
            { function() skyfall.env.vector("CartPole-v1", 0) end, "a vector needs at least one copy" },
            { function() skyfall.env.vector("CartPole-v9", 2) end, "did you mean `CartPole-v0`?" },
            { function() alone:reset { options = { hig = 1 } } end, "did you mean `high`?" },
            { function() alone:reset { option = { high = 1 } } end, "unknown option `option`" },
        } do
            local fine, message = pcall(wrong[1])
            assert(not fine and message:find(wrong[2], 1, true), message)
        end
    "#;
    Scratch::new().script(script).ok();
}
