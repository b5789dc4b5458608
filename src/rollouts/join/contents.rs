//! Where a part's chains, states and their rows are.

use std::ops::Range;

use super::JoinError;
use super::part::{Part, cells};
use super::texts::Codes;
use crate::rollouts::record::Target;
use crate::rollouts::zarr::StoreReader;
use crate::value::Value;

/// Rows whose ids are read at a time.
const ROWS: usize = 1 << 20;

/// What of a part must be known to take its rows over.
pub(super) struct Contents<'a> {
    pub(super) part: &'a Part,
    pub(super) reader: StoreReader,
    pub(super) codes: Codes,
    pub(super) targets: Vec<Target>,
    /// Of each chain, its source's id and its target's row.
    pub(super) owners: Vec<(i64, i64)>,
    /// Where each chain's states begin, and where the last one's end.
    chains: Vec<usize>,
    /// The same of the states' candidates.
    candidates: Vec<usize>,
    /// The same of crops, criteria, actions and valid candidates; empty where there are none.
    crops: Vec<usize>,
    criteria: Vec<usize>,
    actions: Vec<usize>,
    valids: Vec<usize>,
    has_depth: bool,
}

/// Begins of runs, from their lengths.
fn starts(lengths: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut total = 0;
    std::iter::once(0)
        .chain(lengths.map(|length| {
            total += length;
            total
        }))
        .collect()
}

fn size(count: i32) -> usize {
    usize::try_from(count).unwrap_or(0)
}

impl<'a> Contents<'a> {
    /// Reads what is small of a part that was found sound: ids count from 0, and rows stand in
    /// the order of chains, states and candidates.
    pub(super) fn read(part: &'a Part) -> Result<Self, JoinError> {
        let (store, all) = (&part.store, 0..usize::MAX);
        let reader = StoreReader::open(&part.path)?;
        let rollouts = store.table("rollouts", &["source_row_id", "target_row_id"], all.clone())?;
        let owners = cells::<i64>(&rollouts, "source_row_id").iter().zip(cells::<i64>(&rollouts, "target_row_id"));
        let owners: Vec<(i64, i64)> = owners.map(|(source, target)| (*source, *target)).collect();
        let steps = store.table("steps", &["rollout_row_id", "num_candidates"], all.clone())?;
        let mut lengths = vec![0; owners.len()];
        for chain in cells::<i64>(&steps, "rollout_row_id") {
            if let Some(length) = usize::try_from(*chain).ok().and_then(|chain| lengths.get_mut(chain)) {
                *length += 1;
            }
        }
        let candidates = starts(cells::<i32>(&steps, "num_candidates").iter().map(|count| size(*count)));
        let states = candidates.len() - 1;
        let codes = Codes::read(store)?;
        let mut contents = Self {
            targets: super::targets::read(part, &codes)?,
            part,
            codes,
            owners,
            chains: starts(lengths.into_iter()),
            candidates,
            crops: Vec::new(),
            criteria: Vec::new(),
            actions: Vec::new(),
            valids: Vec::new(),
            has_depth: store.attribute("selected_depth_enabled") == Some(&Value::Bool(true)),
            reader,
        };
        contents.crops = contents.runs("target_eval_crops/step_row_id", &(0..=states).collect::<Vec<_>>())?;
        if contents.has_codec() {
            let facts = store.table("step_candidate_facts", &["action_count", "valid_count"], all)?;
            let counted = |name: &str| starts(cells::<i32>(&facts, name).iter().map(|count| size(*count)));
            contents.actions = counted("action_count");
            contents.valids = counted("valid_count");
            contents.criteria = contents.runs("candidate_criteria/candidate_row_id", &contents.candidates)?;
        }
        Ok(contents)
    }

    /// Whether there are the candidate codec's tables.
    pub(super) fn has_codec(&self) -> bool {
        self.part.store.attribute("candidate_trace_codec_version").is_some()
    }

    /// The states of some chains.
    pub(super) fn states(&self, chains: &Range<usize>) -> Range<usize> {
        let at = |place: usize| self.chains.get(place).copied().unwrap_or(0);
        at(chains.start)..at(chains.end)
    }

    /// The candidates of some states.
    pub(super) fn candidates_of(&self, states: &Range<usize>) -> Range<usize> {
        let at = |state: usize| self.candidates.get(state).copied().unwrap_or(0);
        at(states.start)..at(states.end)
    }

    /// The row of `group` at which those of a state begin.
    pub(super) fn place(&self, group: &str, state: usize) -> usize {
        let starts = match group {
            "steps" | "step_candidate_facts" => return state,
            "selected_depth" => return if self.has_depth { state } else { 0 },
            "candidates" | "candidate_diagnostics" | "candidate_semantics" => &self.candidates,
            "target_eval_crops" => &self.crops,
            "candidate_criteria" => &self.criteria,
            "candidate_actions" => &self.actions,
            "candidate_valids" => &self.valids,
            _ => return 0,
        };
        starts.get(state).copied().unwrap_or(0)
    }

    /// Where each state's rows begin in a table whose column `path` holds ids that do not fall;
    /// those of a state are below its entry of `ends`.
    fn runs(&self, path: &str, ends: &[usize]) -> Result<Vec<usize>, JoinError> {
        let column = self.reader.column(path)?;
        let total = column.shape().first().copied().unwrap_or(0);
        let mut starts = vec![0];
        let mut before = 0;
        for start in (0..total).step_by(ROWS) {
            let part = column.rows(start..total.min(start + ROWS))?;
            for (row, id) in part.as_slice::<i64>().unwrap_or_default().iter().enumerate() {
                let id = usize::try_from(*id).unwrap_or(0);
                if id < before {
                    let what = format!("{path}: row {} belongs before the row before it", start + row);
                    return Err(self.part.refuse(what));
                }
                before = id;
                while ends.get(starts.len()).is_some_and(|end| id >= *end) {
                    starts.push(start + row);
                }
            }
        }
        starts.resize(ends.len(), total);
        Ok(starts)
    }
}
