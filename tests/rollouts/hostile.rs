//! Stores that were damaged at random: whatever is read or checked says so or goes on, and ends.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use skyfall::rollouts::{InfoSections, Profile, RolloutRecord, Store, info, validate, write_rollout_zarr_store};
use tempfile::TempDir;

use super::records::{config, record, with_crops, with_depth, with_facts};
use super::writing::files;

/// A store with everything a store can have.
pub fn full(scratch: &TempDir) -> PathBuf {
    let path = scratch.path().join("full.zarr");
    let options = skyfall::rollouts::RolloutZarrStoreConfig {
        selected_depth_enabled: true,
        selected_depth_width_px: 6,
        selected_depth_height_px: 5,
        target_eval_crops_enabled: true,
        target_eval_crop_max_points: 8,
        ..config(&path)
    };
    let records: Vec<RolloutRecord> = (0..2)
        .map(|root| with_facts(with_crops(with_depth(record(root, 2, 4), 5, 6))))
        .map(|record| RolloutRecord::from_datum(&record).unwrap())
        .collect();
    write_rollout_zarr_store(&records, options).unwrap();
    path
}

/// Reads and checks everything there is.
fn use_it(path: &Path) -> Vec<String> {
    let errors = validate(path).map_or_else(|error| vec![error.to_string()], |validation| validation.errors);
    if let Ok(store) = Store::open(path) {
        let _ = store.candidate_shell_index();
        let _ = store.candidate_codec_tables();
        let _ = store.q_h_view(Some(0.5));
        let _ = info(&store, InfoSections { validate: false, stats: true, preflight: Some(Profile::Production) });
        for group in ["selected_depth", "target_eval_crops", "candidates"] {
            let _ = store.table(group, &[], 1..3);
        }
    }
    errors
}

#[test]
fn a_full_store_is_sound() {
    let scratch = tempfile::tempdir().unwrap();
    let path = full(&scratch);
    assert_eq!(use_it(&path), Vec::<String>::new());
    let codec = Store::open(&path).unwrap().candidate_codec_tables().unwrap().unwrap();
    assert_eq!(codec.facts_by_step.keys().len(), 16);
    assert_eq!(codec.criteria_by_candidate.rows(0).len(), 2);
}

#[test]
fn a_chunk_that_is_gone_is_always_told() {
    let scratch = tempfile::tempdir().unwrap();
    let path = full(&scratch);
    for (name, bytes) in files(&path).into_iter().filter(|(name, _)| name.contains("/c/")) {
        // A copy of a dictionary, which nothing reads.
        if name.contains("crop_policy_dictionary") {
            continue;
        }
        fs::remove_file(path.join(&name)).unwrap();
        assert!(!use_it(&path).is_empty(), "{name}");
        fs::write(path.join(&name), bytes).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, ..ProptestConfig::default() })]

    #[test]
    fn damage_never_panics(harms in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..6_u8, any::<u8>()), 1..4)) {
        let scratch = tempfile::tempdir().unwrap();
        let path = full(&scratch);
        let names: Vec<String> = files(&path).into_keys().collect();
        for (file, place, kind, byte) in harms {
            let name = path.join(&names[file.index(names.len())]);
            let Ok(mut bytes) = fs::read(&name) else { continue };
            if bytes.is_empty() {
                continue;
            }
            let at = place.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.truncate(at),
                2 => bytes.clear(),
                3 => bytes.insert(at, byte),
                // A digit more: shapes, chunks and counts far beyond what is there.
                4 => match bytes.iter().skip(at).position(u8::is_ascii_digit) {
                    Some(digit) => bytes.splice(at + digit..at + digit, *b"9999999").for_each(drop),
                    None => bytes.rotate_left(at),
                },
                _ => {
                    fs::remove_file(&name).unwrap();
                    continue;
                }
            }
            fs::write(&name, bytes).unwrap();
        }
        use_it(&path);
    }
}
