//! The candidate codec as tables, with what finds a row by the step or candidate it is about.

use indexmap::IndexMap;

use super::Store;
use super::groups::Groups;
use crate::array::Array;
use crate::rollouts::zarr::StoreError;

/// A table's columns by name.
pub type Columns = IndexMap<String, Array>;

/// The candidate codec of a store.
#[derive(Clone, Debug)]
pub struct CodecTables {
    /// One row a step.
    pub step_candidate_facts: Columns,
    /// One row a candidate.
    pub candidate_semantics: Columns,
    /// A row for every criterion of every candidate, or none at all.
    pub candidate_criteria: Columns,
    /// Each step's ordered actions.
    pub candidate_actions: Columns,
    /// Each step's ordered valid candidates.
    pub candidate_valids: Columns,
    /// The texts that the tables' ids name.
    pub texts: Vec<String>,
    /// Rows of the facts by step.
    pub facts_by_step: Groups,
    /// Rows of the semantics by candidate.
    pub semantics_by_candidate: Groups,
    /// Rows of the criteria by candidate.
    pub criteria_by_candidate: Groups,
    /// Rows of the actions by step.
    pub actions_by_step: Groups,
    /// Rows of the valid candidates by step.
    pub valids_by_step: Groups,
}

impl CodecTables {
    pub(super) fn read(store: &Store) -> Result<Self, StoreError> {
        let table = |group: &str| store.table(group, &[], 0..usize::MAX);
        let facts = table("step_candidate_facts")?;
        let semantics = table("candidate_semantics")?;
        let criteria = table("candidate_criteria")?;
        let actions = table("candidate_actions")?;
        let valids = table("candidate_valids")?;
        let by = |columns: &Columns, key: &str| {
            Groups::new(columns.get(key).and_then(Array::as_i64).unwrap_or_default(), |_| ())
        };
        let tables = Self {
            facts_by_step: by(&facts, "step_row_id"),
            semantics_by_candidate: by(&semantics, "candidate_row_id"),
            criteria_by_candidate: by(&criteria, "candidate_row_id"),
            actions_by_step: by(&actions, "step_row_id"),
            valids_by_step: by(&valids, "step_row_id"),
            step_candidate_facts: facts,
            candidate_semantics: semantics,
            candidate_criteria: criteria,
            candidate_actions: actions,
            candidate_valids: valids,
            texts: store.dictionary("candidate_fact")?,
        };
        for (group, groups, path) in [
            ("step_candidate_facts", &tables.facts_by_step, "steps/step_row_id"),
            ("candidate_semantics", &tables.semantics_by_candidate, "candidates/candidate_row_id"),
        ] {
            let ids = store.array(path)?;
            let mut ids = ids.as_i64().unwrap_or_default().to_vec();
            ids.sort_unstable();
            if groups.keys() != ids || ids.iter().any(|id| groups.rows(*id).len() != 1) {
                return Err(store.refuse(group, &format!("does not have one row for each of {path}")));
            }
        }
        let known = |groups: &Groups, of: &Groups| groups.keys().iter().all(|key| !of.rows(*key).is_empty());
        for (group, groups, of) in [
            ("candidate_criteria", &tables.criteria_by_candidate, &tables.semantics_by_candidate),
            ("candidate_actions", &tables.actions_by_step, &tables.facts_by_step),
            ("candidate_valids", &tables.valids_by_step, &tables.facts_by_step),
        ] {
            if !known(groups, of) {
                return Err(store.refuse(group, "is about a step or candidate that the store does not have"));
            }
        }
        Ok(tables)
    }
}
