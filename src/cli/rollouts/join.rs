//! `skyfall rollouts merge`, `select` and `split`.

use std::path::{Path, PathBuf};

use super::{options as shared, result};
use crate::cli::Ending;
use crate::cli::args::{JoinArguments, RolloutsMergeArguments, RolloutsSelectArguments, RolloutsSplitArguments};
use crate::cli::console::Terminal;
use crate::diagnostic::{Diagnostic, Exit};
use crate::object::Address;
use crate::rollouts::{self, Filter, JoinOptions};
use crate::text::json;
use crate::value::Value;

/// Joins stores, or the shards of a manifest.
pub(super) fn merge(arguments: &RolloutsMergeArguments, terminal: &Terminal) -> Ending {
    let parts = match &arguments.shard_manifest {
        Some(manifest) => {
            let root = arguments.final_root.clone().unwrap_or_else(|| manifest.with_file_name("shards"));
            let parts = shards(manifest, &root, arguments.split.as_deref())?;
            complete(manifest, &root, &parts)?;
            parts
        }
        None => arguments.parts.clone(),
    };
    let options = options(&arguments.target, &["merge"])?;
    let made = rollouts::merge(&parts, &arguments.target.output, &options, &mut shown(terminal));
    finish(terminal);
    let made = made.map_err(Diagnostic::from)?;
    result::print(&made, arguments.target.json, terminal);
    Ok(Exit::Success)
}

/// Writes the chains that are wanted to a new store.
pub(super) fn select(arguments: &RolloutsSelectArguments, terminal: &Terminal) -> Ending {
    let filter = Filter {
        scenes: arguments.scene.clone(),
        snippets: arguments.snippet.clone(),
        splits: arguments.split.clone(),
        targets: arguments.target.clone(),
        rollouts: arguments.rollout.clone(),
        sample_keys: arguments.sample_key.clone(),
    };
    if filter.is_empty() {
        let line = "say which chains: --scene, --snippet, --split, --target, --rollout or --sample-key";
        return Err(Box::new(Diagnostic::new("rollouts/options", line, Exit::Usage)));
    }
    let options = options(&arguments.destination, &["select"])?;
    let (source, output) = (&arguments.source, &arguments.destination.output);
    let made = rollouts::select(source, &filter, output, &options, &mut shown(terminal));
    finish(terminal);
    let made = made.map_err(Diagnostic::from)?;
    result::print(&made, arguments.destination.json, terminal);
    Ok(Exit::Success)
}

/// Writes one store for each scene, snippet, split or target.
pub(super) fn split(arguments: &RolloutsSplitArguments, terminal: &Terminal) -> Ending {
    let options = options(&arguments.destination, &["split", "--by", arguments.by.name()])?;
    let (source, output) = (&arguments.source, &arguments.destination.output);
    let made = rollouts::split(source, arguments.by, output, &options, &mut shown(terminal));
    finish(terminal);
    let made = made.map_err(Diagnostic::from)?;
    if arguments.destination.json {
        let entry = |(value, made): (String, _)| {
            let mut entry = result::data(&made);
            entry.shift_insert(0, arguments.by.name().to_owned(), value.into());
            Value::Map(entry)
        };
        let stores = Value::List(made.into_iter().map(entry).collect());
        terminal.print_json(stores);
    } else {
        made.iter().for_each(|(_, made)| result::print(made, false, terminal));
    }
    Ok(Exit::Success)
}

/// The directories of a manifest's shards, in its order; of one split if that is wanted.
fn shards(manifest: &Path, root: &Path, split: Option<&str>) -> Result<Vec<PathBuf>, Box<Diagnostic>> {
    let input = |line: String| Box::new(Diagnostic::new("rollouts/shard-manifest", line, Exit::Input));
    let name = manifest.display();
    let text = std::fs::read_to_string(manifest).map_err(|error| input(format!("cannot read {name}: {error}")))?;
    let mut splits: Vec<String> = Vec::new();
    let mut shards = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let entry = json::parse(line).map_err(|error| input(format!("{name}:{number}: {error}")))?;
        let field = |key: &str| entry.as_map().and_then(|entry| entry.get(key)?.as_text());
        let (Some(id), Some(own)) = (field("shard_id"), field("split")) else {
            return Err(input(format!("{name}:{number}: is no shard: it has no `shard_id` or no `split`")));
        };
        if id.is_empty() || id.starts_with('.') || id.contains('/') {
            return Err(input(format!("{name}:{number}: `{}` names no directory", id.escape_debug())));
        }
        if !splits.iter().any(|known| known == own) {
            splits.push(own.to_owned());
        }
        if split.is_none_or(|split| split == own) {
            shards.push(root.join(id));
        }
    }
    let listed = || splits.iter().map(|split| split.escape_debug().to_string()).collect::<Vec<_>>().join(", ");
    match split {
        None if splits.len() > 1 => {
            let line = format!("{name} has shards of {}: a store is of one split, choose it with --split", listed());
            Err(Box::new(Diagnostic::new("rollouts/options", line, Exit::Usage)))
        }
        Some(split) if shards.is_empty() => {
            let line = format!("{name} has no shard of split `{split}`; it has {}", listed());
            Err(Box::new(Diagnostic::new("rollouts/options", line, Exit::Usage)))
        }
        _ if shards.is_empty() => Err(input(format!("{name} lists no shard"))),
        _ => Ok(shards),
    }
}

/// Refuses shards of which some are not there yet.
fn complete(manifest: &Path, root: &Path, parts: &[PathBuf]) -> Result<(), Box<Diagnostic>> {
    if Address::of(root).is_some() {
        return Ok(());
    }
    let missing: Vec<&PathBuf> = parts.iter().filter(|part| !part.is_dir()).collect();
    let Some(first) = missing.first() else { return Ok(()) };
    let line =
        format!("{} of {} shards are not there yet, the first of them {}", missing.len(), parts.len(), first.display());
    let hint = format!("`skyfall rollouts status {}` lists them, with their failures", manifest.display());
    Err(Box::new(Diagnostic::new("rollouts/missing", line, Exit::Input).with_hint(hint)))
}

/// The options of a join; how it was asked for goes without the paths that differ from place to
/// place.
fn options(arguments: &JoinArguments, words: &[&str]) -> Result<JoinOptions, Box<Diagnostic>> {
    let argv = ["skyfall", "rollouts"].iter().chain(words).map(|word| Value::from(*word)).collect();
    let mut options = JoinOptions::new(shared::created_at_utc()?);
    options.memory_bytes = arguments.memory << 20;
    options.invocation = result::invocation(argv);
    Ok(options)
}

/// Shows how far a join has come.
fn shown(terminal: &Terminal) -> impl FnMut(&str, u64, u64) + '_ {
    |what, done, total| terminal.states(what, done, total.max(1))
}

fn finish(terminal: &Terminal) {
    terminal.states("", 1, 1);
}
