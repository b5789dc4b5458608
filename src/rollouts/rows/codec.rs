//! The candidate codec's tables: how every shell came about.

use crate::rollouts::column::Column;
use crate::rollouts::dictionary::Dictionaries;
use crate::rollouts::record::{CODEC_VERSION, Criterion, TraceFacts};
use crate::rollouts::schema::{
    ActionRow, Actions, Criteria, CriterionRow, Semantics, SemanticsRow, StepFacts, StepFactsRow, Table, ValidRow,
    Valids,
};
use crate::rollouts::tables::small;

/// The five tables, in the order of their groups.
#[derive(Default)]
pub(super) struct Codec {
    steps: StepFacts,
    semantics: Semantics,
    criteria: Criteria,
    actions: Actions,
    valids: Valids,
}

impl Codec {
    pub(super) fn columns(&self) -> impl Iterator<Item = Column<'_>> {
        let step = self.steps.columns().chain(self.semantics.columns());
        step.chain(self.criteria.columns()).chain(self.actions.columns()).chain(self.valids.columns())
    }

    pub(super) fn clear(&mut self) {
        self.steps.clear();
        self.semantics.clear();
        self.criteria.clear();
        self.actions.clear();
        self.valids.clear();
    }

    /// Appends the facts of a step whose first candidate is row `first`.
    pub(super) fn add(
        &mut self,
        facts: &TraceFacts,
        (step_row_id, first): (i64, i64),
        codes: &mut Dictionaries,
        totals: &mut [usize; 5],
    ) {
        self.steps.push(StepFactsRow {
            step_row_id,
            codec_version_id: codes.code(CODEC_VERSION),
            candidate_program_hash_id: codes.code(&facts.candidate_program_hash),
            request_binding_hash_id: codes.code(&facts.request_binding_hash),
            legacy_candidate_config_hash_id: codes.code_if(facts.legacy_candidate_config_hash.as_deref()),
            candidate_substream_revision_id: codes.code(&facts.candidate_substream_revision),
            action_order_revision_id: codes.code(&facts.action_order_revision),
            completion_mode_id: codes.code(&facts.completion_mode),
            attempted_count: small(facts.center_id.len()),
            valid_count: small(facts.valid_indices.len()),
            action_count: small(facts.action_indices.len()),
            proposal_key_revision_id: codes.code_if(facts.proposal_key_revision.as_deref()),
            proposal_replica: facts.proposal_replica.unwrap_or(-1),
        });
        for (candidate, candidate_row_id) in (0..facts.center_id.len()).zip(first..) {
            self.add_candidate(facts, candidate, candidate_row_id, codes);
            for (criterion, criterion_index) in facts.criteria.iter().zip(0..) {
                self.add_criterion(criterion, candidate, (candidate_row_id, criterion_index), codes);
            }
        }
        for (shell_index, action_position) in facts.action_indices.iter().copied().zip(0..) {
            self.actions.push(ActionRow { step_row_id, action_position, shell_index });
        }
        for (shell_index, valid_position) in facts.valid_indices.iter().copied().zip(0..) {
            self.valids.push(ValidRow { step_row_id, valid_position, shell_index });
        }
        let n = facts.center_id.len();
        let added = [1, n, n * facts.criteria.len(), facts.action_indices.len(), facts.valid_indices.len()];
        for (total, added) in totals.iter_mut().zip(added) {
            *total += added;
        }
    }

    fn add_candidate(&mut self, facts: &TraceFacts, at: usize, candidate_row_id: i64, codes: &mut Dictionaries) {
        let id = |ids: &[i64]| ids.get(at).copied().unwrap_or(-1);
        let available = facts.target_frame_available.get(at) == Some(&true);
        self.semantics.push(SemanticsRow {
            candidate_row_id,
            semantic_group_id: codes.code(text_at(&facts.semantic_group, at)),
            center_family_id: codes.code(text_at(&facts.center_family, at)),
            gaze_family_id: codes.code(text_at(&facts.gaze_family, at)),
            candidate_family_id: codes.code(text_at(&facts.candidate_family, at)),
            center_id: id(&facts.center_id),
            attempt_round_id: id(&facts.attempt_round_id),
            draw_id: id(&facts.draw_id),
            position_pair_id: id(&facts.position_pair_id),
            gaze_variant_id: id(&facts.gaze_variant_id),
            proposal_key_id: codes.code(text_at(&facts.proposal_key, at)),
            target_frame_identity_id: codes.code(text_at(&facts.target_frame_identity, at)),
            target_frame_availability_id: codes.code(if available { "available" } else { "unavailable" }),
        });
    }

    /// Appends one criterion of one candidate: sentinels where it says nothing locally.
    fn add_criterion(
        &mut self,
        criterion: &Criterion,
        at: usize,
        (candidate_row_id, criterion_index): (i64, i16),
        codes: &mut Dictionaries,
    ) {
        let flag = |flags: &[bool]| flags.get(at) == Some(&true);
        let local = flag(&criterion.local_available);
        let id = |ids: &[i64]| ids.get(at).copied().filter(|_| local).unwrap_or(-1);
        self.criteria.push(CriterionRow {
            candidate_row_id,
            criterion_index,
            criterion_id: codes.code(&criterion.criterion),
            legacy_cumulative_valid: flag(&criterion.legacy_cumulative_valid),
            local_available: local,
            applicable: local && flag(&criterion.applicable),
            evaluated: local && flag(&criterion.evaluated),
            passed: local && flag(&criterion.passed),
            reason_code: id(&criterion.reason_code),
            margin: criterion.margin.get(at).copied().filter(|_| local).unwrap_or(f32::NAN),
            source_role: id(&criterion.source_role),
            reason_revision_id: codes.code(&criterion.reason_revision),
            source_role_revision_id: codes.code(&criterion.source_role_revision),
        });
    }
}

fn text_at(texts: &[String], at: usize) -> &str {
    texts.get(at).map_or("", String::as_str)
}
