//! Sweeps over the fields of one experiment, and what such a sweep is to its readers.

use crate::command::Scratch;

/// An experiment that names itself, as all its trials then do.
fn experiment() -> Scratch {
    let scratch = Scratch::new();
    let code = r#"
return require("skyfall").experiment {
  env = { id = "CartPole-v1" },
  algorithm = { name = "discrete_hill_climbing", policy = { id = "linear_menu", kwargs = { n_actions = 2 } } },
  rollout = { window_steps = 10, total_steps = 60, auto_reset = true },
  run = { name = "one", seed = 1 },
}
"#;
    scratch.write("one.lua", code);
    scratch
}

#[test]
fn a_run_and_a_sweep_do_not_share_a_directory() {
    let scratch = experiment();
    scratch.skyfall(&["script", "one.lua"]).ok();
    let axis = ["sweep", "one.lua", "--axis", "run.seed=1,2"];
    scratch.skyfall(&axis).failed(2, &["one holds a run's results: one/traces.jsonl", "--out"]);
    scratch.skyfall(&[&axis[..], &["--resume"]].concat()).failed(2, &["one holds a run's results"]);
    scratch.skyfall(&[&axis[..], &["--out", "seeds"]].concat()).ok();
    scratch.skyfall(&["script", "one.lua", "--out", "seeds"]).failed(2, &["seeds holds a sweep", "--out"]);
    assert!(!scratch.file("seeds/traces.jsonl").exists());
    scratch.skyfall(&["script", "one.lua"]).ok();
}

#[test]
fn the_seed_of_the_configuration_is_a_repeat_and_axes_part_the_groups_of_an_evaluation() {
    let scratch = experiment();
    let axes = ["--axis", "algorithm.params.noise=0.1,0.4", "--axis", "run.seed=1,2,3"];
    let swept = scratch.skyfall(&[&["sweep", "one.lua", "--out", "swept"], &axes[..]].concat()).ok();
    assert!(
        swept.stdout.contains("at algorithm.params.noise=0.") && swept.stdout.contains("(mean of 3)"),
        "{}",
        swept.stdout
    );
    let best = scratch.skyfall(&["sweep", "best", "swept"]).ok().stdout;
    assert!(best.contains("n = 3") && !best.contains("run.seed"), "{best}");
    let table = scratch.skyfall(&["sweep", "table", "swept", "--format", "csv"]).ok().stdout;
    assert!(table.starts_with("algorithm.params.noise,n,") && table.lines().count() == 3, "{table}");

    let evaluated = |more: &[&str]| {
        let ran = scratch.skyfall(&[&["eval", "--traces", "swept", "--format", "json"], more].concat()).ok();
        assert!(!ran.stderr.contains("identity_collision"), "{}", ran.stderr);
        let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        let groups = report["groups"].as_array().unwrap();
        groups.iter().map(|group| (group["key"].clone(), group["n_runs"].as_u64().unwrap())).collect::<Vec<_>>()
    };
    let groups = evaluated(&[]);
    let noises: Vec<_> = groups.iter().map(|(key, n)| (key["algorithm.params.noise"].as_f64(), *n)).collect();
    assert_eq!(noises, [(Some(0.1), 3), (Some(0.4), 3)], "{groups:?}");
    // Who asks for other groups gets those.
    assert_eq!(evaluated(&["--group-by", "algorithm_id"]).iter().map(|(_, n)| *n).collect::<Vec<_>>(), [6]);
}
