//! A campaign's files: whatever stands in the place of its manifests, its index, and a shard's
//! owner, success and failure markers is read without a panic, and what was read reads back the same.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use skyfall::campaign::manifest::{self, SourceManifest};
use skyfall::campaign::status::{State, status};
use skyfall::campaign::{Site, index};
use skyfall::rollouts::ShardEntry;
use skyfall::text::json;
use skyfall_fuzz::{campaign, place};

fn entries() -> &'static [ShardEntry] {
    static ENTRIES: OnceLock<Vec<ShardEntry>> = OnceLock::new();
    ENTRIES.get_or_init(|| manifest::read(&campaign().join("shard-manifest.jsonl")).expect("a manifest"))
}

fn manifests(bytes: &[u8]) {
    if let Ok(read) = manifest::read(&place("a.jsonl", bytes)) {
        let written = manifest::to_text(&read);
        assert_eq!(manifest::read(&place("b.jsonl", written.as_bytes())).expect("what was written"), read);
        let _ = status("a.jsonl".as_ref(), &read, &Site::new(campaign().join("nowhere")));
    }
    for name in ["index.jsonl", "index.csv"] {
        let _ = index::read(&place(name, bytes));
    }
    if let Some(read) = std::str::from_utf8(bytes).ok().and_then(|text| SourceManifest::from_text(text).ok()) {
        assert_eq!(SourceManifest::from_text(&read.to_text()).as_ref(), Ok(&read));
    }
}

fn markers(bytes: &[u8]) {
    let (site, shards) = (Site::new(campaign().join("shards")), campaign().join("shards"));
    let state = || status("m".as_ref(), entries(), &site).expect("a directory").shards[0].state;
    for name in ["_owner.json", "_SUCCESS.json"] {
        let path = shards.join("shard-000000").join(name);
        let sound = std::fs::read(&path).expect("a marker");
        std::fs::write(&path, bytes).expect("a marker");
        let is_same = json::parse(&String::from_utf8_lossy(bytes)) == json::parse(&String::from_utf8_lossy(&sound));
        assert!(is_same || state() != State::Succeeded, "another {name} passes for the shard's own");
        std::fs::write(&path, sound).expect("a marker");
    }
    let failure = shards.join("_FAILED.shard-000000.now.json");
    std::fs::write(&failure, bytes).expect("a marker");
    let store = shards.join("shard-000000");
    let aside = shards.join("aside");
    std::fs::rename(&store, &aside).expect("a store");
    assert!([State::Failed, State::Missing].contains(&state()));
    std::fs::rename(&aside, &store).expect("a store");
    std::fs::remove_file(&failure).expect("a marker");
}

fuzz_target!(|bytes: &[u8]| {
    campaign();
    manifests(bytes);
    if std::str::from_utf8(bytes).is_ok_and(|text| json::parse(text).is_ok_and(|value| value.as_map().is_some())) {
        markers(bytes);
    }
});
