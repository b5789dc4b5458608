//! Every row of the format document's bundle table, a test named after it.

use std::fs;
use std::path::Path;

use skyfall::bundle::{Bundle, ExportOptions, ServeOptions, check, export, serve};
use skyfall::config::ExperimentConfig;
use skyfall::env::Env;
use skyfall::experiment::{Catalog, Experiment, Parts, Silent};
use skyfall::space::Space;
use skyfall::text::{json, yaml};
use skyfall::value::{Map, Value};

use crate::command::Scratch;
use crate::experiment::{cartpole, config, rows};

fn exported(config: ExperimentConfig, catalog: &Catalog, dir: &Path) -> Map {
    let mut experiment = Experiment::new(config, catalog, Parts::default()).unwrap();
    experiment.run(None, &mut Silent).unwrap();
    export(&experiment, dir, ExportOptions::default()).unwrap();
    manifest(dir)
}

fn manifest(dir: &Path) -> Map {
    let Value::Map(map) = yaml::parse(&fs::read_to_string(dir.join("manifest.yaml")).unwrap()).unwrap() else {
        panic!("no map")
    };
    map
}

fn edited(dir: &Path, change: impl FnOnce(&mut Map)) {
    let mut map = manifest(dir);
    change(&mut map);
    fs::write(dir.join("manifest.yaml"), yaml::to_string(&Value::Map(map))).unwrap();
}

fn section<'a>(map: &'a Map, name: &str) -> &'a Map {
    map[name].as_map().unwrap()
}

fn refusal(dir: &Path) -> String {
    check(dir, &Catalog::native()).unwrap_err().to_string()
}

fn scratch() -> (tempfile::TempDir, std::path::PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path().join("bundle");
    (directory, dir)
}

#[test]
fn version() {
    let (_directory, dir) = scratch();
    let map = exported(cartpole(20, 1, ""), &Catalog::native(), &dir);
    assert_eq!(map["version"], Value::Int(1));
    edited(&dir, |map| drop(map.insert("from_the_future".to_owned(), Value::from("x"))));
    check(&dir, &Catalog::native()).unwrap();
    edited(&dir, |map| drop(map.insert("version".to_owned(), Value::Int(2))));
    assert!(refusal(&dir).contains("version 1, found 2"));
    edited(&dir, |map| drop(map.shift_remove("version")));
    assert!(refusal(&dir).contains("`version`"));
}

#[test]
fn policy_id_and_policy_kwargs() {
    let (_directory, dir) = scratch();
    let factory = "skyfall_crl.train.backends.hill_climbing:linear_menu_policy";
    let text = format!(
        r#"{{"env": {{"id": "CartPole-v1"}}, "rollout": {{"total_steps": 20}}, "algorithm": {{
            "name": "discrete_hill_climbing", "policy": {{"id": "{factory}", "kwargs": {{"n_actions": 2, "seed": 7}}}}}}}}"#
    );
    let map = exported(config(&text), &Catalog::native(), &dir);
    assert_eq!(section(&map, "policy")["id"].as_text(), Some(factory));
    assert_eq!(json::to_string(&section(&map, "policy")["kwargs"]), r#"{"n_actions": 2, "seed": 7}"#);
    edited(&dir, |map| {
        let Some(Value::Map(policy)) = map.get_mut("policy") else { panic!("{map:?}") };
        policy.insert("id".to_owned(), Value::Null);
    });
    assert!(refusal(&dir).contains("`policy.id` is null"));
}

#[test]
fn policy_format_weights_is_a_file_and_checkpoint_a_directory() {
    let (_directory, dir) = scratch();
    let map = exported(cartpole(20, 1, ""), &Catalog::native(), &dir);
    assert_eq!(section(&map, "policy")["format"].as_text(), Some("weights"));
    let files: Vec<_> = fs::read_dir(dir.join("checkpoint")).unwrap().collect();
    assert_eq!(files.len(), 1);
    // The path may name the file itself, as well as the directory that holds it.
    edited(&dir, |map| {
        let Some(Value::Map(policy)) = map.get_mut("policy") else { panic!("{map:?}") };
        policy.insert("checkpoint".to_owned(), "checkpoint/weights.safetensors".into());
    });
    check(&dir, &Catalog::native()).unwrap();
    let text = r#"{"env": {"id": "CartPole-v1"}, "rollout": {"total_steps": 5},
        "algorithm": {"name": "none", "policy": {"id": "constant", "kwargs": {"action": 1}}}}"#;
    let map = exported(config(text), &Catalog::native(), &dir);
    assert_eq!(section(&map, "policy")["format"].as_text(), Some("checkpoint"));
    check(&dir, &Catalog::native()).unwrap();
    edited(&dir, |map| {
        let Some(Value::Map(policy)) = map.get_mut("policy") else { panic!("{map:?}") };
        policy.shift_remove("format");
    });
    assert!(refusal(&dir).contains("`policy.format` is absent"));
}

#[test]
fn policy_checkpoint_is_relative_so_that_the_bundle_moves() {
    let (directory, dir) = scratch();
    let map = exported(cartpole(20, 1, ""), &Catalog::native(), &dir);
    assert_eq!(section(&map, "policy")["checkpoint"].as_text(), Some("checkpoint"));
    let far = directory.path().join("far/away");
    fs::create_dir_all(far.parent().unwrap()).unwrap();
    fs::rename(&dir, &far).unwrap();
    check(&far, &Catalog::native()).unwrap();
    assert!(!fs::read_to_string(far.join("manifest.yaml")).unwrap().contains(directory.path().to_str().unwrap()));
}

#[test]
fn policy_external_from_the_command_line_and_from_lua() {
    let scratch = Scratch::new();
    scratch.write(
        "config.yaml",
        "env: {id: CartPole-v1}\nrollout: {total_steps: 20}\nalgorithm: {policy: {id: random}}\n",
    );
    scratch.skyfall(&["run", "config.yaml", "--export-external"]).failed(2, &["--export"]);
    scratch.skyfall(&["run", "config.yaml", "--export", "a/bundle", "--export-external"]).ok();
    scratch
        .script(
            "local skyfall = require 'skyfall'\n\
             skyfall.run_experiment({ env = { id = 'CartPole-v1' }, rollout = { total_steps = 20 }, \
             algorithm = { policy = { id = 'random' } } }, { export_dir = 'b/bundle', export_external = true })",
        )
        .ok();
    for name in ["a", "b"] {
        let dir = scratch.file(name).join("bundle");
        let policy = section(&manifest(&dir), "policy").clone();
        assert_eq!(policy["external"], Value::Bool(true));
        let outside = Path::new(policy["checkpoint"].as_text().unwrap()).to_owned();
        assert!(outside.is_absolute() && outside.ends_with(format!("{name}/bundle-checkpoint")));
        // The bundle may move as long as the path resolves; then it says so.
        fs::rename(&dir, scratch.file(name).join("moved")).unwrap();
        scratch.skyfall(&["bundle", "check", &format!("{name}/moved")]).ok();
        fs::rename(&outside, scratch.file("gone")).unwrap();
        scratch
            .skyfall(&["bundle", "check", &format!("{name}/moved")])
            .failed(3, &["does not exist here", "bundle-checkpoint"]);
        fs::remove_dir_all(scratch.file("gone")).unwrap();
    }
    scratch
        .script("require('skyfall').run_experiment({ env = { id = 'CartPole-v1' }, rollout = { total_steps = 1 } }, { export_external = true })")
        .failed(1, &["`export_external` needs `export_dir`"]);
}

#[test]
fn observation_space_and_action_space() {
    let (_directory, dir) = scratch();
    let map = exported(cartpole(20, 1, ""), &Catalog::native(), &dir);
    for (field, space) in [("observation_space", 0), ("action_space", 1)] {
        let decoded = Space::decode(&map[field]).unwrap();
        assert_eq!(decoded, Bundle::open(&dir).unwrap().spaces(&Catalog::native()).unwrap()[space]);
        assert_eq!(decoded.encode(), map[field]);
    }
    assert_eq!(section(&map, "observation_space")["high"].as_list().unwrap()[1], Value::from("inf"));
    // Null where the environment declared none: what the rebuilt one declares then counts.
    edited(&dir, |map| drop(map.insert("observation_space".to_owned(), Value::Null)));
    check(&dir, &Catalog::native()).unwrap();
    edited(&dir, |map| drop(map.insert("action_space".to_owned(), json::parse(r#"{"type": "Disc"}"#).unwrap())));
    assert!(refusal(&dir).contains("`action_space` cannot be decoded"));
}

#[test]
fn reward_spec() {
    let (directory, dir) = scratch();
    let map = exported(cartpole(20, 1, ""), &Catalog::native(), &dir);
    assert_eq!(map["reward_spec"], Value::Null, "the environment scored itself");
    let terms = r#", "reward": {"terms": [{"builtin": "env", "weight": 0.5}, {"name": "up", "builtin": "alive", "weight": 2}]}"#;
    let map = exported(cartpole(20, 1, terms), &Catalog::native(), &dir);
    let spec = json::to_string(&map["reward_spec"]);
    assert!(spec.contains(r#"{"name": "up", "weight": 2.0, "params": {}, "builtin": "alive"}"#), "{spec}");
    let trace = directory.path().join("served.jsonl");
    let options = ServeOptions { steps: Some(5), ..ServeOptions::default() };
    serve(&Bundle::open(&dir).unwrap(), &Catalog::native(), &options, Some(&trace), &mut Silent).unwrap();
    assert_eq!(rows(&trace)[0]["reward"].as_float(), Some(2.5));
}

#[test]
fn env() {
    let (directory, dir) = scratch();
    let text = r#"{"env": {"id": "CartPole-v1", "kwargs": {"sutton_barto_reward": true}}, "rollout": {"total_steps": 5},
        "algorithm": {"name": "none", "policy": {"id": "random"}}}"#;
    let map = exported(config(text), &Catalog::native(), &dir);
    assert_eq!(json::to_string(&map["env"]), r#"{"id": "CartPole-v1", "kwargs": {"sutton_barto_reward": true}}"#);
    let trace = directory.path().join("served.jsonl");
    let serving = |options: &ServeOptions| {
        serve(&Bundle::open(&dir).unwrap(), &Catalog::native(), options, Some(&trace), &mut Silent).unwrap();
        rows(&trace)[0].clone()
    };
    let steps = ServeOptions { steps: Some(1), ..ServeOptions::default() };
    assert_eq!(serving(&steps)["reward"].as_float(), Some(0.0), "the kwargs travel");
    // Against another world only when asked, and the rows say so.
    let row = serving(&ServeOptions { env_kwargs: Some(Map::new()), ..steps });
    assert_eq!(row["reward"].as_float(), Some(1.0));
    assert_eq!(row["serve"].as_map().unwrap()["env_kwargs"], Value::Map(Map::new()));
}

#[test]
fn regime() {
    let (directory, dir) = scratch();
    let schedule = r#", "regime": {"provider": "schedule", "params": {"entries": [
        {"id": "a", "steps": 4}, {"id": "b", "steps": 3, "env": {"gravity": 1.0}}]}}"#;
    let map = exported(cartpole(20, 1, schedule), &Catalog::native(), &dir);
    assert_eq!(section(&map, "regime")["provider"].as_text(), Some("schedule"));
    let trace = directory.path().join("served.jsonl");
    let bundle = Bundle::open(&dir).unwrap();
    serve(&bundle, &Catalog::native(), &ServeOptions::default(), Some(&trace), &mut Silent).unwrap();
    let labels: Vec<_> = rows(&trace).iter().map(|row| row["regime_id"].as_text().unwrap().to_owned()).collect();
    assert_eq!(labels.concat(), "aaaabbb");
    let map = exported(cartpole(20, 1, ""), &Catalog::native(), &dir);
    assert_eq!(json::to_string(&map["regime"]), r#"{"provider": "constant", "params": {}}"#);
}

#[test]
fn run() {
    let (directory, dir) = scratch();
    let text = r#"{"env": {"id": "CartPole-v1"}, "rollout": {"total_steps": 5},
        "algorithm": {"name": "none", "policy": {"id": "random"}},
        "run": {"name": "n", "seed": 18446744073709551615, "task": "t", "policy_id": "p", "meta": {"z": [1], "a": null}}}"#;
    let map = exported(config(text), &Catalog::native(), &dir);
    let expected = r#"{"run_id": "n", "seed": 18446744073709551615, "policy_id": "p", "task": "t", "algorithm_id": "none", "a": null, "z": [1]}"#;
    assert_eq!(json::to_string(&map["run"]), expected);
    let trace = directory.path().join("served.jsonl");
    let options = ServeOptions { steps: Some(2), ..ServeOptions::default() };
    serve(&Bundle::open(&dir).unwrap(), &Catalog::native(), &options, Some(&trace), &mut Silent).unwrap();
    let text = fs::read_to_string(&trace).unwrap();
    let identity = r#"{"run_id": "n", "seed": 18446744073709551615, "policy_id": "p", "task": "t", "algorithm_id": "none", "a": null, "#;
    assert!(text.lines().all(|row| row.starts_with(identity)), "{text}");
}

/// CartPole with a word to say of itself.
struct Described(Box<dyn Env>);

impl Env for Described {
    fn id(&self) -> &str {
        self.0.id()
    }
    fn observation_space(&self) -> &Space {
        self.0.observation_space()
    }
    fn action_space(&self) -> &Space {
        self.0.action_space()
    }
    fn reset(
        &mut self,
        seed: Option<u64>,
        observation: &mut skyfall::space::Element,
    ) -> Result<skyfall::env::Info, skyfall::env::EnvError> {
        self.0.reset(seed, observation)
    }
    fn step(
        &mut self,
        action: &skyfall::space::Element,
        observation: &mut skyfall::space::Element,
    ) -> Result<skyfall::env::Transition, skyfall::env::EnvError> {
        self.0.step(action, observation)
    }
    fn parameters(&self) -> Map {
        self.0.parameters()
    }
    fn set_parameter(&mut self, name: &str, value: &Value) -> Result<(), skyfall::env::EnvError> {
        self.0.set_parameter(name, value)
    }
    fn describe(&self) -> Map {
        Map::from_iter([("simulator".to_owned(), "mine".into()), ("commit".to_owned(), 7.into())])
    }
}

#[test]
fn provenance() {
    let (_directory, dir) = scratch();
    assert_eq!(exported(cartpole(20, 1, ""), &Catalog::native(), &dir)["provenance"], Value::Map(Map::new()));
    let mut catalog = Catalog::native();
    let make =
        |kwargs: &Map| Ok(Box::new(Described(skyfall::env::registry::make("CartPole-v1", kwargs)?)) as Box<dyn Env>);
    let code = Value::Map(Map::from_iter([("source".to_owned(), "return {}".into())]));
    catalog.define_env("CartPole-v1", std::rc::Rc::new(make), Ok(code));
    let map = exported(cartpole(20, 1, ""), &catalog, &dir);
    assert_eq!(json::to_string(&map["provenance"]), r#"{"simulator": "mine", "commit": 7}"#);
}

#[test]
fn bundle_show_and_bundle_check() {
    let scratch = Scratch::new();
    let dir = scratch.file("bundle");
    exported(cartpole(20, 1, ""), &Catalog::native(), &dir);
    let text = fs::read_to_string(dir.join("manifest.yaml")).unwrap();
    fs::write(dir.join("manifest.yaml"), format!("{text}later: {{kept: true}}\n")).unwrap();
    let shown = scratch.skyfall(&["bundle", "show", "bundle"]).ok().stdout;
    assert_eq!(yaml::parse(&shown).unwrap(), Value::Map(manifest(&dir)), "fields it does not know are shown as well");
    assert_eq!(scratch.skyfall(&["bundle", "check", "bundle"]).ok().stdout, "bundle: ok\n");
    fs::remove_dir_all(dir.join("checkpoint")).unwrap();
    scratch.skyfall(&["bundle", "check", "bundle"]).failed(3, &["`policy.checkpoint`", "does not exist in the bundle"]);
    scratch.skyfall(&["bundle", "show", "bundle"]).ok();
}
