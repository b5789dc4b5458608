//! `drift`: positions on each path, what moves with them, and the labels.

use std::collections::BTreeSet;

use proptest::prelude::*;
use skyfall::random::Rng;

use super::{make, number, record, refusal, regimes};

#[test]
fn a_linear_drift_goes_from_one_end_to_the_other_and_stays() {
    let params = r#"{"steps": 8, "buckets": 4, "env": {"g": {"from": 10, "to": 2}, "m": {"from": 0.1, "to": 0.7}},
        "reward": {"alive": {"from": 1, "to": 0}}}"#;
    let mut provider = make("drift", params, 0);
    let regimes = regimes(&mut *provider, 12);
    for (step, regime) in regimes.iter().enumerate() {
        let position = step.min(8) as f64 / 8.0;
        assert_eq!(number(&regime.env, "g"), 10.0 - 8.0 * position);
        assert_eq!(number(&regime.reward, "alive"), 1.0 - position);
    }
    assert_eq!((number(&regimes[0].env, "m"), number(&regimes[11].env, "m")), (0.1, 0.7));
    let labels: Vec<_> = regimes.iter().map(|regime| regime.id.as_deref().unwrap()).collect();
    let expected = ["drift-0", "drift-0", "drift-1", "drift-1", "drift-2", "drift-2", "drift-3", "drift-3"];
    assert_eq!(labels[..8], expected);
    assert_eq!(labels[8..], ["drift-3"; 4]);
    assert_eq!(provider.pass(), Some(8));
    assert_eq!(provider.record().unwrap(), record("drift", params));
    assert_eq!(provider.shift(12).unwrap(), None, "at its end nothing moves");
}

#[test]
fn a_sine_swings_there_and_back_and_revisits_its_labels() {
    let params = r#"{"path": "sine", "steps": 12, "buckets": 3, "id": "tide", "env": {"x": {"from": -1, "to": 1}}}"#;
    let regimes = regimes(&mut *make("drift", params, 0), 24);
    for (step, regime) in regimes.iter().enumerate() {
        let expected = -(std::f64::consts::TAU * step as f64 / 12.0).cos();
        assert!((number(&regime.env, "x") - expected).abs() < 1e-12);
    }
    assert_eq!((number(&regimes[0].env, "x"), number(&regimes[6].env, "x")), (-1.0, 1.0));
    assert_eq!(regimes[..12], regimes[12..]);
    let labels: Vec<_> = regimes[..12].iter().map(|regime| regime.id.clone().unwrap()).collect();
    let bucket = |k: i32| format!("tide-{k}");
    assert_eq!(labels, [0, 0, 0, 1, 2, 2, 2, 2, 2, 1, 0, 0].map(bucket));
}

#[test]
fn a_random_walk_adds_normals_and_is_reflected() {
    let params =
        r#"{"path": "random_walk", "std": 0.4, "start": 0.25, "every": 3, "env": {"x": {"from": 0, "to": 1}}}"#;
    let mut rng = Rng::named(9, "regime");
    let mut position: f64 = 0.25;
    let mut reflections = 0;
    for (step, regime) in regimes(&mut *make("drift", params, 9), 300).iter().enumerate() {
        if step > 0 && step % 3 == 0 {
            position += 0.4 * rng.standard_normal();
            while !(0.0..=1.0).contains(&position) {
                position = if position < 0.0 { -position } else { 2.0 - position };
                reflections += 1;
            }
        }
        assert!((number(&regime.env, "x") - position).abs() < 1e-9, "step {step}");
        position = number(&regime.env, "x");
    }
    assert!(reflections > 10);
    assert_ne!(regimes(&mut *make("drift", params, 9), 300), regimes(&mut *make("drift", params, 10), 300));
    assert_eq!(make("drift", params, 9).pass(), None);
}

#[test]
fn values_move_every_so_many_steps() {
    let params = r#"{"steps": 100, "every": 10, "env": {"x": {"from": 0, "to": 100}}}"#;
    let mut provider = make("drift", params, 0);
    let moved: Vec<u64> = (0..60).filter(|step| provider.shift(*step).unwrap().is_some()).collect();
    assert_eq!(moved, [0, 10, 20, 30, 40, 50]);
    let regimes = regimes(&mut *make("drift", params, 0), 40);
    assert_eq!((number(&regimes[19].env, "x"), number(&regimes[20].env, "x")), (10.0, 20.0));
}

#[test]
fn every_mistake_is_named() {
    let line = refusal(
        "drift",
        r#"{"stesp": 3, "every": 0, "buckets": 0.5, "env": {"x": {"from": 1}, "y": 3, "z": {"from": "a", "to": 1, "too": 2}}}"#,
    );
    for told in [
        "`params.stesp`: unknown key; did you mean `steps`?",
        "`params.steps`: missing",
        "`params.every`: expected an integer of at least 1",
        "`params.buckets`: expected an integer of at least 1",
        "`params.env.x.to`: missing",
        "`params.env.y`: expected a map",
        "`params.env.z.from`: expected a finite number",
        "`params.env.z.too`: unknown key",
    ] {
        assert!(line.contains(told), "{told} is not in {line}");
    }
    for (params, told) in [
        (r#"{"path": "sinus", "steps": 3}"#, "there is no path `sinus`; did you mean `sine`?"),
        (r#"{"path": "random_walk", "std": 1.5}"#, "`params.std`: expected a number from 0 to 1, found 1.5"),
        (r#"{"path": "random_walk", "std": 0.1, "start": -1}"#, "`params.start`: expected a number from 0 to 1"),
        (r#"{"path": "random_walk", "std": 0.1, "steps": 3}"#, "`params.steps`: unknown key"),
        (r#"{"path": "linear", "steps": 3, "std": 1}"#, "`params.std`: unknown key"),
    ] {
        let line = refusal("drift", params);
        assert!(line.contains(told), "{told} is not in {line}");
    }
}

proptest! {
    #[test]
    fn there_are_no_more_labels_than_buckets_and_values_stay_between_their_ends(
        seed in any::<u64>(), buckets in 1_u64..12, path in 0_usize..3, steps in 1_u64..400, every in 1_u64..20,
    ) {
        let path = ["linear", "sine", "random_walk"][path];
        let own = if path == "random_walk" { r#""std": 0.7"#.to_owned() } else { format!(r#""steps": {steps}"#) };
        let params = format!(
            r#"{{"path": "{path}", {own}, "every": {every}, "buckets": {buckets}, "env": {{"x": {{"from": 3, "to": -2}}}}}}"#
        );
        let regimes = regimes(&mut *make("drift", &params, seed), 500);
        let distinct: BTreeSet<_> = regimes.iter().map(|regime| regime.id.clone()).collect();
        prop_assert!(distinct.len() as u64 <= buckets);
        prop_assert!(regimes.iter().all(|regime| (-2.0..=3.0).contains(&number(&regime.env, "x"))));
        let late = make("drift", &params, seed).shift(499).unwrap();
        prop_assert_eq!(late.as_ref(), regimes.last());
    }
}
