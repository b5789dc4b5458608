//! How a sweep goes, on the terminal: failures as they come, and where a person is watching, what
//! is under way, how far, and how well it went so far.

use std::cell::Cell;
use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::FormattedDuration;

use crate::cli::console::Terminal;
use crate::script::Console;
use crate::sweep::SweepError;
use crate::sweep::best::Best;
use crate::sweep::describe;
use crate::sweep::plan::Trial;
use crate::sweep::pool::Failure;
use crate::sweep::run::{Progress, UnderWay, Watcher};

/// More trials under way than these are counted.
const MOST_ROWS: usize = 16;
/// More failures than these are not told one by one.
const MOST_FAILURES: u64 = 10;
const BAR: usize = 24;

/// Shows how a sweep goes.
pub(super) struct Screen<'a> {
    terminal: &'a Terminal,
    total: u64,
    metric: &'a str,
    begun: Instant,
    /// How many failures were told.
    told: Cell<u64>,
}

impl<'a> Screen<'a> {
    /// A sweep of `total` trials that begins now.
    pub(super) fn new(terminal: &'a Terminal, total: u64, metric: &'a str) -> Self {
        Self { terminal, total, metric, begun: Instant::now(), told: Cell::new(0) }
    }

    /// The lines of the live table.
    fn lines(&self, progress: &Progress, under_way: &[UnderWay]) -> Vec<String> {
        let ended = progress.finished + progress.failed;
        let mut head = format!("{}  {ended}/{} trials", bar(ended, self.total), self.total);
        let elapsed = self.begun.elapsed();
        head.push_str(&format!("  {}", FormattedDuration(elapsed)));
        if let Some(left) = left(elapsed, progress, under_way, self.total) {
            head.push_str(&format!("  eta {}", FormattedDuration(left)));
        }
        if progress.failed > 0 {
            head.push_str(&format!("  {} failed", progress.failed));
        }
        let mut lines = vec![head];
        lines.extend(progress.best.as_ref().map(|best| best_line(self.metric, best)));
        let width = under_way.iter().map(|row| row.steps.to_string().len()).max().unwrap_or_default();
        for row in under_way.iter().take(MOST_ROWS) {
            let UnderWay { trial, point, done, steps } = row;
            lines.push(format!("{trial}  {}  {done:>width$}/{steps} steps  {point}", bar(*done, *steps)));
        }
        if under_way.len() > MOST_ROWS {
            lines.push(format!("and {} more under way", under_way.len() - MOST_ROWS));
        }
        lines
    }
}

/// The best point in a line.
pub(super) fn best_line(metric: &str, Best { mean, trials, point, .. }: &Best) -> String {
    let at = if point.is_empty() { String::new() } else { format!(" at {point}") };
    let of = if *trials > 1 { format!(" (mean of {trials})") } else { String::new() };
    format!("best {metric}: {mean:.6}{at}{of}")
}

/// That a trial's files, now at `place`, are damaged.
pub(super) fn damaged_line(trial: &Trial, problem: &SweepError, place: &Path) -> String {
    format!("trial {} is damaged and tried again; it is kept in {}: {problem}", trial.id, place.display())
}

/// How long it will take at the pace so far; trials that were there before say nothing about it.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn left(elapsed: Duration, progress: &Progress, under_way: &[UnderWay], total: u64) -> Option<Duration> {
    let part = |row: &UnderWay| row.done as f64 / row.steps.max(1) as f64;
    let ended = (progress.finished + progress.failed) as f64;
    let parts: f64 = under_way.iter().map(part).sum();
    let done = ended - progress.before as f64 + parts;
    let share = (total as f64 - ended - parts).max(0.0) / done;
    Duration::try_from_secs_f64(elapsed.as_secs_f64() * share).ok().filter(|_| done > 0.0)
}

fn bar(done: u64, total: u64) -> String {
    let full = u128::from(done.min(total)) * BAR as u128 / u128::from(total.max(1));
    let full = usize::try_from(full).unwrap_or(BAR).min(BAR);
    format!("{}{}", "█".repeat(full), "░".repeat(BAR - full))
}

impl Watcher for Screen<'_> {
    fn ended(&self, trial: &Trial, failure: Option<&Failure>) {
        let Some(failure) = failure else { return };
        self.told.set(self.told.get() + 1);
        if self.told.get() <= MOST_FAILURES {
            let (id, place) = (&trial.id, describe(&trial.point));
            self.terminal.warn(&format!("trial {id} ({place}) failed: {}", failure.message));
        } else if self.told.get() == MOST_FAILURES + 1 {
            self.terminal.warn("more trials failed; `skyfall sweep status` lists them");
        }
    }

    fn damaged(&self, trial: &Trial, problem: &SweepError, place: &Path) {
        self.terminal.warn(&damaged_line(trial, problem, place));
    }

    fn is_watching(&self) -> bool {
        self.terminal.is_live()
    }

    fn goes(&self, progress: &Progress, under_way: &[UnderWay]) {
        self.terminal.live(&self.lines(progress, under_way));
    }

    fn interrupted(&self) -> bool {
        self.terminal.interrupted()
    }
}
