//! Words as a POSIX shell reads them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// `word` so that a shell reads exactly it: as it stands where nothing in it means anything to
/// a shell, else between single quotes.
pub(super) fn quoted(word: &OsStr) -> Vec<u8> {
    let bytes = word.as_bytes();
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./:=,@+%".contains(byte);
    if !bytes.is_empty() && bytes.iter().all(plain) {
        return bytes.to_vec();
    }
    let mut quoted = vec![b'\''];
    for byte in bytes {
        match byte {
            b'\'' => quoted.extend(br"'\''"),
            byte => quoted.push(*byte),
        }
    }
    quoted.push(b'\'');
    quoted
}
