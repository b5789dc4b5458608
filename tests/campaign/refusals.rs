//! What a run refuses, and what it writes down of a failure.

use skyfall::campaign::status::State;

use super::{Campaign, bytes, data, index};
use crate::command::Scratch;

fn oracle_with(from: &str, to: &str) -> Campaign {
    let oracle = data("oracle.lua");
    assert!(oracle.contains(from), "{from}");
    Campaign::of(Scratch::new(), &oracle.replacen(from, to, 1), &index(2), 2)
}

#[test]
fn an_edited_oracle_module_or_option_is_not_what_was_planned() {
    let (scratch, oracle) = (Scratch::new(), data("oracle.lua"));
    scratch.write("mine.lua", "return 1");
    let campaign = Campaign::of(scratch, &format!("require 'mine'\n{oracle}"), &index(2), 2);
    let refused = |words: &[&str]| {
        let ran = campaign.run(&[&["--shard-id", "0"], words].concat());
        ran.failed(65, &["was planned with the writer's hash", "plan again"]);
        assert!(!campaign.file("c/shards").exists());
    };
    campaign.scratch.write("mine.lua", "return 2");
    refused(&[]);
    campaign.scratch.write("mine.lua", "return 1");
    refused(&["--set", "discount_gamma=0.5"]);
    refused(&["--set", "created_at_utc=2027-01-01T00:00:00Z"]);
    let script = campaign.scratch.read("oracle.lua");
    campaign.scratch.write("oracle.lua", &format!("{script}-- edited\n"));
    refused(&[]);
    campaign.scratch.write("oracle.lua", &script);
    // How much memory there is decides nothing.
    campaign.run(&["--shard-id", "0", "--set", "memory_bytes=67108864"]).ok();
    // What is there was made by the old plan, and stays.
    campaign.scratch.write("mine.lua", "return 2");
    campaign.plan("c", 2).failed(2, &["is another plan"]);
    std::fs::remove_file(campaign.file("c/shard-manifest.jsonl")).unwrap();
    campaign.plan("c", 2).ok();
    let before = bytes(&campaign.file("c/shards"));
    campaign
        .run(&["--shard-id", "0"])
        .failed(1, &["it was made for another plan: writer_config_hash is", "--final-root"]);
    assert_eq!(bytes(&campaign.file("c/shards")), before);
    assert_eq!(campaign.state(0), State::Incomplete);
}

#[test]
fn options_that_the_shard_decides_are_not_for_the_oracle() {
    let campaign = Campaign::new(1, 1);
    for (option, word) in
        [("split_manifest_hash=x", "split_manifest_hash"), ("store_dir=x", "store_dir"), ("depth=1", "depth")]
    {
        campaign.run(&["--shard-id", "0", "--set", option]).failed(2, &[word]);
    }
    campaign.scratch.write("none.lua", "return 7");
    let words = ["rollouts", "plan", "index.jsonl", "--rows-per-shard", "1", "--out", "x", "--script"];
    campaign.scratch.skyfall(&[&words[..], &["none.lua"]].concat()).failed(65, &["no oracle", "rollouts.oracle"]);
    campaign.scratch.write("odd.lua", "return require'skyfall'.rollouts.oracle { record = print }");
    campaign.scratch.skyfall(&[&words[..], &["odd.lua"]].concat()).failed(1, &["`record`", "odd.lua:1"]);
}

#[test]
fn rows_get_their_records_in_order_and_no_other_row_does() {
    for (from, to, words) in [
        (
            "for _, row in ipairs(rows) do",
            "for _, row in ipairs { rows[2], rows[1] } do",
            "it is of row toy:1, but toy:0 comes first",
        ),
        (
            "for _, row in ipairs(rows) do",
            "for _, row in ipairs { rows[1] } do",
            "no record came of 1 of its 2 rows, the first of them toy:1",
        ),
        ("for _, row in ipairs(rows) do", "for _, row in ipairs {} do", "no record came of 2 of its 2 rows"),
        ("source = row.source", "source = { source_sample_key = 'toy:5' }", "`toy:5` is of no row of the shard"),
        ("source = row.source", "source = { scene_id = 'line-0' }", "source.source_sample_key is missing"),
        (
            "source = row.source",
            "source = { source_sample_key = row.sample_key, scene_id = 'x' }",
            "source.scene_id is x, but its row has line-0",
        ),
        (
            "source = row.source",
            "source = { source_sample_key = row.sample_key, campaign_split = 'x' }",
            "campaign_split is given, but row toy:0 has none",
        ),
    ] {
        let campaign = oracle_with(from, to);
        campaign.run(&["--shard-id", "0"]).failed(1, &[words]);
        let status = campaign.status();
        assert_eq!(status.shards[0].state, State::Failed);
        assert!(status.shards[0].errors[0].contains(words), "{status:?}");
        assert!(!campaign.file("c/shards/shard-000000").exists());
    }
    // A row may have many, and what a record leaves out is its row's.
    let campaign = oracle_with("source = row.source", "source = { source_sample_key = row.sample_key }");
    campaign.run(&["--shard-id", "0"]).ok();
}

#[test]
fn a_failure_is_written_down_with_its_line_and_forgotten_once_the_shard_is_there() {
    let campaign = oracle_with(
        "for _, row in ipairs(rows) do",
        "if skyfall.fs.exists 'broken' then error 'the renderer died' end\n    for _, row in ipairs(rows) do",
    );
    campaign.scratch.write("broken", "");
    campaign.run(&["--shard-id", "0"]).failed(1, &["the renderer died", "oracle.lua:"]);
    let status = campaign.status();
    assert_eq!((status.shards[0].state, status.shards[0].failed_markers.len()), (State::Failed, 1));
    let told = &status.shards[0].errors[0];
    assert!(told.starts_with("OracleError: the renderer died (oracle.lua:"), "{told}");
    let marker: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&status.shards[0].failed_markers[0]).unwrap()).unwrap();
    assert_eq!(marker["sidecar_kind"], "rollout_shard_failure");
    assert_eq!((&marker["output_tmp"], &marker["output_final"]), (&"tmp/shard-000000".into(), &"shard-000000".into()));
    // A marker of another plan, or that was changed, is not this shard's.
    let path = &status.shards[0].failed_markers[0];
    let text = std::fs::read_to_string(path).unwrap();
    std::fs::write(path, text.replace("rollout_shard_failure", "other")).unwrap();
    assert_eq!(campaign.state(0), State::Missing);
    std::fs::write(path, text).unwrap();
    // In a run of everything, too; and there is nothing yet to be merged.
    let ran = campaign.run(&["--all"]).failed(1, &["shard-000000 failed: ", "the renderer died (oracle.lua:"]);
    assert_eq!(ran.stderr.matches("oracle.lua:").count(), 1, "{}", ran.stderr);
    let merge = ["rollouts", "merge", "--shard-manifest", "c/shard-manifest.jsonl", "-o", "merged.zarr"];
    campaign
        .scratch
        .skyfall(&merge)
        .failed(3, &["1 of 1 shards are not there yet", "rollouts status c/shard-manifest.jsonl"]);
    let directory = ["rollouts", "status", "c"];
    campaign.scratch.skyfall(&directory).failed(3, &["is a directory", "its manifest is c/shard-manifest.jsonl"]);
    std::fs::remove_file(campaign.file("broken")).unwrap();
    campaign.run(&["--shard-id", "0"]).ok();
    assert_eq!(campaign.state(0), State::Succeeded);
}

#[test]
fn what_takes_too_long_is_set_aside_and_can_be_run_again() {
    let campaign = oracle_with(
        "for _, row in ipairs(rows) do",
        "while skyfall.fs.exists 'slow' do end\n    for _, row in ipairs(rows) do",
    );
    campaign.scratch.write("slow", "");
    campaign.run(&["--shard-id", "0", "--time-limit", "200ms"]).failed(3, &["longer than 0.2 s"]);
    let quarantine = campaign.file("c/shards/tmp/quarantine");
    let name = std::fs::read_dir(&quarantine).unwrap().next().unwrap().unwrap().file_name();
    assert!(name.to_string_lossy().contains(".timed_out-"), "{name:?}");
    assert!(campaign.status().shards[0].errors[0].starts_with("TimeoutError: "));
    assert_eq!(std::fs::read_dir(campaign.file("c/shards/tmp")).unwrap().count(), 1);
    let told = campaign.run(&["--all", "--time-limit", "200ms"]);
    assert_eq!(told.code, 1, "{}", told.stderr);
    std::fs::remove_file(campaign.file("slow")).unwrap();
    // Also where the time is over while a record is taken in.
    campaign.run(&["--shard-id", "0", "--time-limit", "0.000001"]).failed(3, &["longer than 0.000001 s"]);
    campaign.run(&["--shard-id", "0"]).ok();
    assert_eq!(campaign.state(0), State::Succeeded);
}

#[test]
fn a_module_that_comes_late_is_refused() {
    let campaign = oracle_with("for _, row in ipairs(rows) do", "require 'late'\n    for _, row in ipairs(rows) do");
    campaign.scratch.write("late.lua", "return 1");
    campaign.run(&["--shard-id", "0"]).failed(65, &["late.lua", "at the top of the script"]);
}
