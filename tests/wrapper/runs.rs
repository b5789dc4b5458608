//! Wrappers in whole experiments: from a configuration, shifted by a regime, in a bundle, in Lua.

use std::path::Path;

use skyfall::bundle::{self, Bundle, ExportOptions, Manifest, ServeOptions, export, serve};
use skyfall::config::{self, ExperimentConfig};
use skyfall::experiment::{Catalog, Experiment, Parts, Silent};
use skyfall::text::{json, yaml};
use skyfall::value::{Map, Value};

use crate::command::Scratch;
use crate::experiment::rows;

const NOISY: &str = r#"{
    "env": {"id": "CartPole-v1", "kwargs": {"sutton_barto_reward": false}, "wrappers": [
        {"name": "observation_noise"},
        {"name": "reward_scale", "params": {"scale": 2.0}},
        {"name": "action_permutation"}]},
    "algorithm": {"name": "none", "policy": {"id": "linear_menu", "kwargs": {"seed": 3}}},
    "rollout": {"window_steps": 50, "total_steps": 90},
    "regime": {"provider": "schedule", "params": {"entries": [
        {"id": "clear", "steps": 30},
        {"id": "blurred", "steps": 30, "env": {
            "observation_noise.std": 0.2, "reward_scale.scale": -1, "action_permutation.permutation": [1, 0]}},
        {"id": "clear-again", "origin": "clear", "steps": 30}]}},
    "run": {"name": "noisy", "seed": 4},
    "trace": {"record": ["observation", "next_observation", "env_reward", "terminated"]}}"#;

fn read(text: &str) -> ExperimentConfig {
    ExperimentConfig::from_value(&json::parse(text).unwrap()).unwrap()
}

fn run(config: ExperimentConfig, trace: &Path) -> Experiment {
    let mut experiment = Experiment::new(config, &Catalog::native(), Parts::default()).unwrap();
    experiment.run(Some(trace), &mut Silent).unwrap();
    experiment
}

#[test]
fn a_schedule_switches_wrappers_during_a_run() {
    let directory = tempfile::tempdir().unwrap();
    let [noisy, still] = ["noisy.jsonl", "still.jsonl"].map(|name| directory.path().join(name));
    run(read(NOISY), &noisy);
    let mut calm = read(NOISY);
    calm.regime = skyfall::regime::RegimeRecord::constant();
    run(calm, &still);
    let (noisy, still) = (rows(&noisy), rows(&still));
    let numbers = |row: &Map, key: &str| -> Vec<f64> {
        row[key].as_list().unwrap().iter().map(|value| value.as_float().unwrap()).collect()
    };
    for step in 0..30 {
        assert_eq!(
            (&noisy[step]["observation"], &noisy[step]["reward"]),
            (&still[step]["observation"], &still[step]["reward"])
        );
    }
    for (step, row) in noisy.iter().enumerate() {
        let (label, reward) = [("clear", 2.0), ("blurred", -1.0), ("clear-again", 2.0)][step / 30];
        assert_eq!(row["regime_id"].as_text(), Some(label));
        assert_eq!((row["reward"].as_float(), row["env_reward"].as_float()), (Some(reward), Some(reward)));
    }
    // A pole's angle moves by its old speed times 0.02 s, unless the sensor is noisy.
    let surprise = |row: &Map| {
        let (before, after) = (numbers(row, "observation"), numbers(row, "next_observation"));
        (after[2] - before[2] - 0.02 * before[3]).abs()
    };
    let surprised = |range: std::ops::Range<usize>| noisy[range].iter().filter(|row| surprise(row) > 1e-6).count();
    assert_eq!((surprised(0..30), surprised(31..60)), (0, 29));
    // The first observation of the third regime was still seen through the noise.
    assert_eq!(surprised(61..90), 0);
}

#[test]
fn a_regime_that_sets_what_no_wrapper_has_is_refused_before_the_run() {
    let text = NOISY.replace(r#""observation_noise.std": 0.2"#, r#""observation_noise.sdt": 0.2"#);
    let error = Experiment::new(read(&text), &Catalog::native(), Parts::default()).err().unwrap().to_string();
    assert!(
        error.contains("`observation_noise.sdt`") && error.contains("did you mean `observation_noise.std`?"),
        "{error}"
    );
    let text = NOISY.replace(r#""observation_noise.std": 0.2"#, r#""observation_noise.std": -0.2"#);
    let error = Experiment::new(read(&text), &Catalog::native(), Parts::default()).err().unwrap().to_string();
    assert!(error.contains("regime `blurred`") && error.contains("at least 0, got -0.2"), "{error}");
}

#[test]
fn a_configuration_keeps_its_wrappers_through_json_and_yaml() {
    let config = read(NOISY);
    assert_eq!(config.env.wrappers.len(), 3);
    let value = config.to_value();
    assert_eq!(ExperimentConfig::from_value(&value).unwrap(), config);
    let text = yaml::to_string(&value);
    assert_eq!(ExperimentConfig::from_value(&yaml::parse(&text).unwrap()).unwrap(), config);
    let mut document = json::parse(NOISY).unwrap();
    config::set(&mut document, "env.wrappers.0.params.std=0.5").unwrap();
    let set = ExperimentConfig::from_value(&document).unwrap();
    assert_eq!(set.env.wrappers[0].params["std"], Value::Float(0.5));
    assert!(config::set(&mut document, "env.wrappers.0.nme=x").unwrap_err().to_string().contains("`name`"));
    // Without wrappers there is no such key, as before there were any.
    let plain = read(r#"{"env": {"id": "CartPole-v1"}, "rollout": {"total_steps": 1}}"#).to_value();
    let env = plain.as_map().unwrap()["env"].as_map().unwrap();
    assert_eq!(env.keys().collect::<Vec<_>>(), ["id", "kwargs"]);
}

#[test]
fn a_bundle_is_served_in_the_same_wrappers_to_the_same_rows() {
    let directory = tempfile::tempdir().unwrap();
    let [trained, served, dir] = ["trained.jsonl", "served.jsonl", "bundle"].map(|name| directory.path().join(name));
    let experiment = run(read(NOISY), &trained);
    export(&experiment, &dir, ExportOptions::default()).unwrap();
    let bundle = Bundle::open(&dir).unwrap();
    assert_eq!(bundle.manifest().env.wrappers, experiment.config().env.wrappers);
    let value = bundle.manifest().to_value();
    assert_eq!(Manifest::from_value(&value).unwrap(), *bundle.manifest());
    let env = value.as_map().unwrap()["env"].as_map().unwrap().clone();
    assert_eq!(env.keys().collect::<Vec<_>>(), ["id", "kwargs", "wrappers"]);
    assert_eq!(env["kwargs"], Value::Map(Map::from_iter([("sutton_barto_reward".to_owned(), false.into())])));
    serve(&bundle, &Catalog::native(), &ServeOptions::default(), Some(&served), &mut Silent).unwrap();
    let (trained, served) = (rows(&trained), rows(&served));
    assert_eq!((trained.len(), served.len()), (90, 90));
    for (trained, served) in trained.iter().zip(&served) {
        for key in ["step", "action", "reward", "regime_id", "regime_origin"] {
            assert_eq!(trained.get(key), served.get(key));
        }
    }
}

#[test]
fn a_manifest_with_a_wrapper_that_does_not_fit_fails_its_check() {
    let directory = tempfile::tempdir().unwrap();
    let [trace, dir] = ["t.jsonl", "bundle"].map(|name| directory.path().join(name));
    export(&run(read(NOISY), &trace), &dir, ExportOptions::default()).unwrap();
    bundle::check(&dir, &Catalog::native()).unwrap();
    let path = dir.join("manifest.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("name: action_permutation", "name: action_noise")).unwrap();
    let error = bundle::check(&dir, &Catalog::native()).unwrap_err().to_string();
    assert!(error.contains("`wrappers[2]` (`action_noise`)"), "{error}");
    std::fs::write(&path, text.replace("name: action_permutation", "title: action_permutation")).unwrap();
    let error = bundle::check(&dir, &Catalog::native()).unwrap_err().to_string();
    assert!(error.contains("`env.wrappers[2].name`"), "{error}");
}

#[test]
fn the_command_line_and_lua_run_the_same_experiment() {
    let scratch = Scratch::new();
    scratch.write("noisy.json", NOISY);
    scratch.skyfall(&["run", "noisy.json", "--traces", "a.jsonl"]).ok();
    let script = format!(
        "local skyfall = require 'skyfall'\nlocal config = skyfall.json.decode [==[{NOISY}]==]\n\
         skyfall.run_experiment(config, {{ traces = 'b.jsonl' }})"
    );
    scratch.write("noisy.lua", &script);
    scratch.skyfall(&["script", "noisy.lua"]).ok();
    assert_eq!(scratch.read("a.jsonl"), scratch.read("b.jsonl"));
}

#[test]
fn lua_steps_wrapped_environments_by_hand() {
    let scratch = Scratch::new();
    let ran = scratch.script(
        r"local skyfall = require 'skyfall'
        local e = skyfall.env.make('CartPole-v1', {}, { wrappers = { { name = 'reward_scale', params = { scale = 3 } } } })
        e:reset { seed = 1 }
        local _, reward = e:step(0)
        print(reward, e:parameters()['reward_scale.scale'])
        e:set_parameter('reward_scale.scale', 0.5)
        print((select(2, e:step(0))))
        print(skyfall.env.wrappers()[1], #skyfall.env.wrappers())
        for _, options in ipairs { { wrappers = { { name = 'nothing' } } }, { wrapper = {} },
            { wrappers = { { name = 'action_noise' } } } } do
          print((select(2, pcall(skyfall.env.make, 'CartPole-v1', {}, options))))
        end",
    );
    let stdout = ran.ok().stdout;
    let lines: Vec<&str> = stdout.lines().collect();
    assert_eq!(lines[..2], ["3.0\t3.0", "0.5"]);
    assert!(lines[2].starts_with("action_delay\t"), "{stdout}");
    assert!(lines[3].contains("`wrappers[0].name`: there is no wrapper `nothing`"), "{stdout}");
    assert!(lines[4].contains("unknown option `wrapper`; it takes `wrappers`"), "{stdout}");
    assert!(lines[5].contains("needs a box of numbers as the action space or within it"), "{stdout}");
}

#[test]
fn environments_written_in_lua_are_wrapped_and_travel_so() {
    let scratch = Scratch::new();
    let ran = scratch.script(
        r"local skyfall = require 'skyfall'
        skyfall.env.define {
          id = 'Walk-v0',
          observation_space = function() return skyfall.space.box { low = { -50.0 }, high = { 50.0 }, dtype = 'float32' } end,
          action_space = function() return skyfall.space.discrete(2) end,
          max_episode_steps = 20,
          reset = function(env) env.x = 0.0; return { env.x } end,
          step = function(env, action) env.x = env.x + (action == 1 and 1 or -1); return { env.x }, env.x, false, false end,
        }
        skyfall.run_experiment({
          env = { id = 'Walk-v0', wrappers = {
            { name = 'action_permutation', params = { permutation = { 1, 0 } } }, { name = 'observation_noise' } } },
          algorithm = { name = 'none', policy = { id = 'constant', kwargs = { action = 1 } } },
          regime = skyfall.regime.schedule {
            { id = 'turned', steps = 40 },
            { id = 'straight', steps = 40, env = { ['action_permutation.permutation'] = { 0, 1 }, ['observation_noise.std'] = 1 } } },
          rollout = { total_steps = 80 }, run = { name = 'walk', seed = 1 },
        }, { traces = 'a.jsonl', export_dir = 'bundle' })
        local e = skyfall.env.make('Walk-v0', {}, { wrappers = { { name = 'reward_scale', params = { scale = 10 } } } })
        e:reset { seed = 1 }
        print((select(2, e:step(1))))",
    );
    assert_eq!(ran.ok().stdout, "10.0\n");
    std::fs::remove_file(scratch.file("script.lua")).unwrap();
    scratch.skyfall(&["serve", "bundle", "--traces", "b.jsonl"]).ok();
    let [trained, served] = ["a.jsonl", "b.jsonl"].map(|name| {
        let rewards: Vec<f64> = rows(&scratch.file(name)).iter().map(|row| row["reward"].as_float().unwrap()).collect();
        rewards
    });
    assert_eq!(trained, served);
    assert_eq!((trained[19], trained[40], trained[59]), (-20.0, 1.0, 20.0));
}
