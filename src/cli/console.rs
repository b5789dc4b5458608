//! The terminal: where messages, progress and data go.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::diagnostic::{Diagnostic, Exit};
use crate::script::{Console, Deadline, Limits};
use crate::sweep::progress::Note;
use crate::text::json;
use crate::value::Value;

use super::args::ErrorFormat;
use super::findings;
use super::signals::Signals;

const LINES: &str = "{msg}";
const SPINNER: &str = "{spinner} {msg}  {elapsed}";
/// How often a spinner turns, and a clock on the screen moves.
const TICK: Duration = Duration::from_millis(100);
const SHARDS: &str = "{bar:30} {pos}/{len} shards  {elapsed}  eta {eta}\n{wide_msg}";
const STATES: &str = "{bar:30} {pos}/{len} states  eta {eta}  {msg}";
const STEPS: &str = "{bar:30} {pos}/{len} steps  {pace}  eta {eta}  {msg}";
const BYTES: &str = "{bar:30} {binary_bytes}/{binary_total_bytes}  {binary_bytes_per_sec}  eta {eta}  {msg}";

/// Standard output and standard error, with a progress bar where a person is watching.
pub(super) struct Terminal {
    voice: Voice,
    bar: RefCell<Option<ProgressBar>>,
    /// Where a trial says how far it is.
    note: RefCell<Option<Note>>,
    /// When the shards that are shown began.
    begun: Cell<Option<Instant>>,
    /// When the work must be done.
    deadline: Cell<Option<Deadline>>,
    /// Standard output did not take everything.
    cut: Cell<bool>,
}

/// How a terminal speaks, and who may end it; for terminals of other threads, too.
#[derive(Clone, Debug)]
pub(super) struct Voice {
    quiet: bool,
    format: ErrorFormat,
    signals: Signals,
}

impl Terminal {
    /// A terminal. Ctrl-C ends the process, but where work looks whether it is to stop
    /// ([`Terminal::patient`]) the first one only asks for that.
    pub(super) fn new(quiet: bool, format: ErrorFormat) -> Self {
        Self::with(Voice { quiet, format, signals: Signals::listen(format) })
    }

    /// A terminal that speaks with `voice`.
    pub(super) fn with(voice: Voice) -> Self {
        Self {
            voice,
            bar: RefCell::default(),
            note: RefCell::default(),
            begun: Cell::default(),
            deadline: Cell::default(),
            cut: Cell::default(),
        }
    }

    /// How this terminal speaks.
    pub(super) fn voice(&self) -> Voice {
        self.voice.clone()
    }

    /// From here on work looks whether it is to stop.
    pub(super) fn patient(&self) {
        self.voice.signals.patient();
    }

    /// From here on the work is bounded, also where it does not look whether it is to stop.
    pub(super) fn bound(&self, limits: Limits) {
        self.deadline.set(limits.time);
        self.voice.signals.bound(limits.time, limits.memory);
    }

    /// Whether the user asked to stop.
    pub(super) fn was_stopped(&self) -> bool {
        self.voice.signals.was_stopped()
    }

    /// What was asked of the last piece of work is not asked of the next.
    pub(super) fn go_on(&self) {
        self.voice.signals.go_on();
    }

    /// The limit that stopped the work, if one did and the user did not.
    pub(super) fn limit(&self) -> Option<Diagnostic> {
        let deadline = self.deadline.get().filter(|_| !self.was_stopped())?;
        deadline.passed().then(|| deadline.diagnostic())
    }

    /// Whether standard output did not take everything that was printed.
    pub(super) fn is_cut(&self) -> bool {
        self.cut.get()
    }

    /// Prints `text` to standard output as it stands. A closed pipe is no error; of any other the
    /// user is told once, and the command fails.
    pub(super) fn print(&self, text: &str) {
        self.clear();
        let mut out = io::stdout().lock();
        let shown = if out.is_terminal() { Cow::Owned(findings::harmless(text)) } else { Cow::Borrowed(text) };
        if let Err(error) = out.write_all(shown.as_bytes()).and_then(|()| out.flush())
            && error.kind() != io::ErrorKind::BrokenPipe
            && !self.cut.replace(true)
        {
            let line = format!("cannot write to standard output: {error}");
            self.report(&Diagnostic::new("output", line, Exit::Failure));
        }
    }

    /// Prints what a command found as one document of JSON, its keys in `value`'s order.
    pub(super) fn print_json(&self, value: impl Into<Value>) {
        self.print(&(json::to_string(&value.into()) + "\n"));
    }

    /// Prints a line to standard error.
    fn say(&self, message: &str) {
        self.clear();
        let _ = writeln!(io::stderr().lock(), "{message}");
    }

    /// Prints a finding to standard error.
    pub(super) fn report(&self, diagnostic: &Diagnostic) {
        self.say(&findings::error(diagnostic, self.voice.format));
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

    /// Shows that `what` goes on, as long as what it gives back lives; how long is not known.
    pub(super) fn working(&self, what: &str) -> Working {
        let bar = self.is_live().then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template(SPINNER) {
                bar.set_style(style);
            }
            bar.set_message(findings::harmless(what));
            bar.tick();
            bar.enable_steady_tick(TICK);
            bar
        });
        Working(bar)
    }

    /// Shows how far a file has come, in bytes; 0 of 1 is work of unknown length.
    pub(super) fn bytes(&self, what: &str, done: u64, total: u64) {
        self.show(BYTES, what, done, total);
    }

    /// Whether a person sees how work goes.
    pub(super) fn is_live(&self) -> bool {
        !self.voice.quiet && io::stderr().is_terminal()
    }

    /// Shows some lines in place of those that were shown last, each as far as it fits.
    pub(super) fn live(&self, lines: &[String]) {
        let columns = rustix::termios::tcgetwinsize(io::stderr()).map_or(0, |size| usize::from(size.ws_col));
        let most = if columns == 0 { usize::MAX } else { columns - 1 };
        let fit = |line: &String| fitted(&findings::harmless(line).replace(['\n', '\r', '\t'], " "), most);
        let text = lines.iter().map(fit).collect::<Vec<_>>().join("\n");
        // What is drawn again flickers.
        if self.bar.borrow().as_ref().is_none_or(|bar| bar.message() != text) {
            self.show(LINES, &text, 0, 1);
        }
    }

    /// From here on this is a trial's terminal: it says in `note` how far it is.
    pub(super) fn note_progress(&self, note: Note) {
        self.note.replace(Some(note));
    }

    /// The trial is over.
    pub(super) fn end_progress(&self) {
        self.note.replace(None);
    }

    /// Shows how many of a campaign's shards are done.
    pub(super) fn shards(&self, what: &str, done: u64, total: u64) {
        self.show(SHARDS, what, done, total);
    }

    /// Shows how many states of stores are done; 0 of 1 is work of unknown length.
    pub(super) fn states(&self, what: &str, done: u64, total: u64) {
        self.show(STATES, what, done, total);
    }

    fn show(&self, template: &str, what: &str, done: u64, total: u64) {
        if !self.is_live() {
            return;
        }
        let mut bar = self.bar.borrow_mut();
        let shown = bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style.with_key("pace", |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                    let _ = write!(out, "{:.0}/s", state.per_sec());
                }));
            }
            if template == SHARDS {
                // Shards take long, and the clock goes on between them, also across what is said meanwhile.
                let begun = self.begun.get().unwrap_or_else(Instant::now);
                self.begun.set(Some(begun));
                let bar = bar.with_elapsed(begun.elapsed());
                bar.enable_steady_tick(TICK);
                return bar;
            }
            bar
        });
        let line = if template == LINES { what.to_owned() } else { findings::harmless(what) };
        shown.set_message(line);
        shown.set_length(total);
        shown.set_position(done);
        if done >= total {
            shown.finish_and_clear();
            *bar = None;
            self.begun.set(None);
        }
    }

    fn clear(&self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

/// Work that is shown to go on.
#[must_use]
pub(super) struct Working(Option<ProgressBar>);

impl Drop for Working {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

/// What of `line` fits into so many columns; East Asian letters and pictures have two.
fn fitted(line: &str, most: usize) -> String {
    let mut columns = 0_usize;
    let fits = |letter: &char| {
        let is_wide = matches!(letter, '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{ffdc}' | '\u{1f000}'..);
        columns += if is_wide { 2 } else { 1 };
        columns <= most
    };
    line.chars().take_while(fits).collect()
}

impl Console for Terminal {
    fn warn(&self, message: &str) {
        self.say(&findings::line("warning", message, self.voice.format));
    }

    fn info(&self, message: &str) {
        if !self.voice.quiet {
            self.say(&findings::line("note", message, self.voice.format));
        }
    }

    fn progress(&self, what: &str, done: u64, total: u64) {
        if let Some(note) = &*self.note.borrow() {
            note.steps(done);
        }
        self.show(STEPS, what, done, total);
    }

    fn interrupted(&self) -> bool {
        self.voice.signals.is_stopping() || self.deadline.get().is_some_and(|deadline| deadline.passed())
    }
}
