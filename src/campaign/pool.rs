//! Many shards on one machine: those that are not there yet, each in a process of its own, some at
//! a time. What a process does to itself only touches its own shard.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::promotion::is_taken;
use super::run::INSUFFICIENT_SUPPORT;
use super::sidecar;
use super::site::Site;
use crate::diagnostic::Exit;
use crate::rollouts::ShardEntry;
use crate::sweep::kept::Kept;
use crate::sweep::pool::{Failure, Running};
use crate::value::Value;

/// How often it is looked whether to stop.
const LOOK: Duration = Duration::from_millis(100);

/// How a shard's process is started: `program arguments... --only SHARD_ID`.
#[derive(Clone, Debug)]
pub(crate) struct Launcher {
    /// The program.
    pub program: PathBuf,
    /// Its arguments, but for the shard.
    pub arguments: Vec<OsString>,
    /// How many threads each process may have.
    pub threads: NonZeroUsize,
}

/// What became of a shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Its store is there.
    Done,
    /// Its process ended well without a store, for it found too little in the rows; what it said.
    InsufficientSupport(String),
    /// Its process failed.
    Failed(Failure),
    /// Its process was asked to stop, or never started.
    Interrupted,
}

/// Is told how a campaign goes.
pub(crate) trait Watcher {
    /// After each shard.
    fn ended(&mut self, entry: &ShardEntry, ending: &Ending);

    /// Whether to stop.
    fn interrupted(&self) -> bool;
}

/// Runs `entries`, `jobs` at a time. When `watcher` says so, processes are interrupted and no more
/// are started.
pub(crate) fn run(
    entries: &[&ShardEntry],
    site: &Site,
    launcher: &Launcher,
    jobs: NonZeroUsize,
    watcher: &mut dyn Watcher,
) {
    let running = Running::default();
    let queue = Mutex::new(entries.iter().copied());
    let (report, reports) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..jobs.get().min(entries.len()) {
            let (queue, report, running) = (&queue, report.clone(), &running);
            scope.spawn(move || {
                while let Some(entry) = queue.lock().ok().and_then(|mut queue| queue.next()) {
                    let ending = one(entry, site, launcher, running);
                    if report.send((entry, ending)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(report);
        loop {
            match reports.recv_timeout(LOOK) {
                Ok((entry, ending)) => watcher.ended(entry, &ending),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if watcher.interrupted() {
                running.interrupt();
            }
        }
    });
}

fn one(entry: &ShardEntry, site: &Site, launcher: &Launcher, running: &Running) -> Ending {
    if running.is_interrupted() {
        return Ending::Interrupted;
    }
    let marks = || sidecar::failures(entry, site).map_or(0, |failures| failures.len());
    let before = marks();
    let mut command = Command::new(&launcher.program);
    command
        .args(&launcher.arguments)
        .arg("--only")
        .arg(&entry.shard_id)
        .env("RAYON_NUM_THREADS", launcher.threads.to_string())
        .stdin(Stdio::null())
        .process_group(0);
    let text = |kept: Kept<Vec<u8>>| String::from_utf8_lossy(&kept.finish().unwrap_or_default()).into_owned();
    let (mut told, mut said) = (Kept::new(Vec::new()), Kept::new(Vec::new()));
    let (status, told, said) = match running.run(&mut command, &mut told, &mut said) {
        Ok(status) => (status, text(told), text(said)),
        Err(cause) => {
            let failure = Failure {
                class: "start".to_owned(),
                code: i64::from(Exit::TryAgain.code()),
                message: format!("cannot start {}: {cause}", launcher.program.display()),
                output: Vec::new(),
                attempts: 1,
            };
            return Ending::Failed(failure);
        }
    };
    let is = |exit: Exit| status.code() == Some(i32::from(exit.code()));
    if status.success() {
        let is_without = told.starts_with(&format!("{}: {INSUFFICIENT_SUPPORT}", entry.shard_id));
        return if is_without { Ending::InsufficientSupport(told.trim_end().to_owned()) } else { Ending::Done };
    }
    if is(Exit::Interrupted) || running.is_interrupted() {
        return Ending::Interrupted;
    }
    let failure = Failure::of(status, &said);
    // A process that was killed could not write down how it failed.
    let silent = status.code().is_none() || is(Exit::Input) || is(Exit::Bug);
    if silent && marks() == before && !is_taken(&site.place(&entry.shard_id)) {
        let kind = if is(Exit::Input) { "TimeoutError" } else { "ProcessDied" };
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        // Where nothing can be written, the failure that is told is all there is.
        let _ = sidecar::record_failure(entry, site, kind, &failure.message, Value::Null, since);
    }
    Ending::Failed(failure)
}
