//! Gates: files that a script reads again and again until they say `go`.
//!
//! A gate that is shut is a named pipe. Whoever reads one sleeps until it is opened for writing, so
//! that tasks that stand still leave the processors to others.

use std::fs::OpenOptions;
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::command::Scratch;

/// Shuts a gate.
pub(super) fn shut(scratch: &Scratch, name: &str) {
    let path = scratch.file(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

/// Opens a gate: those who stand before it read nothing, look again, and find `go`.
pub(super) fn open(scratch: &Scratch, name: &str) {
    let pipe = OpenOptions::new().read(true).write(true).open(scratch.file(name)).unwrap();
    let go = scratch.write(&format!("{name}.go"), "go");
    std::fs::rename(go, scratch.file(name)).unwrap();
    // Whoever found the pipe just before is given the time to open it.
    std::thread::sleep(Duration::from_millis(100));
    drop(pipe);
}
