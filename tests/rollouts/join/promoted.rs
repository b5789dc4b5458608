//! Promoted shards: joined with their markers checked, and bound to the split of all their rows.

use std::path::{Path, PathBuf};

use skyfall::rollouts::{RolloutRecord, Store, validate, write_rollout_zarr_store};
use skyfall::text::json;
use skyfall::value::{Map, Value};

use super::{join, same, typed, write};
use crate::command::Scratch;
use crate::digest::sha256_hex;
use crate::peers::python;
use crate::rollouts::records::{config, record};

fn map<const N: usize>(entries: [(&str, Value); N]) -> Map {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// The entry of a shard of these records, whose rows' hash binds them.
fn entry(id: &str, records: &[RolloutRecord]) -> Map {
    let row = |(order, record): (usize, &RolloutRecord)| {
        let text = |text: &Option<String>| Value::from(text.clone().unwrap());
        let source = &record.source;
        Value::Map(map([
            ("order", Value::Int(order as i64)),
            ("sample_index", source.source_sample_index.unwrap().into()),
            ("sample_key", text(&source.source_sample_key)),
            ("scene_id", text(&source.scene_id)),
            ("snippet_id", text(&source.snippet_id)),
            ("split", text(&source.split)),
            ("source_shard_id", text(&source.source_shard_id)),
            ("source_shard_row", source.source_shard_row.unwrap().into()),
        ]))
    };
    let rows = Value::List(records.iter().enumerate().map(row).collect());
    let manifest: Value = "fixture-source-manifest".into();
    let hashed =
        map([("source_manifest_hash", manifest.clone()), ("split", "train".into()), ("records", rows.clone())]);
    let hash = sha256_hex(json::to_msgspec(&Value::Map(hashed)).as_bytes());
    map([
        ("manifest_version", "rollout-shard-manifest-v2".into()),
        ("shard_id", id.into()),
        ("split", "train".into()),
        ("num_rows", Value::Int(records.len() as i64)),
        ("writer_config_hash", "w1".into()),
        ("source_manifest_hash", manifest),
        ("source_cache_version", "1".into()),
        ("split_manifest_hash", hash[..16].into()),
        ("source_store_dir", "vin".into()),
        ("rows", rows),
        ("campaign_binding", Value::Null),
        ("campaign_split", Value::Null),
        ("generation_revision_hash", "".into()),
    ])
}

/// Writes a shard of these records and puts its markers beside it.
fn promote(scratch: &Scratch, id: &str, records: &[RolloutRecord], change: impl FnOnce(&mut Map)) -> PathBuf {
    let store = scratch.file(id);
    let mut shard = entry(id, records);
    change(&mut shard);
    let mut config = config(&store);
    config.split_manifest_hash = shard["split_manifest_hash"].as_text().unwrap().to_owned();
    config.manifest_context.shard = Value::Map(shard.clone());
    write_rollout_zarr_store(records, config).unwrap();
    mark(&store, &shard, &"0".repeat(64));
    // The digest of the content, which the check tells.
    let errors = validate(&store).unwrap().errors;
    let [error] = &errors[..] else { panic!("{errors:?}") };
    let (_, digest) = error.rsplit_once("content gives ").unwrap();
    mark(&store, &shard, digest);
    assert_eq!(validate(&store).unwrap().errors, Vec::<String>::new());
    store
}

fn mark(store: &Path, shard: &Map, digest: &str) {
    let attributes = Store::open(store).unwrap().attributes();
    let mut success = map([
        ("sidecar_kind", "rollout_shard_success".into()),
        ("num_source_rows", shard["num_rows"].clone()),
        ("rollout_manifest_sha256", attributes["manifest_sha256"].clone()),
        ("rollout_store_content_sha256", digest.into()),
    ]);
    for key in [
        "shard_id",
        "writer_config_hash",
        "source_manifest_hash",
        "split_manifest_hash",
        "generation_revision_hash",
        "source_cache_version",
        "split",
        "campaign_binding",
    ] {
        success.insert(key.to_owned(), shard[key].clone());
    }
    let mut owner = success.clone();
    let counts = ["rollouts", "steps", "candidates"];
    let counts = counts.map(|name| (name.to_owned(), attributes[&format!("num_{name}")].clone()));
    owner.insert("sidecar_kind".to_owned(), "rollout_shard_owner".into());
    owner.insert("counts".to_owned(), Value::Map(counts.into()));
    owner.insert("shard_entry".to_owned(), Value::Map(shard.clone()));
    let bytes = json::to_canonical(&Value::Map(owner));
    success.insert("owner_sha256".to_owned(), sha256_hex(bytes.as_bytes()).into());
    std::fs::write(store.join("_owner.json"), bytes).unwrap();
    std::fs::write(store.join("_SUCCESS.json"), json::to_canonical(&Value::Map(success))).unwrap();
}

#[test]
fn shards_make_a_plain_store_bound_to_all_their_rows() {
    let scratch = Scratch::new();
    let records = typed((0..5).map(|root| record(root, 2, 3)));
    let first = promote(&scratch, "shard-000000", &records[..2], |_| ());
    let second = promote(&scratch, "shard-000001", &records[2..], |_| ());
    join(&[first, second], &scratch.file("joined.zarr")).unwrap();
    let joined = Store::open(&scratch.file("joined.zarr")).unwrap();
    assert!(!scratch.file("joined.zarr/_SUCCESS.json").exists());
    let whole = entry("all", &records)["split_manifest_hash"].clone();
    assert_eq!(joined.attributes()["split_manifest_hash"], whole, "bound to all rows in their order");
    let origin = joined.manifest().unwrap().as_map().unwrap()["generation"].as_map().unwrap()["origin"].clone();
    let parts = origin.as_map().unwrap()["parts"].as_list().unwrap().to_vec();
    let part = parts[1].as_map().unwrap();
    assert_eq!(part["name"].as_text(), Some("shard-000001"));
    assert_eq!(part["content_sha256"].as_text().unwrap().len(), 64);
    let shard = part["generation"].as_map().unwrap()["shard"].as_map().unwrap();
    assert!(shard["writer_config_hash"].as_text() == Some("w1") && !shard.contains_key("rows"));
    let hash = whole.as_text().unwrap().to_owned();
    let expected = scratch.file("whole.zarr");
    let mut config = config(&expected);
    config.split_manifest_hash = hash;
    write_rollout_zarr_store(&records, config).unwrap();
    same(&expected, &scratch.file("joined.zarr"));
    assert!(python(&scratch, "check_store.py", &["joined.zarr"]).starts_with("ok"));
}

#[test]
fn shards_of_two_campaigns_do_not_mix() {
    let scratch = Scratch::new();
    let records = typed((0..2).map(|root| record(root, 1, 2)));
    let first = promote(&scratch, "shard-000000", &records[..1], |_| ());
    let second = promote(&scratch, "shard-000001", &records[1..], |shard| {
        shard.insert("writer_config_hash".to_owned(), "w2".into());
        shard.insert("generation_revision_hash".to_owned(), "r2".into());
    });
    let line = join(&[first.clone(), second], &scratch.file("joined.zarr")).unwrap_err().to_string();
    for word in
        ["shard-000001", "writer_config_hash is \"w2\", not \"w1\"", "generation_revision_hash is \"r2\", not none"]
    {
        assert!(line.contains(word), "{word}: {line}");
    }
    // A plain store says nothing of a campaign.
    let plain = write(&scratch, "plain.zarr", &records[1..], |_| ());
    join(&[first.clone(), plain], &scratch.file("joined.zarr")).unwrap();
    // A promoted shard is never written over.
    let line = join(&[scratch.file("plain.zarr")], &first).unwrap_err().to_string();
    assert!(line.contains("is a promoted shard"), "{line}");
}

#[test]
fn a_marker_that_does_not_fit_keeps_its_shard_out() {
    let scratch = Scratch::new();
    let records = typed((0..2).map(|root| record(root, 1, 2)));
    let first = promote(&scratch, "shard-000000", &records[..1], |_| ());
    let second = promote(&scratch, "shard-000001", &records[1..], |_| ());
    let refusal = || join(&[first.clone(), second.clone()], &scratch.file("joined.zarr")).unwrap_err().to_string();
    mark(&second, &entry("shard-000001", &records[1..]), &"a".repeat(64));
    let line = refusal();
    assert!(line.contains("shard-000001") && line.contains("content gives"), "{line}");
    std::fs::remove_file(second.join("_SUCCESS.json")).unwrap();
    let line = refusal();
    assert!(line.contains("_SUCCESS.json: is missing"), "{line}");
    std::fs::write(second.join("_owner.json"), "{\"cut").unwrap();
    let line = refusal();
    assert!(line.contains("_SUCCESS.json") || line.contains("_owner.json"), "{line}");
    assert!(!scratch.file("joined.zarr").exists());
}

/// The digest is of groups, arrays and their chunks: nothing else may stand among them.
#[test]
fn a_file_that_is_no_part_of_a_promoted_shard_is_told() {
    let scratch = Scratch::new();
    let records = typed((0..2).map(|root| record(root, 1, 2)));
    let store = promote(&scratch, "shard-000000", &records, |_| ());
    for name in ["notes.txt", "steps/notes.txt", "steps/step_row_id/c/0.bak", "steps/step_row_id/c/7", "a/b/zarr.txt"] {
        let (file, top) = (store.join(name), store.join("a"));
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "mine").unwrap();
        assert_eq!(validate(&store).unwrap().errors, [format!("{name}: is no part of a store")]);
        std::fs::remove_file(&file).unwrap();
        let _ = std::fs::remove_dir_all(top);
    }
    assert_eq!(validate(&store).unwrap().errors, Vec::<String>::new());
    // A store that no one promoted may have its owner's notes.
    let plain = write(&scratch, "plain.zarr", &records, |_| ());
    std::fs::write(plain.join("notes.txt"), "mine").unwrap();
    assert!(validate(&plain).unwrap().ok());
}
