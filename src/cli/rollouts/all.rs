//! `skyfall rollouts run --all`: a process a shard, some at a time.

use std::num::NonZeroUsize;
use std::path::Path;
use std::rc::Rc;

use crate::campaign::pool::{self, Ending, Launcher, Watcher};
use crate::campaign::status::{self, State};
use crate::campaign::{RunError, Site};
use crate::cli::args::RunShardsArguments;
use crate::cli::console::Terminal;
use crate::cli::{Ending as CommandEnding, Process, child, cluster};

use super::launch;
use crate::diagnostic::{Diagnostic, Exit};
use crate::rollouts::ShardEntry;
use crate::script::{Console, Limits};
use crate::value::{self, Value};

/// How many failures are told.
const MOST: usize = 10;
/// What a writer may have for its rows at most, and at least, in bytes.
const MEMORY: (u64, u64) = (512 << 20, 64 << 20);

/// Runs what is not there yet.
pub(super) fn run(
    arguments: &RunShardsArguments,
    entries: &[ShardEntry],
    site: &Site,
    own: &Process,
    terminal: &Rc<Terminal>,
) -> CommandEnding {
    // Every process would say the same; once is enough.
    let recipe = super::recipe::source(&arguments.recipe, Limits::default(), terminal)?.recipe;
    let actual = recipe.hash();
    if let Some(entry) = entries.iter().find(|entry| entry.writer_config_hash != actual) {
        let (shard_id, planned) = (entry.shard_id.clone(), entry.writer_config_hash.clone());
        return Err(Box::new(RunError::Config { shard_id, planned, actual }.into()));
    }
    let stand = status::status(&arguments.shard_manifest, entries, site).map_err(Diagnostic::from)?;
    let shards = entries.iter().zip(&stand.shards);
    let due: Vec<&ShardEntry> =
        shards.filter(|(_, shard)| shard.state != State::Succeeded).map(|(entry, _)| entry).collect();
    let before = entries.len() - due.len();
    if cluster::elsewhere(&arguments.launcher).is_some() {
        return launch::launch(arguments, &due, before, site, own, terminal);
    }
    let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let jobs = arguments.jobs.unwrap_or(cores).min(NonZeroUsize::new(due.len()).unwrap_or(NonZeroUsize::MIN));
    let launcher = launcher(arguments, own, cores, jobs)?;
    Ok(work(&due, (before, arguments.json), site, &launcher, jobs, terminal))
}

/// Runs `due` in processes, `jobs` at a time, where `before` shards are there already, and says how
/// it went, in words or as JSON.
pub(super) fn work(
    due: &[&ShardEntry],
    (before, as_json): (usize, bool),
    site: &Site,
    launcher: &Launcher,
    jobs: NonZeroUsize,
    terminal: &Rc<Terminal>,
) -> Exit {
    let mut screen =
        Screen { terminal, total: due.len(), done: 0, unsupported: 0, failures: Vec::new(), interrupted: false };
    pool::run(due, site, launcher, jobs, &mut screen);
    let Screen { done, unsupported, failures, interrupted, .. } = screen;
    let mut text = format!("{} of {} shards are there", before + done, before + due.len());
    if before > 0 {
        text.push_str(&format!(" ({before} of them before)"));
    }
    if unsupported > 0 {
        text.push_str(&format!(", {unsupported} of insufficient support"));
    }
    if !failures.is_empty() {
        text.push_str(&format!(", {} failed", failures.len()));
    }
    if as_json {
        let entries: [(&str, Value); 6] = [
            ("final_root", site.root().display().to_string().into()),
            ("num_shards", ((before + due.len()) as u64).into()),
            ("num_succeeded", ((before + done) as u64).into()),
            ("num_succeeded_before", (before as u64).into()),
            ("num_insufficient_support", (unsupported as u64).into()),
            ("num_failed", (failures.len() as u64).into()),
        ];
        terminal.print_json(value::map(entries));
    } else {
        terminal.print(&format!("{text}: {}\n", site.root().display()));
    }
    if interrupted {
        terminal.info("interrupted; run it again to go on");
        return Exit::Interrupted;
    }
    // One that may be tried again makes the whole worth another try.
    let again = i64::from(Exit::TryAgain.code());
    match failures.first() {
        None => Exit::Success,
        Some(_) if failures.contains(&again) => Exit::TryAgain,
        Some(_) => Exit::Failure,
    }
}

/// How processes are started: as this one was, with a share of its memory and cores.
fn launcher(
    arguments: &RunShardsArguments,
    own: &Process,
    cores: NonZeroUsize,
    jobs: NonZeroUsize,
) -> Result<Launcher, Box<Diagnostic>> {
    let mut words = child::arguments(own.words.clone());
    let named =
        arguments.recipe.overrides.iter().any(|assignment| assignment.trim_start().starts_with("memory_bytes="));
    if !named && arguments.recipe.options.is_none() {
        let share = available_memory().unwrap_or(MEMORY.0) / 4 / jobs.get() as u64;
        words.extend(["--set".into(), format!("memory_bytes={}", share.clamp(MEMORY.1, MEMORY.0)).into()]);
    }
    let threads = NonZeroUsize::new(cores.get() / jobs).unwrap_or(NonZeroUsize::MIN);
    Ok(Launcher { program: child::program()?, arguments: words, threads })
}

/// The memory that may be had, in bytes, where the system tells.
fn available_memory() -> Option<u64> {
    let text = std::fs::read_to_string(Path::new("/proc/meminfo")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().trim_end_matches(" kB").parse().ok()?;
    Some(kibibytes << 10)
}

/// Shows how a campaign goes.
struct Screen<'a> {
    terminal: &'a Terminal,
    total: usize,
    done: usize,
    /// How many had too little in their rows.
    unsupported: usize,
    /// The exit codes of those that failed.
    failures: Vec<i64>,
    interrupted: bool,
}

impl Watcher for Screen<'_> {
    fn ended(&mut self, entry: &ShardEntry, ending: &Ending) {
        match ending {
            Ending::Done => self.done += 1,
            Ending::InsufficientSupport(told) => {
                self.unsupported += 1;
                if self.unsupported <= MOST {
                    self.terminal.info(told);
                } else if self.unsupported == MOST + 1 {
                    self.terminal.info("more shards have insufficient support; run one to see why");
                }
            }
            Ending::Interrupted => self.interrupted = true,
            Ending::Failed(failure) => {
                self.failures.push(failure.code);
                if self.failures.len() <= MOST {
                    self.terminal.warn(&format!("{} failed: {}", entry.shard_id, failure.message));
                } else if self.failures.len() == MOST + 1 {
                    self.terminal.warn("more shards failed; `skyfall rollouts status` lists them");
                }
            }
        }
        let ended = (self.done + self.unsupported + self.failures.len()) as u64;
        self.terminal.shards(&format!("{} failed", self.failures.len()), ended, self.total as u64);
    }

    fn interrupted(&self) -> bool {
        self.terminal.interrupted()
    }
}
