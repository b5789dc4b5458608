//! NumPy's `.npy` files, both ways: NEP 1 / `numpy.lib.format`, versions 1.0 to 3.0.
//!
//! What is read may come from anywhere: the header is parsed strictly and bounded, objects and
//! structures are refused by name, and memory grows with the bytes that arrive, not with the
//! shape that was promised. What is written is what `numpy.save` writes, byte for byte.

mod error;
mod header;
mod raw;

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;

pub use error::NpyError;

use super::{Array, Item, each, element_count, with_dtype};
use crate::atomic::StagedFile;
use header::{Element, Header};

/// The array that `reader` holds next; what follows it is left unread.
///
/// # Errors
/// [`NpyError`]: when it is no array that a number dtype holds, or less of it than its header says.
pub fn read(reader: &mut impl Read) -> Result<Array, NpyError> {
    read_at_most(reader, usize::MAX)
}

/// As [`read`], of an array whose elements take no more than `most` bytes here.
///
/// # Errors
/// Also when it is larger.
pub fn read_at_most(reader: &mut impl Read, most: usize) -> Result<Array, NpyError> {
    let header = Header::read(reader)?;
    let size = header.element.dtype().size();
    let fits = element_count(&header.shape).and_then(|count| count.checked_mul(size)).filter(|bytes| *bytes <= most);
    let count = fits.ok_or_else(|| NpyError::TooLarge { shape: header.shape.clone(), most })? / size;
    let array = match header.element {
        Element::Unsigned64 => raw::read_unsigned(reader, count, header.big_endian)?,
        Element::Item(dtype) => with_dtype!(dtype, T => raw::read::<T>(reader, count, header.big_endian)?),
    };
    let shape: Vec<usize> =
        if header.fortran_order { header.shape.iter().rev().copied().collect() } else { header.shape };
    let array = array.reshape(&shape).map_err(|problem| NpyError::Header(problem.to_string()))?;
    Ok(if header.fortran_order { array.transpose() } else { array })
}

/// The array in the file at `path`.
///
/// # Errors
/// As for [`read`], with the path.
pub fn open(path: &Path) -> Result<Array, NpyError> {
    open_at_most(path, usize::MAX)
}

/// As [`open`], of an array whose elements take no more than `most` bytes.
///
/// # Errors
/// Also when it is larger.
pub fn open_at_most(path: &Path, most: usize) -> Result<Array, NpyError> {
    let at = |cause: NpyError| cause.at(path);
    let file = File::open(path).map_err(|error| at(error.into()))?;
    read_at_most(&mut BufReader::new(file), most).map_err(at)
}

/// Writes `array` as one `.npy` file's content.
///
/// # Errors
/// What the system says.
pub fn write(writer: &mut impl Write, array: &Array) -> std::io::Result<()> {
    writer.write_all(&header::bytes(array.dtype(), array.shape()))?;
    each!(array, inner => raw::write(writer, inner.as_slice().unwrap_or_default()))
}

/// Writes `array` to the file at `path`, complete or not at all; its directory is made.
///
/// # Errors
/// What the system says, with the path.
pub fn save(path: &Path, array: &Array) -> Result<(), NpyError> {
    staged(path, |file| write(file, array))
}

/// Writes a file through `fill`, complete or not at all.
pub(super) fn staged(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<&File>) -> std::io::Result<()>,
) -> Result<(), NpyError> {
    let file = StagedFile::new(path).map_err(|error| NpyError::Write(error.to_string()))?;
    let mut writer = BufWriter::new(file.file());
    let written = fill(&mut writer).and_then(|()| writer.flush());
    drop(writer);
    written.map_err(|error| NpyError::Write(format!("cannot write {}: {error}", path.display())))?;
    file.commit().map_err(|error| NpyError::Write(error.to_string()))
}

/// An array of one axis.
fn vector<T: Item>(items: Vec<T>) -> Result<Array, NpyError> {
    Array::from_vec(&[items.len()], items).map_err(|problem| NpyError::Header(problem.to_string()))
}
