//! Shapes of spaces, which come from outside.

use super::SpaceError;

/// The most elements of an array space: far beyond any observation, far below what exhausts
/// memory while a manifest is read.
const MOST: usize = 1 << 26;

/// How many elements `shape` holds.
pub(super) fn size(shape: &[usize]) -> Result<usize, SpaceError> {
    // Zeros count as ones here, so that no array of a zero length is refused elsewhere.
    let widest = shape.iter().try_fold(1_usize, |size, length| size.checked_mul((*length).max(1)));
    if widest.is_none_or(|widest| widest > MOST) {
        return Err(SpaceError::new("shape", format!("{shape:?} holds more elements than {MOST}")));
    }
    Ok(shape.iter().product())
}
