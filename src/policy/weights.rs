//! The weights file: `weights.safetensors` in the checkpoint directory.
//!
//! One float64 tensor called `weight`, in C order. The same weights give the same bytes.

use std::fs;
use std::path::{Path, PathBuf};

use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use super::PolicyError;

/// The file's name.
const FILE: &str = "weights.safetensors";
/// The tensor's name.
const TENSOR: &str = "weight";
/// The most that a file may hold beside the tensor itself.
const HEADER: u64 = 1 << 20;

/// Writes `weight`, of the given shape, below `dir` and returns the file's name there.
///
/// # Errors
/// When the file cannot be written.
pub(super) fn save(id: &str, dir: &Path, shape: [usize; 2], weight: &[f64]) -> Result<PathBuf, PolicyError> {
    let path = dir.join(FILE);
    let fail = |message: String| checkpoint_error(id, &path, message);
    let bytes: Vec<u8> = weight.iter().flat_map(|number| number.to_le_bytes()).collect();
    let view = TensorView::new(Dtype::F64, shape.to_vec(), &bytes).map_err(|cause| fail(cause.to_string()))?;
    let file = safetensors::serialize([(TENSOR, view)], None).map_err(|cause| fail(cause.to_string()))?;
    fs::write(&path, file).map_err(|cause| fail(cause.to_string()))?;
    Ok(PathBuf::from(FILE))
}

/// Reads the weights file `path`, which must hold a tensor of the given shape, into `weight`;
/// on failure `weight` is as it was.
///
/// # Errors
/// When the file is missing, damaged, of another shape, or holds numbers that are not finite.
pub(super) fn load(id: &str, path: &Path, shape: [usize; 2], weight: &mut [f64]) -> Result<(), PolicyError> {
    let fail = |message: String| checkpoint_error(id, path, message);
    let size = fs::metadata(path).map_err(|cause| fail(cause.to_string()))?.len();
    let expected = u64::try_from(weight.len()).unwrap_or(u64::MAX).saturating_mul(8);
    if size > expected.saturating_add(HEADER) {
        return Err(fail(format!("it has {size} bytes; weights of shape {shape:?} have {expected}")));
    }
    let bytes = fs::read(path).map_err(|cause| fail(cause.to_string()))?;
    let file = SafeTensors::deserialize(&bytes).map_err(|cause| fail(format!("not a safetensors file: {cause}")))?;
    let tensor = file.tensor(TENSOR).map_err(|_| fail(format!("it holds no tensor `{TENSOR}`")))?;
    if tensor.dtype() != Dtype::F64 || tensor.shape() != shape {
        let (dtype, found) = (tensor.dtype(), tensor.shape());
        return Err(fail(format!(
            "`{TENSOR}` is {dtype:?} of shape {found:?}; this policy needs F64 of shape {shape:?}"
        )));
    }
    let (numbers, _) = tensor.data().as_chunks::<8>();
    let read: Vec<f64> = numbers.iter().map(|number| f64::from_le_bytes(*number)).collect();
    if let Some(number) = read.iter().find(|number| !number.is_finite()) {
        return Err(fail(format!("`{TENSOR}` holds {number}; weights must be finite")));
    }
    for (slot, number) in weight.iter_mut().zip(read) {
        *slot = number;
    }
    Ok(())
}

/// A checkpoint that cannot be written or read.
pub(super) fn checkpoint_error(id: &str, path: &Path, message: String) -> PolicyError {
    PolicyError::Checkpoint { id: id.to_owned(), path: path.display().to_string(), message }
}
