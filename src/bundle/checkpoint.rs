//! Finding a checkpoint without leaving the bundle.
//!
//! A manifest may come from anywhere: its path must be relative, free of `..`, and lead to
//! something that, all links followed, lies within the bundle. Only a manifest that says
//! `external` may name an absolute path.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::manifest::{CheckpointFormat, PolicyEntry};

/// The file or directory that restores the policy; on failure the rest of a sentence that begins
/// with the field's name.
///
/// # Errors
/// When the path is missing, leads out of the bundle, or does not resolve.
pub(super) fn resolve(bundle: &Path, policy: &PolicyEntry, format: CheckpointFormat) -> Result<PathBuf, String> {
    let named = policy.checkpoint.as_deref().ok_or("is missing")?;
    let path = if policy.external { external(named)? } else { internal(bundle, named)? };
    let found = match format {
        CheckpointFormat::Checkpoint if path.is_dir() => path,
        CheckpointFormat::Checkpoint => return Err(format!("names {named}, which is not a directory")),
        CheckpointFormat::Weights if path.is_dir() => weights_file(&path, named)?,
        CheckpointFormat::Weights => path,
    };
    if !policy.external {
        confine(bundle, &found, named)?;
    }
    Ok(found)
}

fn external(named: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(named);
    if !path.is_absolute() {
        return Err(format!("names {named}; an external checkpoint needs an absolute path"));
    }
    if !path.exists() {
        return Err(format!(
            "names {named}, which does not exist here: the bundle was exported with its checkpoint left outside \
             and works only where that path resolves"
        ));
    }
    Ok(path)
}

fn internal(bundle: &Path, named: &str) -> Result<PathBuf, String> {
    let relative = Path::new(named);
    let inside = relative.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !inside || named.is_empty() {
        return Err(format!("names {named}, which leads out of the bundle; it must be a plain relative path"));
    }
    let path = bundle.join(relative);
    if path.symlink_metadata().is_err() {
        return Err(format!("names {named}, which does not exist in the bundle"));
    }
    confine(bundle, &path, named)?;
    Ok(path)
}

/// The one file that a directory of weights holds.
fn weights_file(directory: &Path, named: &str) -> Result<PathBuf, String> {
    let unreadable = |cause: io::Error| format!("names {named}, which cannot be read: {cause}");
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).map_err(unreadable)? {
        files.push(entry.map_err(unreadable)?.path());
    }
    match <[PathBuf; 1]>::try_from(files) {
        Ok([file]) => Ok(file),
        Err(files) => Err(format!("names {named}, which holds {} files; weights are one file", files.len())),
    }
}

/// Fails when `path`, or anything below it, is a link out of `bundle`.
fn confine(bundle: &Path, path: &Path, named: &str) -> Result<(), String> {
    let unreadable = |cause: io::Error| format!("names {named}, which cannot be read: {cause}");
    let root = bundle.canonicalize().map_err(unreadable)?;
    let mut open = vec![path.to_owned()];
    while let Some(path) = open.pop() {
        if !path.canonicalize().map_err(unreadable)?.starts_with(&root) {
            return Err(format!("names {named}, in which a link leads out of the bundle"));
        }
        // A pipe would be waited for, a device read without an end.
        let about = path.metadata().map_err(unreadable)?;
        if !about.is_dir() && !about.is_file() {
            return Err(format!("names {named}, in which something is neither a file nor a directory"));
        }
        if path.symlink_metadata().map_err(unreadable)?.is_dir() {
            for entry in fs::read_dir(&path).map_err(unreadable)? {
                open.push(entry.map_err(unreadable)?.path());
            }
        }
    }
    Ok(())
}
