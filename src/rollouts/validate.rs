//! Checking a store: everything that is wrong is reported, whatever the store looks like.
//!
//! Stage by stage: the root's contract, then the tables' structure, then what rows say. A stage
//! that fails keeps back those that would only repeat its findings. Candidates and what stands
//! beside them are read a block of whole shells at a time, the next block while one is checked,
//! so that memory does not grow with them. The derived view is derived here once more, from the
//! tables on disk and by code of its own.

mod block;
mod candidates;
mod codec;
mod crops;
mod depth;
mod findings;
mod labels;
mod lineage;
mod promotion;
mod root;
mod shells;
mod sources;
mod states;
mod tables;
mod targets;
mod view;

pub(crate) use promotion::{OWNER, OWNERSHIP, marker as read_marker, parse_marker};

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use block::Block;
use codec::Codec;
use findings::Findings;
pub(super) use promotion::read as read_beside;
use root::Root;
use states::States;
use tables::Tables;
use view::View;

use super::zarr::{StoreError, StoreReader};
use crate::value::Map;

/// What a check of a store found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Validation {
    /// The store's directory, or its address.
    pub store_dir: PathBuf,
    /// Retained chains; 0 if the root's contract does not hold.
    pub num_rollouts: usize,
    /// States; 0 if the root's contract does not hold.
    pub num_steps: usize,
    /// Candidates; 0 if the root's contract does not hold.
    pub num_candidates: usize,
    /// What is wrong, one line a kind of violation: the first row and how many more.
    pub errors: Vec<String>,
}

impl Validation {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn ok(&self) -> bool {
        self.errors.is_empty()
    }
}

/// Checks the store at `directory`, which may be an address on object storage.
///
/// # Errors
/// When there is no Zarr group at `directory`, or its storage fails. All else is reported in [`Validation::errors`].
pub fn validate(directory: &Path) -> Result<Validation, StoreError> {
    check(directory, None)
}

/// Checks the shard's store at `directory`, which lacks its success marker, as if that were
/// `success`.
///
/// # Errors
/// As for [`validate`].
pub(crate) fn validate_unsealed(directory: &Path, success: Map) -> Result<Validation, StoreError> {
    check(directory, Some(success))
}

fn check(directory: &Path, success: Option<Map>) -> Result<Validation, StoreError> {
    let reader = StoreReader::open(directory)?;
    reader.prefetch();
    let mut findings = Findings::default();
    let mut validation = Validation {
        store_dir: directory.to_owned(),
        num_rollouts: 0,
        num_steps: 0,
        num_candidates: 0,
        errors: Vec::new(),
    };
    if let Some(root) = root::check(&reader, &mut findings) {
        let tables = Tables::load(&reader, &mut findings);
        validation.num_rollouts = tables.rollouts.rows;
        validation.num_steps = tables.steps.rows;
        validation.num_candidates = tables.candidates.rows;
        // Rows are worth reading once every column is there, of its dtype and length.
        if findings.is_empty() {
            rows(&reader, &root, &tables, success, &mut findings);
        }
    }
    // What could not be fetched is not held against the store.
    if let Some(fault) = reader.fault() {
        return Err(fault);
    }
    validation.errors = findings.into_errors();
    Ok(validation)
}

/// Whether a store carries the candidate codec; what is wrong with one that is there in part.
pub(super) fn codec_presence(reader: &StoreReader, attributes: &Map) -> Result<bool, String> {
    let mut findings = Findings::default();
    let there = codec::presence(reader, attributes, &mut findings);
    match findings.into_errors().into_iter().next() {
        None => Ok(there),
        Some(what) => Err(what),
    }
}

/// What the rows of all tables say.
fn rows(reader: &StoreReader, root: &Root, tables: &Tables, success: Option<Map>, findings: &mut Findings) {
    let states = States::of(tables, findings);
    if states.ordered {
        root::counts(root, tables, states.width(), findings);
    }
    root::beside(reader, root, findings);
    states::check(tables, findings);
    sources::check(root, tables, findings);
    let trainable = targets::check(root, tables, findings);
    lineage::check(root, tables, findings);
    depth::check(reader, root, tables, true, findings);
    crops::check(reader, root, tables, &states, findings);
    let codec = Codec::load(reader, root, tables, &states, findings);
    let view = View::describe(reader, root, tables, &states, findings);
    let allowed = labels::rollouts(tables, &trainable);
    if tables.diagnostics.rows != tables.candidates.rows {
        let (own, of) = (tables.diagnostics.rows, tables.candidates.rows);
        findings.add(format!("candidate_diagnostics: has {own} rows, but there are {of} candidates"));
    }

    let checks: [&(dyn Fn(&Block) -> Findings + Sync); 10] = [
        &|block| shells::rows(tables, block),
        &|block| shells::states(tables, block),
        &|block| shells::poses(tables, block),
        &|block| view::of_states(tables, &states, &view, block),
        &|block| view::of_slots(root, &view, block),
        &candidates::masks,
        &|block| candidates::provenance(tables, block),
        &|block| candidates::reasons(block).with(candidates::diagnostics(block)),
        &|block| labels::check(tables, &allowed, block),
        &|block| codec.as_ref().map(|codec| codec::check(codec, tables, block)).unwrap_or_default(),
    ];
    let mut gains: [Vec<f32>; 4] = Default::default();
    let plan = block::plan(tables, &states);
    let read = |part: Option<&_>| {
        let mut damage = Findings::default();
        let block = part.map(|part: &(_, _)| Block::read(tables, &states, &view, part.clone(), &mut damage));
        (block, damage)
    };
    let mut parts = plan.iter();
    let (mut current, mut damage) = read(parts.next());
    let mut whole = states.ordered;
    while let Some(block) = current {
        // What cannot be read is not held against the rows beside it.
        let sound = damage.is_empty();
        let check = || checks.par_iter().filter(|_| sound).map(|check| check(&block)).collect::<Vec<_>>();
        let (found, next) = rayon::join(check, || read(parts.next()));
        findings.merge(damage);
        found.into_iter().for_each(|found| findings.merge(found));
        block.gains(&mut gains);
        whole &= sound;
        (current, damage) = next;
    }
    if whole {
        states::sums(tables, &gains, findings);
    }
    promotion::check(reader, root, tables, success, findings);
}
