//! Putting a directory where nothing is, once, whoever else tries.
//!
//! Linux renames without replacing, in one call. Where the file system does not know that call
//! (NFS, some FUSE), a claim decides: a directory beside the place, made and locked by whoever
//! puts something there. A claim whose process died is unlocked, and the next takes it over.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};

/// Renames the directory `from` to `to`, where nothing may be.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] where something is; when the system refuses.
pub(super) fn put(from: &Path, to: &Path) -> io::Result<()> {
    let exclusively = |from: &Path, to: &Path| Ok(renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE)?);
    put_with(from, to, &exclusively)
}

/// [`put`], with `exclusively` for the call that renames without replacing; where it fails for want
/// of that call, a claim decides.
///
/// # Errors
/// As for [`put`].
pub(super) fn put_with(from: &Path, to: &Path, exclusively: &dyn Fn(&Path, &Path) -> io::Result<()>) -> io::Result<()> {
    match exclusively(from, to) {
        Err(cause) if matches!(cause.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {
            by_claim(from, to)
        }
        Err(cause) if cause.kind() == io::ErrorKind::DirectoryNotEmpty => Err(io::ErrorKind::AlreadyExists.into()),
        renamed => renamed,
    }
}

/// Where a place is claimed.
#[must_use]
pub(super) fn claim_of(to: &Path) -> PathBuf {
    to.with_file_name(format!(".{}.claim", to.file_name().unwrap_or_default().to_string_lossy()))
}

fn by_claim(from: &Path, to: &Path) -> io::Result<()> {
    let claim = claim_of(to);
    let held = hold(&claim)?;
    let put = match to.symlink_metadata() {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(from, to),
    };
    // One that stays is taken over by the next.
    let _ = fs::remove_dir(&claim);
    drop(held);
    put
}

/// The claim, made and locked; waits for a living holder.
fn hold(claim: &Path) -> io::Result<File> {
    loop {
        match fs::create_dir(claim) {
            Err(cause) if cause.kind() != io::ErrorKind::AlreadyExists => return Err(cause),
            _ => {}
        }
        let directory = match File::open(claim) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => continue,
            opened => opened?,
        };
        directory.lock()?;
        // Its holder may have removed it meanwhile; then another may stand there.
        let (own, there) = (directory.metadata()?, fs::metadata(claim));
        if there.is_ok_and(|there| (there.dev(), there.ino()) == (own.dev(), own.ino())) {
            return Ok(directory);
        }
    }
}
