//! What depends on results: rules that end trials, and search.

use skyfall::random::Rng;
use skyfall::sweep::{Distribution, Goal, Hearing, Rule, Sampler, Tpe};

use super::left;
use crate::command::Scratch;

/// Lets trials with these values go through windows one after the other; how far each got.
fn heard(rule: Rule, goal: Goal, trials: &[[f64; 9]]) -> Vec<usize> {
    let rungs = tempfile::tempdir().unwrap();
    let hear = |(name, values): (usize, &[f64; 9])| {
        let mut hearing = Hearing::new(rule, goal, rungs.path(), &name.to_string());
        values.iter().position(|value| hearing.window(*value).unwrap()).map_or(9, |last| last + 1)
    };
    trials.iter().enumerate().map(hear).collect()
}

#[test]
fn halving_keeps_the_best_share_at_every_rung() {
    let rule = Rule::Halving { first: 1, factor: 3 };
    let flat = |value: f64| [value; 9];
    // The first of all goes on; then a trial must be among the best third of those before it and itself.
    let trials = [flat(1.0), flat(0.5), flat(2.0), flat(0.1), flat(1.5), flat(1.2), flat(f64::NAN), flat(3.0)];
    assert_eq!(heard(rule, Goal::Maximize, &trials), [9, 1, 9, 1, 1, 1, 1, 9]);
    // A trial that falls back is ended at the next rung.
    let falls = [1.0, 1.0, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2];
    assert_eq!(heard(rule, Goal::Maximize, &[flat(0.9), falls]), [9, 3]);
    assert_eq!(heard(rule, Goal::Minimize, &[flat(0.9), flat(1.0), flat(0.1)]), [9, 1, 9]);
}

#[test]
fn the_median_rule_waits_for_others_and_ends_what_is_worse_than_half_of_them() {
    let rule = Rule::Median { first: 2, every: 2, least: 3 };
    let flat = |value: f64| [value; 9];
    let trials = [flat(1.0), flat(2.0), flat(3.0), flat(1.5), flat(2.5), flat(f64::NAN)];
    assert_eq!(heard(rule, Goal::Maximize, &trials), [9, 9, 9, 2, 9, 2]);
    // Its best counts: one good window is enough.
    let once = [0.0, 5.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    assert_eq!(heard(rule, Goal::Maximize, &[flat(1.0), flat(2.0), flat(3.0), once]), [9, 9, 9, 9]);
}

const STOPPED: &str = r#"
local skyfall = require "skyfall"
local sweep = skyfall.sweep
return sweep {
  name = "stopped",
  axes = sweep.list { { weight = 3 }, { weight = 1 }, { weight = 4 }, { weight = 2 } },
  stop = sweep.asha { first = 2, factor = 2 },
  experiment = function(p)
    return {
      env = { id = "CartPole-v1" },
      algorithm = { name = "none", policy = { id = "linear_menu", kwargs = { n_actions = 2 } } },
      reward = skyfall.reward.compose { { skyfall.reward.term("one", function() return 1 end), weight = p.weight } },
      rollout = { window_steps = 10, total_steps = 100, auto_reset = true },
    }
  end,
}
"#;

#[test]
fn a_trial_that_is_ended_early_is_finished_and_says_why() {
    let scratch = Scratch::new();
    scratch.write("sweep.lua", STOPPED);
    let ran = scratch.skyfall(&["sweep", "sweep.lua", "--jobs", "1"]).ok();
    assert!(ran.stdout.starts_with("4 of 4 trials finished\nbest mean_reward: 4.0"), "{}", ran.stdout);
    let csv = scratch.skyfall(&["sweep", "table", "stopped", "--each", "--format", "csv"]).ok().stdout;
    let column = |name: &str| {
        let place = csv.lines().next().unwrap().split(',').position(|head| head == name).unwrap();
        csv.lines().skip(1).map(|line| line.split(',').nth(place).unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(column("steps"), ["100", "20", "100", "20"]);
    assert_eq!(column("stopped"), ["", "20", "", "20"]);
    let result = scratch
        .tree()
        .into_iter()
        .find(|name| name.starts_with("stopped/trials/0001") && name.ends_with("result.json"));
    let result: serde_json::Value = serde_json::from_str(&scratch.read(&result.unwrap())).unwrap();
    assert_eq!(result["rungs"][0], serde_json::json!({ "windows": 2, "value": 1.0, "others": 1, "ended": true }));
    let again = scratch.skyfall(&["sweep", "sweep.lua", "--resume"]).ok();
    assert!(again.stdout.starts_with("4 of 4 trials finished (4 of them before)"), "{}", again.stdout);
    // What a window counts for may be the script's own.
    let own = STOPPED.replace("factor = 2 }", "factor = 2, watch = function(w) return -w.total_reward / w.steps end }");
    scratch.write("own.lua", &own);
    scratch.skyfall(&["sweep", "own.lua", "--jobs", "1", "--out", "own"]).ok();
    let csv = scratch.skyfall(&["sweep", "table", "own", "--each", "--format", "csv"]).ok().stdout;
    assert!(csv.lines().nth(3).unwrap().ends_with(",20"), "{csv}");
}

#[test]
fn the_parzen_estimator_finds_what_random_draws_miss() {
    // The distance to a point in four axes, one of them a choice.
    let axes = || {
        let unit = Distribution::Uniform { low: 0.0, high: 1.0 };
        let choice = Distribution::Choice((0..5).map(skyfall::value::Value::from).collect());
        vec![
            ("a".to_owned(), unit.clone()),
            ("b".to_owned(), unit),
            ("c".to_owned(), Distribution::LogUniform { low: 1e-4, high: 1.0 }),
            ("d".to_owned(), choice),
        ]
    };
    let loss = |point: &skyfall::value::Map| {
        let at = |name: &str| point[name].as_float().unwrap();
        let wrong = if at("d") == 3.0 { 0.0 } else { 0.3 };
        (at("a") - 0.7).abs() + (at("b") - 0.2).abs() + (at("c").log10() + 2.0).abs() / 4.0 + wrong
    };
    let best = |startup: u64, seed: u64| {
        let mut tpe = Tpe::new(axes(), seed, Goal::Minimize);
        tpe.startup = startup;
        let mut best = f64::INFINITY;
        for index in 0..60 {
            let point = tpe.ask(index).unwrap();
            best = best.min(loss(&point));
            tpe.tell(&point, Some(loss(&point))).unwrap();
        }
        best
    };
    let mean = |startup: u64| (0..10).map(|seed| best(startup, seed)).sum::<f64>() / 10.0;
    let (estimated, random) = (mean(10), mean(60));
    assert!(estimated < 0.8 * random, "{estimated} against {random}");
    assert_eq!(best(10, 4), best(10, 4));
}

#[test]
fn failures_and_what_is_no_number_do_not_end_a_search() {
    let mut tpe = Tpe::new(vec![("a".to_owned(), Distribution::Uniform { low: 0.0, high: 1.0 })], 0, Goal::Maximize);
    let mut rng = Rng::new(1);
    for index in 0..40 {
        let point = tpe.ask(index).unwrap();
        let value = [None, Some(f64::NAN), Some(1.0), Some(f64::INFINITY)][(rng.next_u64() % 4) as usize];
        assert!((0.0..1.0).contains(&point["a"].as_float().unwrap()));
        tpe.tell(&point, value).unwrap();
    }
}

fn searched(search: &str) -> String {
    format!(
        r#"
local skyfall = require "skyfall"
local sweep = skyfall.sweep
return sweep {{
  name = "searched",
  search = {search},
  experiment = function(p)
    if p.weight > 9 then error "too much" end
    return {{
      env = {{ id = "CartPole-v1" }},
      algorithm = {{ name = "none", policy = {{ id = "linear_menu", kwargs = {{ n_actions = 2 }} }} }},
      reward = skyfall.reward.compose {{ {{ skyfall.reward.term("one", function() return 1 end), weight = p.weight }} }},
      rollout = {{ window_steps = 10, total_steps = 20, auto_reset = true }},
    }}
  end,
}}
"#
    )
}

#[test]
fn a_search_asks_for_the_same_points_whatever_the_number_of_jobs() {
    let scratch = Scratch::new();
    scratch.write("tpe.lua", &searched("sweep.tpe(16, { weight = sweep.uniform(0, 8) }, { startup = 4, ahead = 3 })"));
    scratch.skyfall(&["sweep", "tpe.lua", "--jobs", "1", "--out", "one"]).ok();
    scratch.skyfall(&["sweep", "tpe.lua", "--jobs", "5", "--out", "five"]).ok();
    assert!(left(&scratch, "one") == left(&scratch, "five"), "the two differ");
    // Half of it lost, the same points are asked for again, and only those are run.
    let lost = scratch
        .tree()
        .into_iter()
        .filter(|name| name.starts_with("five/trials/000") && name.ends_with("_SUCCESS.json"));
    for marker in lost.step_by(2) {
        std::fs::remove_dir_all(scratch.file(&marker).parent().unwrap()).unwrap();
    }
    let ran = scratch.skyfall(&["sweep", "tpe.lua", "--resume", "--out", "five"]).ok();
    assert!(ran.stdout.starts_with("16 of 16 trials finished (11 of them before)"), "{}", ran.stdout);
    assert!(left(&scratch, "one") == left(&scratch, "five"), "the two differ");
}

#[test]
fn a_sampler_of_the_script_s_own_is_told_what_it_asked_for() {
    let scratch = Scratch::new();
    let own = r#"sweep.search(8, {
      told = 0,
      ask = function(self, rng, index)
        assert(self.told == math.max(0, index - 2))
        return { weight = index == 3 and 10 or self.told % 3 + 1 }
      end,
      tell = function(self, point, value)
        assert(value == nil and point.weight == 10 or math.abs(value - point.weight) < 1e-9)
        self.told = self.told + 1
      end,
    }, { ahead = 2 })"#;
    scratch.write("own.lua", &searched(own));
    let ran = scratch.skyfall(&["sweep", "own.lua", "--jobs", "2"]).failed(1, &["too much"]);
    // Points that come again run once.
    assert!(ran.stdout.starts_with("3 of 8 trials finished, 1 failed"), "{}", ran.stdout);
    scratch.write("own.lua", &searched("sweep.search(8, { ask = function() return 3 end })"));
    scratch.skyfall(&["sweep", "own.lua", "--out", "o"]).failed(1, &["`ask` must return a point, got the integer 3"]);
    scratch.write("own.lua", &searched("sweep.search(8, { axk = 3 })"));
    scratch.skyfall(&["sweep", "own.lua", "--out", "o"]).failed(1, &["the sampler has no `ask`"]);
    for (key, value) in [("axes", "{ a = { 1 } }"), ("except", "{ a = 1 }")] {
        scratch.write("own.lua", &searched(&format!("sweep.tpe(8, {{ a = sweep.uniform(0, 1) }}), {key} = {value}")));
        let line = format!("`{key}` does not go with `search`: ");
        scratch.skyfall(&["sweep", "own.lua", "--out", "o"]).failed(1, &[&line]);
    }
    scratch.write("own.lua", &searched("sweep.search(8, { ask = function() return { a = 0/0 } end })"));
    scratch.skyfall(&["sweep", "own.lua", "--out", "nan"]).failed(1, &["the axis `a` is NaN at a=NaN"]);
}

#[test]
fn a_search_with_repeats_is_told_the_mean_over_seeds() {
    let scratch = Scratch::new();
    // The reward of a step is the seed: 5, 6 and 10, of which the mean is 7; a seed alone fails the point.
    let own = r#"sweep.search(6, {
      ask = function(self, rng, index) return { weight = index == 2 and 10 or index } end,
      tell = function(self, point, value)
        if point.weight == 10 then assert(value == nil) else assert(math.abs(value - 7 * point.weight) < 1e-9) end
      end,
    }, { ahead = 2 }), repeats = { 5, 6, 10 }"#;
    let script = searched(own).replace("return 1 end", "return p.seed end").replace("> 9", "> 9 and p.seed == 6");
    scratch.write("own.lua", &script);
    for jobs in ["1", "4"] {
        let ran = scratch.skyfall(&["sweep", "own.lua", "--jobs", jobs, "--out", jobs]).failed(1, &["too much"]);
        assert!(ran.stdout.starts_with("17 of 18 trials finished, 1 failed"), "{}", ran.stdout);
    }
    assert!(left(&scratch, "1") == left(&scratch, "4"), "the two differ");
    let csv = scratch.skyfall(&["sweep", "table", "1", "--format", "csv"]).ok().stdout;
    assert!(csv.starts_with("weight,n,") && csv.contains("\n1,3,7"), "{csv}");
    // More points go on from those that are there.
    scratch.write("own.lua", &script.replace("search(6", "search(7"));
    let ran = scratch.skyfall(&["sweep", "own.lua", "--jobs", "2", "--out", "1", "--resume"]).failed(1, &["too much"]);
    assert!(ran.stdout.starts_with("20 of 21 trials finished (17 of them before), 1 failed"), "{}", ran.stdout);
}

#[test]
fn every_kind_of_space_goes_with_every_other_and_with_a_rule() {
    let scratch = Scratch::new();
    let axes = r#"{
      policy = { 1, 2 },
      world = sweep.random(2, { size = { 1, 2, 3, 4 } }),
      sweep.when({ policy = 2 }, sweep.latin_hypercube(2, { steps = sweep.integer(20, 60) })),
      sweep.when(function(p) return p.world.size > 0 end, { note = { "a", "b" } }),
    }"#;
    let more = "except = function(p) return p.note == 'b' and p.seed == 2 end, repeats = 2, stop = sweep.median { least = 1 },";
    scratch.write("sweep.lua", &super::quick(axes, more));
    // Two worlds: two notes, two seeds, less one of four; where the policy is the second, two lengths each.
    let ran = scratch.skyfall(&["sweep", "sweep.lua", "--dry-run"]).ok();
    assert_eq!(ran.stdout.lines().count(), 2 * 3 + 2 * 2 * 3, "{}", ran.stdout);
    let ran = scratch.skyfall(&["sweep", "sweep.lua", "--jobs", "2"]).ok();
    assert!(ran.stdout.starts_with("18 of 18 trials finished"), "{}", ran.stdout);
    let again = scratch.skyfall(&["sweep", "sweep.lua", "--resume"]).ok();
    assert!(again.stdout.starts_with("18 of 18 trials finished (18 of them before)"), "{}", again.stdout);
    // A search and a rule, too.
    let tpe =
        "sweep.tpe(9, { weight = sweep.uniform(1, 8) }, { startup = 3, ahead = 2 }), stop = sweep.asha { factor = 2 }";
    scratch.write("tpe.lua", &searched(tpe));
    let ran = scratch.skyfall(&["sweep", "tpe.lua", "--jobs", "2"]).ok();
    assert!(ran.stdout.starts_with("9 of 9 trials finished"), "{}", ran.stdout);
}
