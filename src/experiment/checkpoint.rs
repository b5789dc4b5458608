//! Checkpoints: what lets a killed run go on to the very same bytes.
//!
//! Beside the trace stands one JSON file with the state of every part between two steps and the
//! length that the trace had then. It is replaced whole at the end of a window, and when the run
//! is interrupted; a run that goes on cuts the trace back to that length. A part that cannot be
//! saved leaves a run without checkpoints; asked to resume, such a run refuses at its start.

use std::fs;
use std::io;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::error::ResumeError;
use super::rollout::Rollout;
use crate::atomic::{self, AtomicError};
use crate::config::{ExperimentConfig, beside_as};
use crate::digest::sha256_hex;
use crate::snapshot::{self, SnapshotError};
use crate::text::json;
use crate::trace::Summary;
use crate::value::Value;

/// The layout of the file.
const VERSION: u64 = 1;
/// The key of the digest of everything else.
const SEAL: &str = "sha256";
/// Without a number of windows, checkpoints are at least this far apart: they cost next to nothing.
const APART: Duration = Duration::from_secs(5);

/// Whether and how a run is made resumable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checkpoints {
    /// A checkpoint after every so many windows; without it, at a window's end every few seconds.
    pub every: Option<NonZeroU64>,
    /// Go on from the checkpoint that stands beside the trace, if there is one.
    pub resume: bool,
}

/// Where the checkpoint of the run that writes `trace` stands: `out/traces.jsonl` has
/// `out/traces.checkpoint.json`.
#[must_use]
pub fn checkpoint_path(trace: &Path) -> PathBuf {
    beside_as(trace, "checkpoint.json")
}

/// Writes a run's checkpoints.
pub(super) struct Keeper {
    path: PathBuf,
    trace: PathBuf,
    every: Option<NonZeroU64>,
    config: String,
    last: Instant,
}

/// A checkpoint that was read.
pub(super) struct Checkpoint {
    /// How long the trace was.
    pub(super) length: u64,
    /// What had been written of it.
    pub(super) written: Summary,
    state: Value,
}

impl Keeper {
    /// What keeps the checkpoints of a run that writes `trace` under the configuration of the
    /// digest `config`; `None` where the run can have none and was not asked to resume.
    ///
    /// # Errors
    /// When it was asked to resume and cannot.
    pub(super) fn new(
        checkpoints: Checkpoints,
        trace: &Path,
        config: &ExperimentConfig,
        rollout: &Rollout<'_>,
    ) -> Result<Option<Self>, ResumeError> {
        let possible = check_trace(trace)
            .and_then(|()| parts(rollout).map(drop).map_err(|error| ResumeError::Part(named(error, config))));
        let keeper = Self {
            path: checkpoint_path(trace),
            trace: trace.to_owned(),
            every: checkpoints.every,
            config: config.sha256(),
            last: Instant::now(),
        };
        match possible {
            Ok(()) => Ok(Some(keeper)),
            Err(error) if checkpoints.resume => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// Whether a checkpoint is due at the end of window number `windows`, counted from 1.
    pub(super) fn due(&self, windows: u64) -> bool {
        match self.every {
            Some(every) => windows % every == 0,
            None => self.last.elapsed() >= APART,
        }
    }

    /// Writes a checkpoint; the trace was flushed. `Ok(false)` when a part can no longer be saved.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn keep(
        &mut self,
        rollout: &Rollout<'_>,
        state: Value,
        written: Summary,
    ) -> Result<Result<(), SnapshotError>, AtomicError> {
        let parts = match parts(rollout) {
            Ok(parts) => parts,
            Err(error) => return Ok(Err(error)),
        };
        let length = fs::metadata(&self.trace)
            .map_err(|source| AtomicError { path: self.trace.display().to_string(), source })?
            .len();
        let trace = snapshot::state([
            ("bytes", snapshot::count(length)),
            ("rows", snapshot::count(written.rows)),
            ("non_finite", snapshot::count(written.non_finite)),
            ("first_non_finite_step", written.first_non_finite_step.into()),
        ]);
        let document = snapshot::state([
            ("version", snapshot::count(VERSION)),
            ("skyfall", env!("CARGO_PKG_VERSION").into()),
            ("config_sha256", self.config.as_str().into()),
            ("trace", trace),
            ("run", state),
            ("parts", parts),
        ]);
        atomic::write_file(&self.path, sealed(document).as_bytes())?;
        self.last = Instant::now();
        Ok(Ok(()))
    }

    /// The checkpoint to go on from; `None` where there is none.
    ///
    /// # Errors
    /// When there is one that cannot be read, or it is of another run.
    pub(super) fn read(&self) -> Result<Option<Checkpoint>, ResumeError> {
        let path = || self.path.display().to_string();
        let text = match fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(ResumeError::Unreadable { path: path(), source }),
        };
        let damaged = |message: String| ResumeError::Damaged { path: path(), message };
        let document = json::parse(&text).map_err(|error| damaged(error.to_string()))?;
        let wrong = |error: SnapshotError| damaged(error.to_string());
        let text = |key| snapshot::read(&document, key, Value::as_text).map_err(wrong);
        let version = snapshot::read_count(&document, "version").map_err(wrong)?;
        if version != VERSION || text("skyfall")? != env!("CARGO_PKG_VERSION") {
            return Err(damaged("it was written by another version of skyfall".to_owned()));
        }
        if !is_sealed(&document) {
            return Err(damaged("it does not match its `sha256`".to_owned()));
        }
        if text("config_sha256")? != self.config {
            return Err(ResumeError::OtherConfig { path: path() });
        }
        let read = || {
            let trace = snapshot::entry(&document, "trace")?;
            let written = Summary {
                rows: snapshot::read_count(trace, "rows")?,
                non_finite: snapshot::read_count(trace, "non_finite")?,
                first_non_finite_step: snapshot::entry(trace, "first_non_finite_step")?.as_int(),
                ..Summary::default()
            };
            Ok((snapshot::read_count(trace, "bytes")?, written))
        };
        let (length, written) = read().map_err(wrong)?;
        Ok(Some(Checkpoint { length, written, state: document }))
    }

    /// A checkpoint whose state does not fit the parts.
    pub(super) fn misfit(&self, error: &SnapshotError) -> ResumeError {
        ResumeError::Damaged { path: self.path.display().to_string(), message: error.to_string() }
    }
}

impl Checkpoint {
    /// Brings every part back, and answers the loop's own state.
    ///
    /// # Errors
    /// When a part does not know its state again.
    pub(super) fn restore(&self, rollout: &mut Rollout<'_>) -> Result<&Value, SnapshotError> {
        let parts = snapshot::entry(&self.state, "parts")?;
        rollout.env.restore(snapshot::entry(parts, "env")?)?;
        // The policy before its algorithm, which may ask it for its size or play a candidate.
        rollout.algorithm.policy_mut().restore(snapshot::entry(parts, "policy")?)?;
        rollout.algorithm.restore(snapshot::entry(parts, "algorithm")?)?;
        rollout.provider.restore(snapshot::entry(parts, "regime")?)?;
        snapshot::entry(&self.state, "run")
    }
}

/// The text of a checkpoint, with the digest of what it says.
fn sealed(mut document: Value) -> String {
    let digest = sha256_hex(json::to_string(&document).as_bytes());
    if let Value::Map(map) = &mut document {
        map.insert(SEAL.to_owned(), digest.into());
    }
    json::to_string(&document)
}

/// Whether `document` is what [`sealed`] wrote.
fn is_sealed(document: &Value) -> bool {
    let mut rest = document.clone();
    let Value::Map(map) = &mut rest else { return false };
    let digest = map.shift_remove(SEAL);
    digest.is_some_and(|digest| digest.as_text() == Some(&*sha256_hex(json::to_string(&rest).as_bytes())))
}

/// Removes the checkpoint beside `trace`, if there is one, and what a process that was killed
/// while it wrote one left.
///
/// # Errors
/// When the system refuses.
pub(super) fn discard(trace: &Path) -> Result<(), AtomicError> {
    let path = checkpoint_path(trace);
    atomic::remove_staged(&path);
    match fs::remove_file(&path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(AtomicError { path: path.display().to_string(), source })
        }
        _ => Ok(()),
    }
}

/// Whether `trace` is, or will be, a file that can be cut back.
fn check_trace(trace: &Path) -> Result<(), ResumeError> {
    let path = trace.display().to_string();
    if trace.extension().is_some_and(|extension| extension == "gz" || extension == "zst") {
        return Err(ResumeError::Compressed { path });
    }
    if trace.exists() && !trace.is_file() { Err(ResumeError::NotAFile { path }) } else { Ok(()) }
}

/// The same, the algorithm and the policy called by the names the configuration has for them.
fn named(error: SnapshotError, config: &ExperimentConfig) -> SnapshotError {
    match error {
        SnapshotError::Unsupported { what, why } if what == "the algorithm" => {
            SnapshotError::unsupported(format!("algorithm `{}`", config.algorithm.name), why)
        }
        SnapshotError::Unsupported { what, why } if what == "the policy" => {
            let id = config.algorithm.policy.as_ref().map(|policy| policy.id.as_str());
            SnapshotError::unsupported(id.map_or(what, |id| format!("policy `{id}`")), why)
        }
        error => error,
    }
}

/// The state of every part.
fn parts(rollout: &Rollout<'_>) -> Result<Value, SnapshotError> {
    if let Some(reward) = &rollout.reward {
        reward.check_stateless()?;
    }
    // The algorithm before its policy: where both refuse, it is the one to be named.
    Ok(snapshot::state([
        ("env", rollout.env.snapshot()?),
        ("algorithm", rollout.algorithm.snapshot()?),
        ("policy", rollout.algorithm.policy().snapshot()?),
        ("regime", rollout.provider.snapshot()?),
    ]))
}
