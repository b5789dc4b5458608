//! SHA-256, as lower-case hexadecimal text.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use sha2::{Digest, Sha256};

/// The SHA-256 of `bytes`, 64 lower-case hexadecimal digits.
#[must_use]
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The SHA-256 of a file's bytes, however many.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn sha256_of_file(path: &Path) -> io::Result<String> {
    let mut file = BufReader::with_capacity(1 << 20, File::open(path)?);
    let mut digest = Sha256::new();
    loop {
        let bytes = file.fill_buf()?;
        if bytes.is_empty() {
            return Ok(hex(&digest.finalize()));
        }
        digest.update(bytes);
        let read = bytes.len();
        file.consume(read);
    }
}

/// `bytes` as lower-case hexadecimal text.
#[must_use]
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).filter_map(|nibble| DIGITS.get(usize::from(nibble))).collect()
}
