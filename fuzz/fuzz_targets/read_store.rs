//! Any change of a store's files is read and checked without a panic.
#![no_main]

use std::path::Path;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use skyfall::rollouts::{InfoSections, RecordsFile, RolloutZarrStoreConfig, Store, info, validate, write_rollout_zarr_store};

/// A sound store's files, by name.
fn template() -> &'static [(String, Vec<u8>)] {
    static FILES: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
    FILES.get_or_init(|| {
        let directory = tempfile::tempdir().expect("a scratch directory");
        let (lines, store) = (directory.path().join("records.jsonl"), directory.path().join("store.zarr"));
        std::fs::write(&lines, include_str!("../record.jsonl")).expect("a scratch file");
        let records = RecordsFile::open(&lines).and_then(|mut file| file.next_records()).expect("records");
        let records: Vec<_> = records.into_iter().map(|(_, record)| record).collect();
        let config = RolloutZarrStoreConfig {
            source_offline_store_version: "7".to_owned(),
            split_manifest_hash: "fixture-split-manifest".to_owned(),
            selected_depth_enabled: false,
            ..RolloutZarrStoreConfig::new(&store, "2026-11-30T00:00:00Z")
        };
        write_rollout_zarr_store(&records, config).expect("a store");
        let mut files = Vec::new();
        walk(&store, &store, &mut files);
        files.sort();
        files
    })
}

fn walk(root: &Path, directory: &Path, files: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            walk(root, &path, files);
        } else {
            let name = path.strip_prefix(root).expect("below the root").display().to_string();
            files.push((name, std::fs::read(&path).expect("a file")));
        }
    }
}

// Two bytes choose a file, two a place in it; the rest is written over what is there.
fuzz_target!(|bytes: &[u8]| {
    let [file, more, place, far, patch @ ..] = bytes else { return };
    let files = template();
    let changed = usize::from(u16::from_le_bytes([*file, *more])) % files.len();
    let scratch = tempfile::tempdir().expect("a scratch directory");
    for (number, (name, bytes)) in files.iter().enumerate() {
        let path = scratch.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        let mut bytes = bytes.clone();
        if number == changed {
            let at = usize::from(u16::from_le_bytes([*place, *far])) % (bytes.len() + 1);
            let end = (at + patch.len()).min(bytes.len());
            bytes.splice(at..end, patch.iter().copied());
        }
        std::fs::write(path, bytes).expect("a file");
    }
    let _ = validate(scratch.path());
    if let Ok(store) = Store::open(scratch.path()) {
        let _ = store.candidate_shell_index();
        let _ = store.q_h_view(Some(0.5));
        let _ = info(&store, InfoSections { stats: true, ..InfoSections::default() });
    }
});
