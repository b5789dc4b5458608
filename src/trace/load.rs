//! Runs with all their rows, whole: for scripts, which look at everything.

use std::path::PathBuf;

use indexmap::IndexMap;
use rayon::prelude::*;

use crate::trace::columns::{Identity, Warning};
use crate::trace::copies::{copies, reached_again};
use crate::trace::error::TraceError;
use crate::trace::group::{Membership, Span, collision, membership};
use crate::trace::identity::mixed_types;
use crate::trace::input::{self, InputFile};
use crate::trace::read::{ReadOptions, refuse_losses};
use crate::trace::row::Row;
use crate::trace::rows::Rows;
use crate::value::Map;

/// A run and its rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// Which run this is.
    pub identity: Identity,
    /// Other keys whose value is the same in every row; the rows themselves do not repeat them.
    pub meta: Map,
    /// The files its rows came from, in order.
    pub files: Vec<String>,
    /// Its rows, in file order.
    pub steps: Vec<Row>,
}

/// What a loading of traces yields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loaded {
    /// The runs, in order of first appearance.
    pub runs: Vec<Run>,
    /// What was odd.
    pub warnings: Vec<Warning>,
}

/// Loads the runs of `paths` (files, directories, `-`), all rows in memory; [`load_with`] also
/// tells what was odd.
///
/// # Errors
/// When a file is missing, unreadable or not UTF-8.
pub fn load(paths: &[PathBuf]) -> Result<Vec<Run>, TraceError> {
    load_with(paths, &ReadOptions::default()).map(|loaded| loaded.runs)
}

/// Loads the runs of `paths`, grouped as [`read_columns`](crate::trace::read_columns) does;
/// rows stay in file order whatever [`ReadOptions::on_restart`] says.
///
/// # Errors
/// As for [`load`]; with [`ReadOptions::strict`], when rows would be lost.
pub fn load_with(paths: &[PathBuf], options: &ReadOptions) -> Result<Loaded, TraceError> {
    let (inputs, again) = input::expand(paths)?;
    let read: Vec<_> = inputs.par_iter().map(|input| load_file(input, options)).collect();
    let files = read.into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut warnings: Vec<Warning> = files.iter().flat_map(|file| file.warnings.iter().cloned()).collect();
    warnings.extend(again.into_iter().map(reached_again));
    let sizes: Vec<_> = files.iter().map(|file| file.size).collect();
    let copies = copies(&sizes, &inputs, options.block_bytes)?;
    let mut buckets: IndexMap<String, Vec<Run>> = IndexMap::new();
    for (number, file) in files.into_iter().enumerate() {
        if copies.iter().any(|copy| copy.later == number) {
            continue;
        }
        for run in file.runs {
            let key = if run.identity.is_anonymous() { format!("file {number}") } else { run.identity.key() };
            buckets.entry(key).or_default().push(run);
        }
    }
    warnings.extend(copies.into_iter().map(|copy| copy.warning));
    warnings.extend(mixed_types(buckets.values().flatten().map(|run| &run.identity)));
    let runs = buckets.into_values().flat_map(|members| join(members, &mut warnings)).collect();
    if options.strict {
        refuse_losses(&warnings)?;
    }
    Ok(Loaded { runs, warnings })
}

struct LoadedFile {
    runs: Vec<Run>,
    warnings: Vec<Warning>,
    size: (u64, u64),
}

fn load_file(input: &InputFile, options: &ReadOptions) -> Result<LoadedFile, TraceError> {
    let mut rows = Rows::open(input, options)?;
    let mut runs: IndexMap<String, Run> = IndexMap::new();
    for entry in &mut rows {
        let entry = entry?;
        let mut row = entry.row;
        // What stands before the fields may be metadata, what stands after may be, too.
        let others: Map = (*entry.meta).clone().into_iter().chain(std::mem::take(&mut row.extra)).collect();
        let run = runs.entry(entry.identity.key()).or_insert_with(|| Run {
            identity: (*entry.identity).clone(),
            meta: others.clone(),
            files: vec![input.name.clone()],
            steps: Vec::new(),
        });
        run.push(row, others);
    }
    let mut runs: Vec<Run> = runs.into_values().collect();
    for run in runs.iter_mut().filter(|run| run.identity.is_anonymous()) {
        run.identity.file = Some(input.name.clone());
    }
    Ok(LoadedFile { runs, warnings: rows.warnings(), size: (rows.text_bytes(), rows.read_so_far()) })
}

impl Run {
    /// Adds a row with these other keys: what differs from the metadata is none.
    fn push(&mut self, mut row: Row, mut others: Map) {
        let differing: Vec<String> = self
            .meta
            .iter()
            .filter(|(key, value)| others.get(*key) != Some(value))
            .map(|(key, _)| key.clone())
            .collect();
        for key in differing {
            if let Some(value) = self.meta.shift_remove(&key) {
                for step in &mut self.steps {
                    step.extra.insert(key.clone(), value.clone());
                }
            }
        }
        others.retain(|key, _| !self.meta.contains_key(key));
        row.extra = others;
        self.steps.push(row);
    }

    /// Adds the rows of a later file.
    fn append(&mut self, later: Self) {
        self.files.extend(later.files);
        for mut row in later.steps {
            let mut others = later.meta.clone();
            others.extend(std::mem::take(&mut row.extra));
            self.push(row, others);
        }
    }
}

/// Joins the runs of one identity, if they belong together.
fn join(members: Vec<Run>, warnings: &mut Vec<Warning>) -> Vec<Run> {
    let spans: Vec<Span> = members.iter().map(|run| Span::of(run.steps.iter().map(|row| row.step))).collect();
    match membership(&spans) {
        Membership::Apart(one, other) => {
            let file_of =
                |member: usize| members.get(member).and_then(|run| run.files.first()).map_or("", String::as_str);
            if let Some(run) = members.first() {
                warnings.push(collision(&run.identity, file_of(one), file_of(other), members.len()));
            }
            let mut members = members;
            for run in &mut members {
                run.identity.file = run.files.first().cloned();
            }
            members
        }
        Membership::Continuation(order) => {
            let mut members: Vec<Option<Run>> = members.into_iter().map(Some).collect();
            let mut ordered = order.into_iter().filter_map(|member| members.get_mut(member).and_then(Option::take));
            let Some(mut whole) = ordered.next() else { return Vec::new() };
            ordered.for_each(|later| whole.append(later));
            vec![whole]
        }
    }
}
