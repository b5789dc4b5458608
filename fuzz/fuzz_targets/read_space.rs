//! Spaces and what lies in them, as manifests and requests have them: any list of a space and data
//! is read without a panic; a space reads back the same from its encoding, and what was read into
//! it lies in it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skyfall::space::Space;
use skyfall::text::json;

fuzz_target!(|bytes: &[u8]| {
    let Some(value) = std::str::from_utf8(bytes).ok().and_then(|text| json::parse(text).ok()) else { return };
    let Some([space, data @ ..]) = value.as_list() else { return };
    let Ok(space) = Space::decode(space) else { return };
    let encoded = space.encode();
    let back = Space::decode(&encoded).unwrap_or_else(|error| panic!("{error}\n{encoded:?}"));
    assert_eq!(format!("{:?}", back.encode()), format!("{encoded:?}"));
    for data in data {
        if let Ok(element) = space.element(data, "data") {
            let written = element.to_value();
            let back = space.element(&written, "data").unwrap_or_else(|error| panic!("{error}\n{written:?}"));
            assert_eq!(format!("{:?}", back.to_value()), format!("{written:?}"));
        }
    }
});
