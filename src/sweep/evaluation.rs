//! Evaluating a sweep's traces: runs that differ in an axis are not repeats of each other.

use std::path::{Path, PathBuf};

use super::best::is_repeats;
use super::directory::Directory;
use super::error::SweepError;
use super::flat;
use crate::eval::{Material, Settings};
use crate::trace::row::IDENTITY_KEYS;

/// `settings` for the traces in `paths`: where some of these are sweeps' directories, groups are
/// also by their axes, but for seeds. Who groups by something of their own is left alone.
///
/// # Errors
/// When a sweep's header or plan cannot be read.
pub fn grouped_by_axes(mut settings: Settings, paths: &[PathBuf]) -> Result<Settings, SweepError> {
    if settings.group_by != Settings::default().group_by {
        return Ok(settings);
    }
    for path in paths {
        let directory = Directory::new(path);
        if !directory.holds_sweep() {
            continue;
        }
        for axis in axes(&directory)? {
            if !IDENTITY_KEYS.contains(&&*axis) && !is_repeats(&axis, "seed") && !settings.group_by.contains(&axis) {
                settings.group_by.push(axis);
            }
        }
    }
    Ok(settings)
}

/// The axes of the sweep, in order; a search's are those it has come to.
fn axes(directory: &Directory) -> Result<Vec<String>, SweepError> {
    let totals = directory.header()?.totals;
    if !totals.is_search() {
        return Ok(totals.axes);
    }
    let mut axes = totals.axes;
    for trial in directory.plan()? {
        for axis in flat(&trial?.point).into_keys() {
            if !axes.contains(&axis) {
                axes.push(axis);
            }
        }
    }
    Ok(axes)
}

/// Drops what reading says of runs that share an identity where they are trials of one sweep: the
/// axes and their directories tell them apart.
pub fn without_collisions_of_trials(material: &mut Material) {
    material.traces.warnings.retain(|warning| {
        let file = warning.file.as_deref().map(Path::new);
        warning.code != "identity_collision" || !file.is_some_and(is_of_trial)
    });
}

/// Whether the file stands in a trial's directory: `OUT/trials/TRIAL/FILE`.
fn is_of_trial(file: &Path) -> bool {
    let trials = file.ancestors().nth(2).filter(|place| place.ends_with("trials"));
    trials.and_then(Path::parent).is_some_and(|place| Directory::new(place).holds_sweep())
}
