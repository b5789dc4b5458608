//! A part's targets, as records would have given them.

use super::part::{Part, cells};
use super::texts::Codes;
use crate::rollouts::StoreError;
use crate::rollouts::dictionary::Dictionary;
use crate::rollouts::record::Target;

/// Reads the targets of a store, in the order of their rows: what the store holds for something
/// that was not given is taken for not given.
pub(super) fn read(part: &Part, codes: &Codes) -> Result<Vec<Target>, StoreError> {
    let table = part.store.table("targets", &COLUMNS, 0..usize::MAX)?;
    let count = cells::<i64>(&table, "target_row_id").len();
    let exact = |dictionary: Dictionary, name: &str, row: usize| {
        codes.text(dictionary, *cells::<i32>(&table, name).get(row)?).map(str::to_owned)
    };
    // Of most texts, one that is empty stands for none.
    let text = |dictionary, name: &str, row| exact(dictionary, name, row).filter(|text| !text.is_empty());
    let float = |name: &str, row: usize| cells::<f32>(&table, name).get(row).copied().filter(|value| !value.is_nan());
    let int = |name: &str, row: usize| cells::<i32>(&table, name).get(row).copied().filter(|value| *value != -1);
    fn vector<const W: usize>(cells: &[f32], row: usize) -> Option<[f32; W]> {
        let vector = *cells.as_chunks::<W>().0.get(row)?;
        (!vector.iter().all(|value| value.is_nan())).then_some(vector)
    }
    let silent = u32::from(part.store.attribute("target_protocol_version") != Some(&"v1_observed".into()));
    let read = |row: usize| Target {
        target_row_id: None,
        target_id: exact(Dictionary::Target, "target_id", row),
        target_protocol_version: None,
        target_crop_policy: text(Dictionary::Config, "target_crop_policy_id", row),
        target_selection_policy: text(Dictionary::Policy, "target_selection_policy_id", row),
        target_selection_rank: int("target_selection_rank", row),
        target_selection_score: float("target_selection_score", row),
        target_selection_probability: float("target_selection_probability", row),
        target_selection_temperature: float("target_selection_temperature", row),
        target_source: text(Dictionary::TargetSource, "target_source_id", row),
        target_source_index: int("target_source_index", row),
        descriptor_source: text(Dictionary::DescriptorSource, "descriptor_source_id", row),
        descriptor_provenance: text(Dictionary::DescriptorProvenance, "descriptor_provenance_id", row),
        descriptor_hash: text(Dictionary::DescriptorHash, "descriptor_hash_id", row),
        explicit_target_hash: text(Dictionary::ExplicitTargetHash, "explicit_target_hash_id", row),
        target_sem_id: int("target_sem_id", row),
        target_inst_id: int("target_inst_id", row),
        target_class_name: exact(Dictionary::ClassName, "target_class_name_id", row),
        target_confidence: float("target_confidence", row),
        target_projected_area_pixels: float("target_projected_area_pixels", row),
        target_projected_area_fraction: float("target_projected_area_fraction", row),
        target_effective_support_count: float("target_effective_support_count", row),
        target_visibility_score: float("target_visibility_score", row),
        target_support_score: float("target_support_score", row),
        target_deficit_score: float("target_deficit_score", row),
        target_semidense_support_count: int("target_semidense_support_count", row),
        target_evl_support_count: int("target_evl_support_count", row),
        target_center_world: vector(cells(&table, "target_center_world"), row),
        target_extents: vector(cells(&table, "target_extents"), row),
        target_pose_world_object: vector(cells(&table, "target_pose_world_object"), row),
        target_relative_pose_reference_object: vector(cells(&table, "target_relative_pose_reference_object"), row),
        target_invalid_reason_bitset: cells(&table, "target_invalid_reason_bitset")
            .get(row)
            .copied()
            .filter(|bits| *bits != silent),
        target_primary_invalid_reason: cells(&table, "target_primary_invalid_reason")
            .get(row)
            .copied()
            .filter(|bit| *bit != 0),
        target_reason_code_version: text(Dictionary::Config, "target_reason_code_version_id", row),
        matched_gt_target_row_id: cells(&table, "matched_gt_target_row_id").get(row).copied().filter(|row| *row != -1),
        matched_gt_target_id: exact(Dictionary::Target, "matched_gt_target_id", row),
        gt_match_iou: float("gt_match_iou", row),
        gt_match_score: float("gt_match_score", row),
        gt_match_status: exact(Dictionary::TargetMatchStatus, "gt_match_status_id", row)
            .filter(|status| status != "not_requested"),
    };
    Ok((0..count).map(read).collect())
}

/// The columns that are read; the others follow from these.
const COLUMNS: [&str; 38] = [
    "target_row_id",
    "target_id",
    "target_crop_policy_id",
    "target_selection_policy_id",
    "target_selection_rank",
    "target_selection_score",
    "target_selection_probability",
    "target_selection_temperature",
    "target_source_id",
    "target_source_index",
    "descriptor_source_id",
    "descriptor_provenance_id",
    "descriptor_hash_id",
    "explicit_target_hash_id",
    "target_sem_id",
    "target_inst_id",
    "target_class_name_id",
    "target_confidence",
    "target_projected_area_pixels",
    "target_projected_area_fraction",
    "target_effective_support_count",
    "target_visibility_score",
    "target_support_score",
    "target_deficit_score",
    "target_semidense_support_count",
    "target_evl_support_count",
    "target_center_world",
    "target_extents",
    "target_pose_world_object",
    "target_relative_pose_reference_object",
    "target_invalid_reason_bitset",
    "target_primary_invalid_reason",
    "target_reason_code_version_id",
    "matched_gt_target_row_id",
    "matched_gt_target_id",
    "gt_match_iou",
    "gt_match_score",
    "gt_match_status_id",
];
