//! `skyfall rollouts plan`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::recipe;
use super::status::site as site_of;
use crate::atomic;
use crate::campaign::manifest::{self, SourceManifest};
use crate::campaign::plan::{self, Plan, Provenance};
use crate::campaign::promotion::is_taken;
use crate::campaign::{ManifestError, RunError, Site, index};
use crate::cli::Ending;
use crate::cli::args::PlanArguments;
use crate::cli::console::Terminal;
use crate::cli::findings;
use crate::diagnostic::{Diagnostic, Exit, Problem};
use crate::object::Address;
use crate::rollouts::{self, OWNER, ShardEntry, ShardRow};
use crate::script::Limits;
use crate::unit::{self, MARKER};
use crate::value::{self, Map, Value};

/// Cuts the rows of a source store into shards.
pub(super) fn plan(arguments: &PlanArguments, terminal: &Rc<Terminal>) -> Ending {
    let mut rows = index::read(&arguments.index).map_err(Diagnostic::from)?;
    let reviewed =
        arguments.source_manifest.as_deref().map(SourceManifest::read).transpose().map_err(Diagnostic::from)?;
    if let Some(reviewed) = &reviewed {
        rows = only(&rows, reviewed, &arguments.index).map_err(Diagnostic::from)?;
    }
    let recipe = recipe::source(&arguments.recipe, Limits::default(), terminal)?.recipe;
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let of_reviewed = |field: fn(&SourceManifest) -> &String| reviewed.as_ref().map(|reviewed| field(reviewed).clone());
    let given =
        |given: &Option<String>, field: fn(&SourceManifest) -> &String| given.clone().or_else(|| of_reviewed(field));
    let store = arguments.source_store.as_deref().map(name).or_else(|| of_reviewed(|own| &own.source_store_dir));
    let provenance = Provenance {
        source_manifest_hash: given(&arguments.source_manifest_hash, |own| &own.source_manifest_hash),
        source_cache_version: given(&arguments.source_cache_version, |own| &own.source_cache_version)
            .unwrap_or_else(|| recipe.source_cache_version().to_owned()),
        source_store_dir: store.unwrap_or_else(|| name(&arguments.index)),
        writer_config_hash: recipe.hash(),
        campaign_binding: None,
    };
    let plan = plan::plan(&rows, &provenance, arguments.rows_per_shard);
    if let (Some(out), false) = (&arguments.out, arguments.dry_run) {
        let site = site_of(arguments.site.final_root.clone(), &out.join(manifest::SHARD_MANIFEST));
        replaceable(&plan, out, &site)?;
        let failed = |error: atomic::AtomicError| Diagnostic::new("campaign/write", error.to_string(), Exit::Failure);
        write(&plan, out).map_err(failed)?;
    }
    let written = arguments.out.as_ref().filter(|_| !arguments.dry_run).map(|out| out.join(manifest::SHARD_MANIFEST));
    if arguments.json {
        terminal.print_json(data(&plan, &provenance.writer_config_hash, written.as_deref()));
        return Ok(Exit::Success);
    }
    let mut text = String::new();
    for source in &plan.sources {
        let (split, rows, scenes) = (findings::name(&source.split), source.rows.len(), source.scenes());
        text.push_str(&format!("{split}: {rows} rows, {scenes} scenes, split hash {}\n", source.split_manifest_hash()));
    }
    let (shards, hash) = (plan.shards.len(), &provenance.writer_config_hash);
    text.push_str(&format!("{shards} shards, {} rows in all, writer config hash {hash}\n", rows.len()));
    match written {
        Some(path) => text.push_str(&format!("shard manifest: {}\n", path.display())),
        None => {
            for shard in &plan.shards {
                let (id, split, rows) = (&shard.shard_id, findings::name(&shard.split), shard.rows.len());
                text.push_str(&format!("{id}  {split}  {rows} rows  {}\n", shard.split_manifest_hash));
            }
        }
    }
    terminal.print(&text);
    Ok(Exit::Success)
}

/// A plan as plain data, with its manifest where that was written.
fn data(plan: &Plan, writer_config_hash: &str, manifest: Option<&Path>) -> Map {
    let source = |source: &SourceManifest| {
        let entries: [(&str, Value); 4] = [
            ("split", source.split.as_str().into()),
            ("num_rows", (source.rows.len() as u64).into()),
            ("num_scenes", (source.scenes() as u64).into()),
            ("split_manifest_hash", source.split_manifest_hash().into()),
        ];
        Value::map(entries)
    };
    let shard = |shard: &ShardEntry| {
        let entries: [(&str, Value); 4] = [
            ("shard_id", shard.shard_id.as_str().into()),
            ("split", shard.split.as_str().into()),
            ("num_source_rows", (shard.rows.len() as u64).into()),
            ("split_manifest_hash", shard.split_manifest_hash.as_str().into()),
        ];
        Value::map(entries)
    };
    value::map([
        ("manifest_path", manifest.map(|path| path.display().to_string()).into()),
        ("writer_config_hash", writer_config_hash.into()),
        ("sources", plan.sources.iter().map(source).collect::<Vec<_>>().into()),
        ("shards", plan.shards.iter().map(shard).collect::<Vec<_>>().into()),
    ])
}

/// The rows of a source manifest, each of which the index must have, in the manifest's order.
fn only(rows: &[ShardRow], reviewed: &SourceManifest, index: &Path) -> Result<Vec<ShardRow>, impl Problem + use<>> {
    let by_key: HashMap<&str, &ShardRow> = rows.iter().map(|row| (row.sample_key.as_str(), row)).collect();
    let find = |wanted: &ShardRow| match by_key.get(wanted.sample_key.as_str()) {
        Some(row) if ShardRow { order: row.order, ..wanted.clone() } == **row => Ok((*row).clone()),
        found => Err(ManifestError::Whole {
            path: index.display().to_string(),
            what: match found {
                None => format!("it has no row {}, which the source manifest names", wanted.sample_key),
                Some(_) => format!("its row {} is not what the source manifest says of it", wanted.sample_key),
            },
        }),
    };
    reviewed.rows.iter().map(find).collect()
}

/// Refuses to write a plan over another one that shards were promoted from: they would be shards of
/// no plan. They are looked for in the final root, and beside the manifest, where some have them.
fn replaceable(plan: &Plan, out: &Path, site: &Site) -> Result<(), Box<Diagnostic>> {
    let path = out.join(manifest::SHARD_MANIFEST);
    if !path.is_file() || std::fs::read(&path).is_ok_and(|old| old == manifest::to_text(&plan.shards).as_bytes()) {
        return Ok(());
    }
    let mut stores = Vec::new();
    for root in [site.root(), out] {
        let names = unit::names(root).map_err(|error| Diagnostic::from(RunError::from(error)))?;
        stores.extend(names.iter().map(|name| root.join(name)));
    }
    if Address::is(site.root()) {
        let planned = manifest::read(&path).map_err(Diagnostic::from)?;
        stores.extend(planned.iter().map(|entry| site.place(&entry.shard_id)));
    }
    let is_promoted = |store: &&PathBuf| match Address::is(store) {
        true => is_taken(store),
        false => [OWNER, MARKER].iter().any(|marker| store.join(marker).exists()),
    };
    let Some(promoted) = stores.iter().find(is_promoted) else { return Ok(()) };
    let line = format!(
        "{} is another plan, and {} was promoted from it; name another --out, or move it and its shards away",
        path.display(),
        promoted.display()
    );
    Err(Box::new(Diagnostic::new("campaign/other-plan", line, Exit::Usage)))
}

/// Writes the source manifests, then the shard manifest: where that is, the plan is whole.
fn write(plan: &Plan, out: &Path) -> Result<(), atomic::AtomicError> {
    for source in &plan.sources {
        let name = match plan.sources.len() {
            1 => "source-manifest.json".to_owned(),
            _ => format!("source-manifest.{}.json", rollouts::file_stem(&source.split)),
        };
        atomic::write_file(&out.join(name), source.to_text().as_bytes())?;
    }
    manifest::write(&out.join(manifest::SHARD_MANIFEST), &plan.shards)
}
