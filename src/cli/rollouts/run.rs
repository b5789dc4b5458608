//! `skyfall rollouts run`.

use std::path::Path;
use std::rc::Rc;

use super::recipe::{self, Source};
use super::{all, options, result, status};
use crate::campaign::run::{self, INSUFFICIENT_SUPPORT, Outcome};
use crate::campaign::{ManifestError, RunError, Site, manifest};
use crate::cli::args::RunShardsArguments;
use crate::cli::console::Terminal;
use crate::cli::findings;
use crate::cli::{Ending, Process, cluster};
use crate::diagnostic::{Diagnostic, Exit};
use crate::rollouts::ShardEntry;
use crate::script::Console;
use crate::value::{self, Value};

/// Runs shards: one, a batch, or all.
pub(super) fn run(arguments: &RunShardsArguments, own: &Process, terminal: &Rc<Terminal>) -> Ending {
    let path = &arguments.shard_manifest;
    let entries = manifest::read(path).map_err(Diagnostic::from)?;
    let site = status::site(arguments.site.final_root.clone(), path);
    if !arguments.all && cluster::elsewhere(&arguments.launcher).is_some() {
        return Err(cluster::refused("a launcher is for all shards that are missing", "say --all"));
    }
    if arguments.all && arguments.only.is_none() {
        return all::run(arguments, &entries, &site, own, terminal);
    }
    let chosen = chosen(arguments, &entries)?;
    let site = site.with(arguments.output_tmp.clone(), arguments.output_final.clone());
    let limits = arguments.limits.limits();
    terminal.bound(limits);
    let mut source = recipe::source(&arguments.recipe, limits, terminal)?;
    let mut worst = Exit::Success;
    // A process that runs a shard for another one speaks to that.
    let mut listed = (arguments.json && arguments.only.is_none()).then(Vec::new);
    for entry in chosen {
        let exit = one(entry, &site, &mut source, listed.as_mut(), terminal);
        if worst == Exit::Success || exit == Exit::Interrupted {
            worst = exit;
        }
        if exit == Exit::Interrupted {
            break;
        }
    }
    if let Some(listed) = listed {
        terminal.print_json(listed);
    }
    Ok(worst)
}

/// The shards that are asked for.
fn chosen<'a>(arguments: &RunShardsArguments, entries: &'a [ShardEntry]) -> Result<&'a [ShardEntry], Box<Diagnostic>> {
    let path = &arguments.shard_manifest;
    if let Some(id) = arguments.only.as_ref().or(arguments.shard_id.as_ref()) {
        return Ok(std::slice::from_ref(manifest::find(path, entries, id).map_err(Diagnostic::from)?));
    }
    let batch = arguments.batch.map_or(1, std::num::NonZeroUsize::get);
    let first = arguments.index.unwrap_or_default().saturating_mul(batch);
    let id_of = |entry: Option<&ShardEntry>| entry.map(|entry| entry.shard_id.clone()).unwrap_or_default();
    let unknown = || ManifestError::Unknown {
        path: path.display().to_string(),
        id: format!("shard with the index {first}"),
        count: entries.len(),
        first: id_of(entries.first()),
        last: id_of(entries.last()),
    };
    let chosen = entries.get(first..entries.len().min(first.saturating_add(batch))).filter(|part| !part.is_empty());
    Ok(chosen.ok_or_else(unknown).map_err(Diagnostic::from)?)
}

/// Runs one shard, and says how it went, or adds it to what is `listed`.
fn one(
    entry: &ShardEntry,
    site: &Site,
    source: &mut Source,
    listed: Option<&mut Vec<Value>>,
    terminal: &Rc<Terminal>,
) -> Exit {
    let recipe = source.recipe.clone();
    let (id, place) = (&entry.shard_id, site.place(&entry.shard_id));
    match run::run(entry, site, &recipe, source, options::now()) {
        Ok(outcome) => {
            if let Some(listed) = listed {
                listed.push(data(id, &place, &outcome));
                return Exit::Success;
            }
            let place = place.display();
            let told = match outcome {
                Outcome::Written(written) => format!(
                    "written, {} rollouts, {} steps, {} candidates: {place}",
                    written.num_rollouts, written.num_steps, written.num_candidates
                ),
                Outcome::Completed => format!("completed: only its success marker was missing: {place}"),
                Outcome::Current => format!("skipped: it is there already: {place}"),
                Outcome::InsufficientSupport(why) => {
                    format!("{INSUFFICIENT_SUPPORT}, so nothing is written: {}", findings::name(&why))
                }
            };
            terminal.print(&format!("{id}: {told}\n"));
            Exit::Success
        }
        Err(error) => {
            let interrupted = matches!(error, RunError::Interrupted(_)) || terminal.was_stopped();
            let again = matches!(&error, RunError::Object(error) if error.is_passing());
            let mut diagnostic = error.into_diagnostic();
            if again {
                diagnostic.exit = Exit::TryAgain;
            }
            terminal.report(&diagnostic);
            if let Some(listed) = listed {
                let error = ("error", diagnostic.message.as_str().into());
                let failed = [("shard_id", id.as_str().into()), ("outcome", "failed".into()), error];
                listed.push(Value::map(failed));
            }
            if interrupted {
                terminal.info("interrupted; run it again to go on");
                return Exit::Interrupted;
            }
            diagnostic.exit
        }
    }
}

/// What became of a shard as plain data.
fn data(id: &str, place: &Path, outcome: &Outcome) -> Value {
    let name = match outcome {
        Outcome::Written(_) => "written",
        Outcome::Completed => "completed",
        Outcome::Current => "skipped",
        Outcome::InsufficientSupport(_) => "insufficient_support",
    };
    let mut map = value::map([("shard_id", id.into()), ("outcome", name.into())]);
    match outcome {
        Outcome::Written(written) => map.extend(result::data(written)),
        Outcome::InsufficientSupport(why) => {
            map.insert("reason".to_owned(), why.as_str().into());
        }
        Outcome::Completed | Outcome::Current => {
            map.insert("store_dir".to_owned(), place.display().to_string().into());
        }
    }
    Value::Map(map)
}
