//! Policies by id: what they refuse, their gradients, and what their checkpoints bring back.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use allocation_counter::measure;
use skyfall::bundle::{Bundle, ExportOptions, ServeOptions, export, serve};
use skyfall::experiment::{Catalog, Silent};
use skyfall::policy::{Context, Policy, registry};
use skyfall::space::{Element, Space};
use skyfall::text::json;

use crate::learning::trained;

fn spaces() -> (Space, Space) {
    let env = skyfall::env::registry::make("CartPole-v1", &skyfall::value::Map::new()).unwrap();
    (env.observation_space().clone(), env.action_space().clone())
}

fn make(id: &str, kwargs: &str) -> Result<Box<dyn Policy>, String> {
    let (observations, actions) = spaces();
    let context = Context { observation_space: &observations, action_space: &actions, seed: 3 };
    let kwargs = json::parse(kwargs).unwrap().as_map().unwrap().clone();
    registry::make(id, &kwargs, context).map_err(|error| error.to_string())
}

fn observation(numbers: [f32; 4]) -> Element {
    let mut observation = spaces().0.blank();
    let Element::Array(skyfall::array::Array::F32(array)) = &mut observation else { unreachable!() };
    array.iter_mut().zip(numbers).for_each(|(slot, number)| *slot = number);
    observation
}

#[test]
fn every_mistake_is_named_at_once() {
    let line = make("mlp", r#"{"hiden": [3], "hidden": [0], "seed": -1, "n_actions": 3}"#).err().unwrap();
    for part in
        ["`kwargs.hiden`; did you mean `hidden`?", "`kwargs.hidden` must be", "[0]", "`kwargs.seed`", "is 3, but"]
    {
        assert!(line.contains(part), "{part}: {line}");
    }
    let line = make("tabular", r#"{"bins": [2, 2], "tilings": 0, "sample": true}"#).err().unwrap();
    for part in ["`kwargs.bins` has 2 items", "`kwargs.tilings` must be", "unknown setting `kwargs.sample`"] {
        assert!(line.contains(part), "{part}: {line}");
    }
    let line = make("tabular", "{}").err().unwrap();
    assert!(line.contains("number 1 of an observation") && line.contains("`kwargs.low`"), "{line}");
    let line = make("mlp", r#"{"hidden": [2000000000, 2000000000]}"#).err().unwrap();
    assert!(line.contains("too many weights"), "{line}");
    assert!(make("linear_softmax", r#"{"initial": -1}"#).err().unwrap().contains("at least 0, got -1"));
}

#[test]
fn gradients_are_what_differences_say() {
    for (id, kwargs) in [("linear_softmax", "{}"), ("mlp", r#"{"hidden": [5, 9]}"#), ("mlp", r#"{"hidden": []}"#)] {
        let mut policy = make(id, kwargs).unwrap();
        let by_score = [0.7, -1.3];
        let features = [0.3, -0.8, 0.05, 1.1];
        let size = policy.parameters().unwrap().len();
        let mut gradient = vec![0.0; size];
        let loss = |policy: &mut dyn Policy| {
            let mut scores = [0.0; 2];
            policy.differentiable().unwrap().scores(&features, &mut scores);
            scores[0] * by_score[0] + scores[1] * by_score[1]
        };
        loss(&mut *policy);
        policy.differentiable().unwrap().add_gradient(&features, &by_score, &mut gradient);
        for (index, found) in gradient.into_iter().enumerate() {
            let mut at = |step: f64| {
                policy.parameters_mut().unwrap()[index] += step;
                let there = loss(&mut *policy);
                policy.parameters_mut().unwrap()[index] -= step;
                there
            };
            let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((slope - found).abs() < 1e-8, "{id} {index}: {slope} {found}");
        }
    }
}

#[test]
fn a_softmax_policy_draws_only_when_asked_to() {
    for id in ["linear_softmax", "mlp"] {
        let taken = |kwargs: &str| {
            let mut policy = make(id, kwargs).unwrap();
            let mut action = Element::Discrete(0);
            let one = |_| {
                policy.act(&observation([0.1, 0.2, 0.3, 0.4]), &mut action).unwrap();
                action == Element::Discrete(1)
            };
            (0..200).map(one).filter(|second| *second).count()
        };
        assert!([0, 200].contains(&taken("{}")));
        assert!((50..150).contains(&taken(r#"{"sample": true}"#)), "{id}");
    }
}

#[test]
fn what_is_learned_is_served_bit_for_bit() {
    let tiles = r#"{"tilings": 3, "bins": 4, "low": [null, -2, null, -2], "high": [null, 2, null, 2]}"#;
    for (name, id, kwargs) in [
        ("ars", "linear_menu", "{}"),
        ("reinforce", "linear_softmax", "{}"),
        ("q_learning", "tabular", tiles),
        ("ppo", "mlp", r#"{"hidden": [7, 5]}"#),
    ] {
        let algorithm = format!(r#"{{"name": "{name}", "policy": {{"id": "{id}", "kwargs": {kwargs}}}}}"#);
        let experiment = trained("CartPole-v1", &algorithm, 600, 2, "");
        let directory = tempfile::tempdir().unwrap();
        let dir = directory.path().join("bundle");
        export(&experiment, &dir, ExportOptions::default()).unwrap();
        let bundle = Bundle::open(&dir).unwrap();
        let restored = bundle.policy(&Catalog::native()).unwrap();
        let bits = |policy: &dyn Policy| -> Vec<u64> {
            policy.parameters().unwrap().iter().map(|weight| weight.to_bits()).collect()
        };
        assert_eq!(bits(&*restored), bits(experiment.algorithm().policy()), "{id}");
        let untrained = make(id, kwargs).unwrap();
        assert_ne!(bits(&*restored), bits(&*untrained), "{id}");
        let options = ServeOptions { steps: Some(50), ..ServeOptions::default() };
        assert_eq!(serve(&bundle, &Catalog::native(), &options, None, &mut Silent).unwrap().steps, 50);

        let weights = dir.join("checkpoint").join("weights.safetensors");
        let bytes = fs::read(&weights).unwrap();
        let header = String::from_utf8_lossy(&bytes[8..bytes.len().min(300)]).into_owned();
        let tensor = match id {
            "mlp" => "layers.0.weight",
            "tabular" => "value",
            _ => "weight",
        };
        assert!(header.contains(&format!("\"{tensor}\"")), "{header}");
        fs::write(&weights, &bytes[..bytes.len() - 3]).unwrap();
        assert!(bundle.policy(&Catalog::native()).is_err(), "{id}");
    }
}

#[test]
fn a_table_has_a_cell_for_each_tile() {
    let kwargs = r#"{"bins": [1, 1, 4, 1], "low": [null, -1, 0, -1], "high": [null, 1, 1, 1]}"#;
    let mut policy = make("tabular", kwargs).unwrap();
    assert_eq!(policy.parameters().unwrap().len(), 8);
    let table = policy.action_values().unwrap();
    let mut cells = Vec::new();
    let mut cell = |angle: f32| {
        table.cells(&observation([0.0, 9.0, angle, 0.0]), &mut cells).unwrap();
        cells[0]
    };
    assert_eq!([-3.0, 0.0, 0.24, 0.26, 0.99, 1.0, 7.0].map(&mut cell), [0, 0, 0, 1, 3, 3, 3]);
    let mut action = Element::Discrete(0);
    let refused = policy.act(&observation([f32::NAN, 0.0, 0.0, 0.0]), &mut action).unwrap_err();
    assert!(refused.to_string().contains("NaN"), "{refused}");
}

/// Acting is what a step costs: once the buffers are there, it allocates nothing.
#[test]
fn acting_allocates_nothing() {
    let tiles = r#"{"tilings": 3, "bins": 4, "low": [null, -2, null, -2], "high": [null, 2, null, 2]}"#;
    for (id, kwargs) in [
        ("linear_menu", "{}"),
        ("linear_softmax", r#"{"sample": true}"#),
        ("mlp", r#"{"sample": true}"#),
        ("tabular", tiles),
        ("random", "{}"),
        ("constant", r#"{"action": 1}"#),
    ] {
        let mut policy = make(id, kwargs).unwrap();
        let (seen, mut action) = (observation([0.1, 0.2, 0.3, 0.4]), Element::Discrete(0));
        let mut act = || policy.act(&seen, &mut action).unwrap();
        act();
        let allocations = measure(|| (0..100).for_each(|_| act()));
        assert_eq!(allocations.count_total, 0, "{id}");
    }
}

/// What every policy says it takes, and what `docs/policies.md` says of it.
#[test]
fn the_documented_arguments_are_those_taken() {
    let (_, table) = include_str!("../docs/policies.md").split_once("| id | arguments").unwrap();
    let mut documented: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for row in table.lines().skip(2).take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.split('|').collect();
        let quoted = |cell: usize| cells[cell].split('`').skip(1).step_by(2);
        documented.insert(quoted(1).next().unwrap(), quoted(2).collect());
    }
    for id in registry::IDS.into_iter().filter(|id| !id.contains(':')) {
        let refusal = make(id, r#"{"?": 1}"#).err().unwrap();
        let (_, taken) = refusal.split_once("it takes ").unwrap();
        let taken = taken.split(';').next().unwrap().split(", ").collect();
        assert_eq!(documented.remove(id).unwrap(), taken, "{id}");
    }
    assert_eq!(documented.into_keys().collect::<Vec<_>>(), [""; 0]);
}
