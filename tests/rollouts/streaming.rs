//! Stores larger than what is in memory at a time.

use skyfall::rollouts::{Store, Writer, validate};

use super::records::{config, records};
use super::writing::files;
use crate::command::Scratch;
use crate::peers::python;

#[test]
fn how_much_memory_there_was_does_not_show() {
    let scratch = Scratch::new();
    let some = records(1_500);
    let write = |name: &str, memory: u64| {
        let mut config = config(scratch.file(name));
        config.memory_bytes = memory;
        let mut writer = Writer::new(config).unwrap();
        for record in &some {
            writer.add(record).unwrap();
        }
        writer.finish().unwrap()
    };
    let result = write("small.zarr", 64 << 20);
    // More than two batches of 8 MiB, and more than an inner chunk of 16384 rows and of 64 states.
    assert!(result.num_candidates > 60_000, "{}", result.num_candidates);
    write("large.zarr", 4 << 30);
    let (small, large) = (files(&scratch.file("small.zarr")), files(&scratch.file("large.zarr")));
    assert_eq!(small.keys().collect::<Vec<_>>(), large.keys().collect::<Vec<_>>());
    for (name, bytes) in &small {
        assert!(large[name] == *bytes, "{name} differs");
    }
    // One file an array, one a document, the sidecar.
    let documents = small.keys().filter(|name| name.ends_with("zarr.json")).count();
    assert!(small.len() < 2 * documents, "{} files, {documents} documents", small.len());
    assert_eq!(validate(&scratch.file("small.zarr")).unwrap().errors, Vec::<String>::new());
    assert!(python(&scratch, "check_store.py", &["small.zarr"]).starts_with("ok"));
    let store = Store::open(&scratch.file("small.zarr")).unwrap();
    let ids = store.array("q_h/state_step_row_id").unwrap();
    assert!(ids.as_i64().unwrap().iter().copied().eq(0..12_000));
}

#[test]
fn a_writer_that_is_dropped_leaves_nothing() {
    let scratch = Scratch::new();
    let mut writer = Writer::new(config(scratch.file("rollouts.zarr"))).unwrap();
    for record in records(3) {
        writer.add(&record).unwrap();
    }
    drop(writer);
    assert!(scratch.tree().is_empty(), "{:?}", scratch.tree());
}

#[test]
fn the_source_store_is_never_in_reach() {
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.file("vin/shards")).unwrap();
    let refusal = |store: &str, source: &str| {
        let mut config = config(store);
        config.paths = Some(scratch.file("."));
        config.source_offline_store_dir = Some(source.into());
        Writer::new(config).map(drop).unwrap_err().to_string()
    };
    assert!(refusal("vin", "vin").contains("is the source store"));
    assert!(refusal("vin/../vin/rollouts", "vin").contains("lies inside it"));
    assert!(refusal("./", "vin/shards").contains("holds the source store"));
    std::os::unix::fs::symlink(scratch.file("vin"), scratch.file("link")).unwrap();
    assert!(refusal("link/new", "vin").contains("lies inside it"));
    assert_eq!(std::fs::read_dir(scratch.file("vin")).unwrap().count(), 1);
}
