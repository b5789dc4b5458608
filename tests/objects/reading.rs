//! Stores on object storage read as those in directories do.

use std::path::Path;

use super::{Remote, marker, server};
use crate::campaign::bytes;
use crate::command::Ran;

/// Prints what can be read of the two shards below each of `arg`.
const READ: &str = r#"
local rollouts = require "skyfall".rollouts
local function show(arrays)
  local names = {}
  for name in pairs(arrays) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do print(name, arrays[name]) end
end
for _, root in ipairs(arg) do
  local stores = { root .. "/shard-000000", root .. "/shard-000001" }
  local store = rollouts.open(stores[1])
  print(store:array("candidates/pose_world_cam"), store:dictionary("target")[1], store.manifest.schema_version)
  show(store:q_h_view())
  local chains = rollouts.chains { stores = stores }
  print(#chains, #chains:chain(2).states, chains.provenance[2].manifest_sha256)
  for batch in chains:state_batches { size = 3, seed = 1 } do show(batch) end
  print(rollouts.validate(stores[2]).num_candidates)
end
"#;

#[test]
fn what_is_promoted_reads_as_from_a_directory() {
    let campaign = Remote::new(2);
    let words = ["rollouts", "run", "--shard-manifest", "c/shard-manifest.jsonl", "--script", "oracle.lua", "--all"];
    campaign.skyfall(&words).ok();
    let root = campaign.address("c");
    let ran = campaign.run(&["--all", "--jobs", "2"]).ok();
    assert!(ran.stdout.starts_with("2 of 2 shards are there"), "{}", ran.stdout);

    // Byte for byte what a directory has; the marker alone says more: which attempt it stands for.
    let shard = "shard-000001";
    let local = bytes(&campaign.scratch.file("c/shards").join(shard));
    let winner = format!("{}/", campaign.winner(shard));
    let keys = campaign.storage.keys(&winner);
    assert_eq!(keys.len(), local.len() - 1);
    for key in keys.iter().step_by(7) {
        assert_eq!(campaign.storage.get(key).unwrap(), local[key.strip_prefix(&winner).unwrap()], "{key}");
    }
    let json = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).unwrap();
    let mut there = json(&campaign.storage.get(&marker(shard)).unwrap());
    assert!(there.as_object_mut().unwrap().remove("attempt").is_some());
    assert_eq!(there, json(&local["_SUCCESS.json"]));

    let info = |root: &str| campaign.skyfall(&["rollouts", "info", &format!("{root}/{shard}"), "--json"]).ok();
    assert_eq!(info("c/shards").stdout, info(&root).stdout);
    campaign.scratch.write("read.lua", READ);
    let read = |root: &str, more: &[&str]| -> Ran {
        campaign.skyfall(&[&["script"], more, &["read.lua", "--", root]].concat())
    };
    let local = read("c/shards", &[]).ok().stdout;
    assert!(local.lines().count() > 4, "{local}");
    assert_eq!(read(&root, &["--allow-path", &root]).ok().stdout, local);
    read(&root, &[]).failed(1, &["s3://", "allow it with --allow-path"]);
    read(&root, &["--allow-path", &campaign.address("other")]).failed(1, &["allow it with --allow-path"]);

    let merge = |root: &str, to: &str| {
        let own = ["rollouts", "merge", "--shard-manifest", "c/shard-manifest.jsonl", "--final-root", root, "-o", to];
        campaign.command(&own).env("SOURCE_DATE_EPOCH", "0").output().map(Ran::from).unwrap().ok();
        bytes(&campaign.scratch.file(to))
    };
    let (here, there) = (merge("c/shards", "merged/here"), merge(&root, "merged/there"));
    let names: Vec<_> = here.keys().collect();
    assert_eq!(names, there.keys().collect::<Vec<_>>());
    for name in names {
        assert_eq!(String::from_utf8_lossy(&here[name]), String::from_utf8_lossy(&there[name]), "{name}");
    }

    // What does not come is not held against the store.
    let port = server::for_a_while(100, campaign.storage.port);
    let mut command = campaign.command(&["rollouts", "validate", &format!("{root}/{shard}")]);
    server::settings(&mut command, port);
    let ran =
        Ran::from(command.output().unwrap()).failed(3, &["object/unreachable", "cannot be reached, tried 4 times"]);
    assert_eq!(ran.stdout, "");
}

#[test]
fn a_store_that_was_copied_there_is_one() {
    let campaign = Remote::new(1);
    campaign.scratch.skyfall(&Remote::run_words("shards", &["--shard-id", "0"])).ok();
    let store = campaign.scratch.file("shards/shard-000000");
    assert!(Path::is_dir(&store));
    for (name, content) in bytes(&store) {
        campaign.storage.put(&format!("copy.zarr/{name}"), &content);
    }
    campaign.validate("copy.zarr/").ok();
}
