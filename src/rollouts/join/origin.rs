//! What a store tells of the stores it was made from.

use super::part::Part;
use crate::rollouts::OWNER;
use crate::value::{Map, Value};

/// The writers' configuration, if the parts share it.
pub(super) fn writer_config(parts: &[Part]) -> Value {
    let mut configs = parts.iter().map(|part| part.generation("writer_config"));
    match configs.next().flatten() {
        Some(first) if configs.all(|config| config == Some(first)) => first.clone(),
        _ => Value::Null,
    }
}

/// The sidecar's `origin`: what was done, and every part with what it was.
pub(super) fn origin(operation: &str, parts: &[Part], selection: Value, renumbered: bool) -> Value {
    let mut first = [0_i64; 3];
    let listed = parts.iter().map(|part| {
        let own = ["num_rollouts", "num_steps", "num_candidates"].map(|key| part.count(key));
        let begins = first;
        for (first, own) in first.iter_mut().zip(own) {
            *first += own;
        }
        described(part, (operation == "merge").then_some(begins))
    });
    let parts = Value::List(listed.collect());
    let rows = if renumbered { "renumbered" } else { "kept" };
    let mut origin = Map::from([
        ("operation".to_owned(), operation.into()),
        ("parts".to_owned(), parts),
        ("source_rows".to_owned(), rows.into()),
    ]);
    if !selection.is_null() {
        origin.insert("selection".to_owned(), selection);
    }
    Value::Map(origin)
}

/// One part, and the rows its own begin at in the new store.
fn described(part: &Part, begins: Option<[i64; 3]>) -> Value {
    let attribute = |key: &str| part.store.attribute(key).cloned().unwrap_or_default();
    let owner = part.store.marker(OWNER).unwrap_or_default();
    let counts = ["sources", "targets", "rollouts", "steps", "candidates"]
        .map(|name| (name.to_owned(), attribute(&format!("num_{name}"))));
    let mut generation = part.manifest.get("generation").and_then(Value::as_map).cloned().unwrap_or_default();
    // Its rows are those of the sources.
    if let Some(Value::Map(shard)) = generation.get_mut("shard") {
        shard.shift_remove("rows");
    }
    let mut entry = Map::from([
        ("name".to_owned(), part.name().into()),
        ("manifest_sha256".to_owned(), attribute("manifest_sha256")),
        ("content_sha256".to_owned(), owner.get("rollout_store_content_sha256").cloned().unwrap_or_default()),
        ("created_at_utc".to_owned(), attribute("created_at_utc")),
        ("split_manifest_hash".to_owned(), attribute("split_manifest_hash")),
        ("counts".to_owned(), Value::Map(counts.into())),
        ("config_hashes".to_owned(), part.manifest.get("config_hashes").cloned().unwrap_or_default()),
        ("generation".to_owned(), Value::Map(generation)),
    ]);
    if let Some([rollouts, steps, candidates]) = begins {
        let begins = [("rollouts", rollouts), ("steps", steps), ("candidates", candidates)];
        entry.insert("first_rows".to_owned(), Value::map(begins.map(|(name, row)| (name, Value::Int(row)))));
    }
    Value::Map(entry)
}
