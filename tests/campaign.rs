//! Campaigns: the bytes of plans, one shard's run from planning to promotion, and what is left of
//! them whatever happens.

pub(crate) mod faults;
mod planning;
mod refusals;
pub(crate) mod rooms;
mod running;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use skyfall::campaign::Site;
use skyfall::campaign::manifest;
use skyfall::campaign::status::{State, Status, status};

use crate::command::{Ran, Scratch};

/// A file of the tests' data.
pub(crate) fn data(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/campaign").join(name)).unwrap()
}

/// An index of `count` rows.
pub(crate) fn index(count: usize) -> String {
    let row = |row| {
        format!(
            "{{\"sample_index\": {row}, \"sample_key\": \"toy:{row}\", \"scene_id\": \"line-{}\", \"snippet_id\": \"r{row}\", \
             \"split\": \"train\", \"source_shard_id\": \"sh-0\", \"source_shard_row\": {row}}}\n",
            row / 2
        )
    };
    (0..count).map(row).collect()
}

/// A planned campaign in a directory of its own.
struct Campaign {
    scratch: Scratch,
}

impl Campaign {
    /// A campaign of `rows` rows, `per_shard` a shard, for the toy oracle.
    fn new(rows: usize, per_shard: usize) -> Self {
        Self::of(Scratch::in_memory(), &data("oracle.lua"), &index(rows), per_shard)
    }

    fn of(scratch: Scratch, oracle: &str, index: &str, per_shard: usize) -> Self {
        scratch.write("oracle.lua", oracle);
        scratch.write("index.jsonl", index);
        let campaign = Self { scratch };
        campaign.plan("c", per_shard).ok();
        campaign
    }

    fn plan(&self, out: &str, per_shard: usize) -> Ran {
        let per_shard = per_shard.to_string();
        let words = ["rollouts", "plan", "index.jsonl", "--script", "oracle.lua", "--rows-per-shard", &per_shard];
        self.scratch.skyfall(&[&words[..], &["--out", out]].concat())
    }

    /// Runs `rollouts run` with more words.
    fn run(&self, words: &[&str]) -> Ran {
        let own = ["rollouts", "run", "--shard-manifest", "c/shard-manifest.jsonl", "--script", "oracle.lua"];
        self.scratch.skyfall(&[&own[..], words].concat())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.scratch.file(name)
    }

    /// How it stands.
    fn status(&self) -> Status {
        let path = self.file("c/shard-manifest.jsonl");
        status(&path, &manifest::read(&path).unwrap(), &Site::new(self.file("c/shards"))).unwrap()
    }

    /// How the shard with this number stands.
    fn state(&self, shard: usize) -> State {
        self.status().shards[shard].state
    }
}

/// The bytes of every file below `path`, by name.
pub(crate) fn bytes(path: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(root: &Path, at: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
        for entry in std::fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(root, &path, found);
            } else {
                let name = path.strip_prefix(root).unwrap().display().to_string();
                found.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(path, path, &mut found);
    found
}
