//! `skyfall rollouts run --launcher`: shards that are not there yet go to a cluster, and the
//! command leaves; `skyfall rollouts task` is what the cluster's jobs run.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::all;
use crate::campaign::pool::Launcher;
use crate::campaign::{Site, manifest};
use crate::cli::args::{LauncherName, RunShardsArguments, TaskArguments};
use crate::cli::cluster::{self, Handed, Task, malformed};
use crate::cli::console::Terminal;
use crate::cli::{Ending, Process, child};
use crate::diagnostic::{Diagnostic, Exit};
use crate::launcher::slurm::Fate;
use crate::launcher::{Submission, Submissions};
use crate::rollouts::ShardEntry;
use crate::value::{self, Value};

/// The submissions of a campaign, beside its manifest.
pub(super) fn submissions(manifest: &Path) -> Submissions {
    Submissions::new(manifest.with_extension("tasks"))
}

/// What the fate of a submitted shard is found by: its id, which is the whole line.
#[expect(clippy::unnecessary_wraps, reason = "other units' lines may be malformed")]
pub(super) fn key(line: &str) -> Option<String> {
    Some(line.to_owned())
}

/// Submits the shards `due` that are not under way; `before` are there already.
pub(super) fn launch(
    arguments: &RunShardsArguments,
    due: &[&ShardEntry],
    before: usize,
    site: &Site,
    own: &Process,
    terminal: &Terminal,
) -> Ending {
    if arguments.jobs.is_some() {
        let hint = "--slurm-limit says how many tasks run at a time, --slurm-cpus how many shards a task";
        return Err(cluster::refused("--jobs is for shards that this command runs", hint));
    }
    let home = submissions(&arguments.shard_manifest);
    let fates = match arguments.launcher.launcher {
        Some(LauncherName::Slurm) => cluster::fates(&home, &key).map_err(Diagnostic::from)?.unwrap_or_default(),
        _ => BTreeMap::new(),
    };
    let is_under_way = |entry: &&&ShardEntry| fates.get(&entry.shard_id).is_some_and(Fate::is_under_way);
    let under_way = due.iter().filter(is_under_way).count();
    let units: Vec<String> =
        due.iter().filter(|entry| !is_under_way(entry)).map(|entry| entry.shard_id.clone()).collect();
    let mut text = format!("{before} of {} shards are there", before + due.len());
    if under_way > 0 {
        text.push_str(&format!(", {under_way} under way"));
    }
    let as_json = |handed: Option<&Handed>| {
        let entries: [(&str, Value); 6] = [
            ("final_root", site.root().display().to_string().into()),
            ("num_shards", ((before + due.len()) as u64).into()),
            ("num_succeeded", (before as u64).into()),
            ("num_under_way", (under_way as u64).into()),
            ("num_submitted", (units.len() as u64).into()),
            ("submission", handed.map(Handed::to_value).unwrap_or_default()),
        ];
        value::map(entries)
    };
    if units.is_empty() {
        if arguments.json {
            terminal.print_json(as_json(None));
            return Ok(Exit::Success);
        }
        terminal.print(&format!("{text}; nothing to submit: {}\n", site.root().display()));
        return Ok(Exit::Success);
    }
    let mut about = cluster::about(own, &arguments.launcher)?;
    about.insert("shard_manifest".to_owned(), text_of(&arguments.shard_manifest)?);
    about.insert("final_root".to_owned(), text_of(site.root())?);
    let count = units.len();
    let name = arguments.shard_manifest.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let submission = Submission {
        name,
        program: child::program()?,
        verb: vec!["rollouts".to_owned(), "task".to_owned()],
        about,
        units: units.clone(),
        batch: arguments.batch.unwrap_or(NonZeroUsize::MIN),
    };
    let handed = cluster::submit(&home, &submission, &arguments.launcher, terminal)?;
    if arguments.json {
        terminal.print_json(as_json(Some(&handed)));
        return Ok(Exit::Success);
    }
    let what = handed.words;
    let manifest = arguments.shard_manifest.display();
    terminal.print(&format!("{text}; {count} submitted: {what}\nlook: skyfall rollouts status {manifest}\n"));
    Ok(Exit::Success)
}

fn text_of(path: &Path) -> Result<Value, Box<Diagnostic>> {
    let bad = || Box::new(Diagnostic::new("launcher/command", "a path is not in UTF-8", Exit::Usage));
    path.to_str().map(Value::from).ok_or_else(bad)
}

/// Runs a task's shards, each in a process of its own.
pub(super) fn task(arguments: &TaskArguments, terminal: &Rc<Terminal>) -> Ending {
    let task = Task::begin(arguments)?;
    let path = |name: &str| {
        let named = task.about.get(name).and_then(Value::as_text).map(PathBuf::from);
        named.ok_or_else(|| malformed(&task.submission, &format!("it names no {name}")))
    };
    let manifest = path("shard_manifest")?;
    let site = super::status::site(Some(path("final_root")?), &manifest);
    let entries = manifest::read(&manifest).map_err(Diagnostic::from)?;
    let find = |id: &String| manifest::find(&manifest, &entries, id);
    let shards = task.units.iter().map(find).collect::<Result<Vec<_>, _>>().map_err(Diagnostic::from)?;
    let jobs = task.cpus.min(NonZeroUsize::new(shards.len()).unwrap_or(NonZeroUsize::MIN));
    let threads = NonZeroUsize::new(task.cpus.get() / jobs).unwrap_or(NonZeroUsize::MIN);
    let launcher = Launcher { program: child::program()?, arguments: child::arguments(task.arguments), threads };
    Ok(all::work(&shards, (0, false), &site, &launcher, jobs, terminal))
}
