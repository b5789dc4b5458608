//! The weights file: `weights.safetensors` in the checkpoint directory.
//!
//! A policy's parameters are one flat vector; the file cuts it into named float64 tensors in C
//! order. The same weights give the same bytes, and what is read back is equal bit for bit.

use std::fs;
use std::path::{Path, PathBuf};

use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use super::PolicyError;

/// The file's name.
const FILE: &str = "weights.safetensors";
/// The most that a file may hold beside the tensors themselves.
const HEADER: u64 = 1 << 20;

/// A named piece of the flat vector; pieces follow each other without gaps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tensor<'a> {
    pub(super) name: &'a str,
    pub(super) shape: &'a [usize],
}

impl Tensor<'_> {
    fn len(&self) -> usize {
        self.shape.iter().product()
    }
}

/// Writes `parameters`, cut into `tensors`, below `dir` and returns the file's name there.
///
/// # Errors
/// When a parameter is not finite or the file cannot be written.
pub(super) fn save(id: &str, dir: &Path, tensors: &[Tensor<'_>], parameters: &[f64]) -> Result<PathBuf, PolicyError> {
    let path = dir.join(FILE);
    let fail = |message: String| checkpoint_error(id, &path, message);
    if let Some(number) = parameters.iter().find(|number| !number.is_finite()) {
        return Err(fail(format!("a weight is {number}: learning diverged, so there is nothing to restore")));
    }
    let bytes: Vec<u8> = parameters.iter().flat_map(|number| number.to_le_bytes()).collect();
    let mut rest = &*bytes;
    let mut views = Vec::with_capacity(tensors.len());
    for tensor in tensors {
        let (piece, after) = rest.split_at_checked(tensor.len() * 8).unwrap_or_default();
        rest = after;
        let view = TensorView::new(Dtype::F64, tensor.shape.to_vec(), piece);
        views.push((tensor.name, view.map_err(|cause| fail(cause.to_string()))?));
    }
    let file = safetensors::serialize(views, None).map_err(|cause| fail(cause.to_string()))?;
    fs::write(&path, file).map_err(|cause| fail(cause.to_string()))?;
    Ok(PathBuf::from(FILE))
}

/// Reads the weights file `path`, which must hold `tensors`, into `parameters`; on failure
/// `parameters` is as it was.
///
/// # Errors
/// When the file is missing, damaged, of other shapes, or holds numbers that are not finite.
pub(super) fn load(id: &str, path: &Path, tensors: &[Tensor<'_>], parameters: &mut [f64]) -> Result<(), PolicyError> {
    let fail = |message: String| checkpoint_error(id, path, message);
    let size = fs::metadata(path).map_err(|cause| fail(cause.to_string()))?.len();
    let expected = u64::try_from(parameters.len()).unwrap_or(u64::MAX).saturating_mul(8);
    if size > expected.saturating_add(HEADER) {
        return Err(fail(format!("it has {size} bytes; this policy's weights have {expected}")));
    }
    let bytes = fs::read(path).map_err(|cause| fail(cause.to_string()))?;
    let file = SafeTensors::deserialize(&bytes).map_err(|cause| fail(format!("not a safetensors file: {cause}")))?;
    let mut read: Vec<f64> = Vec::with_capacity(parameters.len());
    for Tensor { name, shape } in tensors {
        let tensor = file.tensor(name).map_err(|_| fail(format!("it holds no tensor `{name}`")))?;
        if tensor.dtype() != Dtype::F64 || tensor.shape() != *shape {
            let (dtype, found) = (tensor.dtype(), tensor.shape());
            return Err(fail(format!(
                "`{name}` is {dtype:?} of shape {found:?}; this policy needs F64 of shape {shape:?}"
            )));
        }
        let (numbers, _) = tensor.data().as_chunks::<8>();
        let from = read.len();
        read.extend(numbers.iter().map(|number| f64::from_le_bytes(*number)));
        if let Some(number) = read.iter().skip(from).find(|number| !number.is_finite()) {
            return Err(fail(format!("`{name}` holds {number}; weights must be finite")));
        }
    }
    for (slot, number) in parameters.iter_mut().zip(read) {
        *slot = number;
    }
    Ok(())
}

/// A checkpoint that cannot be written or read.
pub(super) fn checkpoint_error(id: &str, path: &Path, message: String) -> PolicyError {
    PolicyError::Checkpoint { id: id.to_owned(), path: path.display().to_string(), message }
}
