//! `.npy` and `.npz`: any bytes are read without a panic and in no more memory than allowed; what
//! was read is written so that it reads back the same, bit for bit.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skyfall::array::{Array, npy, npz};
use skyfall_fuzz::{place, scratch};

const MOST: usize = 1 << 22;

fn bytes_of(array: &Array) -> Vec<u8> {
    let mut bytes = Vec::new();
    npy::write(&mut bytes, array).expect("a vector takes anything");
    bytes
}

fuzz_target!(|bytes: &[u8]| {
    if let Ok(array) = npy::read_at_most(&mut &*bytes, MOST) {
        assert!(array.len() * array.dtype().size() <= MOST);
        let written = bytes_of(&array);
        let back = npy::read(&mut &*written).expect("what was written");
        assert_eq!((back.shape(), back.dtype()), (array.shape(), array.dtype()));
        assert_eq!(bytes_of(&back), written);
    }
    if !bytes.starts_with(b"PK") {
        return;
    }
    let path = place("a.npz", bytes);
    if let Ok(arrays) = npz::open_at_most(&path, MOST) {
        for (key, array) in &arrays {
            let one = npz::open_one_at_most(&path, key, MOST).expect("it was read among others");
            assert_eq!(bytes_of(&one), bytes_of(array));
        }
        let again = scratch().join("again.npz");
        npz::save(&again, &arrays, bytes.len() % 2 == 0).expect("an archive");
        let back = npz::open(&again).expect("what was written");
        let shown = |arrays: &indexmap::IndexMap<String, Array>| -> Vec<(String, Vec<u8>)> {
            arrays.iter().map(|(key, array)| (key.clone(), bytes_of(array))).collect()
        };
        assert_eq!(shown(&back), shown(&arrays));
    }
});
