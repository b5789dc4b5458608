//! Environments in other processes: Gymnasium's through the driver, and any program that speaks
//! the protocol.
//!
//! `tests/run` makes the venv with Gymnasium and names its interpreter in `SKYFALL_PYTHON`;
//! without it these tests fail and say so, rather than pass unseen.

mod failures;
mod life;
mod spaces;

use std::path::Path;
use std::process::Command;
use std::rc::Rc;

use serde_json::{Value as Json, json};
use skyfall::env::foreign::{Programs, Unwatched};
use skyfall::env::{Env, registry};
use skyfall::space::Element;
use skyfall::value::{Map, Value};

use crate::command::{Ran, Scratch};

fn interpreter() -> String {
    std::env::var("SKYFALL_PYTHON").expect("SKYFALL_PYTHON names no interpreter: run tests/run")
}

/// Makes an environment here, in this process.
fn make(id: &str, kwargs: Map) -> Box<dyn Env> {
    interpreter();
    Programs::from_environment(Rc::new(Unwatched)).unwrap().make(id, &kwargs).unwrap()
}

/// A directory that holds the module `foreign_worlds`.
fn worlds() -> Scratch {
    interpreter();
    let scratch = Scratch::new();
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/foreign_worlds.py");
    std::fs::copy(module, scratch.file("foreign_worlds.py")).unwrap();
    scratch
}

/// Writes the configuration of a run of `steps` steps in the world `id`.
fn configure(scratch: &Scratch, id: &str, kwargs: &Json, steps: u64) {
    let config = json!({
        "env": {"id": id, "kwargs": kwargs},
        "algorithm": {"name": "discrete_hill_climbing", "params": {"seed": 1},
                      "policy": {"id": "linear_menu", "kwargs": {"n_actions": 2, "seed": 1}}},
        "rollout": {"window_steps": 50, "total_steps": steps},
        "trace": {"record": ["observation", "next_observation", "env_reward", "terminated", "truncated"]},
        "run": {"name": "elsewhere", "seed": 5},
    });
    scratch.write("config.json", &config.to_string());
}

const RUN: [&str; 6] = ["run", "config.json", "--traces", "t.jsonl", "--export", "bundle"];

/// Runs a world of `foreign_worlds` for ten steps.
fn ten_steps(scratch: &Scratch, world: &str) -> Ran {
    configure(scratch, &format!("python:foreign_worlds:{world}"), &json!({}), 10);
    scratch.skyfall(&RUN)
}

/// The rows of the trace that was written.
fn rows(scratch: &Scratch) -> Vec<Json> {
    let trace = scratch.read("t.jsonl").replace("NaN", "null").replace("Infinity", "null");
    trace.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// `skyfall` with environment variables of its own.
fn skyfall_with(scratch: &Scratch, variables: &[(&str, &str)], arguments: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skyfall"));
    command.args(arguments).current_dir(scratch.path()).envs(variables.iter().copied());
    Ran::from(command.output().unwrap())
}

/// A whole experiment, shifts of the world among it: the same bytes as in the native world.
#[test]
fn an_experiment_in_gymnasium_s_cartpole_leaves_the_native_one_s_trace() {
    let scratch = worlds();
    let run = |id: &str, traces: &str| {
        configure(&scratch, id, &json!({"sutton_barto_reward": true}), 1500);
        let shifts = r#"regime={"provider": "schedule", "params": {"entries": [
            {"id": "calm", "steps": 500}, {"id": "heavy", "steps": 500, "env": {"gravity": 20.0, "force_mag": 7}},
            {"id": "calm", "steps": 500}]}}"#;
        scratch.skyfall(&["run", "config.json", "--traces", traces, "--set", &shifts.replace('\n', " ")]).ok();
        scratch.read(traces)
    };
    let (here, there) = (run("CartPole-v1", "here.jsonl"), run("python:gymnasium/CartPole-v1", "there.jsonl"));
    assert_eq!(here.lines().count(), 1500);
    assert!(here == there, "the traces differ");
}

#[test]
fn a_world_of_gymnasium_goes_the_way_of_the_native_one() {
    for id in ["Pendulum-v1", "Taxi-v4", "MountainCarContinuous-v0"] {
        let mut there = make(&format!("python:gymnasium/{id}"), Map::new());
        let mut here = registry::make(id, &Map::new()).unwrap();
        assert_eq!(there.observation_space(), here.observation_space(), "{id}");
        assert_eq!(there.action_space(), here.action_space(), "{id}");
        let (mut a, mut b) = (there.observation_space().blank(), here.observation_space().blank());
        there.reset(Some(u64::MAX), &mut a).unwrap();
        here.reset(Some(u64::MAX), &mut b).unwrap();
        for step in 0..250_u8 {
            assert_eq!(a, b, "{id}, step {step}");
            let action = match here.action_space().blank() {
                Element::Discrete(_) => Element::Discrete(i64::from(step) % 6),
                mut force => {
                    if let Element::Array(force) = &mut force {
                        force.as_f32_mut().unwrap()[0] = f32::from(step % 7) / 3.0 - 1.0;
                    }
                    force
                }
            };
            let (left, right) = (there.step(&action, &mut a).unwrap(), here.step(&action, &mut b).unwrap());
            assert_eq!(left.reward.to_bits(), right.reward.to_bits(), "{id}, step {step}");
            assert_eq!((left.terminated, left.truncated), (right.terminated, right.truncated), "{id}, step {step}");
            if left.terminated || left.truncated {
                there.reset(None, &mut a).unwrap();
                here.reset(None, &mut b).unwrap();
            }
        }
    }
}

#[test]
fn what_a_world_reports_lands_in_the_row_and_its_description_in_the_bundle() {
    let scratch = worlds();
    ten_steps(&scratch, "Reports").ok();
    let row = &rows(&scratch)[1];
    assert_eq!(row["invalid_action"], json!(true));
    assert_eq!(row["observed_at"], json!("2026-01-02T03:04:05+00:00"));
    assert_eq!(row["effective_rank"], json!(2.5));
    assert_eq!(row["ticket_snapshot"], json!({"7": null, "ids": [0, 1], "open": 2}));
    assert_eq!(row["verifier_snapshot"], json!({"passed": true}));
    assert_eq!(rows(&scratch)[0]["invalid_action"], json!(false));
    assert!(scratch.read("bundle/manifest.yaml").ends_with("provenance:\n  adapter: reports\n  tickets: 3\n"));
}

/// Plain data reaches a script as it is; what is not is left out.
#[test]
fn a_script_sees_the_rest_of_info() {
    let scratch = worlds();
    scratch.write(
        "s.lua",
        "local e = require('skyfall').env.make('python:foreign_worlds:Reports')\n\
         e:reset { seed = 1 }\n\
         local _, reward, _, _, info = e:step(1)\n\
         print(reward, info.speed, info.large, info.handle, info.mixed, info.ticket_snapshot.ids[2])\n",
    );
    let ran = scratch.skyfall(&["script", "--allow-run", "s.lua"]).ok();
    assert_eq!(ran.stdout, "1.0\t0.5\t4611686018427387905\tnil\tnil\t1\n");
}

#[test]
fn a_world_without_a_description_says_where_it_comes_from() {
    let described = make("python:gymnasium/CartPole-v1", Map::new()).describe();
    assert_eq!(described["environment"], Value::from("gymnasium.envs.classic_control.cartpole:CartPoleEnv"));
    assert_eq!(
        described.keys().map(String::as_str).collect::<Vec<_>>(),
        ["environment", "gymnasium", "numpy", "python"]
    );
}

#[test]
fn parameters_of_every_kind_are_listed_and_set() {
    let mut env = make("python:tests.python.foreign_worlds:Shifts", Map::new());
    let listed = env.parameters();
    for (name, value) in [
        ("gain", Value::Int(2)),
        ("open", Value::Bool(false)),
        ("mass", Value::Float(0.5)),
        ("drag", Value::Float(1.5)),
    ] {
        assert_eq!(listed[name], value, "{name}");
    }
    assert!(!listed.contains_key("_hidden") && !listed.contains_key("name"));
    let mut observation = env.observation_space().blank();
    env.reset(Some(0), &mut observation).unwrap();
    for (name, value) in
        [("gain", Value::Float(2.5)), ("open", Value::Bool(true)), ("mass", Value::Int(1)), ("drag", Value::Int(3))]
    {
        env.set_parameter(name, &value).unwrap();
    }
    let step = env.step(&Element::Discrete(0), &mut observation).unwrap();
    assert_eq!(step.reward, 2.5 + 1.0 + 1.0 + 30.0);
    let kinds = ["float", "bool", "float32", "float"].map(Value::from);
    assert_eq!(step.info.entries.unwrap()["kinds"], Value::List(kinds.to_vec()));
    assert_eq!(env.parameters()["drag"], Value::Float(3.0));
    env.set_parameter("gain", &Value::Int(2)).unwrap();
    assert_eq!(env.parameters()["gain"], Value::Int(2), "a whole number returned to its type");

    let refused =
        |env: &mut Box<dyn Env>, name: &str, value: Value| env.set_parameter(name, &value).unwrap_err().to_string();
    assert!(refused(&mut env, "gian", Value::Int(1)).ends_with("`gian` does not exist; did you mean `gain`?"));
    assert!(refused(&mut env, "open", Value::Int(1)).ends_with("must be a boolean, got an integer"));
    assert!(refused(&mut env, "gain", Value::Bool(true)).ends_with("must be a finite number, got a boolean"));
    assert!(refused(&mut env, "gain", Value::Float(f64::NAN)).ends_with("must be a finite number, got NaN"));
}

#[test]
fn reset_options_go_to_the_world() {
    let mut there = make("python:gymnasium/CartPole-v1", Map::new());
    let mut here = registry::make("CartPole-v1", &Map::new()).unwrap();
    let (mut a, mut b) = (there.observation_space().blank(), here.observation_space().blank());
    let narrow = Map::from_iter([("low".to_owned(), Value::Float(0.01)), ("high".to_owned(), Value::Float(0.02))]);
    for (seed, options) in [(Some(1), &narrow), (None, &narrow), (None, &Map::new())] {
        there.reset_with(seed, options, &mut a).unwrap();
        here.reset_with(seed, options, &mut b).unwrap();
        assert_eq!(a, b, "{options:?}");
    }
    let wrong = Map::from_iter([("low".to_owned(), Value::from("down"))]);
    let error = there.reset_with(None, &wrong, &mut a).unwrap_err().to_string();
    assert!(error.contains("`reset` raised ValueError"), "{error}");
}

/// The program in the documentation, as it stands there.
#[test]
fn the_program_of_the_documentation_is_an_environment() {
    let scratch = worlds();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/environment-protocol.md");
    let page = std::fs::read_to_string(page).unwrap();
    let program = page.split("```python\n").nth(1).unwrap().split("```").next().unwrap();
    assert!(program.lines().count() <= 50);
    life::executable(&scratch, "corridor", program);
    configure(&scratch, "program:./corridor", &json!({"length": 8}), 120);
    let windy = "regime.params.entries=[{\"id\": \"still\", \"steps\": 20}, {\"id\": \"gale\", \"steps\": 100, \"env\": {\"wind\": 1}}]";
    let mut arguments = RUN.to_vec();
    arguments.extend(["--set", "regime.provider=schedule", "--set", windy]);
    scratch.skyfall(&arguments).ok();
    let rows = rows(&scratch);
    assert_eq!(rows.len(), 120);
    assert!(rows[..20].iter().all(|row| row["invalid_action"] == json!(false)));
    assert!(rows[20..].iter().all(|row| row["invalid_action"] == json!(true)));
    assert_eq!(rows.iter().filter(|row| row["truncated"] == json!(true)).count(), 1);
    assert!(scratch.read("bundle/manifest.yaml").ends_with("provenance:\n  world: corridor\n"));
}

#[test]
fn a_program_is_started_only_with_leave() {
    let scratch = worlds();
    let refusal = "is another program, which may not be started here (allow it with --allow-run)";
    scratch.write("s.lua", "require('skyfall').env.make('python:gymnasium/CartPole-v1')");
    scratch.skyfall(&["script", "s.lua"]).failed(1, &[refusal]);
    scratch.skyfall(&["script", "--allow-run", "s.lua"]).ok();

    configure(&scratch, "python:gymnasium/CartPole-v1", &json!({}), 30);
    let config = scratch.read("config.json");
    scratch
        .write("run.lua", &format!("local s = require 'skyfall'\nreturn s.experiment(s.json.decode [==[{config}]==])"));
    scratch.skyfall(&["run", "run.lua"]).failed(1, &[refusal]);
    scratch.skyfall(&["run", "run.lua", "--allow-run"]).ok();

    scratch.skyfall(&RUN).ok();
    scratch.skyfall(&["serve", "bundle", "--traces", "s.jsonl"]).failed(1, &[refusal]);
    assert!(!scratch.file("s.jsonl").exists());
    scratch.skyfall(&["serve", "bundle", "--steps", "20", "--traces", "s.jsonl", "--allow-run"]).ok();
    assert_eq!(scratch.read("s.jsonl").lines().count(), 20);
    scratch.skyfall(&["bundle", "check", "bundle"]).ok();
}
