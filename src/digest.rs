//! SHA-256, as lower-case hexadecimal text.

use sha2::{Digest, Sha256};

/// The SHA-256 of `bytes`, 64 lower-case hexadecimal digits.
///
/// ```
/// assert!(skyfall::digest::sha256_hex(b"").starts_with("e3b0c44298fc1c14"));
/// ```
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// `bytes` as lower-case hexadecimal text.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).filter_map(|nibble| DIGITS.get(usize::from(nibble))).collect()
}
