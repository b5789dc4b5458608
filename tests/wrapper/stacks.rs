//! Stacks: order, labels, streams, what passes through, and that neutral wrappers do nothing.

use proptest::prelude::*;
use skyfall::array::DType;
use skyfall::env::wrapper::{WrapperRecord, registry::NAMES, wrap};
use skyfall::env::{Env, registry};
use skyfall::random::Rng;
use skyfall::space::{Element, Space};
use skyfall::value::{Map, Value};

use super::{Bench, boxed, discrete, stack, state};

/// Everything that `steps` random steps of `env` bring, bit for bit.
fn trajectory(env: &mut dyn Env, seed: Option<u64>, steps: usize) -> Vec<String> {
    let bits = |element: &Element| match element {
        Element::Array(array) => array.numbers().map(|number| format!("{:x} ", number.to_bits())).collect(),
        other => other.to_string(),
    };
    let mut rng = Rng::new(99);
    let mut observation = env.observation_space().blank();
    env.reset(seed, &mut observation).unwrap();
    let mut told = vec![bits(&observation)];
    for _ in 0..steps {
        let action = env.action_space().sample(&mut rng);
        let step = env.step(&action, &mut observation).unwrap();
        told.push(format!("{} {:x} {}{}", bits(&observation), step.reward.to_bits(), step.terminated, step.truncated));
        if step.terminated || step.truncated {
            env.reset(None, &mut observation).unwrap();
            told.push(bits(&observation));
        }
    }
    told
}

fn native(id: &str, wrappers: &[WrapperRecord]) -> Box<dyn Env> {
    wrap(registry::make(id, &Map::new()).unwrap(), wrappers).unwrap()
}

/// Wrappers that fit discrete or continuous actions, with the name alone.
fn fitting(id: &str) -> Vec<WrapperRecord> {
    let env = native(id, &[]);
    let discrete = |space: &Space| matches!(space, Space::Discrete { .. });
    let fits = |name: &str| match name {
        "observation_noise" => !discrete(env.observation_space()),
        "action_noise" => !discrete(env.action_space()),
        "action_permutation" | "action_mask" => discrete(env.action_space()),
        _ => true,
    };
    let record = |name: &str| WrapperRecord { name: name.to_owned(), params: Map::new() };
    NAMES.into_iter().filter(|name| fits(name)).map(record).collect()
}

#[test]
fn neutral_wrappers_change_no_bit() {
    for id in ["CartPole-v1", "Pendulum-v1", "MountainCarContinuous-v0", "FrozenLake-v1", "Taxi-v3"] {
        let bare = trajectory(&mut *native(id, &[]), Some(3), 700);
        assert!(bare == trajectory(&mut *native(id, &fitting(id)), Some(3), 700), "{id}");
        for wrapper in fitting(id) {
            assert!(
                bare == trajectory(&mut *native(id, std::slice::from_ref(&wrapper)), Some(3), 700),
                "{id} in {wrapper:?}"
            );
        }
    }
}

#[test]
fn the_first_wrapper_is_innermost() {
    let [noise, scale] =
        [r#"{"name": "reward_delay", "params": {"steps": 1}}"#, r#"{"name": "reward_scale", "params": {"offset": 1}}"#];
    let rewards = |wrappers: String| -> Vec<f64> {
        let mut bench = Bench::new(discrete(10, 0), discrete(3, 0), &wrappers);
        bench.reset(Some(1));
        (0..3).map(|_| bench.step(&Element::Discrete(0)).1.reward).collect()
    };
    assert_eq!(rewards(format!("[{noise}, {scale}]")), [1.0, 2.0, 3.0]);
    assert_eq!(rewards(format!("[{scale}, {noise}]")), [0.0, 2.0, 3.0]);
    // Actions meet the last wrapper first.
    let delay = r#"{"name": "action_delay", "params": {"steps": 1}}"#;
    let turn = r#"{"name": "action_permutation", "params": {"permutation": [1, 2, 0]}}"#;
    for (wrappers, expected) in [(format!("[{delay}, {turn}]"), [0, 0, 1]), (format!("[{turn}, {delay}]"), [1, 0, 1])] {
        let mut bench = Bench::new(discrete(10, 0), discrete(3, 0), &wrappers);
        bench.reset(Some(1));
        assert_eq!(bench.sent(&[2, 0, 1]), expected);
    }
}

#[test]
fn a_name_that_is_taken_gets_a_number() {
    let two = r#"[{"name": "reward_scale", "params": {"scale": 2}}, {"name": "reward_scale", "params": {"scale": 3}}]"#;
    let mut bench = Bench::new(discrete(10, 0), discrete(3, 0), two);
    let outer = stack(r#"[{"name": "reward_scale", "params": {"scale": 5}}]"#);
    bench.env = wrap(bench.env, &outer).unwrap();
    let names = |bench: &Bench| -> Vec<String> { bench.env.parameters().keys().cloned().collect() };
    assert_eq!(
        names(&bench),
        [
            "gain",
            "reward_scale.scale",
            "reward_scale.offset",
            "reward_scale_2.scale",
            "reward_scale_2.offset",
            "reward_scale_3.scale",
            "reward_scale_3.offset",
        ]
    );
    bench.reset(Some(1));
    assert_eq!(bench.step(&Element::Discrete(0)).1.reward, 30.0);
    bench.set("reward_scale_2.scale", 1);
    bench.set("gain", 10);
    assert_eq!(bench.step(&Element::Discrete(0)).1.reward, 200.0);
}

#[test]
fn equal_wrappers_draw_from_streams_of_their_own() {
    let noise = r#"{"name": "observation_noise", "params": {"std": 1}}"#;
    let seen = |wrappers: &str| {
        let mut bench = Bench::new(boxed(1, DType::F64, 1e9), discrete(2, 0), wrappers);
        let Element::Array(array) = bench.reset(Some(8)) else { panic!() };
        array.as_f64().unwrap()[0]
    };
    let mut streams = ["wrapper.observation_noise", "wrapper.observation_noise_2"].map(|name| Rng::named(8, name));
    let [first, second] = streams.each_mut().map(Rng::standard_normal);
    assert_eq!(seen(&format!("[{noise}]")), first);
    assert_eq!(seen(&format!("[{noise}, {noise}]")), first + second);
    // A wrapper more does not move the draws of the others.
    assert_eq!(seen(&format!(r#"[{{"name": "sticky_actions"}}, {noise}]"#)), first);
}

#[test]
fn draws_do_not_depend_on_strengths() {
    let wrappers = r#"[{"name": "sticky_actions"}, {"name": "random_action"}]"#;
    let sent = |strengths: [f64; 2]| {
        let mut bench = Bench::new(discrete(10, 0), discrete(1000, 0), wrappers);
        bench.reset(Some(6));
        let mut set = |strength: f64| {
            bench.set("sticky_actions.probability", strength);
            bench.set("random_action.probability", strength);
            bench.sent(&[7; 40])
        };
        strengths.map(&mut set)
    };
    let [_, late] = sent([0.0, 0.5]);
    assert_eq!(sent([0.0, 0.0])[0], [7; 40]);
    // The step at which it sets in changes nothing in what is drawn later.
    assert_eq!(sent([1.0, 0.5])[1][5..], late[5..]);
}

#[test]
fn everything_else_passes_through() {
    let wrappers = r#"[{"name": "observation_delay", "params": {"steps": 3}}, {"name": "reward_scale"}]"#;
    let mut bench = Bench::with_length(discrete(10, 0), discrete(3, 0), wrappers, 3);
    assert_eq!(bench.env.id(), "Probe-v0");
    assert_eq!((bench.env.observation_space(), bench.env.action_space()), (&discrete(10, 0), &discrete(3, 0)));
    assert_eq!(bench.env.describe()["made_by"], Value::from("the probe"));
    let info = bench.env.reset(None, &mut Element::Discrete(0)).unwrap();
    assert_eq!(info.entries.unwrap()["fresh"], Value::Bool(true));
    let steps: Vec<_> = (0..3).map(|_| bench.step(&Element::Discrete(0)).1).collect();
    assert_eq!(steps.iter().map(|step| step.info.invalid_action).collect::<Vec<_>>(), [false, true, false]);
    assert_eq!(steps.iter().map(|step| step.terminated).collect::<Vec<_>>(), [false, false, true]);
}

#[test]
fn reset_options_reach_the_environment() {
    let wrappers = r#"[{"name": "observation_noise"}, {"name": "observation_delay"}]"#;
    let mut bare = native("CartPole-v1", &[]);
    let mut wrapped = native("CartPole-v1", &stack(wrappers));
    let options = Map::from_iter([("low".to_owned(), 0.01.into()), ("high".to_owned(), 0.02.into())]);
    let seen = |env: &mut dyn Env| {
        let mut observation = env.observation_space().blank();
        env.reset_with(Some(1), &options, &mut observation).unwrap();
        observation
    };
    let first = seen(&mut *bare);
    assert_eq!(first, seen(&mut *wrapped));
    assert!(first.as_f32().unwrap().iter().all(|value| (0.01..0.02).contains(value)));
    let unknown = Map::from_iter([("hgh".to_owned(), 1.into())]);
    let mut observation = wrapped.observation_space().blank();
    assert!(wrapped.reset_with(None, &unknown, &mut observation).is_err());
}

#[test]
fn observations_are_written_where_the_caller_keeps_them() {
    let wrappers = r#"[{"name": "observation_noise", "params": {"std": 1}}, {"name": "observation_dropout",
        "params": {"probability": 0.3}}, {"name": "observation_delay", "params": {"steps": 5}}]"#;
    let mut env = native("CartPole-v1", &stack(wrappers));
    let mut observation = env.observation_space().blank();
    env.reset(Some(1), &mut observation).unwrap();
    let place = observation.as_f32().unwrap().as_ptr();
    for _ in 0..200 {
        let step = env.step(&Element::Discrete(1), &mut observation).unwrap();
        if step.terminated {
            env.reset(None, &mut observation).unwrap();
        }
        assert_eq!(observation.as_f32().unwrap().as_ptr(), place);
    }
}

/// Some wrapper at some setting that fits a box of two floats and three actions.
fn any_wrapper() -> impl Strategy<Value = WrapperRecord> {
    let record = |name: &str, params: Vec<(&str, Value)>| WrapperRecord {
        name: name.to_owned(),
        params: params.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
    };
    let probability = || 0.0..=1.0_f64;
    let fill = || prop_oneof![Just("last"), Just("zeros")];
    prop_oneof![
        (0.0..50.0_f64, prop_oneof![Just("gaussian"), Just("uniform")]).prop_map(move |(std, distribution)| record(
            "observation_noise",
            vec![("std", std.into()), ("distribution", distribution.into())]
        )),
        (probability(), fill()).prop_map(move |(probability, fill)| record(
            "observation_dropout",
            vec![("probability", probability.into()), ("fill", fill.into())]
        )),
        (0..9_i64, fill()).prop_map(move |(steps, fill)| record(
            "observation_delay",
            vec![("steps", steps.into()), ("fill", fill.into())]
        )),
        (0..9_i64, fill()).prop_map(move |(steps, fill)| record(
            "action_delay",
            vec![("steps", steps.into()), ("fill", fill.into())]
        )),
        probability().prop_map(move |share| record("random_action", vec![("probability", share.into())])),
        probability().prop_map(move |share| record("sticky_actions", vec![("probability", share.into())])),
        Just(vec![0_i64, 1, 2]).prop_shuffle().prop_map(move |order| record(
            "action_permutation",
            vec![("permutation", order.into_iter().map(Value::from).collect::<Vec<_>>().into())]
        )),
        prop::collection::vec(0..3_i64, 0..3).prop_map(move |masked| record(
            "action_mask",
            vec![("masked", masked.into_iter().map(Value::from).collect::<Vec<_>>().into())]
        )),
        (0..9_i64).prop_map(move |steps| record("reward_delay", vec![("steps", steps.into())])),
        (-2.0..2.0_f64).prop_map(move |scale| record("reward_scale", vec![("scale", scale.into())])),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_stack_stays_within_the_spaces_and_is_deterministic(
        wrappers in prop::collection::vec(any_wrapper(), 1..7), seed in any::<u64>(),
    ) {
        let run = || {
            let text = "[]";
            let mut bench = Bench::with_length(boxed(2, DType::F32, 40.0), discrete(3, 0), text, 30);
            bench.env = wrap(bench.env, &wrappers).unwrap();
            let space = bench.env.observation_space().clone();
            let mut told = vec![bench.reset(Some(seed)).to_string()];
            for step in 0..70 {
                let (observation, transition) = bench.step(&Element::Discrete(step % 3));
                prop_assert!(space.contains(&observation), "{observation}");
                prop_assert!((0..3).contains(&state(bench.received.borrow().last().unwrap())));
                told.push(format!("{observation} {transition:?}"));
                if transition.terminated {
                    told.push(bench.reset(None).to_string());
                }
            }
            Ok(told)
        };
        prop_assert_eq!(run()?, run()?);
    }

    #[test]
    fn a_stack_is_the_same_as_its_wrappers_one_by_one(wrappers in prop::collection::vec(any_wrapper(), 1..6)) {
        let at_once = trajectory(&mut *native("FrozenLake-v1", &without_boxes(&wrappers)), Some(2), 60);
        let mut nested = native("FrozenLake-v1", &[]);
        for wrapper in without_boxes(&wrappers) {
            nested = wrap(nested, &[wrapper]).unwrap();
        }
        prop_assert_eq!(at_once, trajectory(&mut *nested, Some(2), 60));
    }
}

/// Those of `wrappers` that fit four discrete actions and discrete observations.
fn without_boxes(wrappers: &[WrapperRecord]) -> Vec<WrapperRecord> {
    let fits = |wrapper: &&WrapperRecord| !["observation_noise", "action_permutation"].contains(&wrapper.name.as_str());
    wrappers.iter().filter(fits).cloned().collect()
}
