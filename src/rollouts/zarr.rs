//! Zarr v3 on disk, and read from object storage as well: groups, attributes and arrays of a store's directory.
//!
//! Arrays are written as they grow ([`ArrayStream`]), cut as [`Layout`] says; metadata documents
//! are field for field as zarr-python writes them, so that the same rows give the same bytes. The
//! `zarrs` crate reads. Every chunk is stored, also one that holds only the fill value: a missing
//! file always means a broken store.

mod bitshuffle;
mod directory;
mod document;
mod encode;
mod frame;
mod layout;
mod objects;
mod reader;
mod source;
mod stream;
mod writer;

use std::path::{Path, PathBuf};

pub(super) use directory::read_to_string;
pub(super) use encode::TABLES as TABLES_ENCODER;
pub use frame::Encoder;
pub(super) use frame::LARGEST as LARGEST_FRAME;
pub(super) use layout::Layout;
pub(super) use reader::{Column, StoreReader};
pub(super) use source::Held;
pub(super) use stream::ArrayStream;
pub(super) use writer::StoreWriter;

use crate::diagnostic::{Exit, Problem};
use crate::object::ObjectError;

/// Why a store could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Nothing is there.
    #[error("there is no store at `{}`", path.display())]
    Missing {
        /// The directory.
        path: PathBuf,
    },
    /// Something is there, but no Zarr v3 group.
    #[error("`{}` is not a rollout store: {what}", path.display())]
    NotAStore {
        /// The directory.
        path: PathBuf,
        /// What is missing or wrong.
        what: String,
    },
    /// The file system refused.
    #[error("cannot access `{}`: {source}", path.display())]
    Files {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// Object storage did not give what is there.
    #[error("cannot read `{}`: {source}", path.display())]
    Objects {
        /// The store's address.
        path: PathBuf,
        /// What it answered.
        source: ObjectError,
    },
    /// A group or array is missing or damaged.
    #[error("store `{}`: {node}: {what}", path.display())]
    Node {
        /// The store's directory.
        path: PathBuf,
        /// The group or array within it.
        node: String,
        /// What is wrong with it.
        what: String,
    },
}

impl StoreError {
    fn node(store: &Path, node: &str, what: impl std::fmt::Display) -> Self {
        Self::Node { path: store.to_owned(), node: node.to_owned(), what: what.to_string() }
    }

    fn objects(path: &Path, source: ObjectError) -> Self {
        Self::Objects { path: path.to_owned(), source }
    }

    fn files(path: &Path, source: std::io::Error) -> Self {
        Self::Files { path: path.to_owned(), source }
    }
}

impl Problem for StoreError {
    fn code(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "rollouts/missing",
            Self::NotAStore { .. } => "rollouts/not-a-store",
            Self::Files { .. } => "rollouts/files",
            Self::Objects { source, .. } => source.code(),
            Self::Node { .. } => "rollouts/damaged",
        }
    }

    fn exit(&self) -> Exit {
        Exit::Input
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Missing { .. } | Self::NotAStore { .. } => {
                Some("a store is the directory that holds `zarr.json` and `manifest.json`".to_owned())
            }
            Self::Node { .. } => Some("the store is incomplete or damaged: write it again".to_owned()),
            Self::Objects { source, .. } => source.hint(),
            Self::Files { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

    use std::fs;

    use half::f16;
    use ndarray::{ArrayD, IxDyn};

    use super::layout::Codec;
    use super::{Encoder, Layout, StoreReader, StoreWriter};
    use crate::array::{Array, DType};
    use crate::value::{Map, Value};

    /// Arrays of every element type, on the edges of their chunks and shards.
    fn arrays() -> Vec<(&'static str, Array, Layout)> {
        let numbers = |shape: &[usize]| {
            let count = shape.iter().product::<usize>();
            ArrayD::from_shape_vec(IxDyn(shape), (0..count).map(|number| number as i64 - 3).collect()).unwrap()
        };
        let whole = numbers(&[5]);
        let depth = numbers(&[5, 3, 4]);
        let column = |inner, per_shard| Layout { inner, per_shard, codec: Codec::Zstd };
        let frames = |inner, encoder| Layout { inner, per_shard: 2, codec: Codec::Depth(encoder) };
        let halves = depth.mapv(|number| f16::from_f64(number as f64));
        vec![
            ("t/bool", Array::Bool(whole.mapv(|number| number > 0)), column(2, 2)),
            ("t/i8", Array::I8(whole.mapv(|number| number as i8)), column(2, 1)),
            ("t/i16", Array::I16(whole.mapv(|number| number as i16)), column(5, 2)),
            ("t/i32", Array::I32(whole.mapv(|number| number as i32)), column(9, 2)),
            ("t/i64", Array::I64(whole.clone()), column(2, 2)),
            ("t/u8", Array::U8(whole.mapv(|number| number as u8)), column(1, 5)),
            ("t/u16", Array::U16(whole.mapv(|number| number as u16)), column(2, 9)),
            ("t/u32", Array::U32(whole.mapv(|number| number as u32)), column(1, 3)),
            ("t/f32", Array::F32(depth.mapv(|number| number as f32)), column(2, 2)),
            ("t/f64", Array::F64(whole.mapv(|number| number as f64 / 3.0)), column(4, 2)),
            ("t/depth", Array::F16(halves.clone()), frames(2, Encoder::Fast)),
            ("t/exact", Array::F16(halves), frames(5, Encoder::CBlosc)),
            ("t/mask", Array::Bool(depth.mapv(|number| number > 9)), frames(4, Encoder::Fast)),
            ("t/zeros", Array::zeros(DType::F32, &[3, 2]), column(1, 2)),
            ("t/empty", Array::zeros(DType::F32, &[0, 12]), column(7, 2)),
        ]
    }

    fn write(directory: &std::path::Path) {
        let writer = StoreWriter::new(directory);
        let attributes: Map = [
            ("whole".to_owned(), Value::Int(1)),
            ("float".to_owned(), Value::Float(1.0)),
            ("none".to_owned(), Value::Float(f64::NAN)),
            ("chunks_stored".to_owned(), "all".into()),
        ]
        .into();
        writer.group("", &attributes).unwrap();
        writer.group("t", &Map::new()).unwrap();
        for (path, array, layout) in arrays() {
            writer.array(path, &array, layout).unwrap();
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let scratch = tempfile::tempdir().unwrap();
        write(scratch.path());
        let reader = StoreReader::open(scratch.path()).unwrap();
        let attributes = reader.attributes("").unwrap();
        assert_eq!(attributes["whole"], Value::Int(1));
        assert_eq!(attributes["float"], Value::Float(1.0));
        assert_eq!(attributes["none"], Value::from("NaN"));
        assert!(reader.has_group("t") && !reader.has_group("u") && reader.has_array("t/i8") && !reader.has_array("t"));
        let mut names: Vec<_> = arrays().into_iter().map(|(path, ..)| path[2..].to_owned()).collect();
        names.sort();
        assert_eq!(reader.arrays("t"), names);
        for (path, array, ..) in arrays() {
            assert_eq!(reader.shape(path).unwrap(), (array.dtype(), array.shape().to_vec()), "{path}");
            assert_eq!(reader.array(path).unwrap(), array, "{path}");
            for (start, end) in [(0, 1), (1, 4), (2, 99), (3, 3), (9, 9)] {
                let (first, last) = (start.min(array.shape()[0]), end.min(array.shape()[0]));
                let part = array.slice(0, first, last, 1).unwrap();
                assert_eq!(reader.rows(path, start..end).unwrap(), part, "{path} {start}..{end}");
            }
        }
    }

    #[test]
    fn how_rows_arrive_does_not_show() {
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        write(one.path());
        let writer = StoreWriter::new(two.path());
        for (path, array, layout) in arrays() {
            let mut stream = writer.stream(path, array.dtype(), &array.shape()[1..], layout);
            crate::array::each!(&array, inner => {
                for row in inner.outer_iter() {
                    stream.push(bytemuck::cast_slice(&row.iter().copied().collect::<Vec<_>>())).unwrap();
                }
            });
            stream.finish().unwrap();
        }
        let chunks = [
            "t/f32/c/0/0/0",
            "t/f32/c/1/0/0",
            "t/depth/c/1/0/0",
            "t/exact/c/0/0/0",
            "t/bool/c/1",
            "t/u16/c/0",
            "t/i16/c/0",
        ];
        for file in ["t/f32/zarr.json"].into_iter().chain(chunks) {
            assert_eq!(fs::read(one.path().join(file)).unwrap(), fs::read(two.path().join(file)).unwrap(), "{file}");
        }
        // Also what is zero throughout has its file; what has no rows has none.
        assert!(one.path().join("t/zeros/c/1/0").exists() && !one.path().join("t/empty/c").exists());
    }

    #[test]
    fn damage_is_named() {
        let scratch = tempfile::tempdir().unwrap();
        let message = |path: &str| StoreReader::open(scratch.path()).unwrap().array(path).unwrap_err().to_string();
        assert!(StoreReader::open(&scratch.path().join("none")).unwrap_err().to_string().contains("no store"));
        assert!(StoreReader::open(scratch.path()).unwrap_err().to_string().contains("no `zarr.json`"));
        write(scratch.path());
        fs::remove_file(scratch.path().join("t/i64/c/1")).unwrap();
        assert!(message("t/i64").contains("chunk `t/i64/c/1` is missing"));
        fs::write(scratch.path().join("t/f64/c/0"), b"noise").unwrap();
        assert!(message("t/f64").contains("chunk `t/f64/c/0`"));
        fs::write(scratch.path().join("t/i8/zarr.json"), b"{").unwrap();
        assert!(message("t/i8").contains("t/i8"));
        assert!(message("t/absent").contains("no such array"));
    }

    #[test]
    fn python_s_bare_tokens_are_read() {
        let scratch = tempfile::tempdir().unwrap();
        fs::write(
            scratch.path().join("zarr.json"),
            br#"{"attributes": {"znear_m": NaN}, "zarr_format": 3, "node_type": "group"}"#,
        )
        .unwrap();
        let attributes = StoreReader::open(scratch.path()).unwrap().attributes("").unwrap();
        assert!(attributes["znear_m"].as_float().unwrap().is_nan());
    }
}
