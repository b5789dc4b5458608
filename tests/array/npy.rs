//! `.npy` and `.npz`: what NumPy writes is read, what is written is NumPy's, and nothing hostile
//! costs more than its own length.

use indexmap::IndexMap;
use proptest::prelude::*;
use skyfall::array::npy::{self, NpyError};
use skyfall::array::{Array, DType, npz};
use skyfall::diagnostic::{Exit, Problem};
use skyfall::value::Value;

use crate::command::Scratch;
use crate::peers::python;

/// Elements 0 to 23 in shape 2 x 3 x 4.
fn grid(dtype: DType) -> Array {
    let items = (0..24).map(|item| if dtype == DType::Bool { i64::from(item != 0) } else { item }).collect();
    Array::from_vec(&[2, 3, 4], items).unwrap().astype(dtype).unwrap()
}

fn bytes(array: &Array) -> Vec<u8> {
    let mut bytes = Vec::new();
    npy::write(&mut bytes, array).unwrap();
    bytes
}

fn refusal(bytes: &[u8]) -> String {
    npy::read(&mut &bytes[..]).unwrap_err().to_string()
}

/// A file of version 1.0 with `header` and then `data`.
fn file(header: &str, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(header.len()).unwrap().to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat()
}

#[test]
fn numpy_reads_what_we_write_and_we_read_what_it_writes() {
    let scratch = Scratch::new();
    for dtype in DType::ALL {
        npy::save(&scratch.file(&format!("ours/{dtype}.npy")), &grid(dtype)).unwrap();
    }
    npy::save(&scratch.file("ours/scalar.npy"), &Array::scalar(2.5)).unwrap();
    npy::save(&scratch.file("ours/empty.npy"), &Array::zeros(DType::F32, &[0, 3])).unwrap();
    let arrays: IndexMap<String, Array> =
        [("b", grid(DType::U8)), ("a", grid(DType::F64)), ("ü", Array::scalar(7_i64))]
            .into_iter()
            .map(|(key, array)| (key.to_owned(), array))
            .collect();
    npz::save(&scratch.file("ours/stored.npz"), &arrays, false).unwrap();
    npz::save(&scratch.file("ours/deflated.npz"), &arrays, true).unwrap();

    let told = python(&scratch, "check_npy.py", &["ours", "theirs"]);
    assert_eq!(told.matches("same ").count(), 13, "{told}");
    for archive in ["stored", "deflated"] {
        assert!(told.contains(&format!("archive {archive} b:uint8:276 a:float64:276.0 ü:int64:7")), "{told}");
    }

    let theirs = |name: &str| scratch.file(&format!("theirs/{name}"));
    for (code, dtype) in [
        ("b1", DType::Bool),
        ("i1", DType::I8),
        ("i2", DType::I16),
        ("i4", DType::I32),
        ("i8", DType::I64),
        ("u1", DType::U8),
        ("u2", DType::U16),
        ("u4", DType::U32),
        ("u8", DType::I64),
        ("f2", DType::F16),
        ("f4", DType::F32),
        ("f8", DType::F64),
    ] {
        for order in ["little", "big"] {
            let array = npy::open(&theirs(&format!("{order}-{code}.npy"))).unwrap();
            assert_eq!(array, grid(dtype), "{order} {code}");
        }
    }
    assert_eq!(npy::open(&theirs("fortran.npy")).unwrap(), grid(DType::F32));
    assert_eq!(npy::open(&theirs("version-2.npy")).unwrap(), grid(DType::F32));
    assert_eq!(npy::open(&theirs("scalar.npy")).unwrap(), Array::scalar(2.5));
    assert_eq!(npy::open(&theirs("empty.npy")).unwrap().shape(), [0, 3]);
    for (name, says) in [
        ("huge", "holds 9223372036854775808 (element 2"),
        ("objects", "never loaded"),
        ("complex", "real and imaginary"),
        ("text", "text, not numbers"),
        ("times", "save them as integers"),
        ("structure", "a structure"),
    ] {
        let problem = npy::open(&theirs(&format!("{name}.npy"))).unwrap_err();
        let line = problem.to_string();
        assert!(line.contains(&format!("theirs/{name}.npy holds")) && line.contains(says), "{line}");
        assert_eq!(problem.exit(), Exit::Input);
    }
    for name in ["stored.npz", "deflated.npz"] {
        let arrays = npz::open(&theirs(name)).unwrap();
        assert_eq!((&arrays["a"], arrays["b"].as_bool()), (&grid(DType::F32), Some(&[true, false][..])));
    }
    assert_eq!(npz::open_one(&theirs("stored.npz"), "über").unwrap().as_i64(), Some(&[0, 1, 2][..]));
    let missing = npz::open_one(&theirs("stored.npz"), "c").unwrap_err();
    assert!(missing.to_string().contains("holds no array `c`; it holds a, b, über"), "{missing}");
}

#[test]
fn headers_that_are_none_are_refused() {
    let good = "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }\n";
    assert_eq!(npy::read(&mut &file(good, &1.5_f64.to_le_bytes())[..]).unwrap().as_f64(), Some(&[1.5][..]));
    for (header, says) in [
        ("", "expected `{`"),
        ("{}", "lacks `descr`"),
        ("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'more': 1}", "unexpected key `more`"),
        ("{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", "unexpected key `descr`"),
        ("{'descr': '<f8', 'fortran_order': 0, 'shape': (1,)}", "expected `False`"),
        ("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}", "expected a length, found `-1"),
        ("{'descr': '<f8', 'fortran_order': False, 'shape': (1e3,)}", "found `e3"),
        ("{'descr': '<f8', 'fortran_order': False, 'shape': 1}", "expected `(`"),
        ("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)} + x()", "expected the end, found ` + x()"),
        ("{'descr': '<f9', 'fortran_order': False, 'shape': (1,)}", "none of bool"),
        ("{'descr': '', 'fortran_order': False, 'shape': (1,)}", "none of bool"),
        ("{'descr': '<f8", "closing quote"),
    ] {
        let line = refusal(&file(header, &[0; 8]));
        assert!(line.contains(says), "{header}: {line}");
    }
    assert!(refusal(&file(&format!("{{'shape': ({})}}", "1,".repeat(100)), &[])).contains("more than 64 axes"));
    for foreign in [&b""[..], b"\x93NUM", b"PK\x03\x04 and more", b"\x93NUMPY\x01\x00\x76\x00{'de"] {
        assert_eq!(refusal(foreign), "is no .npy file");
    }
    assert!(refusal(b"\x93NUMPY\x09\x00aaaa").contains("version 9.0"));
    assert!(refusal(b"\x93NUMPY\x02\x00\xff\xff\xff\xff").contains("4294967295 bytes long"));
}

#[test]
fn promises_cost_nothing_until_they_are_kept() {
    let promise = |shape: &str| format!("{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}}}");
    assert_eq!(
        refusal(&file(&promise("(1000000000000,)"), &[1, 2, 3])),
        "is cut off: its header promises 1000000000000 elements, 3 are there"
    );
    assert!(refusal(&file(&promise("(18446744073709551615, 2)"), &[])).contains("more than"));
    assert!(refusal(&file(&promise("(0, 18446744073709551615, 2)"), &[])).contains("malformed header"));
    assert!(refusal(&file(&promise("(99999999999999999999,)"), &[])).contains("expected a length"));
    let large = file(&promise("(2, 300)"), &[0; 600]);
    assert!(matches!(npy::read_at_most(&mut &large[..], 599), Err(NpyError::TooLarge { most: 599, .. })));
    assert!(npy::read_at_most(&mut &large[..], 600).is_ok());
}

#[test]
fn one_array_after_another_is_read() {
    let both = [bytes(&grid(DType::I16)), bytes(&grid(DType::F32))].concat();
    let mut reader = &both[..];
    assert_eq!(npy::read(&mut reader).unwrap(), grid(DType::I16));
    assert_eq!(npy::read(&mut reader).unwrap(), grid(DType::F32));
    assert!(reader.is_empty());
}

#[test]
fn archives_that_were_changed_are_refused() {
    let scratch = Scratch::new();
    let arrays: IndexMap<String, Array> = [("a".to_owned(), grid(DType::F64))].into_iter().collect();
    for compressed in [false, true] {
        let path = scratch.file("a.npz");
        npz::save(&path, &arrays, compressed).unwrap();
        let whole = std::fs::read(&path).unwrap();
        let (mut refused, mut same) = (0, 0);
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x41;
            std::fs::write(&path, &bytes).unwrap();
            match npz::open(&path) {
                Ok(read) if read.get("a").is_some_and(|array| *array == arrays["a"]) => same += 1,
                Ok(read) => assert!(!read.contains_key("a"), "byte {at} changed the array in silence"),
                Err(problem) => {
                    assert!(problem.to_string().contains("a.npz"), "{problem}");
                    refused += 1;
                }
            }
        }
        // Versions, dates and attributes say nothing about the array.
        assert!(refused > 2 * same, "{refused} {same}");
        for length in 0..whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            assert!(npz::open(&path).is_err(), "cut to {length} of {}", whole.len());
        }
    }
}

#[test]
fn a_member_may_not_unpack_beyond_what_is_allowed() {
    let scratch = Scratch::new();
    let path = scratch.file("zeros.npz");
    let arrays = [("z".to_owned(), Array::zeros(DType::U8, &[1 << 22]))].into_iter().collect();
    npz::save(&path, &arrays, true).unwrap();
    assert!(std::fs::metadata(&path).unwrap().len() < 10_000);
    let problem = npz::open_at_most(&path, 1 << 20).unwrap_err().to_string();
    assert!(problem.contains("array `z` holds an array of shape [4194304], more than 1048576 bytes"), "{problem}");
}

proptest! {
    #[test]
    fn arrays_survive_the_way_there_and_back(
        items in proptest::collection::vec(any::<f64>(), 0..200), dtype in 0_usize..11, split in 1_usize..5
    ) {
        let dtype = DType::ALL[dtype];
        let fits = |item: &f64| Array::scalar(*item).astype(dtype).ok().and_then(|array| array.get(0));
        let mut kept: Vec<Value> = items.iter().filter(|item| item.is_finite()).filter_map(fits).collect();
        kept.truncate(kept.len() / split * split);
        let flat = Array::from_value(&Value::List(kept.clone()), dtype).unwrap();
        let array = flat.reshape(&[kept.len() / split, split]).unwrap();
        let bytes = bytes(&array);
        prop_assert_eq!(npy::read(&mut &bytes[..]).unwrap(), array);
    }

    #[test]
    fn arbitrary_bytes_are_refused_or_read(mut bytes in proptest::collection::vec(any::<u8>(), 0..300), real in any::<bool>()) {
        if real {
            let mut file = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
            file.append(&mut bytes);
            bytes = file;
        }
        let _ = npy::read(&mut &bytes[..]);
    }
}

#[test]
fn an_archive_beyond_its_format_is_refused_before_anything_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("big.npz");
    // Zeros that no one touches take no memory.
    let half = || Array::zeros(DType::U8, &[(1 << 31) - 10]);
    for arrays in [
        vec![("whole", Array::zeros(DType::F64, &[1 << 29]))],
        vec![("one", half()), ("two", half()), ("three", half())],
    ] {
        let arrays: IndexMap<String, Array> =
            arrays.into_iter().map(|(name, array)| (name.to_owned(), array)).collect();
        let refused = npz::save(&path, &arrays, false).unwrap_err().to_string();
        assert!(refused.contains("less than 4 GiB") && refused.contains("big.npz"), "{refused}");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
