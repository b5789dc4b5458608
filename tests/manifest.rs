//! The bundle's manifest: the format document's bytes, tolerance, and what is refused.

use proptest::prelude::*;
use skyfall::bundle::manifest::{CheckpointFormat, EnvEntry, Manifest, ManifestError, PolicyEntry};
use skyfall::diagnostic::{Exit, Problem};
use skyfall::env::wrapper::WrapperRecord;
use skyfall::regime::RegimeRecord;
use skyfall::reward::{RewardRecord, TermOrigin, TermRecord};
use skyfall::text::json;
use skyfall::value::{Map, Value};

use crate::values::{any_text, any_value};

/// The manifest that the format document shows.
const SAMPLE: &str = include_str!("data/bundle/manifest.yaml");

fn map(text: &str) -> Map {
    let Value::Map(map) = json::parse(text).unwrap() else { panic!("{text}") };
    map
}

fn sample() -> Manifest {
    Manifest {
        policy: PolicyEntry {
            id: Some("skyfall_crl.train.backends.hill_climbing:linear_menu_policy".into()),
            kwargs: map(r#"{"n_actions": 2, "seed": 1}"#),
            format: Some(CheckpointFormat::Weights),
            checkpoint: Some("checkpoint".into()),
            external: false,
            lua: None,
        },
        observation_space: Some(
            map(r#"{"type": "Box", "low": [-4.800000190734863, "-inf", -0.41887903213500977, "-inf"],
                   "high": [4.800000190734863, "inf", 0.41887903213500977, "inf"], "shape": [4], "dtype": "float32"}"#)
            .into(),
        ),
        action_space: Some(map(r#"{"type": "Discrete", "n": 2, "start": 0}"#).into()),
        reward_spec: None,
        env: EnvEntry { id: "CartPole-v1".into(), ..EnvEntry::default() },
        regime: RegimeRecord::constant(),
        run: map(r#"{"run_id": "format-example", "seed": 1, "algorithm_id": "discrete_hill_climbing"}"#),
        provenance: Map::new(),
        unknown: Map::new(),
    }
}

#[test]
fn the_format_documents_manifest_is_written_and_read() {
    assert_eq!(sample().to_yaml(), SAMPLE);
    assert_eq!(Manifest::from_yaml(SAMPLE).unwrap(), sample());
}

#[test]
fn a_policy_that_cannot_be_served() {
    let manifest = Manifest {
        policy: PolicyEntry { kwargs: Map::new(), ..PolicyEntry::default() },
        observation_space: None,
        ..sample()
    };
    let text = manifest.to_yaml();
    assert!(text.contains("policy:\n  id: null\n  kwargs: {}\n  external: false\nobservation_space: null\n"), "{text}");
    assert_eq!(Manifest::from_yaml(&text).unwrap(), manifest);
}

#[test]
fn what_is_not_known_is_kept_and_what_is_absent_has_defaults() {
    let text = "version: 1\nshiny: [1]\npolicy:\n  id: a\n  format: null\n  colour: red\nenv: {id: b, extra: 1}\nregime: {provider: schedule, by: me}\n";
    let manifest = Manifest::from_yaml(text).unwrap();
    assert_eq!(manifest.policy.format, None);
    assert_eq!(manifest.regime.provider, "schedule");
    assert_eq!(manifest.run, Map::new());
    let written = "version: 1
policy:
  id: a
  kwargs: {}
  external: false
  colour: red
observation_space: null
action_space: null
reward_spec: null
env:
  id: b
  kwargs: {}
  extra: 1
regime:
  provider: schedule
  params: {}
  by: me
run: {}
provenance: {}
shiny:
- 1
";
    assert_eq!(manifest.to_yaml(), written);
    assert_eq!(Manifest::from_yaml(written).unwrap(), manifest);
    assert_eq!(Manifest::from_yaml("version: 1\npolicy: {}\nenv: {id: b}").unwrap().regime, RegimeRecord::constant());
}

#[test]
fn rewards_travel_by_value() {
    let term = TermRecord {
        name: "up".into(),
        params: map(r#"{"half_width": 2.4}"#),
        origin: TermOrigin::Lua(map(r#"{"source": "return 1\n-- é"}"#).into()),
    };
    let reward = RewardRecord { terms: vec![(term, 0.8)] };
    let manifest = Manifest { reward_spec: Some(reward.to_value()), ..sample() };
    let back = Manifest::from_yaml(&manifest.to_yaml()).unwrap();
    assert_eq!(back.reward().unwrap(), Some(reward));
    assert_eq!(sample().reward().unwrap(), None);
    let foreign = Manifest { reward_spec: Some(map(r#"{"kind": "composed"}"#).into()), ..sample() };
    assert_eq!(foreign.reward().unwrap_err().to_string(), "`terms`: missing, expected a list of terms");
}

#[test]
fn what_is_wrong_is_named() {
    let message = |text: &str| Manifest::from_yaml(text).unwrap_err().to_string();
    assert_eq!(message("version: 2\npolicy: later"), "`version`: this reader knows manifests of version 1, found 2");
    assert_eq!(message("version: '1'"), "`version`: this reader knows manifests of version 1, found \"1\"");
    assert_eq!(
        message("policy: {id: 3, format: zip, external: maybe, kwargs: 1}\nenv: {}\nregime: {params: 3}\nrun: [1]"),
        "the manifest is incomplete or wrong: `version`: missing, expected the manifest format's version; \
         `policy.id`: expected text, found an integer (3); `policy.kwargs`: expected a map, found an integer (1); \
         `policy.format`: expected `checkpoint` or `weights`, found `zip`; \
         `policy.external`: expected true or false, found text (\"maybe\"); \
         `policy.checkpoint`: missing, expected the path of what `format` restores; \
         `env.id`: missing, expected an environment's id; \
         `regime.provider`: missing, expected a provider's name; `regime.params`: expected a map, found an integer (3); \
         `run`: expected a map, found a list"
    );
    let error = Manifest::from_yaml("version: 1\npolicy: [\n").unwrap_err();
    assert!(matches!(&error, ManifestError::Malformed(error) if error.line == 3), "{error}");
    assert_eq!(error.exit(), Exit::Input);
    assert!(message("").contains("expected a map, found null"));
}

fn any_map() -> impl Strategy<Value = Map> {
    proptest::collection::vec((any_text(), any_value()), 0..4).prop_map(|entries| entries.into_iter().collect())
}

/// Fields that no version knows.
fn any_unknown() -> impl Strategy<Value = Map> {
    let fields =
        || any_map().prop_map(|map| map.into_iter().map(|(key, value)| (format!("x {key}"), value)).collect::<Map>());
    (fields(), fields(), fields()).prop_map(|(mut top, policy, env)| {
        for (name, section) in [("policy", policy), ("env", env)] {
            if !section.is_empty() {
                top.insert(name.into(), section.into());
            }
        }
        top
    })
}

fn any_manifest() -> impl Strategy<Value = Manifest> {
    let format = proptest::option::of(prop_oneof![Just(CheckpointFormat::Checkpoint), Just(CheckpointFormat::Weights)]);
    let code = || proptest::option::of(any_map().prop_map(Value::Map));
    let policy = (proptest::option::of(any_text()), any_map(), format, any_text(), any::<bool>(), code()).prop_map(
        |(id, kwargs, format, path, external, lua)| PolicyEntry {
            id,
            kwargs,
            format,
            checkpoint: format.map(|_| path),
            external,
            lua,
        },
    );
    let opaque = code;
    let wrapper = (any_text(), any_map()).prop_map(|(name, params)| WrapperRecord { name, params });
    let wrappers = proptest::collection::vec(wrapper, 0..3);
    let env = (any_text(), any_map(), wrappers, code()).prop_map(|(id, kwargs, wrappers, lua)| EnvEntry {
        id,
        kwargs,
        wrappers,
        lua,
    });
    let regime =
        (any_text(), any_map(), opaque()).prop_map(|(provider, params, lua)| RegimeRecord { provider, params, lua });
    (policy, opaque(), opaque(), opaque(), env, regime, any_map(), any_map(), any_unknown()).prop_map(
        |(policy, observation_space, action_space, reward_spec, env, regime, run, provenance, unknown)| Manifest {
            policy,
            observation_space,
            action_space,
            reward_spec,
            env,
            regime,
            run,
            provenance,
            unknown,
        },
    )
}

proptest! {
    #[test]
    fn a_manifest_survives_its_text(manifest in any_manifest()) {
        prop_assert_eq!(Manifest::from_yaml(&manifest.to_yaml()).unwrap(), manifest);
    }

    #[test]
    fn no_data_makes_the_reader_panic(value in any_value()) {
        let _ = Manifest::from_value(&value);
    }
}
