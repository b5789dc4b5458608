//! `skyfall rollouts info`: what it prints, for people and for programs.

use skyfall::rollouts::write_rollout_zarr_store;
use skyfall::text::json;
use skyfall::value::Value;

use super::records::{self, config};
use super::store;
use crate::command::Scratch;

fn parsed(text: &str) -> Value {
    json::parse(text).unwrap()
}

/// The value at `path` of a tree.
fn below<'a>(tree: &'a Value, path: &str) -> &'a Value {
    path.split('.').fold(tree, |value, key| &value.as_map().unwrap()[key])
}

#[test]
fn json_holds_what_was_asked_for() {
    let scratch = Scratch::new();
    store(&scratch);
    let info = |flags: &[&str]| {
        let arguments = [&["rollouts", "info", "--json"], flags, &["rollouts.zarr"]].concat();
        parsed(&scratch.skyfall(&arguments).ok().stdout)
    };
    let keys = |tree: &Value| tree.as_map().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&info(&[])), ["manifest", "root_attrs"]);
    let all = info(&["--validate", "--stats", "--preflight"]);
    assert_eq!(keys(&all), ["manifest", "preflight", "root_attrs", "stats", "validation"]);
    assert_eq!(below(&all, "validation.ok"), &Value::Bool(true));
    let validity = below(&all, "stats.candidate_validity");
    assert_eq!(below(validity, "total"), below(&all, "root_attrs.num_candidates"));
    let (valid, total) = (below(validity, "valid").as_float().unwrap(), below(validity, "total").as_float().unwrap());
    assert_eq!(below(validity, "fraction").as_float().unwrap(), valid / total);
    assert_eq!(below(validity, "invalid_reasons.POSE_OUT_OF_EXTENT").as_float().unwrap(), total - valid);
    assert_eq!(below(validity, "valid_per_step.count"), &Value::Int(80));
    assert_eq!(below(&all, "stats.selected.total"), &Value::Int(80));
    assert_eq!(below(&all, "stats.selected.strategy_counts.forward_rig"), &Value::Int(80));
    assert_eq!(below(&all, "stats.selected.component_counts.id_0"), &Value::Int(80));
    assert_eq!(below(&all, "stats.policy_counts.oracle_greedy"), &Value::Int(20));
    let path = below(&all, "stats.selected.path_length_m");
    assert!(below(path, "min").as_float().unwrap() > 0.0 && below(path, "count") == &Value::Int(20));
    assert_eq!(below(&all, "preflight.go"), &Value::Bool(true));
    assert_eq!(below(&all, "preflight.rewards.finite_count").as_float().unwrap(), valid);
    let files = scratch.tree().iter().filter(|name| name.starts_with("rollouts.zarr/")).count();
    assert_eq!(below(&all, "preflight.storage.file_count").as_int(), i64::try_from(files).ok());
}

#[test]
fn a_preflight_says_no_and_why() {
    let scratch = Scratch::new();
    store(&scratch);
    let manifest = scratch.file("rollouts.zarr/manifest.json");
    let text = std::fs::read_to_string(&manifest).unwrap();
    std::fs::write(&manifest, text.replace("\"line\": 20", "\"unknown\": 20")).unwrap();
    let ran = scratch.skyfall(&["rollouts", "info", "--preflight", "--json", "rollouts.zarr"]);
    assert_eq!(ran.code, 1);
    let smoke = parsed(&ran.stdout);
    assert_eq!(below(&smoke, "preflight.blockers"), &Value::List(vec!["invalid_store".into()]));
    assert_eq!(below(&smoke, "preflight.warnings"), &Value::List(vec!["missing_scene_split_metadata".into()]));
    let ran = scratch.skyfall(&["rollouts", "info", "--preflight", "--profile", "production", "rollouts.zarr"]);
    assert_eq!(ran.code, 1);
    for word in ["no go", "invalid_store", "missing_scene_split_metadata"] {
        assert!(ran.stdout.contains(word), "{word}: {}", ran.stdout);
    }
}

#[test]
fn a_store_without_a_trainable_candidate_is_not_fit() {
    let scratch = Scratch::new();
    let mut records = records::records(2);
    for step in records.iter_mut().flat_map(|record| &mut record.trajectories).flat_map(|chain| &mut chain.steps) {
        step.labels.clear();
    }
    write_rollout_zarr_store(&records, config(scratch.file("rollouts.zarr"))).unwrap();
    let info = |profile: &str| {
        scratch.skyfall(&["rollouts", "info", "--preflight", "--stats", "--profile", profile, "rollouts.zarr"])
    };
    let smoke = info("smoke").ok().stdout;
    assert!(smoke.contains("  trainable   0\n") && smoke.contains("no_trainable_candidates"), "{smoke}");
    assert!(info("production").failed(1, &[]).stdout.contains("no_trainable_candidates"));
}

#[test]
fn a_rollout_is_drawn_as_python_draws() {
    let scratch = Scratch::new();
    store(&scratch);
    let draw = |flags: &[&str]| {
        let arguments = [&["rollouts", "info", "--random-index"], flags, &["rollouts.zarr"]].concat();
        scratch.skyfall(&arguments)
    };
    // random.Random(7).randrange(20)
    assert_eq!(draw(&["--seed", "7"]).ok().stdout, "10\n");
    let drawn = parsed(&draw(&["--seed", "7", "--json"]).ok().stdout);
    for (key, value) in [("index", 10), ("seed", 7), ("min_horizon", 2), ("horizon", 4), ("num_eligible", 20)] {
        assert_eq!(below(&drawn, key), &Value::Int(value), "{key}");
    }
    let none = draw(&["--min-horizon", "5"]);
    assert!(none.code == 1 && none.stderr.contains("no rollout has a horizon of at least 5"), "{}", none.stderr);
}

#[test]
fn the_panel_is_for_people() {
    let scratch = Scratch::new();
    store(&scratch);
    let panel = scratch.skyfall(&["rollouts", "info", "--stats", "--validate", "rollouts.zarr"]).ok().stdout;
    for line in
        ["rollouts      20\n", "steps         80\n", "scenes\n  line", "splits\n  train", "valid: nothing is wrong\n"]
    {
        assert!(panel.contains(line), "{line:?}: {panel}");
    }
}

#[test]
fn lua_reads_what_the_command_reads() {
    let scratch = Scratch::new();
    store(&scratch);
    scratch.write(
        "read.lua",
        r#"
        local rollouts = require("skyfall").rollouts
        local store = rollouts.open "rollouts.zarr"
        assert(store:array("steps/step_row_id", 3, 5).shape[1] == 3)
        assert(store:table("candidates", { columns = { "target_rri" }, first = 2 }).target_rri.shape[1] == store.attributes.num_candidates - 1)
        assert(store:dictionary("scene")[1] == "line" and #store:columns("steps") == 14)
        local shells = store:candidate_shell_index()
        assert(shells:rows(0)[1] == 1 and shells.keys.shape[1] == 80)
        assert(store:candidate_codec_tables() == nil)
        assert(store:info { stats = true }.stats.selected.total == 80)
        assert(store:random_index { seed = 7 }.index == 10)
        local chains = rollouts.chains { stores = { "rollouts.zarr" }, campaign_split = "train" }
        assert(#chains == 20 and chains.provenance[1].states == 80 and chains.contract.discount_gamma == 0.95)
        local chain = chains:chain(20)
        assert(chain.rollout_row_id == 19 and #chain.states == 4 and chain.states[4].terminal)
        local state = chain.states[1]
        assert(state.action_mask[state.selected_index])
        local seen = 0
        for batch in chains:state_batches { size = 32, seed = 5 } do seen = seen + batch.terminal.shape[1] end
        assert(seen == 80)
        for batch in chains:chain_batches { size = 20 } do assert(#batch == 20) end
        assert(not pcall(chains.chain, chains, 21))
        assert(not pcall(rollouts.chains, { stores = {} }))
        assert(not pcall(rollouts.chains, { store = { "rollouts.zarr" } }))
        assert(not pcall(store.array, store, "steps/step_row_id", 0))
        "#,
    );
    scratch.skyfall(&["script", "read.lua"]).ok();
}

#[test]
fn what_does_not_go_together_is_refused() {
    let scratch = Scratch::new();
    store(&scratch);
    for words in [
        &["--plot", "p", "--json"][..],
        &["--plot", "p", "--stats"],
        &["--step", "1"],
        &["--seed", "1"],
        &["--min-horizon", "3"],
        &["--profile", "smoke"],
        &["--random-index", "--validate"],
    ] {
        scratch.skyfall(&[&["rollouts", "info", "rollouts.zarr"], words].concat()).failed(2, &[words[0]]);
    }
    assert!(!scratch.file("p").exists());
}
