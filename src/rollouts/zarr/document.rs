//! `zarr.json`: a node's metadata, printed in one fixed way and read in Python's dialect.

use super::layout::{Codec, Grid};
use crate::array::DType;
use crate::text::json;
use crate::value::{Map, Value};

pub(super) const FILE: &str = "zarr.json";

/// The key of a node's document.
pub(super) fn key(path: &str) -> String {
    if path.is_empty() { FILE.to_owned() } else { format!("{path}/{FILE}") }
}

/// A group with attributes.
pub(super) fn group(attributes: &Map) -> String {
    json::to_canonical(&Value::map([
        ("attributes", standard(&Value::Map(attributes.clone()))),
        ("zarr_format", 3.into()),
        ("node_type", "group".into()),
    ]))
}

/// An array of `shape`, cut as `grid` says, without attributes.
pub(super) fn array(dtype: DType, shape: &[usize], grid: Grid, codec: Codec) -> String {
    let tail = shape.get(1..).unwrap_or_default();
    // Chunks have a length of at least 1, also where the array has none.
    let chunk = |rows: usize| lengths(std::iter::once(rows).chain(tail.iter().map(|length| (*length).max(1))));
    let fill = match dtype {
        DType::Bool => Value::Bool(false),
        _ if dtype.is_float() => Value::Float(0.0),
        _ => Value::Int(0),
    };
    let (chunks, codecs) = match grid {
        Grid::Plain(rows) => (chunk(rows), codecs(dtype, codec)),
        Grid::Sharded { outer, inner } => (chunk(outer), Value::List(vec![sharding(chunk(inner), dtype, codec)])),
    };
    json::to_canonical(&Value::map([
        ("shape", lengths(shape.iter().copied())),
        ("data_type", dtype.numpy_name().into()),
        ("chunk_grid", named("regular", [("chunk_shape", chunks)])),
        ("chunk_key_encoding", named("default", [("separator", "/".into())])),
        ("fill_value", fill),
        ("codecs", codecs),
        ("attributes", Value::Map(Map::new())),
        ("zarr_format", 3.into()),
        ("node_type", "array".into()),
        ("storage_transformers", Value::List(Vec::new())),
    ]))
}

fn lengths(lengths: impl Iterator<Item = usize>) -> Value {
    Value::List(lengths.map(|length| i64::try_from(length).unwrap_or(i64::MAX).into()).collect())
}

fn named<const N: usize>(name: &str, configuration: [(&str, Value); N]) -> Value {
    Value::map([("name", name.into()), ("configuration", Value::map(configuration))])
}

/// Inner chunks in one file, their places at its end.
fn sharding(inner: Value, dtype: DType, codec: Codec) -> Value {
    let index = vec![named("bytes", [("endian", "little".into())]), named("crc32c", [])];
    named(
        "sharding_indexed",
        [
            ("chunk_shape", inner),
            ("codecs", codecs(dtype, codec)),
            ("index_codecs", Value::List(index)),
            ("index_location", "end".into()),
        ],
    )
}

fn codecs(dtype: DType, codec: Codec) -> Value {
    let size = item_size(dtype);
    let bytes =
        if size > 1 { named("bytes", [("endian", "little".into())]) } else { Value::map([("name", "bytes".into())]) };
    let mut codecs = vec![bytes];
    match codec {
        Codec::Zstd => codecs.push(named("zstd", [("level", 0.into()), ("checksum", true.into())])),
        Codec::Depth(_) => {
            let blosc = [
                ("typesize", size.into()),
                ("cname", "zstd".into()),
                ("clevel", 5.into()),
                ("shuffle", "bitshuffle".into()),
                ("blocksize", 0.into()),
            ];
            // An empty configuration is written out: zarr-python takes no bare names.
            codecs.extend([named("blosc", blosc), named("crc32c", [])]);
        }
    }
    Value::List(codecs)
}

/// Bytes per element.
pub(super) fn item_size(dtype: DType) -> i64 {
    match dtype {
        DType::Bool | DType::I8 | DType::U8 => 1,
        DType::I16 | DType::U16 | DType::F16 => 2,
        DType::I32 | DType::U32 | DType::F32 => 4,
        DType::I64 | DType::F64 => 8,
    }
}

/// The same data in standard JSON's range: non-finite floats become the texts that Python's
/// `float()` and Zarr's fill values both read.
pub(super) fn standard(value: &Value) -> Value {
    match value {
        Value::Float(number) if number.is_nan() => "NaN".into(),
        Value::Float(number) if number.is_infinite() => if *number > 0.0 { "Infinity" } else { "-Infinity" }.into(),
        Value::List(items) => Value::List(items.iter().map(standard).collect()),
        Value::Map(map) => Value::Map(map.iter().map(|(key, value)| (key.clone(), standard(value))).collect()),
        other => other.clone(),
    }
}
