//! Reading nodes.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use ndarray::{ArrayD, IxDyn};
use zarrs::array::{ArrayMetadata, ArraySubset, ElementOwned};
use zarrs::storage::ReadableStorageTraits;

use super::directory::Directory;
use super::{StoreError, document};
use crate::array::{Array, DType, Item, with_dtype};
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
        self.rows(path, 0..usize::MAX)
    }

    /// The rows `rows` of an array, as far as it has them: a range of its first axis.
    pub(in crate::rollouts) fn rows(&self, path: &str, rows: Range<usize>) -> Result<Array, StoreError> {
        let mut node = self.array_node(path)?;
        let (dtype, mut shape) = self.described(&node, path)?;
        let length = shape.first().copied().unwrap_or(1);
        let (start, end) = (rows.start.min(length), rows.end.min(length));
        if let Some(first) = shape.first_mut() {
            *first = end.saturating_sub(start);
        }
        if shape.contains(&0) {
            return Ok(Array::zeros(dtype, &shape));
        }
        node.shift_remove("attributes");
        let text = json::to_string(&document::standard(&Value::Map(node)));
        let metadata = ArrayMetadata::try_from(text.as_str()).map_err(|error| self.refuse(path, error))?;
        let node = Node::new_with_metadata(Arc::clone(&self.files), &format!("/{path}"), metadata)
            .map_err(|error| self.refuse(path, error))?;
        with_dtype!(dtype, T => Ok(T::wrap(self.elements::<T>(path, &node, start, &shape)?)))
    }

    /// Decodes the chunks that rows from `start` on lie in; one that is missing is an error, not a
    /// chunk of zeros.
    fn elements<T>(&self, path: &str, node: &Node, start: usize, shape: &[usize]) -> Result<ArrayD<T>, StoreError>
    where
        T: ElementOwned + Copy + Send + Sync,
    {
        let mut starts = vec![0; shape.len()];
        if let Some(first) = starts.first_mut() {
            *first = start as u64;
        }
        let lengths: Vec<u64> = shape.iter().map(|length| *length as u64).collect();
        let subset = ArraySubset::new_with_start_shape(starts, lengths).map_err(|error| self.refuse(path, error))?;
        let chunks = node.chunks_in_array_subset(&subset).map_err(|error| self.refuse(path, error))?;
        for index in chunks.iter().flat_map(|chunks| chunks.indices().into_iter()) {
            let key = node.chunk_key(&index);
            if self.files.size_key(&key).is_ok_and(|size| size.is_none()) {
                return Err(self.refuse(path, format!("chunk `{key}` is missing")));
            }
        }
        let elements: Vec<T> = node.retrieve_array_subset(&subset).map_err(|error| {
            // Which one it was, zarrs does not say.
            let broken = chunks.iter().flat_map(|chunks| chunks.indices().into_iter()).find_map(|index| {
                let failed = node.retrieve_chunk_if_exists::<Vec<T>>(&index).err()?;
                Some(self.refuse(path, format!("chunk `{}`: {failed}", node.chunk_key(&index))))
            });
            broken.unwrap_or_else(|| self.refuse(path, error))
        })?;
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
