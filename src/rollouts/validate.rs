//! Checking a store: everything that is wrong is reported, whatever the store looks like.
//!
//! Stage by stage: the root's contract, then the tables' structure, then what rows say. A stage
//! that fails keeps back those that would only repeat its findings. The derived view is derived
//! here once more, from the tables on disk and by code of its own.

mod candidates;
mod chains;
mod findings;
mod labels;
mod lineage;
mod parts;
mod root;
mod sources;
mod tables;
mod targets;
mod view;

use std::path::{Path, PathBuf};

use findings::Findings;
use tables::Tables;

use super::zarr::{StoreError, StoreReader};

/// What a check of a store found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Validation {
    /// The store's directory.
    pub store_dir: PathBuf,
    /// Retained chains; 0 if the root's contract does not hold.
    pub num_rollouts: usize,
    /// States; 0 if the root's contract does not hold.
    pub num_steps: usize,
    /// Candidates; 0 if the root's contract does not hold.
    pub num_candidates: usize,
    /// What is wrong, one line each.
    pub errors: Vec<String>,
}

impl Validation {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn ok(&self) -> bool {
        self.errors.is_empty()
    }
}

/// Checks the store at `directory`.
///
/// # Errors
/// When there is no Zarr group at `directory`. All else is reported in [`Validation::errors`].
pub fn validate(directory: &Path) -> Result<Validation, StoreError> {
    let reader = StoreReader::open(directory)?;
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
            root::counts(&root, &tables, &mut findings);
            chains::check(&tables, &mut findings);
            view::check(&reader, &root, &tables, &mut findings);
            candidates::check(&tables, &mut findings);
            parts::check(&reader, &root, &mut findings);
            sources::check(&root, &tables, &mut findings);
            let trainable = targets::check(&root, &tables, &mut findings);
            labels::check(&tables, &trainable, &mut findings);
            lineage::check(&root, &tables, &mut findings);
        }
    }
    validation.errors = findings.into_errors();
    Ok(validation)
}
