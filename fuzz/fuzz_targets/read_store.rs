//! A store: any change of any file, metadata or chunk, is read and checked without a panic.
#![no_main]

use std::path::Path;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use skyfall::rollouts::{InfoSections, Profile, Store, info, validate, write_rollout_zarr_store};
use skyfall_fuzz::{config, files, records, scratch};

/// A sound store's files, by name.
fn template() -> &'static [(String, Vec<u8>)] {
    static FILES: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
    FILES.get_or_init(|| {
        let records = records(include_bytes!("../seeds/read_records/record.jsonl")).expect("records");
        let store = scratch().join("store.zarr");
        write_rollout_zarr_store(&records, config(&store)).expect("a store");
        files(&store)
    })
}

/// What is done with the changed store: one thing at a time, for each of them reads all of it.
fn read(store: &Path, what: u8) {
    if what % 4 == 0 {
        let _ = validate(store);
        return;
    }
    let Ok(store) = Store::open(store) else { return };
    match what % 4 {
        1 => drop(store.q_h_view(Some(0.5))),
        2 => {
            let _ = store.candidate_shell_index();
            let _ = store.candidate_codec_tables();
        }
        _ => {
            let sections = InfoSections { validate: false, stats: true, preflight: Some(Profile::Production) };
            let _ = info(&store, sections);
        }
    }
}

// A byte says what is done, two choose a file, two a place in it, one how much goes; the rest comes in its place.
fuzz_target!(|bytes: &[u8]| {
    let [what, file, more, place, far, gone, patch @ ..] = bytes else { return };
    let files = template();
    let (name, sound) = &files[usize::from(u16::from_le_bytes([*file, *more])) % files.len()];
    let store = scratch().join("store.zarr");
    let path = store.join(name);
    let mut changed = sound.clone();
    let at = usize::from(u16::from_le_bytes([*place, *far])) % (changed.len() + 1);
    let end = if *gone == u8::MAX { changed.len() } else { (at + usize::from(*gone)).min(changed.len()) };
    changed.splice(at..end, patch.iter().copied());
    std::fs::write(&path, changed).expect("a file");
    read(&store, *what);
    std::fs::write(&path, sound).expect("a file");
});
