//! Checking a store against its contract: every violation is told, none is raised.
//!
//! The checks read the store as any consumer would and derive the view on their own; what the
//! writer does is not trusted. [`columns`] gives typed access that turns a missing or mistyped
//! column into a violation; [`root`], [`relations`] and [`view`] hold the checks.

mod columns;
mod relations;
mod root;
mod view;

use std::path::{Path, PathBuf};

use super::reader::Store;
use super::schema::{Candidates, Diagnostics, GROUPS, Lineage, Rollouts, Sources, Steps, Targets};
use super::zarr::StoreError;
use columns::Columns;

/// What a check of a store found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Validation {
    /// The store's directory.
    pub store_dir: PathBuf,
    /// Retained chains; 0 where the root's contract is broken.
    pub num_rollouts: usize,
    /// States.
    pub num_steps: usize,
    /// Candidates.
    pub num_candidates: usize,
    /// The violations, one line each.
    pub errors: Vec<String>,
}

impl Validation {
    /// Whether the store keeps its contract.
    #[must_use]
    pub fn ok(&self) -> bool {
        self.errors.is_empty()
    }
}

/// Checks the store at `directory`. A broken root contract (schema, manifest, groups) ends the
/// check, with counts of 0.
///
/// # Errors
/// When there is no rollout store to check; everything else is a violation.
pub fn validate(directory: &Path) -> Result<Validation, StoreError> {
    let store = Store::open(directory)?;
    let mut found = Validation {
        store_dir: directory.to_owned(),
        num_rollouts: 0,
        num_steps: 0,
        num_candidates: 0,
        errors: root::check(&store),
    };
    for group in GROUPS {
        if !store.has_group(group) {
            found.errors.push(format!("group {group} is missing"));
        }
    }
    if !found.errors.is_empty() {
        return Ok(found);
    }
    let mut columns = Columns::new(&store);
    for (group, names) in [
        (Sources::GROUP, Sources::COLUMNS),
        (Rollouts::GROUP, Rollouts::COLUMNS),
        (Lineage::GROUP, Lineage::COLUMNS),
        (Steps::GROUP, Steps::COLUMNS),
        (Candidates::GROUP, Candidates::COLUMNS),
        (Diagnostics::GROUP, Diagnostics::COLUMNS),
        (Targets::GROUP, Targets::COLUMNS),
    ] {
        columns.load(group, names);
    }
    found.num_rollouts = columns.rows(Rollouts::GROUP);
    found.num_steps = columns.rows(Steps::GROUP);
    found.num_candidates = columns.rows(Candidates::GROUP);
    if columns.errors.is_empty() {
        relations::check(&mut columns);
        view::check(&mut columns);
    }
    found.errors = columns.errors;
    Ok(found)
}
