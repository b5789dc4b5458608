//! Bundles: the format document's manifest, what a bundle needs to be served, and what hostile or
//! broken ones are told.

use std::fs;
use std::path::Path;

use skyfall::bundle::{Bundle, BundleError, ExportOptions, ServeOptions, check, export, serve};
use skyfall::config::ExperimentConfig;
use skyfall::diagnostic::{Exit, Problem};
use skyfall::experiment::{Catalog, Experiment, Parts, RunResult, Silent};
use skyfall::regime::RegimeRecord;
use skyfall::space::Element;
use skyfall::value::{Map, Value};

use crate::experiment::{cartpole, config, rows};

const WHOLE: &str = r#", "reward": {"terms": [{"builtin": "env", "weight": 0.5}, {"builtin": "alive", "weight": 0.25}]},
    "regime": {"provider": "schedule", "params": {"entries": [
        {"id": "calm", "steps": 30}, {"id": "windy", "steps": 20, "env": {"force_mag": 6.0}, "reward": {"env": 2}},
        {"id": "again", "origin": "calm", "steps": 10}]}}"#;

/// Runs `config` and exports it to `dir`.
fn exported(config: ExperimentConfig, dir: &Path) -> Experiment {
    let mut experiment = Experiment::new(config, &Catalog::native(), Parts::default()).unwrap();
    experiment.run(None, &mut Silent).unwrap();
    export(&experiment, dir, ExportOptions::default()).unwrap();
    experiment
}

fn served(dir: &Path, options: &ServeOptions, traces: &Path) -> Result<RunResult, BundleError> {
    serve(&Bundle::open(dir)?, &Catalog::native(), options, Some(traces), &mut Silent)
}

/// Replaces text in the manifest of the bundle at `dir`.
fn edit(dir: &Path, from: &str, to: &str) {
    let path = dir.join("manifest.yaml");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(path, text.replace(from, to)).unwrap();
}

fn refusal(dir: &Path) -> (String, Exit) {
    let error = check(dir, &Catalog::native()).unwrap_err();
    let line = error.to_string();
    assert!(!line.contains('\n'), "{line}");
    (line, error.exit())
}

#[test]
fn the_format_documents_run_exports_the_format_documents_manifest() {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path().join("bundle");
    exported(
        config(
            r#"{"env": {"id": "CartPole-v1"},
                "algorithm": {"name": "discrete_hill_climbing", "params": {"seed": 1}, "policy": {
                    "id": "skyfall_crl.train.backends.hill_climbing:linear_menu_policy",
                    "kwargs": {"n_actions": 2, "seed": 1}}},
                "rollout": {"window_steps": 50, "total_steps": 100, "auto_reset": true},
                "run": {"name": "format-example", "seed": 1}}"#,
        ),
        &dir,
    );
    let expected = include_str!("data/bundle/manifest.yaml");
    assert_eq!(fs::read_to_string(dir.join("manifest.yaml")).unwrap(), expected);
    let files: Vec<_> = fs::read_dir(dir.join("checkpoint")).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(files, ["weights.safetensors"]);
    let beside: Vec<_> = fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(beside, ["bundle"]);
}

#[test]
fn a_bundle_moves_and_is_served_by_itself() {
    let directory = tempfile::tempdir().unwrap();
    let [old, new, trace] = ["old", "new", "served.jsonl"].map(|name| directory.path().join(name));
    let experiment = exported(cartpole(2_000, 5, WHOLE), &old);
    fs::rename(&old, &new).unwrap();
    let result = served(&new, &ServeOptions::default(), &trace).unwrap();
    assert_eq!(result.steps, 60, "one pass of the schedule");
    let rows = rows(&trace);
    for (step, row) in rows.iter().enumerate() {
        for (key, value) in experiment.identity() {
            assert_eq!(row[&key], value);
        }
        let (label, weight) = if step < 30 {
            ("calm", 0.5)
        } else if step < 50 {
            ("windy", 2.0)
        } else {
            ("again", 0.5)
        };
        assert_eq!(row["regime_id"].as_text(), Some(label));
        let components = row["reward_components"].as_map().unwrap();
        assert_eq!(components["env"].as_float(), Some(weight));
        assert!(!row.contains_key("serve"));
    }
    let mut policy = Bundle::open(&new).unwrap().policy(&Catalog::native()).unwrap();
    assert_eq!(policy.parameters(), experiment.algorithm().policy().parameters());
    let mut action = Element::Discrete(7);
    policy.act(&experiment.env().observation_space().blank(), &mut action).unwrap();
    assert_eq!(action, Element::Discrete(0));
}

#[test]
fn served_twice_with_the_same_seed_the_bytes_are_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let [dir, a, b, c] = ["bundle", "a", "b", "c"].map(|name| directory.path().join(name));
    exported(cartpole(500, 5, WHOLE), &dir);
    let with = |seed| ServeOptions { seed: Some(seed), steps: Some(200), ..ServeOptions::default() };
    served(&dir, &with(3), &a).unwrap();
    served(&dir, &with(3), &b).unwrap();
    served(&dir, &with(4), &c).unwrap();
    assert_eq!(fs::read(&a).unwrap(), fs::read(&b).unwrap());
    assert_ne!(fs::read(&a).unwrap(), fs::read(&c).unwrap());
    let serve = rows(&a)[0]["serve"].as_map().unwrap().clone();
    assert_eq!(serve, Map::from_iter([("seed".to_owned(), Value::Int(3)), ("steps".to_owned(), Value::Int(200))]));
}

#[test]
fn overrides_are_recorded_in_the_rows() {
    let directory = tempfile::tempdir().unwrap();
    let [dir, trace] = ["bundle", "trace"].map(|name| directory.path().join(name));
    exported(cartpole(500, 5, ""), &dir);
    let options = ServeOptions {
        env_id: Some("CartPole-v0".to_owned()),
        regime: Some(RegimeRecord {
            provider: "constant".to_owned(),
            params: Map::from_iter([("id".to_owned(), Value::from("other"))]),
            lua: None,
        }),
        ..ServeOptions::default()
    };
    assert_eq!(served(&dir, &options, &trace).unwrap().steps, 1000);
    let row = &rows(&trace)[999];
    assert_eq!(row["regime_id"].as_text(), Some("other"));
    let serve = row["serve"].as_map().unwrap();
    assert_eq!(serve.keys().collect::<Vec<_>>(), ["env_id", "regime"]);
    assert_eq!(serve["env_id"].as_text(), Some("CartPole-v0"));
    let unknown = ServeOptions { env_id: Some("CartPol-v1".to_owned()), ..ServeOptions::default() };
    let nothing = directory.path().join("nothing");
    let error = served(&dir, &unknown, &nothing).unwrap_err();
    assert!(error.hint().unwrap().contains("CartPole-v1") && !nothing.exists());
}

#[test]
fn policies_without_weights_travel_as_directories() {
    let directory = tempfile::tempdir().unwrap();
    let [dir, trace] = ["bundle", "trace"].map(|name| directory.path().join(name));
    let text = r#"{"env": {"id": "CartPole-v1"}, "algorithm": {"name": "none", "policy": {"id": "random"}},
        "rollout": {"total_steps": 10}, "run": {"name": "r", "seed": 2}}"#;
    exported(config(text), &dir);
    assert!(fs::read_to_string(dir.join("manifest.yaml")).unwrap().contains("format: checkpoint\n"));
    served(&dir, &ServeOptions::default(), &trace).unwrap();
    assert_eq!(rows(&trace).len(), 1000);
}

#[test]
fn a_default_policy_cannot_be_served() {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path().join("bundle");
    let text = r#"{"env": {"id": "CartPole-v1"}, "algorithm": {"name": "discrete_hill_climbing"},
        "rollout": {"total_steps": 10}, "run": {"name": "r", "seed": 2}}"#;
    exported(config(text), &dir);
    let (line, exit) = refusal(&dir);
    assert!(line.contains("`policy.id` is null"), "{line}");
    assert_eq!(exit, Exit::Failure);
}

#[test]
fn an_external_checkpoint_works_where_its_path_resolves() {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path().join("bundle");
    let mut experiment = Experiment::new(cartpole(200, 1, ""), &Catalog::native(), Parts::default()).unwrap();
    experiment.run(None, &mut Silent).unwrap();
    let options = ExportOptions { external: true };
    export(&experiment, &dir, options).unwrap();
    export(&experiment, &dir, options).unwrap();
    let bundle = check(&dir, &Catalog::native()).unwrap();
    let outside = directory.path().join("bundle-checkpoint");
    assert!(bundle.manifest().policy.external && !dir.join("checkpoint").exists());
    assert_eq!(bundle.manifest().policy.checkpoint.as_deref(), outside.to_str());
    fs::rename(&outside, directory.path().join("gone")).unwrap();
    let (line, exit) = refusal(&dir);
    assert!(line.contains("bundle-checkpoint") && line.contains("does not exist here"), "{line}");
    assert_eq!(exit, Exit::Input);
}

#[test]
fn export_replaces_bundles_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let [dir, taken] = ["bundle", "taken"].map(|name| directory.path().join(name));
    let experiment = exported(cartpole(200, 1, ""), &dir);
    export(&experiment, &dir, ExportOptions::default()).unwrap();
    fs::create_dir(&taken).unwrap();
    fs::write(taken.join("thesis.tex"), "years of work").unwrap();
    let error = export(&experiment, &taken, ExportOptions::default()).unwrap_err();
    assert!(matches!(error, BundleError::Occupied { .. }));
    assert_eq!(fs::read(taken.join("thesis.tex")).unwrap(), b"years of work");
    let below = dir.join("manifest.yaml").join("x");
    assert!(export(&experiment, &below, ExportOptions::default()).is_err());
}

#[test]
fn broken_manifests_are_one_clear_line() {
    let directory = tempfile::tempdir().unwrap();
    let (line, exit) = refusal(&directory.path().join("nowhere"));
    assert!(line.contains("nowhere is not a bundle"), "{line}");
    assert_eq!(exit, Exit::Input);
    for (number, (from, to, says)) in [
        ("version: 1\n", "version: 2\n", "version"),
        ("policy:\n", "policy: [\n", "YAML"),
        ("  format: weights\n", "", "`policy.format` is absent"),
        ("  format: weights\n", "  format: pickle\n", "`pickle`"),
        ("checkpoint: checkpoint\n", "checkpoint: ../bundle-0/checkpoint\n", "leads out of the bundle"),
        ("checkpoint: checkpoint\n", "checkpoint: /etc\n", "leads out of the bundle"),
        ("checkpoint: checkpoint\n", "checkpoint: nowhere\n", "does not exist in the bundle"),
        ("external: false\n", "external: true\n", "needs an absolute path"),
        ("  n: 2\n", "  n: -2\n", "`action_space` cannot be decoded"),
        ("  n: 2\n", "  n: 3\n", "`kwargs.n_actions` is 2"),
        ("provider: constant\n", "provider: konstant\n", "did you mean `constant`"),
        ("reward_spec: null\n", "reward_spec: {terms: 3}\n", "`reward_spec`"),
        ("  id: linear_menu\n", "  id: linear_manu\n", "unknown policy `linear_manu`"),
    ]
    .into_iter()
    .enumerate()
    {
        let dir = directory.path().join(format!("bundle-{number}"));
        exported(cartpole(10, 1, ""), &dir);
        check(&dir, &Catalog::native()).unwrap();
        edit(&dir, from, to);
        let (line, _) = refusal(&dir);
        assert!(line.contains(says), "{line}");
    }
}

#[test]
fn damaged_weights_and_links_out_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path().join("bundle");
    exported(cartpole(10, 1, ""), &dir);
    let weights = dir.join("checkpoint/weights.safetensors");
    let good = fs::read(&weights).unwrap();
    fs::write(&weights, &good[..good.len() - 3]).unwrap();
    assert!(refusal(&dir).0.contains("not a safetensors file"));
    let mut wild = good.clone();
    let end = wild.len();
    wild[end - 8..].copy_from_slice(&f64::NAN.to_le_bytes());
    fs::write(&weights, wild).unwrap();
    assert!(refusal(&dir).0.contains("must be finite"));
    fs::remove_file(&weights).unwrap();
    assert!(refusal(&dir).0.contains("holds 0 files"));
    let outside = directory.path().join("outside.safetensors");
    fs::write(&outside, &good).unwrap();
    std::os::unix::fs::symlink(&outside, &weights).unwrap();
    assert!(refusal(&dir).0.contains("a link leads out of the bundle"));
    fs::remove_dir_all(dir.join("checkpoint")).unwrap();
    fs::create_dir(directory.path().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink(directory.path().join("elsewhere"), dir.join("checkpoint")).unwrap();
    assert!(refusal(&dir).0.contains("a link leads out of the bundle"));
}

#[test]
fn an_environment_with_other_spaces_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let [dir, trace] = ["bundle", "trace"].map(|name| directory.path().join(name));
    exported(cartpole(10, 1, ""), &dir);
    edit(&dir, "  - 4.800000190734863\n", "  - 5.0\n");
    let error = served(&dir, &ServeOptions::default(), &trace).unwrap_err();
    assert!(error.to_string().contains("`observation_space`"), "{error}");
    // It is said of the spaces, whatever the weights' shapes would be.
    let other = ServeOptions { env_id: Some("Acrobot-v1".to_owned()), ..ServeOptions::default() };
    let error = served(&dir, &other, &trace).unwrap_err().to_string();
    assert!(error.contains("`observation_space`") && error.contains("Acrobot-v1"), "{error}");
    assert!(!trace.exists());
}
