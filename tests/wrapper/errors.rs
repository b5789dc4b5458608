//! What wrappers are told that do not exist, do not fit, or are set to what they cannot be.

use skyfall::array::DType;
use skyfall::config::ExperimentConfig;
use skyfall::diagnostic::Problem;
use skyfall::env::registry;
use skyfall::env::wrapper::{registry::NAMES, wrap};
use skyfall::space::Element;
use skyfall::text::json;
use skyfall::value::Map;

use super::{Bench, boxed, discrete, stack};

/// What `wrappers` around the native environment `id` are told.
fn refusal(id: &str, wrappers: &str) -> String {
    let error = wrap(registry::make(id, &Map::new()).unwrap(), &stack(wrappers)).err().unwrap();
    assert_eq!(error.code(), "env/wrapper");
    let line = error.to_string();
    assert!(line.starts_with(&format!("environment `{id}`: `wrappers[")) && !line.contains('\n'), "{line}");
    line
}

#[test]
fn unknown_names_and_parameters_name_the_nearest() {
    let line = refusal("CartPole-v1", r#"[{"name": "reward_scale"}, {"name": "observation_nois"}]"#);
    assert!(line.contains("wrappers[1]") && line.contains("did you mean `observation_noise`?"), "{line}");
    let line = refusal("CartPole-v1", r#"[{"name": "banana"}]"#);
    NAMES.iter().for_each(|name| assert!(line.contains(name), "{line}"));
    let line = refusal("CartPole-v1", r#"[{"name": "sticky_actions", "params": {"probabilty": 0.1}}]"#);
    assert!(line.contains("`params.probabilty`") && line.contains("did you mean `probability`?"), "{line}");
    let line = refusal("CartPole-v1", r#"[{"name": "reward_scale", "params": {"x": 0.1}}]"#);
    assert!(line.contains("known are scale, offset"), "{line}");
}

#[test]
fn wrappers_that_do_not_fit_the_spaces_say_what_they_need() {
    for (id, wrappers, needs) in [
        (
            "CartPole-v1",
            r#"[{"name": "action_noise"}]"#,
            "needs a box of numbers as the action space or within it, got Discrete(2)",
        ),
        ("Taxi-v3", r#"[{"name": "observation_noise"}]"#, "as the observation space or within it, got Discrete(500)"),
        ("Pendulum-v1", r#"[{"name": "action_permutation"}]"#, "needs a discrete action space"),
        ("Pendulum-v1", r#"[{"name": "action_mask"}]"#, "needs a discrete action space"),
        (
            "CartPole-v1",
            r#"[{"name": "action_permutation", "params": {"permutation": [0, 1, 2]}}]"#,
            "must name each of the actions 0 to 1 once, got [0, 1, 2]",
        ),
        (
            "CartPole-v1",
            r#"[{"name": "observation_noise", "params": {"std": [1, 2]}}]"#,
            "`std` must be one number, or 4, one for each element; got 2",
        ),
    ] {
        let line = refusal(id, wrappers);
        assert!(line.contains(needs), "{line}");
    }
    let unbounded = Bench::new(discrete(2, 0), boxed(1, DType::F32, f64::INFINITY), "[]").env;
    let error = wrap(unbounded, &stack(r#"[{"name": "random_action"}]"#)).err().unwrap();
    assert!(error.to_string().contains("needs an action space of integers and bounded boxes"), "{error}");
}

#[test]
fn values_are_checked_when_they_are_set_and_a_refused_one_changes_nothing() {
    let wrappers = r#"[{"name": "observation_noise", "params": {"std": 0.5}}, {"name": "reward_delay"},
        {"name": "action_permutation"}, {"name": "action_mask"}, {"name": "random_action"}, {"name": "observation_delay"}]"#;
    let mut bench = Bench::new(boxed(2, DType::F32, 9.0), discrete(3, 0), wrappers);
    let before = bench.env.parameters();
    for (name, value, told) in [
        ("observation_noise.std", "-1", "a finite number of at least 0, got -1"),
        ("observation_noise.std", "NaN", "a finite number of at least 0, got NaN"),
        ("observation_noise.std", "[1, 2, 3]", "one number, or 2, one for each element; got 3"),
        ("observation_noise.std", "[1, \"x\"]", "a finite number of at least 0, got \"x\""),
        ("observation_noise.std", "[]", "a finite number of at least 0, got a list"),
        ("observation_noise.distribution", "\"normal\"", "`gaussian` or `uniform`, got \"normal\""),
        ("observation_noise.st", "1", "does not exist; did you mean `std`?"),
        ("reward_delay.steps", "1.5", "an integer from 0 to 10000, got 1.5"),
        ("reward_delay.steps", "-1", "an integer from 0 to 10000, got -1"),
        ("reward_delay.steps", "10001", "an integer from 0 to 10000, got 10001"),
        ("observation_delay.fill", "true", "`last` or `zeros`, got a boolean"),
        ("random_action.probability", "1.01", "a number from 0 to 1, got 1.01"),
        ("action_mask.masked", "[0, 3]", "must name actions from 0 to 2, got 3"),
        ("action_mask.masked", "[2, 1, 0]", "must leave one action at least"),
        ("action_mask.masked", "1", "a list of actions, got 1"),
        ("action_permutation.permutation", "[0, 0, 1]", "each of the actions 0 to 2 once, got [0, 0, 1]"),
        ("action_permutation.permutation", "[0, 1]", "each of the actions 0 to 2 once"),
        ("action_permutation.permutation", "[]", "a list of actions, got a list"),
        ("action_permutation.permutation", "[9223372036854775807, 1, 2]", "each of the actions 0 to 2 once"),
    ] {
        let error = bench.env.set_parameter(name, &json::parse(value).unwrap()).unwrap_err();
        assert_eq!(error.code(), "env/parameter");
        let line = error.to_string();
        assert!(line.contains(&format!("parameter `{name}`")) && line.contains(told), "{line}");
    }
    assert_eq!(bench.env.parameters(), before);
}

#[test]
fn a_configuration_names_every_mistake_with_its_path() {
    let text = r#"{"env": {"id": "CartPole-v1", "wrappers": [
            {"name": "observation_noise", "params": {"std": -1, "distribution": "flat", "sdt": 3}},
            {"nam": "x"}, {"name": "rewardscale"}, {"name": "reward_scale", "params": 3}, 7,
            {"name": "action_permutation", "params": {"permutation": [1, 1]}}]},
        "rollout": {"total_steps": 0}}"#;
    let errors = ExperimentConfig::from_value(&json::parse(text).unwrap()).unwrap_err();
    let paths: Vec<_> = errors.mistakes().iter().map(|mistake| mistake.path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "env.wrappers[1].nam",
            "env.wrappers[0].params.std",
            "env.wrappers[0].params.distribution",
            "env.wrappers[0].params.sdt",
            "env.wrappers[1].name",
            "env.wrappers[2].name",
            "env.wrappers[3].params",
            "env.wrappers[4]",
            "env.wrappers[5].params.permutation",
            "rollout.total_steps",
        ]
    );
    let line = errors.to_string();
    for told in
        ["did you mean `name`?", "did you mean `reward_scale`?", "known are std, distribution", "at least 0, got -1"]
    {
        assert!(line.contains(told), "{told} is not in {line}");
    }
}

#[test]
fn wrong_actions_are_refused_before_a_wrapper_replaces_them() {
    let wrappers = r#"[{"name": "random_action", "params": {"probability": 1}}, {"name": "action_delay", "params": {"steps": 3}}]"#;
    let mut bench = Bench::new(discrete(9, 0), discrete(3, 0), wrappers);
    bench.reset(Some(1));
    let refused = bench.env.step(&Element::Discrete(3), &mut Element::Discrete(0)).unwrap_err();
    assert_eq!(refused.to_string(), "environment `Probe-v0`: action 3 is outside Discrete(3)");
    let mut bench = Bench::new(discrete(9, 0), boxed(1, DType::F32, 1.0), r#"[{"name": "action_noise"}]"#);
    bench.reset(Some(1));
    assert!(bench.env.step(&super::floats(&[f32::NAN]), &mut Element::Discrete(0)).is_err());
    assert!(bench.env.step(&super::floats(&[1.0, 1.0]), &mut Element::Discrete(0)).is_err());
    // Bounds are the environment's own to apply.
    bench.step(&super::floats(&[2.0]));
    assert_eq!(bench.received.borrow()[..], [super::floats(&[2.0])]);
}
