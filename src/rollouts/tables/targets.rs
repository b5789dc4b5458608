//! Targets: renumbered in order of first use, merged from all that records say of them.

use super::{Checked, Tables, id};
use crate::rollouts::admission;
use crate::rollouts::datum::mistake;
use crate::rollouts::dictionary::{Coded, Dictionary};
use crate::rollouts::record::{RolloutRecord, Target};
use crate::rollouts::schema::TargetRow;
use crate::rollouts::target::{Evidence, TargetInputProtocol, valid_bitset};

/// What makes two records' targets the same target.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct TargetKey {
    source_row_id: i64,
    target_id: String,
    matched_gt_target_id: String,
    matched_gt_target_row_id: i64,
    selector_local_id: i64,
}

impl Tables {
    /// A target has one row, so all its records must agree on whether it can be trained on.
    pub(super) fn check_target(
        &self,
        record: &RolloutRecord,
        key: &TargetKey,
        target: &Target,
        protocol: TargetInputProtocol,
    ) -> Checked<()> {
        let Some(known) = self.known_targets.get(key) else { return Ok(()) };
        let mut merged = known.clone();
        merge(&mut merged, target.clone());
        let trainable = |target: &Target| Evidence::of(target, protocol).trainable(protocol);
        if trainable(known) != trainable(&merged) || trainable(target) != trainable(&merged) {
            let message = "can be trained on by this record or by an earlier one of the same target, but not by both";
            return mistake(format!("{}: target", record.rollout_id_prefix), message);
        }
        admission::check_explicit(record, &merged, protocol)
    }

    /// The target's key in the store, and the target with its selector-local id kept.
    pub(super) fn keyed_target(&self, target: &Target, source_row_id: i64) -> (TargetKey, Target) {
        let mut target = target.clone();
        if target.target_source_index.is_none() {
            target.target_source_index = target.target_row_id.and_then(|row| i32::try_from(row).ok());
        }
        let key = TargetKey {
            source_row_id,
            target_id: target.target_id.clone().unwrap_or_default(),
            matched_gt_target_id: target.matched_gt_target_id.clone().unwrap_or_default(),
            matched_gt_target_row_id: target.matched_gt_target_row_id.unwrap_or(-1),
            selector_local_id: target.target_source_index.map_or(-1, i64::from),
        };
        (key, target)
    }

    /// The target's row in the store; what a later record says of it fills what was left out.
    pub(super) fn add_target(&mut self, key: TargetKey, target: Target) -> i64 {
        let entry = self.known_targets.entry(key);
        let row = id(entry.index());
        let known = entry.or_default();
        merge(known, target);
        row
    }

    pub(super) fn push_target(&mut self, target_row_id: i64, target: &Target, protocol: TargetInputProtocol) {
        let codes = &mut self.dictionaries;
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let float = |value: Option<f32>| value.unwrap_or(f32::NAN);
        let class = target.target_class_name.as_deref();
        // A missing class is listed as "unknown", though its row holds no id.
        let unknown: Coded<{ Dictionary::ClassName as usize }> = codes.code(class.unwrap_or("unknown"));
        let bitset = valid_bitset(target, protocol);
        self.targets.push(TargetRow {
            target_row_id,
            target_id: codes.code(target.target_id.as_deref().unwrap_or("unknown-target")),
            target_selection_policy_id: codes.code_if(target.target_selection_policy.as_deref()),
            target_selection_rank: target.target_selection_rank.unwrap_or(-1),
            target_selection_score: float(target.target_selection_score),
            target_selection_probability: float(target.target_selection_probability),
            target_selection_temperature: float(target.target_selection_temperature),
            target_source_id: codes.code(&text(&target.target_source)),
            target_source_index: target.target_source_index.unwrap_or(-1),
            descriptor_source_id: codes.code(&text(&target.descriptor_source)),
            descriptor_provenance_id: codes.code(&text(&target.descriptor_provenance)),
            descriptor_hash_id: codes.code(&text(&target.descriptor_hash)),
            explicit_target_hash_id: codes.code(&text(&target.explicit_target_hash)),
            target_sem_id: target.target_sem_id.unwrap_or(-1),
            target_inst_id: target.target_inst_id.unwrap_or(-1),
            target_class_name_id: if class.is_some() { unknown } else { Coded::NONE },
            target_confidence: float(target.target_confidence),
            target_projected_area_pixels: float(target.target_projected_area_pixels),
            target_projected_area_fraction: float(target.target_projected_area_fraction),
            target_effective_support_count: float(target.target_effective_support_count),
            target_visibility_score: float(target.target_visibility_score),
            target_support_score: float(target.target_support_score),
            target_deficit_score: float(target.target_deficit_score),
            target_semidense_support_count: target.target_semidense_support_count.unwrap_or(-1),
            target_evl_support_count: target.target_evl_support_count.unwrap_or(-1),
            target_center_world: target.target_center_world.unwrap_or([f32::NAN; 3]),
            target_extents: target.target_extents.unwrap_or([f32::NAN; 3]),
            target_pose_world_object: target.target_pose_world_object.unwrap_or([f32::NAN; 12]),
            target_relative_pose_reference_object: target
                .target_relative_pose_reference_object
                .unwrap_or([f32::NAN; 12]),
            target_valid_mask: bitset == 1,
            target_invalid_reason_bitset: bitset,
            target_primary_invalid_reason: target.target_primary_invalid_reason.unwrap_or(0),
            target_reason_code_version_id: codes.code_if(target.target_reason_code_version.as_deref()),
            matched_gt_target_row_id: target.matched_gt_target_row_id.unwrap_or(-1),
            matched_gt_target_id: target.matched_gt_target_id.as_deref().map_or(Coded::NONE, |id| codes.code(id)),
            gt_match_iou: float(target.gt_match_iou),
            gt_match_score: float(target.gt_match_score),
            gt_match_status_id: codes.code(target.gt_match_status.as_deref().unwrap_or("not_requested")),
            gt_label_valid_mask: Evidence::of(target, protocol).trainable(protocol),
            target_crop_policy_id: codes.code_if(target.target_crop_policy.as_deref()),
        });
    }
}

/// Fills `known` with what `later` says; what both say is the later's.
fn merge(known: &mut Target, later: Target) {
    macro_rules! fill {
        ($($name:ident)+) => {$(
            if later.$name.is_some() {
                known.$name = later.$name;
            }
        )+};
    }
    fill!(
        target_row_id target_id target_protocol_version target_crop_policy target_selection_policy
        target_selection_rank target_selection_score target_selection_probability target_selection_temperature
        target_source target_source_index descriptor_source descriptor_provenance descriptor_hash
        explicit_target_hash target_sem_id target_inst_id target_class_name target_confidence
        target_projected_area_pixels target_projected_area_fraction target_effective_support_count
        target_visibility_score target_support_score target_deficit_score target_semidense_support_count
        target_evl_support_count target_center_world target_extents target_pose_world_object
        target_relative_pose_reference_object target_invalid_reason_bitset target_primary_invalid_reason
        target_reason_code_version matched_gt_target_row_id matched_gt_target_id gt_match_iou gt_match_score
        gt_match_status
    );
}
