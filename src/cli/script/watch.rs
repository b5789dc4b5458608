//! `skyfall script --watch`: the script anew, in a process of its own, whenever a file of its text
//! changes.

use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::{Duration, SystemTime};

use crate::cli::Ending;
use crate::cli::console::Terminal;
use crate::diagnostic::{Diagnostic, Exit};
use crate::script::Console;

use super::touched;

/// How often files are looked at.
const LOOK: Duration = Duration::from_millis(200);
/// For how many looks a script may take to end.
const PATIENCE: u32 = 20;

/// Runs until the user asks to stop.
pub(super) fn watch(file: &std::path::Path, terminal: &Terminal) -> Ending {
    let problem = |error: std::io::Error| Box::new(Diagnostic::new("script/process", error.to_string(), Exit::Failure));
    let program = std::env::current_exe().map_err(problem)?;
    loop {
        let began = SystemTime::now();
        let note = touched::note();
        let mut child = Command::new(&program).args(touched::arguments("--watch", &note)).spawn().map_err(problem)?;
        let mut watched = vec![file.to_owned()];
        let mut status = None;
        // A script that does not end is run anew as well, once its own file changes.
        while !changed(&watched, began) {
            if terminal.interrupted() {
                end(&mut child);
                let _ = std::fs::remove_file(&note);
                return Ok(Exit::Interrupted);
            }
            if status.is_none() {
                status = child.try_wait().map_err(problem)?;
                if let Some(status) = status {
                    watched.extend(touched::read(&note).sources);
                    terminal.info(&format!("{status}; watching {} file(s)", watched.len()));
                }
            }
            std::thread::sleep(LOOK);
        }
        end(&mut child);
        let _ = std::fs::remove_file(&note);
    }
}

/// Ends the script, if it still runs: it is asked first, as by Ctrl-C, and closes its files.
fn end(child: &mut Child) {
    let asked = rustix::process::kill_process(rustix::process::Pid::from_child(child), rustix::process::Signal::TERM);
    for _ in 0..PATIENCE {
        if asked.is_err() || !matches!(child.try_wait(), Ok(None)) {
            break;
        }
        std::thread::sleep(LOOK);
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// Whether one of `files` was written since.
fn changed(files: &[PathBuf], since: SystemTime) -> bool {
    let written = |file: &PathBuf| std::fs::metadata(file).and_then(|about| about.modified());
    files.iter().any(|file| written(file).is_ok_and(|written| written > since))
}
