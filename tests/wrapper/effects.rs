//! What each wrapper does, worked out by hand or drawn from its own stream.

use skyfall::array::{Array, DType};
use skyfall::random::Rng;
use skyfall::space::{Element, MultiDiscreteSpace, Space};
use skyfall::value::Value;

use super::{Bench, boxed, discrete, floats, state};

/// The stream a wrapper draws from, as documented.
fn stream(seed: u64, label: &str) -> Rng {
    Rng::named(seed, &format!("wrapper.{label}"))
}

#[test]
fn observation_noise_adds_a_normal_to_each_element() {
    let wrappers = r#"[{"name": "observation_noise", "params": {"std": 0.5}}]"#;
    let mut bench = Bench::new(boxed(2, DType::F32, 100.0), discrete(2, 0), wrappers);
    let mut rng = stream(7, "observation_noise");
    let mut expected = |t: f64| {
        let element = |place: f64, rng: &mut Rng| (t + place / 4.0 + 0.5 * rng.standard_normal()) as f32;
        floats(&[element(0.0, &mut rng), element(1.0, &mut rng)])
    };
    let first = bench.reset(Some(7));
    assert_eq!(first, expected(0.0));
    // The same by NumPy: default_rng([7, 0, *words of the label's SHA-256]).standard_normal().
    assert_eq!(first.as_f32().unwrap(), NUMPY);
    for t in 1..50 {
        assert_eq!(bench.step(&Element::Discrete(0)).0, expected(f64::from(t)));
    }
    // Without a seed, the stream goes on.
    assert_eq!(bench.reset(None), expected(0.0));
}

const NUMPY: [f32; 2] = [-0.255_052_4, -0.512_829_84];

#[test]
fn uniform_noise_has_the_same_standard_deviation() {
    let wrappers = r#"[{"name": "observation_noise", "params": {"std": 0.5, "distribution": "uniform"}}]"#;
    let mut bench = Bench::new(boxed(1, DType::F64, 1e9), discrete(2, 0), wrappers);
    bench.reset(Some(3));
    let mut rng = stream(3, "observation_noise");
    rng.double();
    let mut squares = 0.0;
    for t in 1..=20_000 {
        let Element::Array(array) = bench.step(&Element::Discrete(0)).0 else { panic!() };
        let noise = array.as_f64().unwrap()[0] - f64::from(t);
        let half = 3.0_f64.sqrt();
        assert_eq!(array.as_f64().unwrap()[0], f64::from(t) + 0.5 * rng.uniform(-half, half));
        assert!(noise.abs() <= 0.5 * half + 1e-9);
        squares += noise * noise;
    }
    let std = (squares / 20_000.0).sqrt();
    assert!((std - 0.5).abs() < 0.01, "{std}");
}

#[test]
fn noise_is_clipped_to_the_space_and_rounded_in_integers() {
    let wrappers = r#"[{"name": "observation_noise", "params": {"std": 40}}]"#;
    let space = boxed(3, DType::U8, 255.0);
    let mut bench = Bench::new(space.clone(), discrete(2, 0), wrappers);
    let mut rng = stream(1, "observation_noise");
    bench.reset(Some(1));
    let _reset = [(); 3].map(|()| rng.standard_normal());
    let mut clipped = 0;
    for t in 1..60 {
        let (observation, _) = bench.step(&Element::Discrete(0));
        assert!(space.contains(&observation));
        let Element::Array(array) = &observation else { panic!() };
        for value in array.as_u8().unwrap() {
            let meant = (f64::from(t) + 40.0 * rng.standard_normal()).round_ties_even();
            assert_eq!(f64::from(*value), meant.clamp(0.0, 255.0));
            clipped += i32::from(meant < 0.0);
        }
    }
    assert!(clipped > 10);
}

#[test]
fn elements_without_noise_are_left_alone_even_beyond_their_bounds() {
    let wrappers = r#"[{"name": "observation_noise", "params": {"std": [0, 1]}}]"#;
    let mut bench = Bench::new(boxed(2, DType::F32, 3.0), discrete(2, 0), wrappers);
    bench.reset(Some(1));
    for t in 1_u8..10 {
        let (observation, _) = bench.step(&Element::Discrete(0));
        let values = observation.as_f32().unwrap();
        assert_eq!(values[0], f32::from(t));
        assert!(values[1] <= 3.0 && values[1] != f32::from(t) + 0.25);
    }
    assert_eq!(bench.env.parameters()["observation_noise.std"], Value::from(vec![0.0.into(), 1.0.into()]));
}

#[test]
fn dropped_observations_repeat_the_last_that_arrived_or_are_zeros() {
    for (fill, zeros) in [("last", false), ("zeros", true)] {
        let wrappers =
            format!(r#"[{{"name": "observation_dropout", "params": {{"probability": 0.4, "fill": "{fill}"}}}}]"#);
        let mut bench = Bench::new(discrete(1000, 0), discrete(2, 0), &wrappers);
        let mut rng = stream(5, "observation_dropout");
        let mut last = 0;
        let expected = (0..=200).map(|t| {
            if t > 0 && rng.double() < 0.4 {
                return if zeros { 0 } else { last };
            }
            last = t;
            t
        });
        let expected: Vec<i64> = expected.collect();
        assert_eq!(bench.states(200), expected);
        let repeated = expected.windows(2).filter(|pair| pair[1] <= pair[0]).count();
        assert!((50..110).contains(&repeated), "{repeated}");
    }
}

#[test]
fn a_lost_observation_is_never_one_of_the_last_episode() {
    let wrappers = r#"[{"name": "observation_dropout", "params": {"probability": 1}}]"#;
    let mut bench = Bench::new(discrete(1000, 0), discrete(2, 0), wrappers);
    assert_eq!(bench.states(3), [0, 0, 0, 0]);
    bench.set("observation_dropout.probability", 0);
    bench.step(&Element::Discrete(0));
    bench.set("observation_dropout.probability", 1);
    assert_eq!(state(&bench.step(&Element::Discrete(0)).0), 4);
    assert_eq!(state(&bench.reset(None)), 0);
    assert_eq!(state(&bench.step(&Element::Discrete(0)).0), 0);
}

#[test]
fn delayed_observations_are_those_of_steps_ago() {
    let delay = |fill| format!(r#"[{{"name": "observation_delay", "params": {{"steps": 2{fill}}}}}]"#);
    // As Gymnasium's DelayObservation(env, 2).
    let mut bench = Bench::new(discrete(1000, -3), discrete(2, 0), &delay(""));
    assert_eq!(bench.states(5), [-3, -3, 0, 1, 2, 3]);
    assert_eq!(bench.states(2), [-3, -3, 0], "nothing of the last episode is left");
    let mut bench = Bench::new(discrete(1000, 0), discrete(2, 0), &delay(r#", "fill": "last""#));
    assert_eq!(bench.states(5), [0, 0, 0, 1, 2, 3]);
}

#[test]
fn a_delay_can_grow_and_shrink_between_steps() {
    let wrappers = r#"[{"name": "observation_delay", "params": {"fill": "last"}}]"#;
    let mut bench = Bench::new(discrete(1000, 0), discrete(2, 0), wrappers);
    assert_eq!(bench.states(3), [0, 1, 2, 3]);
    let mut go = |delay: i32, steps: usize| -> Vec<i64> {
        bench.set("observation_delay.steps", delay);
        (0..steps).map(|_| state(&bench.step(&Element::Discrete(0)).0)).collect()
    };
    // Time stands still until the delay is reached, then goes on.
    assert_eq!(go(2, 5), [4, 4, 4, 5, 6]);
    // A shorter delay skips what waited too long.
    assert_eq!(go(1, 3), [8, 9, 10]);
    assert_eq!(go(0, 2), [12, 13]);
}

#[test]
fn zeros_are_the_nearest_that_the_space_has() {
    let space = skyfall::space::BoxSpace::new(&[3], DType::F32, &[1.0, -2.0, -9.0], &[5.0, 2.0, -4.0]).unwrap();
    let wrappers = r#"[{"name": "observation_delay", "params": {"steps": 1}}]"#;
    let mut bench = Bench::new(Space::Box(space), discrete(2, 0), wrappers);
    assert_eq!(bench.reset(Some(1)), floats(&[1.0, 0.0, -4.0]));
}

#[test]
fn action_noise_disturbs_what_the_environment_gets() {
    let wrappers = r#"[{"name": "action_noise", "params": {"std": 0.3}}]"#;
    let mut bench = Bench::new(discrete(10, 0), boxed(2, DType::F32, 1.0), wrappers);
    bench.reset(Some(11));
    let mut rng = stream(11, "action_noise");
    let mut at_bound = 0;
    for _ in 0..100 {
        let action = floats(&[0.5, -0.9]);
        bench.step(&action);
        assert_eq!(action, floats(&[0.5, -0.9]), "the agent's own action stays");
        let mut expected = |value: f32| (f64::from(value) + 0.3 * rng.standard_normal()).clamp(-1.0, 1.0) as f32;
        let expected = [expected(0.5), expected(-0.9)];
        assert_eq!(*bench.received.borrow().last().unwrap(), floats(&expected));
        at_bound += i32::from(expected[1] == -1.0);
    }
    assert!(at_bound > 10);
}

#[test]
fn random_actions_take_the_place_of_some() {
    let wrappers = r#"[{"name": "random_action", "params": {"probability": 0.25}}]"#;
    let mut bench = Bench::new(discrete(10, 0), discrete(4, 2), wrappers);
    bench.reset(Some(2));
    let mut rng = stream(2, "random_action");
    let mut expected = || {
        let random = rng.double() < 0.25;
        let other = rng.integers(2, 6);
        if random { other } else { 3 }
    };
    let expected: Vec<i64> = (0..300).map(|_| expected()).collect();
    assert_eq!(bench.sent(&[3; 300]), expected);
    let others = expected.iter().filter(|action| **action != 3).count();
    assert!((30..90).contains(&others), "{others}");
}

#[test]
fn random_actions_of_a_box_are_uniform_within_its_bounds() {
    let wrappers = r#"[{"name": "random_action", "params": {"probability": 1}}]"#;
    let mut bench = Bench::new(discrete(10, 0), boxed(2, DType::F32, 2.0), wrappers);
    bench.reset(Some(2));
    let mut rng = stream(2, "random_action");
    for _ in 0..50 {
        bench.step(&floats(&[0.0, 0.0]));
        rng.double();
        let expected = [rng.uniform(-2.0, 2.0) as f32, rng.uniform(-2.0, 2.0) as f32];
        assert_eq!(*bench.received.borrow().last().unwrap(), floats(&expected));
    }
}

#[test]
fn nested_spaces_are_disturbed_part_by_part() {
    let dict = |parts: Vec<(&str, Space)>| {
        Space::dict(parts.into_iter().map(|(name, space)| (name.to_owned(), space)).collect()).unwrap()
    };
    let observations = dict(vec![
        ("count", discrete(1000, 0)),
        ("place", boxed(2, DType::F64, 1e6)),
        ("more", Space::tuple(vec![boxed(1, DType::F64, 1e6)]).unwrap()),
    ]);
    let multi = MultiDiscreteSpace::new(&[2], DType::I64, &[3, 5], &[0, -2]).unwrap();
    let actions = dict(vec![
        ("turn", discrete(3, 1)),
        ("push", boxed(1, DType::F32, 2.0)),
        ("both", Space::MultiDiscrete(multi)),
    ]);
    let wrappers = r#"[{"name": "observation_noise", "params": {"std": [0.5, 0, 2]}},
        {"name": "random_action", "params": {"probability": 1}}, {"name": "observation_delay"}, {"name": "action_delay"}]"#;
    let mut bench = Bench::new(observations.clone(), actions.clone(), wrappers);
    let (mut noise, mut action) = (stream(3, "observation_noise"), stream(3, "random_action"));
    bench.reset(Some(3));
    let _reset = [(); 3].map(|()| noise.standard_normal());
    let (observation, _) = bench.step(&actions.blank());
    let Element::Dict(parts) = &observation else { panic!() };
    let numbers = |values: &[f64]| Element::Array(Array::from_vec(&[values.len()], values.to_vec()).unwrap());
    let [first, _, third] = [(); 3].map(|()| noise.standard_normal());
    assert_eq!(parts["count"], Element::Discrete(1));
    assert_eq!(parts["place"], numbers(&[1.0 + 0.5 * first, 1.25]));
    assert_eq!(parts["more"], Element::Tuple(vec![numbers(&[1.0 + 2.0 * third])]));
    action.double();
    let turn = Element::Discrete(action.integers(1, 4));
    let push = floats(&[action.uniform(-2.0, 2.0) as f32]);
    let both = vec![action.integers(0, 3), action.integers(-2, 3)];
    let Element::Dict(sent) = bench.received.borrow()[0].clone() else { panic!() };
    assert_eq!((&sent["turn"], &sent["push"]), (&turn, &push));
    assert_eq!(sent["both"], Element::Array(Array::from_vec(&[2], both).unwrap()));
    // Zeros are the first elements, and zeros within their bounds.
    bench.set("observation_delay.steps", 1);
    bench.set("action_delay.steps", 1);
    bench.set("random_action.probability", 0);
    bench.received.borrow_mut().clear();
    assert_eq!(bench.reset(None), observations.blank());
    bench.step(&actions.sample(&mut Rng::new(1)));
    let Element::Dict(sent) = bench.received.borrow()[0].clone() else { panic!() };
    assert_eq!((&sent["turn"], &sent["push"]), (&Element::Discrete(1), &floats(&[0.0])));
    assert_eq!(sent["both"], Element::Array(Array::from_vec(&[2], vec![0_i64, -2]).unwrap()));
}

#[test]
fn delayed_actions_take_effect_later() {
    let delay = |fill| format!(r#"[{{"name": "action_delay", "params": {{"steps": 2{fill}}}}}]"#);
    let mut bench = Bench::new(discrete(10, 0), discrete(9, 1), &delay(""));
    bench.reset(Some(1));
    assert_eq!(bench.sent(&[5, 6, 7, 8, 9]), [1, 1, 5, 6, 7]);
    bench.reset(None);
    assert_eq!(bench.sent(&[4, 5, 6]), [1, 1, 4]);
    let mut bench = Bench::new(discrete(10, 0), discrete(9, 1), &delay(r#", "fill": "last""#));
    bench.reset(Some(1));
    assert_eq!(bench.sent(&[5, 6, 7, 8, 9]), [5, 5, 5, 6, 7]);
}

#[test]
fn permuted_actions_mean_each_other() {
    let wrappers = r#"[{"name": "action_permutation", "params": {"permutation": [3, 1, 2]}}]"#;
    let mut bench = Bench::new(discrete(10, 0), discrete(3, 1), wrappers);
    bench.reset(Some(1));
    assert_eq!(bench.sent(&[1, 2, 3]), [3, 1, 2]);
    bench.set("action_permutation.permutation", vec![2.into(), 1.into(), 3.0.into()]);
    assert_eq!(bench.sent(&[1, 2, 3]), [2, 1, 3]);
}

#[test]
fn masked_actions_are_refused() {
    let wrappers = r#"[{"name": "action_mask", "params": {"masked": [1, 3]}}]"#;
    let mut bench = Bench::new(discrete(10, 0), discrete(4, 1), wrappers);
    bench.reset(Some(1));
    let invalid = |bench: &mut Bench| -> Vec<bool> {
        [1, 2, 3, 4].map(|action| bench.step(&Element::Discrete(action)).1.info.invalid_action).into()
    };
    // The second step is one that the environment itself calls invalid.
    assert_eq!(invalid(&mut bench), [true, true, true, false]);
    assert_eq!(bench.sent(&[1, 2, 3, 4]), [2, 2, 2, 4]);
    bench.set("action_mask.masked", vec![]);
    assert_eq!(invalid(&mut bench), [false; 4]);
    assert_eq!(bench.sent(&[1, 2, 3, 4]), [1, 2, 3, 4]);
}

#[test]
fn sticky_actions_repeat_what_was_handed_on() {
    let wrappers = r#"[{"name": "sticky_actions", "params": {"probability": 0.5}}]"#;
    let mut bench = Bench::new(discrete(10, 0), discrete(1000, 0), wrappers);
    let mut rng = stream(4, "sticky_actions");
    bench.reset(Some(4));
    for _ in 0..2 {
        let mut last = None;
        let actions: Vec<i64> = (0..200).collect();
        let mut expected = |action| {
            let sticks = rng.double() < 0.5;
            last = Some(last.filter(|_| sticks).unwrap_or(action));
            last.unwrap()
        };
        let expected: Vec<i64> = actions.iter().map(|action| expected(*action)).collect();
        assert_eq!(bench.sent(&actions), expected);
        assert!(expected.windows(3).any(|three| three[0] == three[1] && three[1] == three[2]));
        bench.reset(None);
    }
}

#[test]
fn rewards_are_scaled_and_offset() {
    let wrappers = r#"[{"name": "reward_scale", "params": {"scale": -0.1, "offset": 3}}]"#;
    let mut bench = Bench::new(discrete(10, 0), discrete(2, 0), wrappers);
    bench.reset(Some(1));
    for t in 1_u8..9 {
        assert_eq!(bench.step(&Element::Discrete(0)).1.reward, f64::from(t) * -0.1 + 3.0);
    }
}

#[test]
fn delayed_rewards_arrive_later_and_none_is_lost() {
    let wrappers = r#"[{"name": "reward_delay", "params": {"steps": 2}}]"#;
    let mut bench = Bench::with_length(discrete(10, 0), discrete(2, 0), wrappers, 6);
    for _ in 0..2 {
        bench.reset(Some(1));
        let rewards: Vec<f64> = (0..6).map(|_| bench.step(&Element::Discrete(0)).1.reward).collect();
        assert_eq!(rewards, [0.0, 0.0, 1.0, 2.0, 3.0, 4.0 + 5.0 + 6.0]);
    }
    bench.reset(None);
    let mut rewards = Vec::new();
    for delay in [2, 2, 2, 0, 0] {
        bench.set("reward_delay.steps", delay);
        rewards.push(bench.step(&Element::Discrete(0)).1.reward);
    }
    assert_eq!(rewards, [0.0, 0.0, 1.0, 2.0 + 3.0 + 4.0, 5.0]);
}
