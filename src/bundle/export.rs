//! Exporting: a whole directory appears, or nothing does.

use std::fs;
use std::path::{Path, PathBuf};

use super::manifest::{CheckpointFormat, EnvEntry, Manifest, PolicyEntry};
use super::{Bundle, BundleError, CHECKPOINT, MANIFEST};
use crate::atomic::{AtomicError, StagedDirectory};
use crate::experiment::Experiment;
use crate::policy::Checkpoint;
use crate::value::Map;

/// How a bundle is exported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExportOptions {
    /// Leave the checkpoint outside, in the directory called `<bundle>-checkpoint` beside it, and
    /// record its absolute path: the bundle then works only where that path resolves.
    pub external: bool,
}

/// Writes the bundle of `experiment` to `dir`, in place of an earlier bundle there.
///
/// # Errors
/// When a part cannot be recorded by value, `dir` holds something that is not a bundle, or the
/// system refuses; what was at `dir` is then untouched.
pub fn export(experiment: &Experiment, dir: &Path, options: ExportOptions) -> Result<(), BundleError> {
    let reward = experiment.reward_record()?;
    let regime = experiment.regime_record()?;
    let (env_code, policy_code) = (experiment.env_code()?, experiment.policy_code()?);
    let outside = options.external.then(|| outside(dir)).transpose()?;
    refuse_occupied(dir, outside.as_deref())?;

    let staged = StagedDirectory::new(dir)?;
    let staged_outside = outside.as_deref().map(StagedDirectory::new).transpose()?;
    let inside = staged.path().join(CHECKPOINT);
    let checkpoint = staged_outside.as_ref().map_or(&*inside, StagedDirectory::path);
    fs::create_dir_all(checkpoint).map_err(|source| written(dir, source))?;
    let format = match experiment.algorithm().policy().save(checkpoint)? {
        Checkpoint::Weights(_) => Some(CheckpointFormat::Weights),
        Checkpoint::Directory => Some(CheckpointFormat::Checkpoint),
        Checkpoint::Nothing => None,
    };
    let config = experiment.config();
    let policy = config.algorithm.policy.as_ref();
    let place = outside.as_ref().map_or_else(|| CHECKPOINT.to_owned(), |path| path.display().to_string());
    let manifest = Manifest {
        policy: PolicyEntry {
            id: policy.map(|policy| policy.id.clone()),
            kwargs: policy.map(|policy| policy.kwargs.clone()).unwrap_or_default(),
            format,
            checkpoint: format.map(|_| place),
            external: format.is_some() && outside.is_some(),
            lua: policy_code,
        },
        observation_space: Some(experiment.env().observation_space().encode()),
        action_space: Some(experiment.env().action_space().encode()),
        reward_spec: reward.map(|reward| reward.to_value()),
        env: EnvEntry {
            id: config.env.id.clone(),
            kwargs: config.env.kwargs.clone(),
            wrappers: config.env.wrappers.clone(),
            lua: env_code,
        },
        regime,
        run: experiment.identity(),
        provenance: experiment.env().describe(),
        unknown: Map::new(),
    };
    if format.is_none() {
        fs::remove_dir_all(checkpoint).map_err(|source| written(dir, source))?;
    }
    fs::write(staged.path().join(MANIFEST), manifest.to_yaml()).map_err(|source| written(dir, source))?;
    if let Some(staged) = staged_outside.filter(|_| format.is_some()) {
        staged.commit()?;
    }
    Ok(staged.commit()?)
}

/// The directory beside `dir` that takes an external checkpoint, as an absolute path.
fn outside(dir: &Path) -> Result<PathBuf, BundleError> {
    let absolute = std::path::absolute(dir).map_err(|source| written(dir, source))?;
    let name = absolute.file_name().unwrap_or_default().to_string_lossy();
    Ok(absolute.with_file_name(format!("{name}-checkpoint")))
}

/// Whether [`export`] would find `dir` fit to be written: for the time before a long run.
///
/// # Errors
/// When `dir` holds something that is not a bundle.
pub(crate) fn check_target(dir: &Path, options: ExportOptions) -> Result<(), BundleError> {
    let outside = options.external.then(|| outside(dir)).transpose()?;
    refuse_occupied(dir, outside.as_deref())
}

/// Removes the bundle that an earlier run left at `dir`, so that none stands beside the trace of a
/// run that it is not of; for a directory that [`check_target`] found fit.
///
/// # Errors
/// When the system refuses.
pub(crate) fn discard(dir: &Path, options: ExportOptions) -> Result<(), BundleError> {
    let outside = options.external.then(|| outside(dir)).transpose()?;
    for stale in [Some(dir), outside.as_deref()].into_iter().flatten().filter(|path| path.is_dir()) {
        // It goes at once, and with it what is in it.
        let staged = StagedDirectory::new(stale)?;
        fs::rename(stale, staged.path().join(CHECKPOINT)).map_err(|source| written(stale, source))?;
    }
    Ok(())
}

/// Fails when `dir` or `outside` holds anything but what an earlier export left.
fn refuse_occupied(dir: &Path, outside: Option<&Path>) -> Result<(), BundleError> {
    let earlier = Bundle::open(dir).ok();
    let empty = |path: &Path| {
        path.symlink_metadata().is_err() || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
    };
    if earlier.is_none() && !empty(dir) {
        return Err(BundleError::Occupied { dir: dir.display().to_string() });
    }
    let Some(outside) = outside.filter(|outside| !empty(outside)) else { return Ok(()) };
    let policy = earlier.map(|bundle| bundle.manifest().policy.clone()).unwrap_or_default();
    let ours = policy.external && policy.checkpoint.is_some_and(|path| Path::new(&path) == outside);
    if ours { Ok(()) } else { Err(BundleError::Occupied { dir: outside.display().to_string() }) }
}

fn written(dir: &Path, source: std::io::Error) -> BundleError {
    BundleError::Write(AtomicError { path: dir.display().to_string(), source })
}
