//! `skyfall rollouts status`.

use std::path::{Path, PathBuf};

use super::launch;
use crate::campaign::status::{self, ShardStatus, State, Status};
use crate::campaign::{Site, manifest};
use crate::cli::Ending;
use crate::cli::args::CampaignStatusArguments;
use crate::cli::cluster::{self, Missing, Outlook};
use crate::cli::console::Terminal;
use crate::cli::findings::name;
use crate::diagnostic::{Diagnostic, Exit};
use crate::text::json;
use crate::value::Value;

/// How many shards that are not there are listed.
const MOST: usize = 20;

/// Says how far a campaign is.
pub(super) fn status(arguments: &CampaignStatusArguments, terminal: &Terminal) -> Ending {
    let entries = manifest::read(&arguments.shard_manifest).map_err(Diagnostic::from)?;
    let site = site(arguments.site.final_root.clone(), &arguments.shard_manifest);
    let working = terminal.working("checking shards");
    let status = status::status(&arguments.shard_manifest, &entries, &site).map_err(Diagnostic::from)?;
    drop(working);
    let home = launch::submissions(&arguments.shard_manifest);
    let missing: Vec<Missing> = status.shards.iter().filter_map(missing).collect();
    let fates = if missing.is_empty() { None } else { cluster::ask(&home, &launch::key, terminal)? };
    let outlook = fates.as_ref().map(|fates| Outlook::of(&missing, fates));
    if arguments.json {
        let mut value = status.to_value();
        if let (Value::Map(map), Some(outlook)) = (&mut value, outlook) {
            map.insert("slurm".to_owned(), outlook.to_value("shard"));
        }
        terminal.print(&format!("{}\n", json::to_canonical(&value)));
    } else {
        let outlook = outlook.map(|outlook| outlook.text()).unwrap_or_default();
        terminal.print(&(table(&status) + &outlook));
    }
    Ok(if arguments.require_complete && !status.is_complete() { Exit::Failure } else { Exit::Success })
}

/// A shard without a store, for a cluster to say what it knows of it.
fn missing(shard: &ShardStatus) -> Option<Missing> {
    let rows = format!("{} rows, {}", shard.num_source_rows, name(&shard.split));
    let id = shard.shard_id.clone();
    (shard.state != State::Succeeded).then(|| Missing { key: id.clone(), id, about: rows })
}

/// The final root that was named, else the one beside the manifest; stores for object storage are
/// written there too.
pub(super) fn site(final_root: Option<PathBuf>, manifest: &Path) -> Site {
    let beside = manifest.with_file_name("shards");
    Site::new(final_root.unwrap_or_else(|| beside.clone())).with_scratch(beside)
}

fn table(status: &Status) -> String {
    let counts = State::ALL.map(|state| format!("{} {}", status.count(state), state.name()));
    let mut text =
        format!("{} of {} shards: {}\n", status.count(State::Succeeded), status.shards.len(), counts.join(", "));
    let problems: Vec<_> = status.shards.iter().filter(|shard| shard.state != State::Succeeded).collect();
    for shard in problems.iter().take(MOST) {
        let what = shard.errors.first().map_or(String::new(), |error| format!("  {}", name(error)));
        let line = format!(
            "{}  {:<10}  {:>5} rows  {}{what}",
            name(&shard.shard_id),
            shard.state.name(),
            shard.num_source_rows,
            name(&shard.split)
        );
        text.push_str(&format!("{}\n", line.trim_end()));
    }
    if problems.len() > MOST {
        text.push_str(&format!("and {} more; --json lists them all\n", problems.len() - MOST));
    }
    text
}
