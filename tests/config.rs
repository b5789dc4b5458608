//! Configurations: defaults, all mistakes at once, `--set`, files.

use proptest::prelude::*;
use skyfall::config::{self, ExperimentConfig, LoadError};
use skyfall::diagnostic::{Exit, Problem};
use skyfall::regime::RegimeRecord;
use skyfall::reward::TermOrigin;
use skyfall::text::{json, yaml};
use skyfall::value::{Map, Value};

use crate::values::{any_text, any_value};

/// The configuration of the format document's bundle sample.
const SAMPLE: &str = r#"
env: {id: CartPole-v1}
algorithm:
  name: discrete_hill_climbing
  params: {seed: 1}
  policy:
    id: skyfall_crl.train.backends.hill_climbing:linear_menu_policy
    kwargs: {n_actions: 2, seed: 1}
rollout: {window_steps: 50, total_steps: 100, auto_reset: true}
run: {name: format-example, seed: 1}
"#;

fn read(text: &str) -> Result<ExperimentConfig, config::ConfigErrors> {
    ExperimentConfig::from_value(&yaml::parse(text).unwrap())
}

fn mistakes(text: &str) -> Vec<String> {
    read(text).unwrap_err().mistakes().iter().map(ToString::to_string).collect()
}

#[test]
fn the_sample_is_read_and_resolved() {
    let config = read(SAMPLE).unwrap();
    assert_eq!(config.rollout.total_steps, 100);
    assert_eq!(config.regime, RegimeRecord::constant());
    assert_eq!(config.reward, None);
    let expected = r#"env:
  id: CartPole-v1
  kwargs: {}
algorithm:
  name: discrete_hill_climbing
  params:
    seed: 1
  policy:
    id: skyfall_crl.train.backends.hill_climbing:linear_menu_policy
    kwargs:
      n_actions: 2
      seed: 1
rollout:
  window_steps: 50
  total_steps: 100
  auto_reset: true
reward: null
regime:
  provider: constant
  params: {}
run:
  name: format-example
  seed: 1
  task: null
  policy_id: null
  meta: {}
trace:
  record: []
  effective_rank: null
"#;
    assert_eq!(yaml::to_string(&config.to_value()), expected);
    assert_eq!(config.sha256(), crate::digest::sha256_hex(json::to_canonical(&config.to_value()).as_bytes()));
}

#[test]
fn what_is_left_out_has_defaults() {
    let config = read("env: {id: CartPole-v1, kwargs: []}\nrollout: {total_steps: 1000.0}\nrun: ").unwrap();
    assert_eq!(config.env.kwargs, Map::new());
    assert_eq!(config.rollout.window_steps, 1000);
    assert_eq!(config.rollout.total_steps, 1000);
    assert!(config.rollout.auto_reset);
    assert_eq!((config.run.name.as_str(), config.run.seed), ("run", 0));
    assert_eq!(config.algorithm.name, "none");
    assert_eq!(config.algorithm.policy, None);
}

#[test]
fn rewards_and_regimes_in_data_form() {
    let text = format!(
        "{SAMPLE}\nreward:\n  terms:\n  - {{builtin: alive}}\n  - {{name: up, weight: 0.5, params: {{a: 1}}, lua: {{source: x}}}}\n\
         regime: {{provider: schedule, params: {{segments: []}}}}\ntrace: {{record: [observation, env_reward]}}\n"
    );
    let config = read(&text).unwrap();
    let reward = config.reward.clone().unwrap();
    assert_eq!(reward.terms[0].0.name, "alive");
    assert_eq!(reward.terms[0].1.to_bits(), 1.0f64.to_bits());
    assert_eq!(reward.terms[0].0.origin, TermOrigin::Builtin("alive".into()));
    assert_eq!(reward.terms[1].0.name, "up");
    assert_eq!(
        json::to_string(&reward.to_value()),
        r#"{"terms": [{"name": "alive", "weight": 1.0, "params": {}, "builtin": "alive"}, {"name": "up", "weight": 0.5, "params": {"a": 1}, "lua": {"source": "x"}}]}"#
    );
    assert_eq!(config.trace.record, [config::Record::Observation, config::Record::EnvReward]);
    assert_eq!(ExperimentConfig::from_value(&config.to_value()).unwrap(), config);
}

#[test]
fn every_mistake_is_reported_with_its_path() {
    let text = r#"
env: {id: 7, kwarg: {}}
algorithm: {name: [x], policy: {kwargs: 3}}
rollout: {windw_steps: 5, total_steps: 0, auto_reset: "yes"}
reward: {terms: [{builtin: a, lua: {}}, {name: b, builtin: c, weight: .nan}, {builtin: d}, {builtin: d}, 5, {wieght: 2, builtin: e}]}
regime: {params: []}
run: {seed: -1, meta: {seed: 3, free: 4}}
trace: {record: [observatoin, reward_x9]}
banana: 1
"#;
    let expected = [
        "`env.kwarg`: unknown key; did you mean `kwargs`?",
        "`rollout.windw_steps`: unknown key; did you mean `window_steps`?",
        "`reward.terms[5].wieght`: unknown key; did you mean `weight`?",
        "`banana`: unknown key; known are env, algorithm, rollout, reward, regime, run, trace",
        "`env.id`: expected text, found an integer (7)",
        "`algorithm.name`: expected text, found a list",
        "`algorithm.policy.id`: missing, expected a policy's name or dotted factory",
        "`algorithm.policy.kwargs`: expected a map, found an integer (3)",
        "`rollout.total_steps`: expected an integer of at least 1, found an integer (0)",
        "`rollout.auto_reset`: expected true or false, found text (\"yes\")",
        "`reward.terms[0]`: expected either `builtin` (a native term's name) or `lua` (source by value)",
        "`reward.terms[1].weight`: expected a finite number, found a number (NaN)",
        "`reward.terms[3]`: a second term named `d`",
        "`reward.terms[4]`: expected a map, found an integer (5)",
        "`regime.provider`: missing, expected a provider's name",
        "`run.seed`: expected an integer of at least 0, found an integer (-1)",
        "`run.meta.seed`: identifies the run, so it comes from `run.seed`",
        "`trace.record[0]`: `observatoin` cannot be recorded; did you mean `observation`?",
        "`trace.record[1]`: `reward_x9` cannot be recorded; what can is observation, next_observation, env_reward, terminated, truncated",
    ];
    assert_eq!(mistakes(text), expected);
    assert_eq!(read(text).unwrap_err().exit(), Exit::Failure);
    assert_eq!(
        mistakes("{}"),
        [
            "`env`: missing, expected a map with the environment's `id`",
            "`rollout`: missing, expected a map with `total_steps`"
        ]
    );
    assert_eq!(mistakes("- 1"), ["expected a map, found a list"]);
    assert_eq!(
        read("env: {id: 1}\nrollout: {total_steps: 0}").unwrap_err().to_string(),
        "`env.id`: expected text, found an integer (1); \
         `rollout.total_steps`: expected an integer of at least 1, found an integer (0)"
    );
}

fn set(assignments: &[&str]) -> Result<ExperimentConfig, String> {
    let mut document = yaml::parse(SAMPLE).unwrap();
    for assignment in assignments {
        config::set(&mut document, assignment).map_err(|error| error.to_string())?;
    }
    ExperimentConfig::from_value(&document).map_err(|error| error.to_string())
}

#[test]
fn values_are_set_by_path() {
    let config = set(&[
        "run.name=1E5",
        "run.seed=9",
        "algorithm.params.noise=0.25",
        "algorithm.policy.kwargs.deep.er=[1, \"x\"]",
        "env.kwargs.mode=plain text = yes",
        "rollout.total_steps=1E3",
        "rollout.auto_reset=false",
        "run.task=",
        "reward={\"terms\": [{\"builtin\": \"alive\"}]}",
        "reward.terms.0.weight=0.5",
        "regime.provider=cycle",
    ])
    .unwrap();
    assert_eq!(config.run.name, "1E5");
    assert_eq!(config.run.seed, 9);
    assert_eq!(config.run.task.as_deref(), Some(""));
    assert_eq!(config.algorithm.params["noise"], Value::Float(0.25));
    assert_eq!(json::to_string(&config.algorithm.policy.unwrap().kwargs["deep"]), r#"{"er": [1, "x"]}"#);
    assert_eq!(config.env.kwargs["mode"], Value::from("plain text = yes"));
    assert_eq!(config.rollout.total_steps, 1000);
    assert!(!config.rollout.auto_reset);
    assert_eq!(config.reward.unwrap().terms[0].1.to_bits(), 0.5f64.to_bits());
    assert_eq!(config.regime.provider, "cycle");
}

#[test]
fn what_cannot_be_set_is_said() {
    let cases = [
        ("run.name", "`run.name` is not of the form a.b.c=VALUE"),
        ("=3", "`=3` is not of the form a.b.c=VALUE"),
        ("run..x=3", "`run..x=3` is not of the form a.b.c=VALUE"),
        ("rollout.windowsteps=3", "`rollout.windowsteps`: unknown key; did you mean `window_steps`?"),
        ("run.name.x=3", "`run.name` is text, which has no `x`"),
        ("run.seed.x=3", "`run.seed` is a single value, which has no `x`"),
        ("algorithm.params.seed.x=3", "`algorithm.params.seed` is an integer, which has no `x`"),
        ("rollout.total_steps=many", "`rollout.total_steps`: expected an integer of at least 1, found text (\"many\")"),
    ];
    for (assignment, expected) in cases {
        assert_eq!(set(&[assignment]).unwrap_err(), expected);
    }
    let mut document = Value::Map(Map::new());
    assert_eq!(config::set(&mut document, "run.x=1").unwrap_err().exit(), Exit::Usage);
    assert_eq!(document, Value::Map(Map::new()), "left as it was");
}

#[test]
fn files_are_read_by_their_extension() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = directory.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let from_yaml = config::load(&file("a.yml", SAMPLE.as_bytes())).unwrap();
    let as_json = json::to_string(&from_yaml.to_value());
    assert_eq!(config::load(&file("a.JSON", as_json.as_bytes())).unwrap(), from_yaml);

    let message = |error: LoadError| {
        let exit = error.exit();
        let diagnostic = error.into_diagnostic();
        let line = diagnostic.location.map(|location| (location.line, location.source));
        (diagnostic.message.replace(&format!("{}/", directory.path().display()), ""), exit, line)
    };
    let (text, exit, line) = message(config::load(&file("bad.yaml", b"env:\n  id: [x\nrun: 1\n")).unwrap_err());
    assert!(text.starts_with("bad.yaml:3: "), "{text}");
    assert_eq!((exit, line), (Exit::Input, Some((3, Some("run: 1".to_owned())))));

    let (text, exit, line) = message(config::load(&file("bad.json", b"{\n\"a\": 1,\n}")).unwrap_err());
    assert_eq!(text, "bad.json:3: expected a key in double quotes, found '}' (column 1)");
    assert_eq!((exit, line), (Exit::Input, Some((3, Some("}".to_owned())))));

    let (text, exit, _) = message(config::load(&file("latin.yaml", b"a: 1\nb: \xe9\n")).unwrap_err());
    assert_eq!((text.as_str(), exit), ("latin.yaml:2: this is not UTF-8 text (column 4)", Exit::Input));

    let (text, exit, _) = message(config::load(&directory.path().join("none.yaml")).unwrap_err());
    assert!(text.starts_with("cannot read none.yaml: No such file"), "{text}");
    assert_eq!(exit, Exit::Input);

    let (text, exit, _) = message(config::load(&file("a.toml", b"")).unwrap_err());
    assert_eq!((text.as_str(), exit), ("a.toml is neither a .yaml, .yml nor a .json file", Exit::Input));

    let (text, exit, _) =
        message(config::load(&file("wrong.yaml", b"env: {id: a}\nrollout: {total_steps: x}")).unwrap_err());
    assert_eq!(text, "wrong.yaml: `rollout.total_steps`: expected an integer of at least 1, found text (\"x\")");
    assert_eq!(exit, Exit::Failure);
}

fn any_map() -> impl Strategy<Value = Map> {
    proptest::collection::vec((any_text(), any_value()), 0..4).prop_map(|entries| entries.into_iter().collect())
}

fn any_config() -> impl Strategy<Value = ExperimentConfig> {
    use skyfall::config::{AlgorithmConfig, EnvConfig, PolicyConfig, Record, RolloutConfig, RunConfig, TraceConfig};
    use skyfall::reward::{RewardRecord, TermRecord};
    let policy =
        proptest::option::of((any_text(), any_map()).prop_map(|(id, kwargs)| PolicyConfig { id, kwargs, lua: None }));
    let algorithm =
        (any_text(), any_map(), policy).prop_map(|(name, params, policy)| AlgorithmConfig { name, params, policy });
    let term = (any_map(), -1e3..1e3f64, proptest::option::of(any_map()));
    let reward = proptest::option::of(proptest::collection::vec(term, 0..4).prop_map(|terms| {
        let term = |(index, (params, weight, lua)): (usize, (Map, f64, Option<Map>))| {
            let origin = lua.map_or_else(|| TermOrigin::Builtin("alive".into()), |lua| TermOrigin::Lua(lua.into()));
            (TermRecord { name: format!("term {index}"), params, origin }, weight)
        };
        RewardRecord { terms: terms.into_iter().enumerate().map(term).collect() }
    }));
    let regime = (any_text(), any_map(), proptest::option::of(any_map().prop_map(Value::Map)))
        .prop_map(|(provider, params, lua)| RegimeRecord { provider, params, lua });
    let optional = || proptest::option::of(any_text());
    let run = (any_text(), any::<u64>(), optional(), optional(), any_map())
        .prop_map(|(name, seed, task, policy_id, meta)| RunConfig { name, seed, task, policy_id, meta });
    let rollout = (1..u64::MAX, 1..u64::MAX, any::<bool>())
        .prop_map(|(window_steps, total_steps, auto_reset)| RolloutConfig { window_steps, total_steps, auto_reset });
    let record = proptest::sample::subsequence(Record::ALL.to_vec(), 0..=5);
    let trace = (record, proptest::option::of(2..u64::MAX))
        .prop_map(|(record, effective_rank)| TraceConfig { record, effective_rank });
    (any_text(), any_map(), algorithm, rollout, reward, regime, run, trace).prop_map(
        |(id, kwargs, algorithm, rollout, reward, regime, run, trace)| ExperimentConfig {
            env: EnvConfig { id, kwargs, lua: None, wrappers: Vec::new() },
            algorithm,
            rollout,
            reward,
            regime,
            run,
            trace,
        },
    )
}

proptest! {
    #[test]
    fn a_configuration_survives_yaml_and_json(config in any_config()) {
        let value = config.to_value();
        prop_assert_eq!(&ExperimentConfig::from_value(&value).unwrap(), &config);
        let through_yaml = yaml::parse(&yaml::to_string(&value)).unwrap();
        prop_assert_eq!(&ExperimentConfig::from_value(&through_yaml).unwrap(), &config);
        let through_json = json::parse(&json::to_canonical(&value)).unwrap();
        prop_assert_eq!(ExperimentConfig::from_value(&through_json).unwrap().sha256(), config.sha256());
    }

    #[test]
    fn no_data_makes_the_reader_panic(value in any_value()) {
        let _ = ExperimentConfig::from_value(&value);
    }
}
