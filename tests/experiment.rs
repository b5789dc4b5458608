//! The run loop: learning, regimes, exact components, failures that keep what was good, and the
//! same bytes for the same seed.

use std::path::Path;
use std::rc::Rc;

use skyfall::algorithm::{Episode, Window};
use skyfall::config::ExperimentConfig;
use skyfall::diagnostic::Problem;
use skyfall::env::{Env, EnvError, Info, Transition};
use skyfall::experiment::{Catalog, Experiment, Observer, Parts, RunResult, Silent};
use skyfall::regime::Regime;
use skyfall::reward::{Composition, StepView, Term, TermError, TermRecord, TermValue, builtin};
use skyfall::space::{Element, Space};
use skyfall::text::json;
use skyfall::value::{Map, Value};

pub(crate) fn config(text: &str) -> ExperimentConfig {
    ExperimentConfig::from_value(&json::parse(text).unwrap()).unwrap()
}

/// CartPole with the default learner; `more` are further sections of the configuration.
pub(crate) fn cartpole(steps: u64, seed: u64, more: &str) -> ExperimentConfig {
    config(&format!(
        r#"{{"env": {{"id": "CartPole-v1"}},
            "algorithm": {{"name": "discrete_hill_climbing", "policy": {{"id": "linear_menu", "kwargs": {{"n_actions": 2}}}}}},
            "rollout": {{"window_steps": 50, "total_steps": {steps}, "auto_reset": true}},
            "run": {{"name": "test", "seed": {seed}}}{more}}}"#
    ))
}

fn experiment(config: ExperimentConfig) -> Experiment {
    Experiment::new(config, &Catalog::native(), Parts::default()).unwrap()
}

fn refusal(config: ExperimentConfig) -> String {
    match Experiment::new(config, &Catalog::native(), Parts::default()) {
        Ok(_) => panic!("the configuration was taken"),
        Err(error) => format!("{error} {}", error.hint().unwrap_or_default()),
    }
}

fn run(config: ExperimentConfig, traces: &Path) -> RunResult {
    experiment(config).run(Some(traces), &mut Silent).unwrap()
}

pub(crate) fn rows(path: &Path) -> Vec<Map> {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    let row = |line: &str| json::parse(line).unwrap().as_map().unwrap().clone();
    text.lines().map(row).collect()
}

const THREE_REGIMES: &str = r#", "regime": {"provider": "schedule", "params": {"entries": [
    {"id": "calm", "steps": 40},
    {"id": "windy", "steps": 40, "env": {"force_mag": 6.0}, "reward": {"alive": 0.5}},
    {"id": "calm-again", "origin": "calm", "steps": 40}]}}"#;
const TWO_TERMS: &str = r#", "reward": {"terms": [{"builtin": "env", "weight": 0.1}, {"builtin": "alive", "weight": 0.3},
    {"name": "centred", "builtin": "target_distance", "weight": 0.7, "params": {"target": [0.0], "indices": [0]}}]}"#;

/// The mean return of the experiment's policy, frozen, over 100 episodes with their own stream.
fn judged(experiment: &mut Experiment, seed: u64) -> f64 {
    let directory = tempfile::tempdir().unwrap();
    experiment.algorithm().policy().save(directory.path()).unwrap();
    let mut env = skyfall::env::registry::make("CartPole-v1", &Map::new()).unwrap();
    let (observations, actions) = (env.observation_space().clone(), env.action_space().clone());
    let context = skyfall::policy::Context { observation_space: &observations, action_space: &actions, seed: 0 };
    let mut policy = skyfall::policy::registry::make("linear_menu", &Map::new(), context).unwrap();
    policy.load(&directory.path().join("weights.safetensors")).unwrap();
    let (mut observation, mut action) = (observations.blank(), actions.blank());
    env.reset(Some(1_000_000 + seed), &mut observation).unwrap();
    let (mut episodes, mut total) = (0, 0.0);
    while episodes < 100 {
        policy.act(&observation, &mut action).unwrap();
        let transition = env.step(&action, &mut observation).unwrap();
        total += transition.reward;
        if transition.terminated || transition.truncated {
            episodes += 1;
            env.reset(None, &mut observation).unwrap();
        }
    }
    total / 100.0
}

#[test]
fn hill_climbing_learns_cartpole() {
    let returns: Vec<f64> = (0..20)
        .map(|seed| {
            let mut experiment = experiment(cartpole(50_000, seed, ""));
            let result = experiment.run(None, &mut Silent).unwrap();
            assert_eq!((result.steps, result.warnings.len()), (50_000, 0));
            judged(&mut experiment, seed)
        })
        .collect();
    let at_least = |returns: &[f64], least: f64| returns.iter().filter(|mean| **mean >= least).count();
    assert!(at_least(&returns[..5], 195.0) >= 4, "{returns:?}");
    assert!(at_least(&returns, 475.0) >= 13, "{returns:?}");
}

#[test]
fn hill_climbing_learns_again_after_a_shift() {
    // Pushing the other way makes the first regime's best policy the worst one.
    let shift = r#", "regime": {"provider": "schedule", "params": {"entries": [
        {"id": "there", "steps": 30000, "env": {"force_mag": -10.0}}, {"id": "back", "steps": 30000}]}}"#;
    let mut experiment = experiment(cartpole(60_000, 3, shift));
    experiment.run(None, &mut Silent).unwrap();
    assert!(judged(&mut experiment, 3) >= 195.0);
}

#[test]
fn a_reward_that_cannot_tell_policies_apart_is_told_once() {
    let reward = r#", "reward": {"terms": [{"builtin": "env", "weight": 0.0}]}"#;
    let result = experiment(cartpole(20_000, 1, reward)).run(None, &mut Silent).unwrap();
    assert_eq!(result.warnings.len(), 1, "{:?}", result.warnings);
    assert!(result.warnings[0].contains("tell policies apart"));
}

#[test]
fn the_same_seed_writes_the_same_bytes_and_another_seed_others() {
    let directory = tempfile::tempdir().unwrap();
    let [first, second, other] = ["a", "b", "c"].map(|name| directory.path().join(name).join("traces.jsonl"));
    let config = |seed| cartpole(3_000, seed, &format!("{THREE_REGIMES}{TWO_TERMS}"));
    let result = run(config(7), &first);
    assert_eq!(run(config(7), &second), result);
    run(config(8), &other);
    let bytes = |path: &Path| std::fs::read(path).unwrap();
    assert_eq!(bytes(&first), bytes(&second));
    assert_ne!(bytes(&first), bytes(&other));
}

#[test]
fn rows_carry_identity_regimes_and_components_that_add_up() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("traces.jsonl");
    let record =
        r#", "trace": {"record": ["truncated", "observation", "env_reward", "terminated", "next_observation"]}"#;
    let result = run(cartpole(120, 7, &format!("{THREE_REGIMES}{TWO_TERMS}{record}")), &path);
    let rows = rows(&path);
    assert_eq!((result.steps, result.windows, rows.len()), (120, 3, 120));
    assert_eq!(result.trace.unwrap().rows, 120);
    let mut total = 0.0;
    for (step, row) in rows.iter().enumerate() {
        assert_eq!(row["run_id"], Value::from("test"));
        assert_eq!(row["seed"], Value::Int(7));
        assert_eq!(row["algorithm_id"], Value::from("discrete_hill_climbing"));
        assert_eq!(row["step"].as_int(), Some(step as i64));
        let (label, origin) = [("calm", None), ("windy", None), ("calm-again", Some("calm"))][step / 40];
        assert_eq!((row["regime_id"].as_text(), row["regime_origin"].as_text()), (Some(label), origin));
        let components = row["reward_components"].as_map().unwrap();
        assert_eq!(components.keys().collect::<Vec<_>>(), ["env", "alive", "centred"]);
        let sum = components.values().map(|value| value.as_float().unwrap()).reduce(|sum, value| sum + value);
        assert_eq!(sum.unwrap().to_bits(), row["reward"].as_float().unwrap().to_bits());
        let fell = row["terminated"].as_bool().unwrap();
        let weight = if label == "windy" { 0.5 } else { 0.3 };
        assert_eq!(components["alive"].as_float(), Some(if fell { 0.0 } else { weight }));
        let distance = row["reward_detail"].as_map().unwrap()["centred"].as_map().unwrap()["distance"].as_float();
        let position = row["next_observation"].as_list().unwrap()[0].as_float().unwrap();
        assert_eq!(distance, Some(position.abs()));
        assert!(matches!(row["action"].as_map().unwrap()["index"], Value::Int(0 | 1)));
        if step > 0 && !rows[step - 1]["terminated"].as_bool().unwrap() {
            assert_eq!(row["observation"], rows[step - 1]["next_observation"]);
        }
        total += row["reward"].as_float().unwrap();
    }
    assert_eq!(result.total_reward, total);
    let keys: Vec<_> = rows[0].keys().rev().take(5).map(String::as_str).collect();
    assert_eq!(keys, ["truncated", "terminated", "env_reward", "next_observation", "observation"]);
}

/// Counts its steps and takes one parameter; what a Lua environment would look like from here.
struct Counter {
    space: Space,
    steps: i64,
    gain: f64,
    seeds: Rc<std::cell::RefCell<Vec<Option<u64>>>>,
}

impl Env for Counter {
    fn id(&self) -> &str {
        "Counter-v0"
    }

    fn observation_space(&self) -> &Space {
        &self.space
    }

    fn action_space(&self) -> &Space {
        &self.space
    }

    fn reset(&mut self, seed: Option<u64>, observation: &mut Element) -> Result<Info, EnvError> {
        self.seeds.borrow_mut().push(seed);
        self.steps = 0;
        *observation = Element::Discrete(0);
        Ok(Info::default())
    }

    fn step(&mut self, action: &Element, observation: &mut Element) -> Result<Transition, EnvError> {
        assert_eq!(*action, Element::Discrete(1));
        self.steps += 1;
        *observation = Element::Discrete(self.steps);
        let reward = if self.steps == 2 && self.gain == 3.0 { f64::INFINITY } else { self.gain };
        let info = Info { invalid_action: self.steps == 1, entries: None };
        Ok(Transition { reward, terminated: self.steps == 4, truncated: false, info })
    }

    fn parameters(&self) -> Map {
        Map::from_iter([("gain".to_owned(), Value::Float(self.gain))])
    }

    fn set_parameter(&mut self, _: &str, value: &Value) -> Result<(), EnvError> {
        self.gain = value.as_float().unwrap();
        Ok(())
    }
}

type Seeds = Rc<std::cell::RefCell<Vec<Option<u64>>>>;

fn counter() -> (Catalog, Seeds) {
    let mut catalog = Catalog::native();
    let seeds = Seeds::default();
    let kept = Rc::clone(&seeds);
    catalog.define_env(
        "Counter-v0",
        Rc::new(move |_| {
            let space = Space::discrete(10, 0).unwrap();
            Ok(Box::new(Counter { space, steps: 0, gain: 1.0, seeds: Rc::clone(&kept) }) as Box<dyn Env>)
        }),
        Err("it is a test's".to_owned()),
    );
    (catalog, seeds)
}

fn counting(steps: u64, more: &str) -> ExperimentConfig {
    config(&format!(
        r#"{{"env": {{"id": "Counter-v0"}},
            "algorithm": {{"name": "none", "policy": {{"id": "constant", "kwargs": {{"action": 1}}}}}},
            "rollout": {{"window_steps": 5, "total_steps": {steps}}},
            "run": {{"name": "count", "seed": 9, "task": "t", "meta": {{"z": 1, "a": "b"}}}}{more}}}"#
    ))
}

#[test]
fn parameters_that_a_regime_does_not_name_are_at_their_base_values() {
    let (catalog, seeds) = counter();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.jsonl");
    let cycle = r#", "regime": {"provider": "cycle", "params": {"entries": [
        {"id": "base", "steps": 3}, {"id": "high", "steps": 2, "env": {"gain": 2}}]}}"#;
    let mut experiment = Experiment::new(counting(10, cycle), &catalog, Parts::default()).unwrap();
    let result = experiment.run(Some(&path), &mut Silent).unwrap();
    let rewards: Vec<_> = rows(&path).iter().map(|row| row["reward"].as_float().unwrap()).collect();
    assert_eq!(rewards, [1.0, 1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 1.0, 2.0, 2.0]);
    assert_eq!(result.episodes, 2);
    assert_eq!(result.mean_return, Some(5.0));
    assert_eq!(*seeds.borrow(), [Some(9), None, None]);
    let refused: Vec<_> = rows(&path).iter().map(|row| row["invalid_action"].as_bool().unwrap()).collect();
    assert_eq!(refused[..6], [true, false, false, false, true, false]);
    let keys: Vec<_> = rows(&path)[0].keys().take(7).cloned().collect();
    assert_eq!(keys, ["run_id", "seed", "task", "algorithm_id", "a", "z", "step"]);
    assert_eq!(rows(&path)[0]["reward_components"], Value::Map(Map::new()));
}

#[test]
fn without_auto_reset_the_run_ends_with_the_episode() {
    let (catalog, _) = counter();
    let config = ExperimentConfig {
        rollout: skyfall::config::RolloutConfig { window_steps: 3, total_steps: 10, auto_reset: false },
        ..counting(10, "")
    };
    let mut experiment = Experiment::new(config, &catalog, Parts::default()).unwrap();
    let result = experiment.run(None, &mut Silent).unwrap();
    assert_eq!((result.steps, result.episodes, result.windows), (4, 1, 2));
    assert!(experiment.run(None, &mut Silent).unwrap_err().to_string().contains("already"));
}

#[test]
fn an_environments_non_finite_reward_is_written_and_told_once() {
    let (catalog, _) = counter();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.jsonl");
    let wild = r#", "regime": {"provider": "constant", "params": {"env": {"gain": 3}}}"#;
    let mut experiment = Experiment::new(counting(10, wild), &catalog, Parts::default()).unwrap();
    let result = experiment.run(Some(&path), &mut Silent).unwrap();
    assert_eq!(result.warnings, ["step 1: the environment's reward is Infinity (told once)"]);
    assert!(std::fs::read_to_string(&path).unwrap().contains(r#""reward": Infinity"#));
}

/// Fails at step 60.
struct Failing;

impl Term for Failing {
    fn name(&self) -> &str {
        "failing"
    }

    fn evaluate(&mut self, step: &StepView<'_>) -> Result<TermValue, TermError> {
        if step.step == 60 {
            return Err(TermError { term: "failing".to_owned(), message: "script.lua:3: no".to_owned() });
        }
        Ok(TermValue { value: step.observed_at().len() as f64, detail: None })
    }

    fn record(&self) -> Result<TermRecord, TermError> {
        Err(TermError { term: "failing".to_owned(), message: "captures a file".to_owned() })
    }
}

#[test]
fn a_failing_term_stops_the_run_and_keeps_the_rows_before() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.jsonl");
    let reward = Composition::new(vec![(builtin("env", &Map::new()).unwrap(), 1.0), (Box::new(Failing), 1.0)]).unwrap();
    let parts = Parts { reward: Some(reward), provider: None };
    let mut experiment = Experiment::new(cartpole(200, 1, ""), &Catalog::native(), parts).unwrap();
    let error = experiment.run(Some(&path), &mut Silent).unwrap_err();
    assert_eq!(error.to_string(), "step 60: reward term `failing`: script.lua:3: no");
    let rows = rows(&path);
    assert_eq!(rows.len(), 60);
    let times: Vec<_> = rows.iter().map(|row| row["observed_at"].as_text().unwrap().to_owned()).collect();
    assert!(times.windows(2).all(|pair| pair[0] <= pair[1]) && times[0] < times[59]);
    assert!(experiment.reward_record().unwrap_err().to_string().contains("captures a file"));
}

#[derive(Default)]
struct Told {
    steps: u64,
    episodes: Vec<Episode>,
    windows: Vec<Window>,
    stop_at: Option<u64>,
}

impl Observer for Told {
    fn on_step(&mut self, step: &StepView<'_>, _: f64) -> Result<(), String> {
        self.steps += 1;
        if step.step == 77 { Err("script.lua:9: enough".to_owned()) } else { Ok(()) }
    }

    fn on_episode(&mut self, episode: &Episode) -> Result<(), String> {
        self.episodes.push(*episode);
        Ok(())
    }

    fn on_window(&mut self, window: &Window, regime: &Regime) -> Result<(), String> {
        assert!(regime.id.is_none());
        self.windows.push(*window);
        Ok(())
    }

    fn interrupted(&self) -> bool {
        self.stop_at == Some(self.steps)
    }
}

#[test]
fn an_observer_is_told_everything_and_can_stop_the_run() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.jsonl");
    let mut told = Told { stop_at: Some(60), ..Told::default() };
    let result = experiment(cartpole(1_000, 1, "")).run(Some(&path), &mut told).unwrap();
    assert!(result.interrupted);
    assert_eq!((result.steps, rows(&path).len()), (60, 60));
    assert_eq!(told.windows.iter().map(|window| (window.steps, window.done)).collect::<Vec<_>>(), [(50, 50), (10, 60)]);
    assert_eq!(told.episodes.len() as u64, result.episodes);
    assert!(told.episodes.iter().enumerate().all(|(index, episode)| episode.index == index as u64));
    let error = experiment(cartpole(1_000, 1, "")).run(None, &mut Told::default()).unwrap_err();
    assert_eq!(error.to_string(), "step 77: script.lua:9: enough");
}

#[test]
fn what_does_not_fit_is_refused_before_anything_is_written() {
    let with = |change: &dyn Fn(&mut ExperimentConfig)| {
        let mut config = cartpole(100, 1, "");
        change(&mut config);
        refusal(config)
    };
    let line = with(&|config| config.env.id = "CartPole-v2".to_owned());
    assert!(line.contains("`CartPole-v2`") && line.contains("`CartPole-v"), "{line}");
    let line = with(&|config| config.algorithm.name = "discrete_hill_climbin".to_owned());
    assert!(line.contains("did you mean `discrete_hill_climbing`"), "{line}");
    let line = with(&|config| drop(config.algorithm.params.insert("nose".to_owned(), 1.0.into())));
    assert!(line.contains("`params.nose`") && line.contains("`noise`"), "{line}");
    let line = with(&|config| {
        config.algorithm.policy.as_mut().unwrap().kwargs.insert("n_actions".to_owned(), 3.into());
    });
    assert!(line.contains("`kwargs.n_actions` is 3") && line.contains("2 actions"), "{line}");
    let line = with(&|config| config.algorithm.policy.as_mut().unwrap().id = "linear_meun".to_owned());
    assert!(line.contains("did you mean `linear_menu`"), "{line}");
    let line = with(&|config| {
        config.algorithm.policy = Some(skyfall::config::PolicyConfig { id: "random".to_owned(), ..Default::default() });
    });
    assert!(line.contains("no parameters"), "{line}");

    let regime = |entry: &str| format!(r#", "regime": {{"provider": "constant", "params": {entry}}}"#);
    let line = refusal(cartpole(100, 1, &regime(r#"{"id": "w", "env": {"force_mga": 1}}"#)));
    assert!(line.contains("regime `w`") && line.contains("did you mean `force_mag`"), "{line}");
    let line = refusal(cartpole(100, 1, &regime(r#"{"id": "w", "env": {"force_mag": "much"}}"#)));
    assert!(line.contains("`force_mag`") && line.contains("text"), "{line}");
    let line = refusal(cartpole(100, 1, &regime(r#"{"id": "w", "reward": {"env": 1}}"#)));
    assert!(line.contains("the environment scores itself"), "{line}");
    let line = refusal(cartpole(100, 1, &format!("{}{TWO_TERMS}", regime(r#"{"reward": {"alife": 1}}"#))));
    assert!(line.contains("`alive`"), "{line}");
}

#[test]
fn a_trace_that_cannot_be_written_is_one_line() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "x").unwrap();
    let error = experiment(cartpole(10, 1, "")).run(Some(&file.join("t.jsonl")), &mut Silent).unwrap_err();
    assert!(error.to_string().contains("t.jsonl"), "{error}");
    assert_eq!(std::fs::read(&file).unwrap(), b"x");
}
