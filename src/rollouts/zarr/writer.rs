//! Writing nodes.

use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;
use zarrs::array::CodecOptions;
use zarrs::array::{ArrayMetadata, Element};

use super::directory::Directory;
use super::{Codec, StoreError, document};
use crate::array::{Array, each};
use crate::value::Map;

type Node = zarrs::array::Array<Directory>;

/// Writes a store's nodes into a directory of its own.
pub(in crate::rollouts) struct StoreWriter {
    files: Arc<Directory>,
}

impl StoreWriter {
    /// A writer into `directory`, which is made when the first node is written.
    pub(in crate::rollouts) fn new(directory: &Path) -> Self {
        Self { files: Arc::new(Directory::new(directory)) }
    }

    /// Writes a group (`""` is the root); floats that are not finite become texts.
    pub(in crate::rollouts) fn group(&self, path: &str, attributes: &Map) -> Result<(), StoreError> {
        self.document(path, &document::group(attributes))
    }

    /// Writes an array in chunks of `chunks`, which may split the first axis only; the last chunk
    /// is padded with zeros. An array without rows has chunks of length 1 and no chunk file.
    pub(in crate::rollouts) fn array(
        &self,
        path: &str,
        array: &Array,
        chunks: &[usize],
        codec: Codec,
    ) -> Result<(), StoreError> {
        let refuse = |what: &dyn std::fmt::Display| StoreError::node(self.files.root(), path, what);
        let shape = array.shape();
        let (Some((rows, inner)), Some((chunk_rows, inner_chunks))) = (shape.split_first(), chunks.split_first())
        else {
            return Err(refuse(&"an array of a store has at least one axis"));
        };
        let inner: Vec<usize> = inner.iter().map(|length| (*length).max(1)).collect();
        if inner != inner_chunks {
            return Err(refuse(&format!("chunks {chunks:?} split more than the first axis of {shape:?}")));
        }
        let chunk_rows = if *rows == 0 { 1 } else { (*chunk_rows).max(1) };
        let chunks: Vec<usize> = std::iter::once(chunk_rows).chain(inner).collect();

        let text = document::array(array, &chunks, codec);
        let metadata = ArrayMetadata::try_from(text.as_str()).map_err(|error| refuse(&error))?;
        let node = Node::new_with_metadata(Arc::clone(&self.files), &format!("/{path}"), metadata)
            .map_err(|error| refuse(&error))?;
        let length = chunks.iter().product();
        each!(array, inner => match inner.as_slice() {
            Some(elements) => store(&node, elements, length),
            None => store(&node, &inner.iter().copied().collect::<Vec<_>>(), length),
        })
        .map_err(|error| refuse(&error))?;
        self.document(path, &text)
    }

    fn document(&self, path: &str, text: &str) -> Result<(), StoreError> {
        let key = document::key(path);
        self.files.write(&key, text.as_bytes()).map_err(|error| StoreError::files(&self.files.path(&key), error))
    }
}

/// Stores `elements` as chunks of `length` along the first axis, on every core.
fn store<T>(node: &Node, elements: &[T], length: usize) -> Result<(), zarrs::array::ArrayError>
where
    T: Element + Default + Copy + Send + Sync,
{
    let options = CodecOptions::default().with_concurrent_target(1).with_store_empty_chunks(true);
    let rank = node.dimensionality();
    elements.par_chunks(length).enumerate().try_for_each(|(position, part)| {
        let mut index = vec![0; rank];
        if let Some(first) = index.first_mut() {
            *first = position as u64;
        }
        if part.len() == length {
            return node.store_chunk_opt(&index, part, &options);
        }
        let mut padded = part.to_vec();
        padded.resize(length, T::default());
        node.store_chunk_opt(&index, padded, &options)
    })
}
