//! Ending from outside: Ctrl-C, SIGTERM, and the limits of the whole process.
//!
//! Work that looks whether it is to stop ([`Signals::is_stopping`]) ends by itself, between two
//! steps. Work that does not - a loop in Lua, a native call - is ended here, after a moment, with
//! every writer closed: files are whole, and nothing half-written keeps a name.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};

use crate::closing;
use crate::diagnostic::{Diagnostic, Exit};
use crate::script::Deadline;

use super::args::ErrorFormat;
use super::findings;

/// How long work may go on after it was asked to stop without looking whether it was.
const GRACE: Duration = Duration::from_secs(2);
/// How often the watchdog looks.
const LOOK: Duration = Duration::from_millis(50);
/// How long it waits for writers that are at work.
const PATIENCE: Duration = Duration::from_secs(1);
/// What the process may take beyond the memory limit of scripts: the runtime's own needs.
const OWN_NEEDS: u64 = 256 << 20;

/// What signals and limits asked for; shared with the threads that watch.
#[derive(Clone, Debug)]
pub(super) struct Signals {
    stop: Arc<AtomicBool>,
    /// Whether the present work looks whether it is to stop.
    patient: Arc<AtomicBool>,
    /// Whether it saw that it is.
    heard: Arc<AtomicBool>,
    format: ErrorFormat,
}

impl Signals {
    /// Listens for signals. The first Ctrl-C asks work that looks for it to stop; otherwise, and
    /// at the second, the process ends.
    pub(super) fn listen(format: ErrorFormat) -> Self {
        let signals = Self { stop: Arc::default(), patient: Arc::default(), heard: Arc::default(), format };
        // A file beyond the allowed size is then a write error, with a line, instead of the end.
        let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
        if let Ok(mut arrivals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM]) {
            let own = signals.clone();
            std::thread::spawn(move || arrivals.forever().for_each(|_| own.arrived()));
        }
        signals
    }

    fn arrived(&self) {
        if self.stop.swap(true, Ordering::Relaxed) || !self.patient.load(Ordering::Relaxed) {
            self.end(None, Exit::Interrupted);
        }
        let own = self.clone();
        std::thread::spawn(move || {
            std::thread::sleep(GRACE);
            if own.stop.load(Ordering::Relaxed) && !own.heard.load(Ordering::Relaxed) {
                own.end(
                    Some(&Diagnostic::new("script/interrupted", "interrupted", Exit::Interrupted)),
                    Exit::Interrupted,
                );
            }
        });
    }

    /// From here on work looks whether it is to stop.
    pub(super) fn patient(&self) {
        self.patient.store(true, Ordering::Relaxed);
    }

    /// Whether the user asked to stop.
    pub(super) fn is_stopping(&self) -> bool {
        let stop = self.stop.load(Ordering::Relaxed);
        if stop {
            self.heard.store(true, Ordering::Relaxed);
        }
        stop
    }

    /// Whether the user asked to stop, asked by someone who does not stop anything.
    pub(super) fn was_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Forgets that the user asked to stop.
    pub(super) fn go_on(&self) {
        self.stop.store(false, Ordering::Relaxed);
        self.heard.store(false, Ordering::Relaxed);
    }

    /// Ends the process when it goes on for a moment beyond `time`, or takes more than `memory`
    /// beside its own needs.
    pub(super) fn bound(&self, time: Option<Deadline>, memory: Option<usize>) {
        if time.is_none() && memory.is_none() {
            return;
        }
        let own = self.clone();
        let most = memory.map(|memory| resident().unwrap_or(0) + memory as u64 + OWN_NEEDS);
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(LOOK);
                if let Some(deadline) = time.filter(|deadline| Instant::now() > deadline.at + GRACE) {
                    own.end(Some(&deadline.diagnostic()), Exit::Input);
                }
                if let Some(most) = most.filter(|most| resident().is_some_and(|now| now > *most)) {
                    let line =
                        format!("the process took more than {} MiB: its memory limit, and its own needs", most >> 20);
                    own.end(Some(&Diagnostic::new("limit/memory", line, Exit::Input)), Exit::Input);
                }
            }
        });
    }

    /// Ends the process with every writer closed.
    fn end(&self, why: Option<&Diagnostic>, exit: Exit) -> ! {
        closing::close_all(PATIENCE);
        if let Some(why) = why {
            let _ = writeln!(std::io::stderr(), "{}", findings::error(why, self.format));
        }
        // Leaving flushes the files of Lua's `io`; a thread that hangs in one must not keep it.
        std::thread::spawn(|| {
            std::thread::sleep(PATIENCE);
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        });
        std::process::exit(i32::from(exit.code()));
    }
}

/// The memory this process has in use, in bytes, where the system tells.
fn resident() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().trim_end_matches(" kB").parse().ok()?;
    Some(kibibytes << 10)
}
