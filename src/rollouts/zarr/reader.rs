//! Reading nodes.
//!
//! Documents say how an array lies on disk ([`layout`]); its rows are decoded chunk by chunk
//! ([`chunk`]) on every core, straight to where they belong ([`rows`]).

mod chunk;
mod layout;
mod rows;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use half::f16;

use super::directory::Directory;
use super::source::{Held, Source};
use super::{StoreError, document};
use crate::array::{Array, DType, Item};
use crate::text::json;
use crate::value::{Map, Value};
use layout::Layout;
use rows::Files;

/// Reads the nodes of a store.
#[derive(Debug)]
pub(in crate::rollouts) struct StoreReader {
    source: Arc<Source>,
    /// Whether the store says that every chunk is there.
    all_stored: bool,
}

/// One array of a store, whose rows are read as they are needed.
#[derive(Clone, Debug)]
pub(in crate::rollouts) struct Column {
    source: Arc<Source>,
    path: String,
    layout: Layout,
    all_stored: bool,
}

impl Column {
    pub(in crate::rollouts) fn dtype(&self) -> DType {
        self.layout.dtype
    }

    pub(in crate::rollouts) fn shape(&self) -> &[usize] {
        &self.layout.shape
    }

    /// The lengths of the parts that are compressed as one.
    pub(in crate::rollouts) fn chunk(&self) -> &[usize] {
        &self.layout.chunk
    }

    /// The rows `rows`, as far as there are any.
    pub(in crate::rollouts) fn rows(&self, rows: Range<usize>) -> Result<Array, StoreError> {
        let (rows, shape) = self.wanted(rows)?;
        let read = |target: &mut [u8]| self.read(&rows, target);
        let made = match self.layout.dtype {
            DType::Bool => booleans(&shape, read),
            DType::I8 => numbers::<i8>(&shape, read),
            DType::I16 => numbers::<i16>(&shape, read),
            DType::I32 => numbers::<i32>(&shape, read),
            DType::I64 => numbers::<i64>(&shape, read),
            DType::U8 => numbers::<u8>(&shape, read),
            DType::U16 => numbers::<u16>(&shape, read),
            DType::U32 => numbers::<u32>(&shape, read),
            DType::F16 => numbers::<f16>(&shape, read),
            DType::F32 => numbers::<f32>(&shape, read),
            DType::F64 => numbers::<f64>(&shape, read),
        };
        made.map_err(|what| self.refuse(what))
    }

    /// The bytes of the rows `rows` in C order, little-endian.
    pub(in crate::rollouts) fn bytes(&self, rows: Range<usize>) -> Result<Vec<u8>, StoreError> {
        let (rows, shape) = self.wanted(rows)?;
        let mut bytes = vec![0; shape.iter().product::<usize>() * self.layout.dtype.size()];
        self.read(&rows, &mut bytes).map_err(|what| self.refuse(what))?;
        if cfg!(target_endian = "big") {
            bytes.chunks_exact_mut(self.layout.dtype.size()).for_each(<[u8]>::reverse);
        }
        Ok(bytes)
    }

    /// The rows of `rows` that there are and their shape, if the array's files can hold them.
    fn wanted(&self, rows: Range<usize>) -> Result<(Range<usize>, Vec<usize>), StoreError> {
        let mut shape = self.layout.shape.clone();
        let Some(first) = shape.first_mut() else { return Err(self.refuse("it has no axes".to_owned())) };
        let start = rows.start.min(*first);
        let rows = start..rows.end.min(*first).max(start);
        *first = rows.len();
        if !shape.contains(&0) {
            self.files().check(&rows).map_err(|what| self.refuse(what))?;
        }
        Ok((rows, shape))
    }

    fn read(&self, rows: &Range<usize>, target: &mut [u8]) -> Result<(), String> {
        if target.is_empty() { Ok(()) } else { self.files().read(rows, target) }
    }

    fn files(&self) -> Files<'_> {
        Files { layout: &self.layout, source: &self.source, path: &self.path, all_stored: self.all_stored }
    }

    fn refuse(&self, what: String) -> StoreError {
        self.source.fault().unwrap_or_else(|| StoreError::node(self.source.root(), &self.path, what))
    }
}

/// An array whose elements' bytes `read` gives.
fn numbers<T: Item + bytemuck::Pod>(
    shape: &[usize],
    read: impl FnOnce(&mut [u8]) -> Result<(), String>,
) -> Result<Array, String> {
    let mut items = vec![T::zeroed(); shape.iter().product()];
    read(bytemuck::cast_slice_mut(&mut items))?;
    Array::from_vec(shape, items).map_err(|error| error.to_string())
}

fn booleans(shape: &[usize], read: impl FnOnce(&mut [u8]) -> Result<(), String>) -> Result<Array, String> {
    let mut bytes = vec![0_u8; shape.iter().product()];
    read(&mut bytes)?;
    if bytes.iter().any(|byte| *byte > 1) {
        return Err("it holds what is neither true nor false".to_owned());
    }
    let items: Vec<bool> = bytes.into_iter().map(|byte| byte == 1).collect();
    Array::from_vec(shape, items).map_err(|error| error.to_string())
}

impl StoreReader {
    /// Opens the store at `path`, a directory or an address.
    pub(in crate::rollouts) fn open(path: &Path) -> Result<Self, StoreError> {
        let mut reader = Self { source: Arc::new(Source::at(path)?), all_stored: false };
        let not_a_store = |what: String| StoreError::NotAStore { path: path.to_owned(), what };
        match reader.node("") {
            Ok(Some(node)) if is(&node, "group") => {
                let stored = node.get("attributes").and_then(Value::as_map).and_then(|map| map.get("chunks_stored"));
                reader.all_stored = stored.and_then(Value::as_text) == Some("all");
                Ok(reader)
            }
            Ok(Some(_)) => Err(not_a_store("its `zarr.json` does not describe a group of Zarr v3".to_owned())),
            Ok(None) => Err(not_a_store("it has no `zarr.json`".to_owned())),
            Err(StoreError::Node { what, .. }) => Err(not_a_store(what)),
            Err(error) => Err(error),
        }
    }

    /// A store that its writer has not finished: it has no root yet, and every chunk there is.
    pub(in crate::rollouts) fn unfinished(directory: &Path) -> Self {
        Self { source: Arc::new(Source::Directory(Directory::new(directory))), all_stored: true }
    }

    /// The bytes of a file that stands beside the nodes, or `None` where there is none.
    pub(in crate::rollouts) fn file(&self, name: &str) -> std::io::Result<Option<Vec<u8>>> {
        self.source.read(name)
    }

    /// Where such a file is, if the store is a directory.
    pub(in crate::rollouts) fn local(&self, name: &str) -> Option<PathBuf> {
        matches!(&*self.source, Source::Directory(_)).then(|| self.source.path(name))
    }

    /// Whether a file of this name, or anything else, stands beside the nodes.
    pub(in crate::rollouts) fn has_file(&self, name: &str) -> bool {
        self.source.exists(name)
    }

    /// What the whole store takes.
    pub(in crate::rollouts) fn held(&self) -> Held {
        self.source.held("")
    }

    /// Makes ready for reading nearly all of the store.
    pub(in crate::rollouts) fn prefetch(&self) {
        self.source.prefetch();
    }

    /// Why the store could not be read, if that was its storage's fault and not its own.
    pub(in crate::rollouts) fn fault(&self) -> Option<StoreError> {
        self.source.fault()
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

    /// Whether `path` has a document, whatever it says.
    pub(in crate::rollouts) fn is_there(&self, path: &str) -> bool {
        self.source.exists(&document::key(path))
    }

    /// Whether `path` is a group.
    pub(in crate::rollouts) fn has_group(&self, path: &str) -> bool {
        self.group(path).unwrap_or(false)
    }

    /// Whether `path` is a group, if what is there can be read.
    pub(in crate::rollouts) fn group(&self, path: &str) -> Result<bool, StoreError> {
        Ok(self.node(path)?.is_some_and(|node| is(&node, "group")))
    }

    /// Whether `path` is an array.
    pub(in crate::rollouts) fn has_array(&self, path: &str) -> bool {
        matches!(self.node(path), Ok(Some(node)) if is(&node, "array"))
    }

    /// The names of the arrays in a group, sorted.
    pub(in crate::rollouts) fn arrays(&self, group: &str) -> Vec<String> {
        let mut names = self.source.names(group).unwrap_or_default();
        names.retain(|name| self.has_array(&format!("{group}/{name}")));
        names
    }

    /// The paths of all groups and arrays, sorted; the root is `""`.
    pub(in crate::rollouts) fn nodes(&self) -> Result<Vec<String>, StoreError> {
        let mut paths = vec![String::new()];
        let mut next = 0;
        while let Some(path) = paths.get(next).cloned() {
            next += 1;
            if !self.has_group(&path) {
                continue;
            }
            let failed = |error| StoreError::files(&self.source.path(&path), error);
            for name in self.source.names(&path).map_err(failed)? {
                let below = if path.is_empty() { name } else { format!("{path}/{name}") };
                if self.is_there(&below) {
                    paths.push(below);
                }
            }
        }
        paths.sort_unstable();
        Ok(paths)
    }

    /// The keys of files that are no part of a group or array, sorted; those called one of `beside`
    /// may stand beside the root's document.
    pub(in crate::rollouts) fn strangers(&self, beside: &[&str]) -> Result<Vec<String>, StoreError> {
        let mut nodes = BTreeMap::new();
        for path in self.nodes()? {
            let layout = if self.has_array(&path) { Some(self.layout(&path)?) } else { None };
            nodes.insert(path, layout);
        }
        let is_part = |key: &String| {
            let (parent, name) = key.rsplit_once('/').unwrap_or(("", key));
            let is_chunk = || {
                let mut ends = key.match_indices('/').map(|(end, _)| key.split_at(end));
                ends.any(|(path, rest)| match nodes.get(path) {
                    Some(Some(layout)) => layout.has_key(rest.trim_start_matches('/')),
                    _ => false,
                })
            };
            parent.is_empty() && beside.contains(&name)
                || name == "zarr.json" && nodes.contains_key(parent)
                || is_chunk()
        };
        let mut keys = self.source.keys().map_err(|error| StoreError::files(self.source.root(), error))?;
        keys.retain(|key| !is_part(key));
        Ok(keys)
    }

    /// A node's whole document.
    pub(in crate::rollouts) fn document(&self, path: &str) -> Result<Map, StoreError> {
        self.node(path)?.ok_or_else(|| self.refuse(path, "there is no such group or array"))
    }

    /// An array's element type and lengths, without reading its chunks.
    pub(in crate::rollouts) fn shape(&self, path: &str) -> Result<(DType, Vec<usize>), StoreError> {
        let layout = self.layout(path)?;
        Ok((layout.dtype, layout.shape))
    }

    /// A whole array.
    pub(in crate::rollouts) fn array(&self, path: &str) -> Result<Array, StoreError> {
        self.rows(path, 0..usize::MAX)
    }

    /// The rows `rows` of an array, as far as it has them: a range of its first axis.
    pub(in crate::rollouts) fn rows(&self, path: &str, rows: Range<usize>) -> Result<Array, StoreError> {
        self.column(path)?.rows(rows)
    }

    /// An array whose rows are to be read part by part: its document is read once.
    pub(in crate::rollouts) fn column(&self, path: &str) -> Result<Column, StoreError> {
        let layout = self.layout(path)?;
        let (source, path) = (Arc::clone(&self.source), path.to_owned());
        Ok(Column { source, path, layout, all_stored: self.all_stored })
    }

    /// The document of a node, or `None` where there is none.
    fn node(&self, path: &str) -> Result<Option<Map>, StoreError> {
        let key = document::key(path);
        let bytes = self.source.read(&key).map_err(|error| StoreError::files(&self.source.path(&key), error))?;
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

    fn layout(&self, path: &str) -> Result<Layout, StoreError> {
        Layout::of(&self.array_node(path)?).map_err(|what| self.refuse(path, what))
    }

    fn refuse(&self, path: &str, what: impl std::fmt::Display) -> StoreError {
        let node = if path.is_empty() { "the root" } else { path };
        StoreError::node(self.source.root(), node, what)
    }
}

/// Whether a document describes a node of this kind in Zarr v3.
fn is(node: &Map, kind: &str) -> bool {
    node.get("zarr_format") == Some(&Value::Int(3)) && node.get("node_type").and_then(Value::as_text) == Some(kind)
}
