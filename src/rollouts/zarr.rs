//! Zarr v3 on disk: groups, attributes and arrays of a store's directory.
//!
//! The `zarrs` crate encodes and decodes chunks; metadata documents are ours, field for field as
//! zarr-python writes them, so that the same tables give the same bytes. Every chunk is stored,
//! also one that holds only the fill value: a missing file always means a broken store.

mod directory;
mod document;
mod reader;
mod writer;

use std::path::{Path, PathBuf};

pub(super) use reader::{Column, StoreReader};
pub(super) use writer::StoreWriter;

use crate::diagnostic::{Exit, Problem};

/// How an array's chunks are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Codec {
    /// Zstandard at its default level, as zarr-python does it.
    Default,
    /// Blosc over Zstandard with bit shuffling, for depth rasters.
    Depth,
}

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

    use super::{Codec, StoreReader, StoreWriter};
    use crate::array::{Array, DType};
    use crate::value::{Map, Value};

    /// Arrays of every element type, on the edges of their chunks.
    fn arrays() -> Vec<(&'static str, Array, Vec<usize>, Codec)> {
        let numbers = |shape: &[usize]| {
            let count = shape.iter().product::<usize>();
            ArrayD::from_shape_vec(IxDyn(shape), (0..count).map(|number| number as i64 - 3).collect()).unwrap()
        };
        let whole = numbers(&[5]);
        let depth = numbers(&[5, 3, 4]);
        vec![
            ("t/bool", Array::Bool(whole.mapv(|number| number > 0)), vec![2], Codec::Default),
            ("t/i8", Array::I8(whole.mapv(|number| number as i8)), vec![2], Codec::Default),
            ("t/i16", Array::I16(whole.mapv(|number| number as i16)), vec![5], Codec::Default),
            ("t/i32", Array::I32(whole.mapv(|number| number as i32)), vec![9], Codec::Default),
            ("t/i64", Array::I64(whole.clone()), vec![2], Codec::Default),
            ("t/u8", Array::U8(whole.mapv(|number| number as u8)), vec![2], Codec::Default),
            ("t/u16", Array::U16(whole.mapv(|number| number as u16)), vec![2], Codec::Default),
            ("t/u32", Array::U32(whole.mapv(|number| number as u32)), vec![2], Codec::Default),
            ("t/f32", Array::F32(depth.mapv(|number| number as f32)), vec![2, 3, 4], Codec::Default),
            ("t/f64", Array::F64(whole.mapv(|number| number as f64 / 3.0)), vec![2], Codec::Default),
            ("t/depth", Array::F16(depth.mapv(|number| f16::from_f64(number as f64))), vec![2, 3, 4], Codec::Depth),
            ("t/mask", Array::Bool(depth.mapv(|number| number > 9)), vec![4, 3, 4], Codec::Depth),
            ("t/zeros", Array::zeros(DType::F32, &[3, 2]), vec![1, 2], Codec::Default),
            ("t/empty", Array::zeros(DType::F32, &[0, 12]), vec![7, 12], Codec::Default),
            ("t/narrow", Array::zeros(DType::I64, &[4, 0]), vec![2, 1], Codec::Default),
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
        for (path, array, chunks, codec) in arrays() {
            writer.array(path, &array, &chunks, codec).unwrap();
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
    fn bytes_repeat_and_every_chunk_has_its_file() {
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        write(one.path());
        write(two.path());
        for file in ["zarr.json", "t/f32/zarr.json", "t/f32/c/2/0/0", "t/depth/c/1/0/0", "t/zeros/c/2/0", "t/bool/c/2"]
        {
            assert_eq!(fs::read(one.path().join(file)).unwrap(), fs::read(two.path().join(file)).unwrap(), "{file}");
        }
        assert!(!one.path().join("t/empty/c").exists() && !one.path().join("t/narrow/c").exists());
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
