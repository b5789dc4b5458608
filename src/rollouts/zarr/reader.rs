//! Reading nodes.

use std::path::Path;
use std::sync::Arc;

use half::f16;
use ndarray::{ArrayD, IxDyn};
use rayon::prelude::*;
use zarrs::array::CodecOptions;
use zarrs::array::{ArrayMetadata, ElementOwned};

use super::directory::Directory;
use super::{StoreError, document};
use crate::array::{Array, DType};
use crate::text::json;
use crate::value::{Map, Value};

type Node = zarrs::array::Array<Directory>;

/// The bytes of the largest array that is taken to be meant: 256 GiB.
const LARGEST: u64 = 1 << 38;

/// Reads the nodes of a store's directory.
#[derive(Debug)]
pub(in crate::rollouts) struct StoreReader {
    files: Arc<Directory>,
}

impl StoreReader {
    /// Opens the store in `directory`.
    pub(in crate::rollouts) fn open(directory: &Path) -> Result<Self, StoreError> {
        if !directory.exists() {
            return Err(StoreError::Missing { path: directory.to_owned() });
        }
        let reader = Self { files: Arc::new(Directory::new(directory)) };
        let not_a_store = |what: String| StoreError::NotAStore { path: directory.to_owned(), what };
        match reader.node("") {
            Ok(Some(node)) if is(&node, "group") => Ok(reader),
            Ok(Some(_)) => Err(not_a_store("its `zarr.json` does not describe a group of Zarr v3".to_owned())),
            Ok(None) => Err(not_a_store("it has no `zarr.json`".to_owned())),
            Err(StoreError::Node { what, .. }) => Err(not_a_store(what)),
            Err(error) => Err(error),
        }
    }

    /// The store's directory.
    #[allow(dead_code, reason = "what a store offers beside its data")]
    pub(in crate::rollouts) fn directory(&self) -> &Path {
        self.files.root()
    }

    /// The attributes of a group or array (`""` is the root).
    pub(in crate::rollouts) fn attributes(&self, path: &str) -> Result<Map, StoreError> {
        match self.node(path)?.map(|mut node| node.shift_remove("attributes")) {
            Some(Some(Value::Map(attributes))) => Ok(attributes),
            Some(None) => Ok(Map::new()),
            Some(Some(_)) => Err(self.refuse(path, "its attributes are not a map")),
            None => Err(self.refuse(path, "there is no such group or array")),
        }
    }

    /// Whether `path` is a group.
    pub(in crate::rollouts) fn has_group(&self, path: &str) -> bool {
        matches!(self.node(path), Ok(Some(node)) if is(&node, "group"))
    }

    /// Whether `path` is an array.
    pub(in crate::rollouts) fn has_array(&self, path: &str) -> bool {
        matches!(self.node(path), Ok(Some(node)) if is(&node, "array"))
    }

    /// The names of the arrays in a group, sorted.
    #[allow(dead_code, reason = "what a store offers beside its data")]
    pub(in crate::rollouts) fn arrays(&self, group: &str) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.files.path(group)) else { return Vec::new() };
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| self.has_array(&format!("{group}/{name}")))
            .collect();
        names.sort_unstable();
        names
    }

    /// An array's element type and lengths, without reading its chunks.
    #[allow(dead_code, reason = "what a store offers beside its data")]
    pub(in crate::rollouts) fn shape(&self, path: &str) -> Result<(DType, Vec<usize>), StoreError> {
        self.described(&self.array_node(path)?, path)
    }

    /// A whole array.
    pub(in crate::rollouts) fn array(&self, path: &str) -> Result<Array, StoreError> {
        let mut node = self.array_node(path)?;
        let (dtype, shape) = self.described(&node, path)?;
        if shape.contains(&0) {
            return Ok(Array::zeros(dtype, &shape));
        }
        node.shift_remove("attributes");
        let text = json::to_string(&document::standard(&Value::Map(node)));
        let metadata = ArrayMetadata::try_from(text.as_str()).map_err(|error| self.refuse(path, error))?;
        let node = Node::new_with_metadata(Arc::clone(&self.files), &format!("/{path}"), metadata)
            .map_err(|error| self.refuse(path, error))?;
        Ok(match dtype {
            DType::Bool => Array::Bool(self.elements::<bool>(path, &node, &shape)?),
            DType::I8 => Array::I8(self.elements::<i8>(path, &node, &shape)?),
            DType::I16 => Array::I16(self.elements::<i16>(path, &node, &shape)?),
            DType::I32 => Array::I32(self.elements::<i32>(path, &node, &shape)?),
            DType::I64 => Array::I64(self.elements::<i64>(path, &node, &shape)?),
            DType::U8 => Array::U8(self.elements::<u8>(path, &node, &shape)?),
            DType::U16 => Array::U16(self.elements::<u16>(path, &node, &shape)?),
            DType::U32 => Array::U32(self.elements::<u32>(path, &node, &shape)?),
            DType::F16 => Array::F16(self.elements::<f16>(path, &node, &shape)?),
            DType::F32 => Array::F32(self.elements::<f32>(path, &node, &shape)?),
            DType::F64 => Array::F64(self.elements::<f64>(path, &node, &shape)?),
        })
    }

    /// Decodes every chunk; one that is missing is an error, not a chunk of zeros.
    fn elements<T>(&self, path: &str, node: &Node, shape: &[usize]) -> Result<ArrayD<T>, StoreError>
    where
        T: ElementOwned + Copy + Send + Sync,
    {
        let grid = node.chunk_grid_shape().to_vec();
        let count: usize = shape.iter().product();
        let options = CodecOptions::default().with_concurrent_target(1);
        let chunk = |index: &[u64]| -> Result<Vec<T>, StoreError> {
            let key = node.chunk_key(index);
            node.retrieve_chunk_if_exists_opt::<Vec<T>>(index, &options)
                .map_err(|error| self.refuse(path, format!("chunk `{key}`: {error}")))?
                .ok_or_else(|| self.refuse(path, format!("chunk `{key}` is missing")))
        };
        let first = vec![0; grid.len()];
        let lengths = node.chunk_shape(&first).map_err(|error| self.refuse(path, error))?;
        let inner_whole =
            lengths.iter().zip(shape).skip(1).all(|(chunk, length)| u64::try_from(*length) == Ok(chunk.get()));
        let elements = if inner_whole {
            let chunks = grid.first().copied().unwrap_or(1);
            let parts = (0..chunks).into_par_iter().map(|position| {
                let mut index = first.clone();
                if let Some(slot) = index.first_mut() {
                    *slot = position;
                }
                chunk(&index)
            });
            let mut elements = parts.collect::<Result<Vec<_>, _>>()?.concat();
            elements.truncate(count);
            elements
        } else {
            for index in &zarrs::array::ArraySubset::new_with_shape(grid).indices() {
                chunk(&index)?;
            }
            node.retrieve_array_subset(&node.subset_all()).map_err(|error| self.refuse(path, error))?
        };
        ArrayD::from_shape_vec(IxDyn(shape), elements).map_err(|error| self.refuse(path, error))
    }

    /// The document of a node, or `None` where there is none.
    fn node(&self, path: &str) -> Result<Option<Map>, StoreError> {
        let key = document::key(path);
        let bytes = self.files.read(&key).map_err(|error| StoreError::files(&self.files.path(&key), error))?;
        let Some(bytes) = bytes else { return Ok(None) };
        let text = String::from_utf8(bytes).map_err(|_| self.refuse(path, "`zarr.json` is not UTF-8"))?;
        match json::parse(&text) {
            Ok(Value::Map(node)) => Ok(Some(node)),
            Ok(_) => Err(self.refuse(path, "`zarr.json` does not hold a map")),
            Err(error) => Err(self.refuse(path, format!("`zarr.json`: {error}"))),
        }
    }

    fn array_node(&self, path: &str) -> Result<Map, StoreError> {
        match self.node(path)? {
            Some(node) if is(&node, "array") => Ok(node),
            _ => Err(self.refuse(path, "there is no such array")),
        }
    }

    fn described(&self, node: &Map, path: &str) -> Result<(DType, Vec<usize>), StoreError> {
        let name = node.get("data_type").and_then(Value::as_text).unwrap_or_default();
        let dtype: DType = name.parse().map_err(|error| self.refuse(path, error))?;
        let lengths = |list: Option<&Value>| -> Option<Vec<u64>> {
            let lengths = list?.as_list()?.iter().map(|item| u64::try_from(item.as_int()?).ok());
            let lengths: Vec<u64> = lengths.collect::<Option<_>>()?;
            let size = u64::try_from(document::item_size(dtype)).ok()?;
            let bytes = lengths.iter().try_fold(size, |bytes, length| bytes.checked_mul(*length))?;
            (bytes <= LARGEST).then_some(lengths)
        };
        let shape = lengths(node.get("shape")).ok_or_else(|| self.refuse(path, "its shape is not one of an array"))?;
        let grid = node.get("chunk_grid").and_then(Value::as_map).and_then(|grid| grid.get("configuration")?.as_map());
        lengths(grid.and_then(|grid| grid.get("chunk_shape")))
            .filter(|chunks| chunks.len() == shape.len() && !chunks.contains(&0))
            .ok_or_else(|| self.refuse(path, "its chunks are not regular"))?;
        let shape = shape.into_iter().map(|length| usize::try_from(length).unwrap_or(usize::MAX));
        Ok((dtype, shape.collect()))
    }

    fn refuse(&self, path: &str, what: impl std::fmt::Display) -> StoreError {
        let node = if path.is_empty() { "the root" } else { path };
        StoreError::node(self.files.root(), node, what)
    }
}

/// Whether a document describes a node of this kind in Zarr v3.
fn is(node: &Map, kind: &str) -> bool {
    node.get("zarr_format") == Some(&Value::Int(3)) && node.get("node_type").and_then(Value::as_text) == Some(kind)
}
