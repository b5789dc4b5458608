//! `random`: dwell times and successors, by the documented draws.

use proptest::prelude::*;
use skyfall::random::Rng;

use super::{labels, make, record, refusal, regimes};

const THREE: &str = r#"{"states": [{"id": "a"}, {"id": "b", "mean_steps": 40, "min_steps": 20}, {"id": "c"}],
    "min_steps": 5, "mean_steps": 15}"#;

/// The lengths of runs of one label, without the last one, by label.
fn dwells(labels: &[String]) -> Vec<(&str, u64)> {
    let mut dwells: Vec<(&str, u64)> = Vec::new();
    for label in labels {
        match dwells.last_mut() {
            Some((last, steps)) if last == label => *steps += 1,
            _ => dwells.push((label, 1)),
        }
    }
    dwells.pop();
    dwells
}

#[test]
fn states_follow_the_documented_draws() {
    let mut rng = Rng::named(7, "regime");
    let (mut state, mut age) = (0_usize, 0);
    let mut expected = Vec::new();
    for step in 0..2_000 {
        let (min, mean) = [(5, 15.0), (20, 40.0), (5, 15.0)][state];
        if step > 0 && age >= min && rng.double() < 1.0 / (1.0 + mean - f64::from(min)) {
            let other = rng.integers(0, 2) as usize;
            state = if other < state { other } else { other + 1 };
            age = 0;
        }
        age += 1;
        expected.push(["a", "b", "c"][state]);
    }
    assert_eq!(labels(&mut *make("random", THREE, 7), 2_000), expected);
    assert_ne!(labels(&mut *make("random", THREE, 8), 2_000), expected);
}

#[test]
fn dwells_have_their_least_and_their_mean() {
    let labels = labels(&mut *make("random", THREE, 1), 200_000);
    for (label, min, mean) in [("a", 5, 15.0), ("b", 20, 40.0), ("c", 5, 15.0)] {
        let dwells: Vec<u64> = dwells(&labels).into_iter().filter(|(id, _)| *id == label).map(|(_, n)| n).collect();
        assert_eq!(dwells.iter().min(), Some(&min));
        let found = dwells.iter().sum::<u64>() as f64 / dwells.len() as f64;
        assert!((found / mean - 1.0).abs() < 0.05, "{label}: {found}");
    }
}

#[test]
fn a_mean_of_the_least_is_that_many_steps_always() {
    let two = r#"{"states": [{"id": "a"}, {"id": "b"}], "min_steps": 3, "mean_steps": 3}"#;
    assert_eq!(labels(&mut *make("random", two, 5), 8), ["a", "a", "a", "b", "b", "b", "a", "a"]);
    let alone = r#"{"states": [{"id": "a"}], "mean_steps": 1}"#;
    assert_eq!(labels(&mut *make("random", alone, 5), 4), ["a"; 4]);
}

#[test]
fn transition_weights_say_what_follows() {
    let params = r#"{"states": [{"id": "a"}, {"id": "b"}, {"id": "c"}], "mean_steps": 2, "start": "b",
        "transition": [[0, 3, 1], [1, 0, 0], [0, 2, 2]]}"#;
    let labels = labels(&mut *make("random", params, 3), 100_000);
    assert_eq!(labels[0], "b");
    let dwells = dwells(&labels);
    let after = |from: &str, to: &str| dwells.windows(2).filter(|pair| (pair[0].0, pair[1].0) == (from, to)).count();
    assert_eq!((after("b", "c"), after("c", "a")), (0, 0));
    let share = after("a", "b") as f64 / (after("a", "b") + after("a", "c")) as f64;
    assert!((share - 0.75).abs() < 0.02, "{share}");
    // Half of the time `c` follows itself, which dwells on and is no shift.
    let dwell = |label: &str| {
        let steps: Vec<u64> = dwells.iter().filter(|(id, _)| *id == label).map(|(_, steps)| *steps).collect();
        steps.iter().sum::<u64>() as f64 / steps.len() as f64
    };
    assert!((dwell("c") - 4.0).abs() < 0.2, "{}", dwell("c"));
}

#[test]
fn a_state_brings_its_regime_and_a_shift_is_told_once() {
    let params = r#"{"states": [{"id": "a", "env": {"g": 1}}, {"id": "b", "origin": "a", "reward": {"x": 2}}],
        "mean_steps": 4, "seed": 11}"#;
    let mut provider = make("random", params, 1);
    let told: Vec<_> = (0..100).filter_map(|step| provider.shift(step).unwrap()).collect();
    assert!(told.len() > 5 && told.windows(2).all(|pair| pair[0].id != pair[1].id));
    assert_eq!((told[0].env["g"].as_int(), told[1].origin.as_deref()), (Some(1), Some("a")));
    assert_eq!(told[1].reward["x"].as_int(), Some(2));
    assert_eq!((provider.known().len(), provider.pass()), (2, None));
    assert_eq!(provider.record().unwrap(), record("random", params));
    // The parameter `seed` takes the experiment's place.
    assert_eq!(regimes(&mut *make("random", params, 2), 100), regimes(&mut *make("random", params, 3), 100));
}

#[test]
fn every_mistake_is_named() {
    let line = refusal(
        "random",
        r#"{"states": [{"id": "a", "mean_step": 3}, {"env": {}, "mean_steps": 2}, {"id": "a", "mean_steps": 2, "min_steps": 4},
            {"id": "d", "mean_steps": 0.5}], "seed": -1}"#,
    );
    for told in [
        "`params.states[0].mean_step`: unknown key; did you mean `mean_steps`?",
        "`params.states[0].mean_steps`: missing",
        "`params.states[1].id`: missing",
        "`params.states[2].id`: another state has this label",
        "`params.states[2].mean_steps`: expected at least the 4 of `min_steps`, found 2",
        "`params.states[3].mean_steps`: expected at least the 1",
        "`params.seed`: expected an integer of at least 0",
    ] {
        assert!(line.contains(told), "{told} is not in {line}");
    }
    let states = r#""states": [{"id": "a"}, {"id": "b"}], "mean_steps": 2"#;
    for (more, told) in [
        (r#""start": "x""#, "`params.start`: `x` is none of the states, which are a, b"),
        (r#""transition": [[1, 0]]"#, "`params.transition`: expected a row for each of the 2 states, found 1"),
        (r#""transition": [[0, 0], [1, 1]]"#, "`params.transition[0]`: expected 2 weights of at least 0"),
        (r#""transition": [[0, 1], [1, -1]]"#, "`params.transition[1]`: expected 2 weights"),
        (r#""transition": [[0, 1], [1]]"#, "`params.transition[1]`: expected 2 weights"),
        (r#""transition": [[0, "x"], [1, 0]]"#, "`params.transition[0][1]`: expected a finite number"),
        (r#""entries": []"#, "`params.entries`: unknown key"),
    ] {
        let line = refusal("random", &format!("{{{states}, {more}}}"));
        assert!(line.contains(told), "{told} is not in {line}");
    }
    assert!(refusal("random", r#"{"states": []}"#).contains("`params.states`: expected at least one regime"));
    assert!(refusal("random", "{}").contains("`params.states`: missing"));
}

proptest! {
    #[test]
    fn a_provider_that_is_asked_late_is_where_one_is_that_was_asked_all_along(seed in any::<u64>(), late in 1_u64..500) {
        let mut late_provider = make("random", THREE, seed);
        let at_once = late_provider.shift(late).unwrap().unwrap();
        let along = regimes(&mut *make("random", THREE, seed), late + 50);
        prop_assert_eq!(&at_once, &along[late as usize]);
        let mut present = at_once;
        for step in late..late + 50 {
            present = late_provider.shift(step).unwrap().unwrap_or(present);
            prop_assert_eq!(&present, &along[step as usize]);
        }
    }
}
