//! Stores on object storage, against a server of its own that speaks S3 (`serve_objects.py`).
//!
//! Each test has a bucket, or servers that misbehave in one way. What is there is looked at by
//! plain requests, not by the code under test.

mod damage;
mod promotion;
mod reading;
mod refusals;
mod server;

use std::process::{Child, Command, Stdio};

use server::Storage;

use crate::campaign::{data, index};
use crate::command::{Ran, Scratch};

/// A planned campaign whose shards go to a bucket of its own.
struct Remote {
    scratch: Scratch,
    storage: Storage,
}

impl Remote {
    /// A campaign of so many shards, of one row each.
    fn new(shards: usize) -> Self {
        let campaign = Self { scratch: Scratch::in_memory(), storage: Storage::new() };
        campaign.scratch.write("oracle.lua", &data("oracle.lua"));
        campaign.scratch.write("index.jsonl", &index(shards));
        let words =
            ["rollouts", "plan", "index.jsonl", "--script", "oracle.lua", "--rows-per-shard", "1", "--out", "c"];
        campaign.scratch.skyfall(&words).ok();
        campaign
    }

    /// The address of `name` in the bucket.
    fn address(&self, name: &str) -> String {
        format!("s3://{}/{name}", self.storage.bucket)
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_skyfall"));
        command.args(words).current_dir(self.scratch.path()).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        self.storage.settings(&mut command);
        command
    }

    /// Runs `skyfall` with the bucket's settings.
    fn skyfall(&self, words: &[&str]) -> Ran {
        Ran::from(self.command(words).output().unwrap())
    }

    fn run_words<'a>(root: &'a str, words: &[&'a str]) -> Vec<&'a str> {
        let own = ["rollouts", "run", "--shard-manifest", "c/shard-manifest.jsonl", "--script", "oracle.lua"];
        [&own[..], &["--final-root", root], words].concat()
    }

    /// Runs shards to below `c` in the bucket.
    fn run(&self, words: &[&str]) -> Ran {
        self.skyfall(&Self::run_words(&self.address("c"), words))
    }

    fn start(&self, words: &[&str]) -> Child {
        self.command(&Self::run_words(&self.address("c"), words)).spawn().unwrap()
    }

    /// Says how the campaign stands there.
    fn status(&self) -> Ran {
        let root = self.address("c");
        let words = ["rollouts", "status", "c/shard-manifest.jsonl", "--require-complete", "--final-root", &root];
        self.skyfall(&words)
    }

    fn validate(&self, name: &str) -> Ran {
        self.skyfall(&["rollouts", "validate", &self.address(name)])
    }

    /// The attempt that a shard's marker names, as a key.
    fn winner(&self, shard: &str) -> String {
        let marker: serde_json::Value = serde_json::from_slice(&self.storage.get(&marker(shard)).unwrap()).unwrap();
        format!("c/{shard}/{}", marker["attempt"].as_str().unwrap())
    }
}

/// The key of a shard's marker.
fn marker(shard: &str) -> String {
    format!("c/{shard}/_SUCCESS.json")
}
