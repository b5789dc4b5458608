//! A bundle's manifest: any text is read without a panic, and what was read is written so that it
//! reads back the same; whatever it asks for is rebuilt, or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skyfall::bundle::{Manifest, check};
use skyfall::experiment::Catalog;
use skyfall_fuzz::place;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(manifest) = Manifest::from_yaml(text) else { return };
    let again = manifest.to_yaml();
    let back = Manifest::from_yaml(&again).unwrap_or_else(|error| panic!("{error}\n{again}"));
    assert_eq!(format!("{back:?}"), format!("{manifest:?}"));
    assert_eq!(back.to_yaml(), again);
    let path = place("bundle/manifest.yaml", bytes);
    let (directory, catalog) = (path.parent().expect("a directory"), Catalog::native());
    if let Ok(bundle) = check(directory, &catalog) {
        let _ = bundle.spaces(&catalog);
    }
});
