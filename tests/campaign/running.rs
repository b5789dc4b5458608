//! Running shards: written, checked, promoted, sealed; and known again.

use skyfall::campaign::status::State;
use skyfall::rollouts;

use super::{Campaign, bytes, data, index};
use crate::command::Scratch;

#[test]
fn a_shard_is_promoted_once_and_then_left_alone() {
    let campaign = Campaign::new(3, 2);
    assert_eq!(campaign.state(0), State::Missing);
    let told = campaign.run(&["--shard-id", "0"]).ok().stdout;
    assert!(told.starts_with("shard-000000: written, 2 rollouts, 4 steps"), "{told}");
    assert_eq!((campaign.state(0), campaign.state(1)), (State::Succeeded, State::Missing));
    let place = campaign.file("c/shards/shard-000000");
    let before = bytes(&place);
    assert!(before.contains_key("_owner.json") && before.contains_key("_SUCCESS.json"));
    assert!(rollouts::validate(&place).unwrap().ok());
    assert!(campaign.run(&["--index", "0"]).ok().stdout.contains("skipped: it is there already"));
    assert_eq!(bytes(&place), before);
    assert_eq!(std::fs::read_dir(campaign.file("c/shards/tmp")).unwrap().count(), 0);
}

#[test]
fn the_same_plan_gives_the_same_bytes_by_shard_by_batch_and_by_all() {
    let (one, batch, all) = (Campaign::new(5, 2), Campaign::new(5, 2), Campaign::new(5, 2));
    for shard in ["2", "shard-000000", "1"] {
        one.run(&["--shard-id", shard]).ok();
    }
    batch.run(&["--index", "0", "--batch", "2"]).ok();
    batch.run(&["--index", "1", "--batch", "2"]).ok();
    let told = all.run(&["--all", "--jobs", "2"]).ok().stdout;
    assert!(told.contains("3 of 3 shards are there"), "{told}");
    let expected = bytes(&one.file("c/shards"));
    assert_eq!(bytes(&batch.file("c/shards")), expected);
    assert_eq!(bytes(&all.file("c/shards")), expected);
    let again = all.run(&["--all"]).ok().stdout;
    assert!(again.contains("(3 of them before)"), "{again}");
    batch.run(&["--index", "2", "--batch", "2"]).failed(2, &["has no shard with the index 4", "it has 3"]);
    batch.run(&["--shard-id", "9"]).failed(2, &["has no shard-000009"]);
}

/// Killed between the rename and the marker, a store lacks nothing else; it is completed.
#[test]
fn a_store_that_lacks_its_last_marker_is_completed() {
    let campaign = Campaign::new(1, 1);
    campaign.run(&["--shard-id", "0"]).ok();
    let place = campaign.file("c/shards/shard-000000");
    let before = bytes(&place);
    std::fs::remove_file(place.join("_SUCCESS.json")).unwrap();
    let status = campaign.status();
    assert_eq!(status.shards[0].state, State::Incomplete);
    assert!(status.shards[0].errors[0].contains("a run of the shard completes it"), "{status:?}");
    assert!(campaign.run(&["--shard-id", "0"]).ok().stdout.contains("completed"));
    assert_eq!(bytes(&place), before);
}

#[test]
fn status_tells_people_and_programs() {
    let campaign = Campaign::new(3, 1);
    campaign.run(&["--shard-id", "1"]).ok();
    std::fs::create_dir_all(campaign.file("c/shards/shard-000002")).unwrap();
    let ask =
        |more: &[&str]| campaign.scratch.skyfall(&[&["rollouts", "status", "c/shard-manifest.jsonl"], more].concat());
    let told = ask(&[]).ok().stdout;
    assert!(told.starts_with("1 of 3 shards: 1 succeeded, 0 failed, 1 incomplete, 1 missing\n"), "{told}");
    assert!(told.contains("shard-000000  missing"), "{told}");
    assert!(told.contains("shard-000002  incomplete      1 rows  train  _owner.json cannot be read"), "{told}");
    assert_eq!(ask(&["--require-complete"]).code, 1);
    let told: serde_json::Value = serde_json::from_str(&ask(&["--json"]).ok().stdout).unwrap();
    assert_eq!(told["counts"], serde_json::json!({"succeeded": 1, "failed": 0, "incomplete": 1, "missing": 1}));
    assert_eq!((told["num_shards"].as_i64(), told["final_root"].as_str()), (Some(3), Some("c/shards")));
    let keys: Vec<&String> = told["shards"][1].as_object().unwrap().keys().collect();
    let expected = "errors failed_markers final_dir num_source_rows owner_path shard_id split status success_path";
    assert_eq!(keys, expected.split(' ').collect::<Vec<_>>());
    assert_eq!(told["shards"][1]["status"], "succeeded");
    std::fs::remove_dir(campaign.file("c/shards/shard-000002")).unwrap();
    campaign.run(&["--all"]).ok();
    assert_eq!(ask(&["--require-complete"]).code, 0);
}

#[test]
fn a_shard_can_be_told_where_to_be_made_and_where_to_stand() {
    let campaign = Campaign::new(1, 1);
    std::fs::create_dir(campaign.file("work")).unwrap();
    let words = ["--shard-id", "0", "--output-tmp", "work", "--output-final", "out/mine"];
    campaign.run(&words).failed(1, &["work is there already"]);
    assert!(campaign.file("work").is_dir() && !campaign.file("out").exists());
    std::fs::remove_dir(campaign.file("work")).unwrap();
    campaign.run(&words).ok();
    assert!(rollouts::validate(&campaign.file("out/mine")).unwrap().ok() && !campaign.file("work").exists());
    assert!(campaign.run(&words).ok().stdout.contains("skipped"));
}

#[test]
fn records_may_come_from_a_file() {
    // The toy oracle's records as lines: a script of the same steps writes them.
    let scratch = Scratch::new();
    let lines = data("oracle.lua").replace("return rollouts.oracle {", "local oracle = {").replace(
        "array.new(\"f32\", { n }) + 1 / n",
        "(array.new(\"f32\", { n }) + 1 / n):totable()",
    ) + "
        local json, out = require 'skyfall.json', {}
        local function plain(v)
          if type(v) == 'userdata' then return v:totable() end
          if type(v) ~= 'table' then return v end
          local t = {}
          for key, item in pairs(v) do t[key] = plain(item) end
          return t
        end
        local rows = {}
        for i = 0, 2 do rows[i + 1] = { sample_index = i, sample_key = 'toy:' .. i, source = { source_sample_key = 'toy:' .. i } } end
        oracle.records(rows, { add = function(_, record) out[#out + 1] = json.encode(plain(record)) end })
        require 'skyfall.fs'.write('records.jsonl', table.concat(out, '\\n') .. '\\n')";
    scratch.script(&lines).ok();
    scratch.write("index.jsonl", &index(3));
    let recipe = ["--records", "records.jsonl", "--set", "selected_depth_enabled=false"];
    let plan = ["rollouts", "plan", "index.jsonl", "--rows-per-shard", "2", "--out", "c"];
    scratch.skyfall(&[&plan[..], &recipe].concat()).ok();
    let run = ["rollouts", "run", "--shard-manifest", "c/shard-manifest.jsonl", "--all"];
    let told = scratch.skyfall(&[&run[..], &recipe].concat()).ok().stdout;
    assert!(told.contains("2 of 2 shards"), "{told}");
    assert!(rollouts::validate(&scratch.file("c/shards/shard-000001")).unwrap().ok());
    // Another file is another plan.
    let text = scratch.read("records.jsonl");
    scratch.write(
        "records.jsonl",
        &text.replacen("\"source_sample_key\"", "\"scene_id\": \"elsewhere\", \"source_sample_key\"", 1),
    );
    scratch.skyfall(&[&run[..], &recipe].concat()).failed(65, &["was planned with the writer's hash"]);
    scratch.skyfall(&[&plan[..], &recipe].concat()).failed(2, &["is another plan", "move it and its shards away"]);
    std::fs::remove_file(scratch.file("c/shard-manifest.jsonl")).unwrap();
    scratch.skyfall(&[&plan[..], &recipe].concat()).ok();
    let root = ["--final-root", "d", "--shard-id", "0"];
    let run = ["rollouts", "run", "--shard-manifest", "c/shard-manifest.jsonl"];
    scratch
        .skyfall(&[&run[..], &root, &recipe].concat())
        .failed(3, &["records.jsonl:1: ", "source.scene_id is elsewhere, but its row has line-0"]);
}

#[test]
fn a_campaign_s_split_reaches_the_store() {
    let bound = index(2).replace("\"split\"", "\"campaign_split\": \"fit\", \"split\"");
    let campaign = Campaign::of(Scratch::new(), &data("oracle.lua"), &bound, 2);
    campaign.run(&["--shard-id", "0"]).ok();
    let store = rollouts::Store::open(&campaign.file("c/shards/shard-000000")).unwrap();
    assert_eq!(store.attributes()["campaign_split"], "fit".into());
    assert_eq!(campaign.state(0), State::Succeeded);
}

#[test]
fn what_the_dead_left_is_listed_and_removed_and_the_living_are_left_alone() {
    let campaign = Campaign::new(1, 1);
    campaign.run(&["--shard-id", "0"]).ok();
    let root = campaign.file("c/shards");
    let place = bytes(&root.join("shard-000000"));
    for dead in ["tmp/shard-000001-aa.01", "tmp/quarantine/shard-000001-aa.02.timed_out-x-1", ".shard-000001.claim"] {
        std::fs::create_dir_all(root.join(dead)).unwrap();
    }
    std::fs::write(root.join("tmp/shard-000001-aa.01/half"), "12345").unwrap();
    // Whoever works in a directory holds its lock.
    let living = root.join("tmp/shard-000002-aa.03");
    std::fs::create_dir(&living).unwrap();
    let lock = std::fs::File::open(&living).unwrap();
    lock.lock().unwrap();
    let listed = campaign.scratch.skyfall(&["rollouts", "gc", "c/shards"]).ok().stdout;
    for words in ["dead                    5 bytes", "quarantined ", "claim ", "in use"] {
        assert!(listed.contains(words), "{listed}");
    }
    assert!(root.join("tmp/shard-000001-aa.01").exists());
    campaign.scratch.skyfall(&["rollouts", "gc", "c/shards", "--remove"]).ok();
    assert!(living.is_dir() && !root.join(".shard-000001.claim").exists());
    let left: Vec<_> = std::fs::read_dir(root.join("tmp")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
    assert_eq!(bytes(&root.join("shard-000000")), place);
    assert_eq!(campaign.state(0), State::Succeeded);
    campaign.scratch.skyfall(&["rollouts", "gc", "nowhere"]).failed(3, &["nowhere is no directory"]);
}

#[test]
fn what_is_no_attempt_s_is_told_and_left_alone() {
    let campaign = Campaign::new(1, 1);
    let root = campaign.file("c/shards");
    for kept in ["tmp/notes", "tmp/shard-1", "tmp/quarantine/mine", ".full.claim/mine"] {
        std::fs::create_dir_all(root.join(kept)).unwrap();
    }
    std::fs::write(root.join("tmp/list.txt"), "mine").unwrap();
    let ran = campaign.scratch.skyfall(&["rollouts", "gc", "c/shards", "--remove"]).ok().stdout;
    assert_eq!(ran.matches("left alone").count(), 4, "{ran}");
    assert!(ran.contains("list.txt  left alone: it is no directory"), "{ran}");
    for kept in ["tmp/notes", "tmp/shard-1", "tmp/quarantine/mine", ".full.claim/mine", "tmp/list.txt"] {
        assert!(root.join(kept).exists(), "{kept}");
    }
    let other = campaign.file("elsewhere/shard-000001-aa.01");
    std::fs::create_dir_all(&other).unwrap();
    std::fs::remove_dir_all(root.join("tmp")).unwrap();
    std::os::unix::fs::symlink(campaign.file("elsewhere"), root.join("tmp")).unwrap();
    let ran = campaign.scratch.skyfall(&["rollouts", "gc", "c/shards", "--remove"]).ok().stdout;
    assert!(ran.contains("tmp  left alone: ") && other.exists(), "{ran}");
}

/// That rows have too little in them is an outcome: no store comes of it, and no marker.
#[test]
fn a_shard_of_insufficient_support_leaves_nothing() {
    let too_little = |call: &str| {
        let line = format!("if shard.shard_id == 'shard-000001' then {call} end");
        let oracle = data("oracle.lua").replacen("for _, row in", &format!("{line}\n    for _, row in"), 1);
        Campaign::of(Scratch::in_memory(), &oracle, &index(3), 1)
    };
    let campaign = too_little("shard:insufficient_support 'no target\\nhas 8 points'");
    let told = campaign.run(&["--shard-id", "1"]).ok().stdout;
    assert_eq!(told, "shard-000001: insufficient support, so nothing is written: no target\\u{a}has 8 points\n");
    assert_eq!(bytes(&campaign.file("c/shards")).len(), 0, "neither store nor marker");
    assert_eq!(campaign.state(1), State::Missing);
    let ran = campaign.run(&["--all"]).ok();
    assert!(ran.stdout.starts_with("2 of 3 shards are there, 1 of insufficient support: "), "{}", ran.stdout);
    assert!(ran.stderr.contains("shard-000001: insufficient support"), "{}", ran.stderr);
    let states: Vec<State> = campaign.status().shards.iter().map(|shard| shard.state).collect();
    assert_eq!(states, [State::Succeeded, State::Missing, State::Succeeded]);
    // What was said is said, caught or not.
    let caught = too_little("pcall(shard.insufficient_support, shard, 'dark')");
    assert!(caught.run(&["--shard-id", "1"]).ok().stdout.ends_with(": dark\n"));
    too_little("shard:insufficient_support()")
        .run(&["--shard-id", "1"])
        .failed(1, &["`why` must be text, got nothing"]);
}
