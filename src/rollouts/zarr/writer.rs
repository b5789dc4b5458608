//! Writing nodes.

use std::path::Path;
use std::sync::Arc;

use super::directory::Directory;
use super::layout::Layout;
use super::stream::ArrayStream;
use super::{StoreError, document};
use crate::array::{Array, DType, each};
use crate::value::Map;

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
        let key = document::key(path);
        let text = document::group(attributes);
        self.files.write(&key, text.as_bytes()).map_err(|error| StoreError::files(&self.files.path(&key), error))
    }

    /// Starts an array whose rows have the shape `tail`.
    pub(in crate::rollouts) fn stream(&self, path: &str, dtype: DType, tail: &[usize], layout: Layout) -> ArrayStream {
        ArrayStream::new(Arc::clone(&self.files), path.to_owned(), dtype, tail.to_vec(), layout)
    }

    /// Writes a whole array of at least one axis.
    pub(in crate::rollouts) fn array(&self, path: &str, array: &Array, layout: Layout) -> Result<(), StoreError> {
        let mut stream = self.stream(path, array.dtype(), array.shape().get(1..).unwrap_or_default(), layout);
        each!(array, inner => match inner.as_slice() {
            Some(elements) => stream.push(bytemuck::cast_slice(elements)),
            None => stream.push(bytemuck::cast_slice(&inner.iter().copied().collect::<Vec<_>>())),
        })?;
        stream.finish()
    }
}
