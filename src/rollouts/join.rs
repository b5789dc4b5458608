//! Stores from stores: several joined into one, or the chains of one that are wanted.
//!
//! Rows are taken over as they are, column by column; only ids and the texts' ids change, and the
//! derived view is derived again. What comes of the parts of a store is therefore what writing
//! their records in one go gives. Every part is checked before, what came of them before it is
//! put in place; the sidecar tells of each part what it was.

mod agree;
mod columns;
mod contents;
mod copy;
mod error;
mod filter;
mod origin;
mod part;
mod shared;
mod sources;
mod targets;
mod texts;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

pub use error::JoinError;
pub(crate) use filter::file_stem;
pub use filter::{By, Filter};

use super::config::RolloutZarrStoreConfig;
use super::dictionary::Dictionary;
use super::{RolloutZarrWriteResult, Writer, content_digest, validate};
use crate::value::Value;
use contents::Contents;
use part::Part;
use sources::Numbering;

/// How stores are joined or taken apart.
#[derive(Clone, Debug, PartialEq)]
pub struct JoinOptions {
    /// When the new store was made, `YYYY-MM-DDTHH:MM:SSZ`.
    pub created_at_utc: String,
    /// About how much memory rows may take on their way, in bytes, at least 64 MiB.
    pub memory_bytes: u64,
    /// How it was asked for, for the sidecar; null stands for a program.
    pub invocation: Value,
}

impl JoinOptions {
    /// The writer's own memory, and nothing of how it was asked for.
    #[must_use]
    pub fn new(created_at_utc: impl Into<String>) -> Self {
        let config = RolloutZarrStoreConfig::new("", created_at_utc);
        let RolloutZarrStoreConfig { created_at_utc, memory_bytes, .. } = config;
        Self { created_at_utc, memory_bytes, invocation: Value::Null }
    }
}

/// What a join is about, such as `checking shard-000003`, and how many of how many states are done.
pub type Progress<'a> = dyn FnMut(&str, u64, u64) + 'a;

/// Joins the stores in `parts`, in that order, into a new one at `destination`, which is replaced
/// when the new store is complete and right.
///
/// Sources keep their row ids unless two parts mean different sources by one; chains, states,
/// candidates and targets are counted on.
///
/// # Errors
/// When a part is missing, unsound or given twice or shares a chain with another, when parts were not written alike (another
/// split, discount, profile, revision), name one sample or target differently, or hold columns of
/// others, and when the destination is one of them or cannot be written.
pub fn merge(
    parts: &[PathBuf],
    destination: &Path,
    options: &JoinOptions,
    progress: &mut Progress<'_>,
) -> Result<RolloutZarrWriteResult, JoinError> {
    apart(parts, destination)?;
    let mut opened: Vec<Part> = Vec::with_capacity(parts.len());
    for path in parts {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        progress(&format!("checking {name}"), 0, 0);
        opened.push(Part::open(path)?);
    }
    copies(&opened)?;
    agree::agree(&opened)?;
    shared::apart(&opened)?;
    let states = opened.iter().map(|part| part.count("num_steps")).sum::<i64>();
    let mut work = Work { options, progress, done: 0, states: u64::try_from(states).unwrap_or(0) };
    work.write(&opened, destination, None)
}

/// Writes the chains of `store` that `filter` wants to a new store at `destination`, in their
/// order, which is replaced when the new store is complete and right. Chains stay whole.
///
/// # Errors
/// As [`merge`]; and when a value that is asked for is not in the store, or no chain is wanted.
pub fn select(
    store: &Path,
    filter: &Filter,
    destination: &Path,
    options: &JoinOptions,
    progress: &mut Progress<'_>,
) -> Result<RolloutZarrWriteResult, JoinError> {
    apart(&[store.to_owned()], destination)?;
    progress("checking the store", 0, 0);
    let part = [Part::open(store)?];
    let [own] = &part;
    let mut contents = Contents::read(own)?;
    let chains = filter.choose(&contents)?;
    let states = chains.iter().map(|run| contents.states(run).len() as u64).sum();
    let mut work = Work { options, progress, done: 0, states };
    let wanted = Chosen { contents: &mut contents, chains: &chains, selection: filter.told(), operation: "select" };
    work.write(&part, destination, Some(wanted))
}

/// Writes one store into `directory` for every scene, split, target or snippet that `store` has,
/// `<name>.zarr` each in order of first use; each appears when it is complete and right. Returns
/// what each store holds in common with what came of it.
///
/// # Errors
/// As [`select`].
pub fn split(
    store: &Path,
    by: By,
    directory: &Path,
    options: &JoinOptions,
    progress: &mut Progress<'_>,
) -> Result<Vec<(String, RolloutZarrWriteResult)>, JoinError> {
    progress("checking the store", 0, 0);
    let part = [Part::open(store)?];
    let [own] = &part;
    let mut contents = Contents::read(own)?;
    let groups = by.groups(&contents);
    let stores: Vec<PathBuf> = groups.iter().map(|(value, _)| directory.join(filter::file_name(value))).collect();
    for destination in &stores {
        apart(&[store.to_owned()], destination)?;
    }
    let states = u64::try_from(own.count("num_steps")).unwrap_or(0);
    let mut work = Work { options, progress, done: 0, states };
    let mut made = Vec::with_capacity(groups.len());
    for ((value, chains), destination) in groups.into_iter().zip(stores) {
        let selection = by.told(&value);
        let wanted = Chosen { contents: &mut contents, chains: &chains, selection, operation: "split" };
        made.push((value, work.write(&part, &destination, Some(wanted))?));
    }
    Ok(made)
}

/// The chains of a single part that go into the new store.
struct Chosen<'a, 'p> {
    contents: &'a mut Contents<'p>,
    chains: &'a [Range<usize>],
    selection: Value,
    operation: &'static str,
}

/// One call's work.
struct Work<'w, 'p> {
    options: &'w JoinOptions,
    progress: &'w mut Progress<'p>,
    done: u64,
    states: u64,
}

impl Work<'_, '_> {
    /// Writes a store at `destination`: of everything in `parts`, or of what is chosen.
    fn write(
        &mut self,
        parts: &[Part],
        destination: &Path,
        chosen: Option<Chosen<'_, '_>>,
    ) -> Result<RolloutZarrWriteResult, JoinError> {
        let Some(first) = parts.first() else { return Err(JoinError::NoParts) };
        let needed = chosen.as_ref().map(Needed::of);
        let numbering = Numbering::of(parts, needed.as_ref().map(|needed| &needed.sources))?;
        let mut config = agree::config(first, destination, self.options)?;
        config.split_manifest_hash = numbering.split_hash(parts);
        config.manifest_context.invocation = self.options.invocation.clone();
        config.manifest_context.writer_config = origin::writer_config(parts);
        config.manifest_context.origin = match &chosen {
            None => origin::origin("merge", parts, Value::Null, numbering.renumbered),
            Some(chosen) => origin::origin(chosen.operation, parts, chosen.selection.clone(), false),
        };
        let mut writer = Writer::new(config.clone())?;
        for (row, source) in &numbering.sources {
            writer.tables().take_source(*row, source);
        }
        match (chosen, needed) {
            (Some(chosen), Some(needed)) => {
                let kept = numbering.rows.first().cloned().unwrap_or_default();
                chosen.contents.codes.forget();
                self.take(chosen.contents, chosen.chains, Some(&needed), &kept, &config, &mut writer)?;
            }
            _ => {
                for (part, sources) in parts.iter().zip(&numbering.rows) {
                    let mut contents = Contents::read(part)?;
                    let all = 0..contents.owners.len();
                    self.take(&mut contents, std::slice::from_ref(&all), None, sources, &config, &mut writer)?;
                }
            }
        }
        let codec = first.store.attribute("candidate_trace_codec_version").is_some();
        writer.tables().agreed.codec = Some(codec);
        (self.progress)("completing the store", 0, 0);
        writer.complete(|staged| {
            let found = validate(staged)?;
            part::shown(&found.errors).map_or(Ok(()), |(count, first)| Err(JoinError::Outcome { count, first }))
        })
    }

    /// Takes the chains `runs` of a part over, whose sources are numbered by `sources`.
    fn take(
        &mut self,
        contents: &mut Contents<'_>,
        runs: &[Range<usize>],
        needed: Option<&Needed>,
        sources: &HashMap<i64, i64>,
        config: &RolloutZarrStoreConfig,
        writer: &mut Writer,
    ) -> Result<(), JoinError> {
        let targets = take_targets(contents, needed, sources, config, writer)?;
        let owned = contents.owners.clone();
        let owners = |chain: usize| {
            let (source, target) = owned.get(chain).copied().unwrap_or_default();
            let target = usize::try_from(target).ok().and_then(|target| targets.get(target));
            (sources.get(&source).copied().unwrap_or(-1), target.copied().unwrap_or(-1))
        };
        let name = contents.part.name();
        copy::copy(contents, runs, &owners, config, writer, &mut |more| {
            self.done += more as u64;
            (self.progress)(&name, self.done, self.states);
        })?;
        policies(contents, needed.is_none(), writer)
    }
}

/// The sources and targets of chosen chains, by their ids there.
struct Needed {
    sources: HashSet<i64>,
    targets: HashSet<i64>,
}

impl Needed {
    fn of(chosen: &Chosen<'_, '_>) -> Self {
        let owners = || chosen.chains.iter().cloned().flatten().filter_map(|chain| chosen.contents.owners.get(chain));
        Self {
            sources: owners().map(|(source, _)| *source).collect(),
            targets: owners().map(|(_, target)| *target).collect(),
        }
    }
}

/// Takes the needed targets over, all for none; gives each one's row in the new store.
fn take_targets(
    contents: &Contents<'_>,
    needed: Option<&Needed>,
    sources: &HashMap<i64, i64>,
    config: &RolloutZarrStoreConfig,
    writer: &mut Writer,
) -> Result<Vec<i64>, JoinError> {
    // A target is of one source, that of any of its chains.
    let mut owner = vec![None; contents.targets.len()];
    for (source, target) in &contents.owners {
        if let Some(owner) = usize::try_from(*target).ok().and_then(|target| owner.get_mut(target)) {
            *owner = Some(*source);
        }
    }
    let mut rows = vec![-1; contents.targets.len()];
    let mut taken = HashSet::new();
    let each = (0..).zip(contents.targets.iter()).zip(owner).zip(&mut rows);
    for (((own, target), owner), row) in each {
        let source = owner.and_then(|source| sources.get(&source)).copied().unwrap_or(-1);
        if needed.is_some_and(|needed| !needed.targets.contains(&own)) {
            continue;
        }
        if owner.is_none() {
            return Err(contents.part.refuse(format!("its target {own} is of no chain, and would be lost")));
        }
        let taking = writer.tables().take_target(source, target, config.target_protocol_version);
        *row = taking.map_err(|what| contents.part.refuse(what))?;
        if !taken.insert(*row) {
            return Err(contents.part.refuse(format!("its target {own} is another of its targets over again")));
        }
    }
    Ok(rows)
}

/// Lists the policies that only steps name, which no column tells.
fn policies(contents: &Contents<'_>, all: bool, writer: &mut Writer) -> Result<(), JoinError> {
    let mut named = HashSet::new();
    if !all {
        let store = &contents.part.store;
        for (group, column) in [("rollouts", "policy_id"), ("targets", "target_selection_policy_id")] {
            let table = store.table(group, &[column], 0..usize::MAX)?;
            named.extend(part::cells::<i32>(&table, column).iter().copied());
        }
    }
    let dictionaries = &mut writer.tables().dictionaries;
    for (id, text) in (0..).zip(contents.codes.texts(Dictionary::Policy)) {
        if !named.contains(&id) {
            dictionaries.provisional(Dictionary::Policy as usize, text);
        }
    }
    Ok(())
}

/// Refuses parts that are given twice, and a destination that is one of them.
fn apart(parts: &[PathBuf], destination: &Path) -> Result<(), JoinError> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let to = real(destination);
    let mut seen = HashSet::new();
    for path in parts {
        let own = real(path);
        if own == to {
            return Err(JoinError::Destination { path: destination.to_owned() });
        }
        if !seen.insert(own) {
            return Err(JoinError::Repeated { path: path.clone(), copy: String::new() });
        }
    }
    Ok(())
}

/// Refuses parts that are copies of each other. Different stores may have one sidecar, so where
/// sidecars are equal, the content decides.
fn copies(parts: &[Part]) -> Result<(), JoinError> {
    let mut alike: HashMap<String, Vec<(&Path, String)>> = HashMap::new();
    for part in parts {
        let same = alike.entry(part.printed("manifest_sha256")).or_default();
        if let [(first, unknown)] = &mut same[..]
            && unknown.is_empty()
        {
            *unknown = content_digest(first)?;
        }
        let digest = if same.is_empty() { String::new() } else { content_digest(&part.path)? };
        if let Some((before, _)) = same.iter().find(|(_, content)| !digest.is_empty() && *content == digest) {
            let copy = format!(", the first time as `{}`", before.display());
            return Err(JoinError::Repeated { path: part.path.clone(), copy });
        }
        same.push((&part.path, digest));
    }
    Ok(())
}
