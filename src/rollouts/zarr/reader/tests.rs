//! Layouts of others - sharded, split along every axis, in other codecs - written by `zarrs`.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use zarrs::array::{Array as Node, ArrayMetadata};
use zarrs::storage::store::MemoryStore;
use zarrs::storage::{ListableStorageTraits, ReadableStorageTraits};

use super::StoreReader;
use crate::array::Array;
use crate::rollouts::zarr::directory::Directory;

const BYTES: &str = r#"{"name": "bytes", "configuration": {"endian": "little"}}"#;
const ZSTD: &str = r#"{"name": "zstd", "configuration": {"level": 1, "checksum": true}}"#;
const BLOSC: &str = r#"{"name": "blosc", "configuration":
    {"cname": "zstd", "clevel": 5, "shuffle": "bitshuffle", "blocksize": 0, "typesize": 4}}"#;
const SUM: &str = r#"{"name": "crc32c"}"#;

fn shards(inner: &str, codecs: &[&str], end: &str) -> String {
    let codecs = codecs.join(", ");
    format!(
        r#"{{"name": "sharding_indexed", "configuration": {{"chunk_shape": {inner}, "codecs": [{codecs}],
        "index_codecs": [{BYTES}, {SUM}], "index_location": "{end}"}}}}"#
    )
}

fn group(root: &Path, attributes: &str) {
    fs::write(
        root.join("zarr.json"),
        format!(r#"{{"attributes": {attributes}, "zarr_format": 3, "node_type": "group"}}"#),
    )
    .unwrap();
}

/// An array of 0, 1, 2 ... in the given chunks and codecs; with `some`, only of its first rows.
fn write(root: &Path, shape: &[u64], chunks: &str, codecs: &[&str], some: Option<u64>) -> Array {
    let shape_text = format!("{shape:?}");
    let document = format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": {shape_text}, "data_type": "float32",
        "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": {chunks}}}}},
        "chunk_key_encoding": {{"name": "default", "configuration": {{"separator": "/"}}}},
        "fill_value": "NaN", "codecs": [{}], "attributes": {{}}}}"#,
        codecs.join(", ")
    );
    let metadata = ArrayMetadata::try_from(document.as_str()).unwrap();
    let memory = Arc::new(MemoryStore::new());
    let node = Node::new_with_metadata(Arc::clone(&memory), "/a", metadata).unwrap();
    let count: u64 = shape.iter().product();
    let items: Vec<f32> = (0..count).map(|number| number as f32).collect();
    let rows = some.unwrap_or(shape[0]);
    let ranges: Vec<_> = std::iter::once(0..rows).chain(shape[1..].iter().map(|length| 0..*length)).collect();
    let stored = (count / shape[0] * rows) as usize;
    node.store_array_subset(&ranges, &items[..stored]).unwrap();
    let files = Directory::new(root);
    for key in memory.list().unwrap() {
        files.write(key.as_str(), &memory.get(&key).unwrap().unwrap()).unwrap();
    }
    files.write("a/zarr.json", document.as_bytes()).unwrap();
    let all = items.iter().enumerate().map(|(at, item)| if at < stored { *item } else { f32::NAN }).collect::<Vec<_>>();
    let shape: Vec<usize> = shape.iter().map(|length| *length as usize).collect();
    Array::from_vec(&shape, all).unwrap()
}

fn same(one: &Array, two: &Array) -> bool {
    one.shape() == two.shape()
        && one.numbers().zip(two.numbers()).all(|(one, two)| one == two || one.is_nan() && two.is_nan())
}

#[test]
fn layouts_of_others_are_read() {
    let sharded = shards("[2, 5]", &[BYTES, ZSTD], "end");
    let first = shards("[2, 5]", &[BYTES, BLOSC, SUM], "start");
    let split = shards("[2, 2]", &[BYTES, SUM], "end");
    let gigantic = r#"{"name": "bytes", "configuration": {"endian": "big"}}"#;
    for (shape, chunks, codecs) in [
        (vec![13, 5], "[4, 5]", vec![BYTES, ZSTD]),
        (vec![13, 5], "[4, 5]", vec![gigantic, ZSTD, SUM]),
        (vec![13, 5], "[4, 3]", vec![BYTES, BLOSC]),
        (vec![13, 5], "[1, 5]", vec![BYTES]),
        (vec![13, 5], "[8, 5]", vec![sharded.as_str()]),
        (vec![13, 5], "[8, 5]", vec![first.as_str()]),
        (vec![13, 5], "[8, 6]", vec![split.as_str()]),
        (vec![3, 4, 5], "[2, 3, 4]", vec![BYTES, ZSTD]),
        (vec![7], "[9]", vec![BYTES, ZSTD, SUM, SUM]),
    ] {
        let scratch = tempfile::tempdir().unwrap();
        group(scratch.path(), "{}");
        let array = write(scratch.path(), &shape, chunks, &codecs, None);
        let reader = StoreReader::open(scratch.path()).unwrap();
        assert!(same(&reader.array("a").unwrap(), &array), "{shape:?} {chunks} {codecs:?}");
        for (start, end) in [(0, 1), (1, 3), (2, 9), (5, 99)] {
            let (first, last) = (start.min(array.shape()[0]), end.min(array.shape()[0]));
            let part = array.slice(0, first, last, 1).unwrap();
            assert!(
                same(&reader.rows("a", start..end).unwrap(), &part),
                "{shape:?} {chunks} {codecs:?} {start}..{end}"
            );
        }
    }
}

#[test]
fn absent_chunks_are_fill_values_unless_all_are_stored() {
    let sharded = shards("[2, 5]", &[BYTES, ZSTD], "end");
    for codecs in [vec![BYTES, ZSTD], vec![sharded.as_str()]] {
        let scratch = tempfile::tempdir().unwrap();
        group(scratch.path(), "{}");
        let array = write(scratch.path(), &[13, 5], "[4, 5]", &codecs, Some(4));
        assert!(same(&StoreReader::open(scratch.path()).unwrap().array("a").unwrap(), &array));
        group(scratch.path(), r#"{"chunks_stored": "all"}"#);
        let reader = StoreReader::open(scratch.path()).unwrap();
        assert!(reader.array("a").unwrap_err().to_string().contains("chunk `a/c/1/0` is missing"));
        assert!(reader.rows("a", 0..4).is_ok());
    }
}

#[test]
fn a_flipped_bit_is_found_where_a_checksum_is() {
    for (chunks, codecs) in [
        ("[13]", vec![BYTES, ZSTD]),
        ("[13]", vec![BYTES, BLOSC, SUM]),
        ("[16]", vec![&*shards("[4]", &[BYTES, ZSTD], "end")]),
    ] {
        let scratch = tempfile::tempdir().unwrap();
        group(scratch.path(), "{}");
        write(scratch.path(), &[13], chunks, &codecs, None);
        let chunk = scratch.path().join("a/c/0");
        let sound = fs::read(&chunk).unwrap();
        let reader = StoreReader::open(scratch.path()).unwrap();
        for bit in 0..sound.len() * 8 {
            let mut bytes = sound.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            fs::write(&chunk, bytes).unwrap();
            // Of a frame's header, one bit means nothing.
            if let Ok(read) = reader.array("a") {
                assert!(read.numbers().eq((0..13).map(f64::from)), "{codecs:?}: bit {bit}");
            }
        }
        for length in 0..sound.len() {
            fs::write(&chunk, &sound[..length]).unwrap();
            assert!(reader.array("a").is_err(), "{codecs:?}: {length} bytes");
        }
    }
}

#[test]
fn lengths_that_no_file_holds_are_refused_at_once() {
    let scratch = tempfile::tempdir().unwrap();
    group(scratch.path(), "{}");
    write(scratch.path(), &[13], "[4]", &[BYTES, ZSTD], None);
    let path = scratch.path().join("a/zarr.json");
    let sound = fs::read_to_string(&path).unwrap();
    for (from, to) in [
        ("\"shape\": [13]", "\"shape\": [60000000000]"),
        ("\"shape\": [13]", "\"shape\": [9223372036854775807]"),
        ("\"shape\": [13]", "\"shape\": [-1]"),
        ("\"shape\": [13]", "\"shape\": 13"),
        ("\"shape\": [13]", "\"shape\": []"),
        ("\"chunk_shape\": [4]", "\"chunk_shape\": [40000000000]"),
        ("\"chunk_shape\": [4]", "\"chunk_shape\": [0]"),
        ("\"chunk_shape\": [4]", "\"chunk_shape\": [4, 4]"),
        ("float32", "float99"),
        ("float32", "float64"),
        ("\"zstd\"", "\"zst\""),
        ("\"NaN\"", "\"nan\""),
    ] {
        let changed = sound.replace(from, to);
        assert_ne!(changed, sound, "{from}");
        fs::write(&path, changed).unwrap();
        assert!(StoreReader::open(scratch.path()).unwrap().array("a").is_err(), "{to}");
    }
}
