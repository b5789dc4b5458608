//! The digest of what a store holds: SHA-256 over the manifest's bytes, every node's attributes,
//! every array's metadata, and every chunk's elements.
//!
//! Labels and payloads are framed with their lengths. A chunk counts by its elements and not by
//! its compressed bytes, clipped to the array; in shards, the chunks are the inner ones, as
//! zarr-python's `Array.chunks` has it, and the codecs are those of the whole array.

use std::io::ErrorKind;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::schema::MANIFEST_FILE;
use super::zarr::{Column, StoreError, StoreReader};
use crate::digest::hex;
use crate::text::json;
use crate::value::{Map, Value};

/// Attributes that hold a digest and are not part of it.
const EXCLUDED: [&str; 2] = ["rollout_store_content_sha256", "rollout_store_content_seal"];

/// About how many bytes are read at once.
const BYTES: usize = 1 << 24;

/// The digest of the store that `reader` reads, whose manifest has the bytes `manifest`.
pub(super) fn digest(reader: &StoreReader, manifest: &[u8]) -> Result<String, StoreError> {
    let mut digest = Frames(Sha256::new());
    digest.frame("manifest.json", manifest);
    for path in reader.nodes()? {
        let document = reader.document(&path)?;
        let is_array = document.get("node_type").and_then(Value::as_text) == Some("array");
        let column = if is_array { Some(reader.column(&path)?) } else { None };
        if let Some(column) = &column {
            digest.frame(&format!("array:{path}:metadata"), json::to_compact(&metadata(&document, column)).as_bytes());
        }
        let mut attributes = document.get("attributes").and_then(Value::as_map).cloned().unwrap_or_default();
        attributes.retain(|key, _| !EXCLUDED.contains(&key.as_str()));
        digest.frame(&format!("attrs:{path}"), json::to_compact(&sorted(&Value::Map(attributes))).as_bytes());
        if let Some(column) = &column {
            chunks(&mut digest, &path, column)?;
        }
    }
    Ok(hex(&digest.0.finalize()))
}

/// The digest of the content of the store at `directory`, 64 hexadecimal digits.
///
/// # Errors
/// When there is no store, or it cannot be read.
pub(crate) fn content_digest(directory: &Path) -> Result<String, StoreError> {
    let reader = StoreReader::open(directory)?;
    let manifest = reader.file(MANIFEST_FILE).and_then(|bytes| bytes.ok_or_else(|| ErrorKind::NotFound.into()));
    let failed = |source| StoreError::Files { path: directory.join(MANIFEST_FILE), source };
    digest(&reader, &manifest.map_err(failed)?)
}

/// A digest of labelled payloads.
struct Frames(Sha256);

impl Frames {
    fn frame(&mut self, label: &str, payload: &[u8]) {
        for part in [label.as_bytes(), payload] {
            self.0.update((part.len() as u64).to_be_bytes());
            self.0.update(part);
        }
    }
}

/// The same data with every map's keys in order.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Map(map) => {
            let mut map: Map = map.iter().map(|(key, value)| (key.clone(), sorted(value))).collect();
            map.sort_keys();
            Value::Map(map)
        }
        Value::List(items) => Value::List(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

/// An array's metadata as zarr-python gives it out.
fn metadata(document: &Map, column: &Column) -> Value {
    let lengths = |lengths: &[usize]| {
        Value::List(lengths.iter().map(|length| Value::Int(i64::try_from(*length).unwrap_or(i64::MAX))).collect())
    };
    let fill = match (column.dtype().is_float(), document.get("fill_value").cloned().unwrap_or(Value::Null)) {
        (true, Value::Text(text)) => match text.as_str() {
            "NaN" => Value::Float(f64::NAN),
            "Infinity" => Value::Float(f64::INFINITY),
            "-Infinity" => Value::Float(f64::NEG_INFINITY),
            _ => Value::Text(text),
        },
        (true, value) => value.as_float().map_or(value, Value::Float),
        (false, value) => value,
    };
    let empty = Value::List(Vec::new());
    let entries = [
        ("chunks", lengths(column.chunk())),
        ("compressor", codecs(document.get("codecs").unwrap_or(&empty), column.dtype().size())),
        ("dtype", column.dtype().numpy_name().into()),
        ("fill_value", fill),
        ("order", "C".into()),
        ("shape", lengths(column.shape())),
    ];
    sorted(&Value::Map(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()))
}

/// Codecs of elements of `size` bytes, each as a map with a configuration only where it has one.
fn codecs(list: &Value, size: usize) -> Value {
    let one = |codec: &Value| {
        let name = codec.as_text().or_else(|| codec.as_map()?.get("name")?.as_text()).unwrap_or_default();
        let mut map: Map = [("name".to_owned(), name.into())].into();
        let configuration = codec.as_map().and_then(|codec| codec.get("configuration")?.as_map());
        let mut configuration = configuration.cloned().unwrap_or_default();
        for (key, value) in &mut configuration {
            match key.as_str() {
                "codecs" => *value = codecs(value, size),
                "index_codecs" => *value = codecs(value, 8),
                _ => {}
            }
        }
        if !(configuration.is_empty() || name == "bytes" && size == 1) {
            map.insert("configuration".to_owned(), Value::Map(configuration));
        }
        Value::Map(map)
    };
    Value::List(list.as_list().unwrap_or_default().iter().map(one).collect())
}

/// Every chunk's elements, in the order of the chunks' coordinates.
fn chunks(digest: &mut Frames, path: &str, column: &Column) -> Result<(), StoreError> {
    let (shape, chunk) = (column.shape(), column.chunk());
    let (Some((rows, inner)), Some((chunk_rows, inner_chunk))) = (shape.split_first(), chunk.split_first()) else {
        return Ok(());
    };
    if shape.contains(&0) {
        return Ok(());
    }
    let row_bytes = inner.iter().product::<usize>() * column.dtype().size();
    let at_once = (BYTES / (row_bytes * chunk_rows).max(1)).max(1) * chunk_rows;
    for start in (0..*rows).step_by(at_once) {
        let end = (start + at_once).min(*rows);
        let bytes = column.bytes(start..end)?;
        for (place, band) in bytes.chunks((row_bytes * chunk_rows).max(1)).enumerate() {
            let first = start / chunk_rows + place;
            let count = band.len() / row_bytes.max(1);
            if inner == inner_chunk {
                let rest = ",0".repeat(inner.len());
                digest.frame(&format!("chunk:{path}:{first}{rest}"), band);
                continue;
            }
            for index in grid(inner, inner_chunk) {
                let mut payload = Vec::new();
                let origin = index.iter().zip(inner_chunk).map(|(index, length)| index * length);
                let spans: Vec<(usize, usize, usize)> = origin
                    .zip(inner)
                    .zip(inner_chunk)
                    .map(|((origin, length), chunk)| (*length, origin, (origin + chunk).min(*length)))
                    .collect();
                for row in band.chunks(row_bytes.max(1)).take(count) {
                    gather(&spans, column.dtype().size(), row, &mut payload);
                }
                let rest: String = index.iter().map(|index| format!(",{index}")).collect();
                digest.frame(&format!("chunk:{path}:{first}{rest}"), &payload);
            }
        }
    }
    Ok(())
}

/// The coordinates of all chunks of a grid, in C order.
fn grid(shape: &[usize], chunk: &[usize]) -> Vec<Vec<usize>> {
    shape.iter().zip(chunk).fold(vec![Vec::new()], |indices, (length, chunk)| {
        let along = length.div_ceil(*chunk);
        let longer = |index: Vec<usize>| (0..along).map(move |next| index.iter().copied().chain([next]).collect());
        indices.into_iter().flat_map(longer).collect()
    })
}

/// The part of `data` between each axis's `(length, first, last)`, appended to `out`.
fn gather(spans: &[(usize, usize, usize)], size: usize, data: &[u8], out: &mut Vec<u8>) {
    let Some(((_, first, last), rest)) = spans.split_first() else { return out.extend(data) };
    let stride = rest.iter().map(|(length, ..)| length).product::<usize>() * size;
    for place in *first..*last {
        gather(rest, size, data.get(place * stride..(place + 1) * stride).unwrap_or_default(), out);
    }
}
