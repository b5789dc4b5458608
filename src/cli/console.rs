//! The terminal: where messages, progress and data go.

use std::cell::{Cell, RefCell};
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::diagnostic::Diagnostic;
use crate::script::Console;

const TRIALS: &str = "{bar:30} {pos}/{len} trials  {elapsed}  eta {eta}\n{wide_msg}";
const STEPS: &str = "{bar:30} {pos}/{len} steps  {per_sec}  eta {eta}  {msg}";
const BYTES: &str = "{bar:30} {binary_bytes}/{binary_total_bytes}  {binary_bytes_per_sec}  eta {eta}  {msg}";

/// Standard output and standard error, with a progress bar where a person is watching.
pub(super) struct Terminal {
    quiet: bool,
    bar: RefCell<Option<ProgressBar>>,
    stop: Arc<AtomicBool>,
    /// Whether the present work looks whether it is to stop.
    patient: Arc<AtomicBool>,
    /// Standard output did not take everything.
    cut: Cell<bool>,
}

impl Terminal {
    /// A terminal. Ctrl-C ends the process, but where work looks whether it is to stop
    /// ([`Terminal::patient`]) the first one only asks for that.
    pub(super) fn new(quiet: bool) -> Self {
        let (stop, patient) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (asked, waits) = (Arc::clone(&stop), Arc::clone(&patient));
        // Without a handler (an embedding has set its own) Ctrl-C ends the process at once.
        let _ = ctrlc::set_handler(move || {
            if asked.swap(true, Ordering::Relaxed) || !waits.load(Ordering::Relaxed) {
                std::process::exit(i32::from(crate::diagnostic::Exit::Interrupted.code()));
            }
        });
        Self { quiet, bar: RefCell::new(None), stop, patient, cut: Cell::new(false) }
    }

    /// From here on work looks whether it is to stop.
    pub(super) fn patient(&self) {
        self.patient.store(true, Ordering::Relaxed);
    }

    /// Whether standard output did not take everything that was printed.
    pub(super) fn is_cut(&self) -> bool {
        self.cut.get()
    }

    /// Whether only errors are to be printed.
    pub(super) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Prints `text` to standard output as it stands. A closed pipe is no error; of any other the
    /// user is told once, and the command fails.
    pub(super) fn print(&self, text: &str) {
        self.clear();
        let mut out = io::stdout().lock();
        if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush())
            && error.kind() != io::ErrorKind::BrokenPipe
            && !self.cut.replace(true)
        {
            self.error(&format!("error[output]: cannot write to standard output: {error}"));
        }
    }

    /// Prints a line to standard error.
    pub(super) fn error(&self, message: &str) {
        self.clear();
        let _ = writeln!(io::stderr().lock(), "{message}");
    }

    /// Prints a finding to standard error.
    pub(super) fn report(&self, diagnostic: &Diagnostic) {
        self.error(&diagnostic.to_string());
    }

    /// The width to fit text into.
    pub(super) fn width(&self) -> usize {
        const PIPED: usize = 100;
        if !io::stdout().is_terminal() {
            return PIPED;
        }
        let columns = rustix::termios::tcgetwinsize(io::stdout()).map_or(0, |size| usize::from(size.ws_col));
        if columns == 0 { PIPED } else { columns }
    }

    /// Shows how far a file has come, in bytes; 0 of 1 is work of unknown length.
    pub(super) fn bytes(&self, what: &str, done: u64, total: u64) {
        self.show(BYTES, what, done, total);
    }

    /// Shows how many of a sweep's trials are done.
    pub(super) fn trials(&self, what: &str, done: u64, total: u64) {
        self.show(TRIALS, what, done, total);
    }

    fn show(&self, template: &str, what: &str, done: u64, total: u64) {
        if self.quiet || !io::stderr().is_terminal() {
            return;
        }
        let mut bar = self.bar.borrow_mut();
        let shown = bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            bar
        });
        shown.set_message(what.to_owned());
        shown.set_length(total);
        shown.set_position(done);
        if done >= total {
            shown.finish_and_clear();
            *bar = None;
        }
    }

    fn clear(&self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl Console for Terminal {
    fn warn(&self, message: &str) {
        self.error(&format!("warning: {message}"));
    }

    fn info(&self, message: &str) {
        if !self.quiet {
            self.error(message);
        }
    }

    fn progress(&self, what: &str, done: u64, total: u64) {
        self.show(STEPS, what, done, total);
    }

    fn interrupted(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
