//! Processes that this program starts to do a part of its work, and that do not outlive it.

use std::ffi::OsString;
use std::path::PathBuf;

use rustix::process::{Pid, Signal, getpid, getppid, kill_process, set_parent_process_death_signal};

use crate::diagnostic::{Diagnostic, Exit};

/// The program that they run, which is this one.
pub(super) fn program() -> Result<PathBuf, Box<Diagnostic>> {
    std::env::current_exe().map_err(|cause| {
        Box::new(Diagnostic::new("child/program", format!("cannot find this program: {cause}"), Exit::Failure))
    })
}

/// The arguments of a process that ends with this one.
pub(super) fn arguments(mut words: Vec<OsString>) -> Vec<OsString> {
    words.extend(["--child-of".into(), std::process::id().to_string().into()]);
    words
}

/// From here on this process ends with `parent`, its parent, however that ends.
pub(super) fn end_with(parent: i32) {
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    // It may have ended before that was asked for.
    if getppid().map(Pid::as_raw_nonzero).is_none_or(|own| own.get() != parent) {
        let _ = kill_process(getpid(), Signal::KILL);
    }
}
