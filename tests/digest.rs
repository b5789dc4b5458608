//! SHA-256 by its own library, without what is tested in between.

use sha2::{Digest, Sha256};

/// The digest of `bytes` in hexadecimal digits.
pub fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
