//! Rollout records: any lines are read without a panic; what is accepted is stored, or refused
//! before anything is left behind; and what is stored is valid.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skyfall::rollouts::{validate, write_rollout_zarr_store};
use skyfall_fuzz::{config, records, scratch};

fuzz_target!(|bytes: &[u8]| {
    let Ok(records) = records(bytes) else { return };
    let store = scratch().join("store.zarr");
    let written = write_rollout_zarr_store(&records, config(&store));
    assert_eq!(written.is_ok(), store.exists());
    if written.is_ok() {
        let validation = validate(&store).expect("a store");
        assert!(validation.ok(), "{:?}", validation.errors);
        std::fs::remove_dir_all(&store).expect("a store");
    }
});
