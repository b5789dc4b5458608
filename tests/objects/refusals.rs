//! Storage that is not there, does not let us, or cannot be relied on: one line, and no waiting
//! without end.

use super::{Remote, server};
use crate::command::Ran;

/// Runs a command with one of the settings changed, or without it.
fn with(campaign: &Remote, words: &[&str], name: &str, value: Option<&str>) -> Ran {
    let mut command = campaign.command(words);
    match value {
        Some(value) => command.env(name, value),
        None => command.env_remove(name),
    };
    Ran::from(command.output().unwrap())
}

#[test]
fn what_cannot_be_reached_is_told_in_a_line() {
    let campaign = Remote::new(1);
    let store = campaign.address("store.zarr");
    let validate = ["rollouts", "validate", store.as_str()];
    let one = |ran: Ran, code: i32, words: &[&str]| {
        let ran = ran.failed(code, words);
        let errors = ran.stderr.lines().filter(|line| line.starts_with("error")).count();
        assert_eq!((errors, ran.stdout.as_str()), (1, ""), "{}", ran.stderr);
    };
    one(campaign.skyfall(&validate), 3, &["rollouts/missing", &store]);
    one(campaign.skyfall(&["rollouts", "validate", "s3://nowhere/x"]), 3, &["there is no bucket `nowhere` at http://"]);
    one(campaign.skyfall(&["rollouts", "info", "s3://nowhere/x"]), 3, &["there is no bucket `nowhere`"]);
    one(campaign.skyfall(&["rollouts", "validate", "s3://"]), 3, &["object/address", "names no bucket"]);
    one(campaign.skyfall(&["rollouts", "validate", "s3://b/../c"]), 3, &["object/address", "`..`"]);
    for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] {
        one(with(&campaign, &validate, name, None), 3, &["object/setting", name, "is not set"]);
    }
    one(with(&campaign, &validate, "AWS_ALLOW_HTTP", None), 3, &["AWS_ENDPOINT_URL", "AWS_ALLOW_HTTP=true allows it"]);
    let closed = Some("http://127.0.0.1:1");
    let unreachable = ["object/unreachable", "http://127.0.0.1:1 cannot be reached, tried 4 times", "refused"];
    one(with(&campaign, &validate, "AWS_ENDPOINT_URL", closed), 3, &unreachable);
    let root = campaign.address("c");
    let status = ["rollouts", "status", "c/shard-manifest.jsonl", "--final-root", &root];
    one(with(&campaign, &status, "AWS_ENDPOINT_URL", closed), 3, &unreachable);
    // Another time it may be there.
    let run = Remote::run_words(&root, &["--shard-id", "0"]);
    one(with(&campaign, &run, "AWS_ENDPOINT_URL", closed), 75, &unreachable);
    one(campaign.skyfall(&Remote::run_words("s3://nowhere/c", &["--shard-id", "0"])), 3, &["no bucket `nowhere`"]);
    one(campaign.skyfall(&["rollouts", "gc", "s3://nowhere/c"]), 3, &["no bucket `nowhere`"]);
    assert_eq!(campaign.storage.keys(""), [""; 0]);
}

#[test]
fn storage_that_replaces_what_it_should_not_is_refused() {
    let campaign = Remote::new(1);
    let mut command = campaign.command(&Remote::run_words(&campaign.address("c"), &["--shard-id", "0"]));
    server::settings(&mut command, server::careless());
    let ran = Ran::from(command.output().unwrap());
    ran.failed(3, &["object/unconditional", "ignores `If-None-Match: *`"]);
}

/// What stands on the pages that never come would be taken for missing.
#[test]
fn a_listing_that_does_not_end_is_refused() {
    let campaign = Remote::new(1);
    let mut command = campaign.command(&["rollouts", "validate", &campaign.address("store.zarr")]);
    server::settings(&mut command, server::endless());
    let ran = Ran::from(command.output().unwrap());
    ran.failed(3, &["object/refused", "the same page of a listing again"]);
}

#[test]
fn nothing_but_shards_is_written_there() {
    let campaign = Remote::new(1);
    campaign.scratch.write("records.jsonl", "");
    let store = campaign.address("store.zarr");
    campaign.skyfall(&["rollouts", "write", "records.jsonl", "--store", &store]).failed(1, &["is on object storage"]);
    campaign.scratch.write("write.lua", "require 'skyfall'.fs.write(arg[1], 'x')");
    let words = ["script", "--allow-path", store.as_str(), "write.lua", "--", store.as_str()];
    campaign.skyfall(&words).failed(1, &["scripts write nothing"]);
    assert!(!campaign.scratch.file("s3:").exists());
    assert_eq!(campaign.storage.keys(""), [""; 0]);
}
