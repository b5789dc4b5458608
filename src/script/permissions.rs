//! What a script may touch: paths below the directories it was given, and nothing else unless
//! the user lifts it on the command line.

use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::object::Address;

/// The permissions of one script.
#[derive(Clone, Debug, Default)]
pub struct Permissions {
    roots: Vec<PathBuf>,
    /// Paths are not confined.
    pub all_paths: bool,
    /// `os.getenv` answers.
    pub environment: bool,
    /// `os.execute` and `io.popen` work.
    pub processes: bool,
}

impl Permissions {
    /// Adds a directory below which the script may read and write, or an address on object storage
    /// below which it may read.
    ///
    /// # Errors
    /// When the directory does not exist, or the address is none.
    pub fn allow(&mut self, directory: &Path) -> io::Result<()> {
        self.roots.push(match Address::of(directory) {
            Some(address) => address.map_err(io::Error::other)?.path(),
            None => directory.canonicalize()?,
        });
        Ok(())
    }

    /// `path`, if the script may touch it. Symbolic links and `..` are resolved first, so that
    /// neither leads out; of a path that does not exist yet, its nearest existing ancestor is
    /// what counts.
    ///
    /// # Errors
    /// One line that names the path and what would allow it.
    pub fn check(&self, path: &Path) -> Result<PathBuf, String> {
        check_text(path)?;
        if self.all_paths {
            return Ok(path.to_owned());
        }
        if let Some(address) = Address::of(path) {
            let path = address.map_err(|error| error.to_string())?.path();
            return if self.roots.iter().any(|root| path.starts_with(root)) {
                Ok(path)
            } else {
                Err(format!("{} is not among what this script may read (allow it with --allow-path)", path.display()))
            };
        }
        let resolved = resolve(path).map_err(|error| format!("cannot resolve {}: {error}", path.display()))?;
        if self.roots.iter().any(|root| resolved.starts_with(root)) {
            Ok(path.to_owned())
        } else {
            Err(format!(
                "{} lies outside the directories this script may touch (allow it with --allow-path DIR)",
                path.display()
            ))
        }
    }
}

/// What is to be done with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Only read.
    Read,
    /// Also written.
    Write,
}

/// One directory, and nothing beside it: what a policy's own `save` and `load` may touch.
#[derive(Clone, Debug)]
pub(super) struct Confinement {
    directory: PathBuf,
    access: Access,
}

impl Confinement {
    /// To `directory`, which must exist.
    ///
    /// # Errors
    /// When it does not.
    pub(super) fn new(directory: &Path, access: Access) -> io::Result<Self> {
        Ok(Self { directory: directory.canonicalize()?, access })
    }

    /// `path`, if it lies within and is to be touched no more than allowed.
    ///
    /// # Errors
    /// One line that names the path.
    pub(super) fn check(&self, path: &Path, access: Access) -> Result<PathBuf, String> {
        check_text(path)?;
        let resolved = resolve(path).map_err(|error| format!("cannot resolve {}: {error}", path.display()))?;
        if !resolved.starts_with(&self.directory) {
            return Err(format!("{} lies outside the checkpoint directory", path.display()));
        }
        if access == Access::Write && self.access == Access::Read {
            return Err(format!("{} may only be read while a policy is loaded", path.display()));
        }
        Ok(resolved)
    }
}

/// Refuses what the system would understand otherwise than it was checked: it reads no further than
/// a zero byte.
fn check_text(path: &Path) -> Result<(), String> {
    if path.as_os_str().as_encoded_bytes().contains(&0) {
        return Err(format!("`{}` is not a path: it has a zero byte", path.display().to_string().escape_debug()));
    }
    Ok(())
}

/// The absolute path without symbolic links or `..`, of which the last parts need not exist.
fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut existing = std::path::absolute(path)?;
    let mut missing: Vec<OsString> = Vec::new();
    loop {
        // `symlink_metadata`: a dangling link exists, and must not pass for a missing file.
        if existing.symlink_metadata().is_ok() {
            let mut resolved = existing.canonicalize()?;
            resolved.extend(missing.iter().rev());
            return Ok(resolved);
        }
        match existing.components().next_back() {
            Some(Component::Normal(name)) => missing.push(name.to_owned()),
            _ => return Err(io::Error::new(io::ErrorKind::NotFound, "`..` below a directory that does not exist")),
        }
        existing.pop();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn links_and_dots_do_not_lead_out() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().join("in");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(scratch.path().join("secret"), "x").unwrap();
        std::os::unix::fs::symlink(scratch.path(), root.join("up")).unwrap();
        std::os::unix::fs::symlink(scratch.path().join("absent"), root.join("dangling")).unwrap();
        let mut permissions = Permissions::default();
        permissions.allow(&root).unwrap();
        assert!(permissions.check(&root.join("a/b/c.txt")).is_ok());
        for outside in ["../secret", "up/secret", "up/new", "dangling", "nowhere/../../secret"] {
            assert!(permissions.check(&root.join(outside)).is_err(), "{outside}");
        }
    }
}
