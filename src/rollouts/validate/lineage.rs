//! Lineage: every chain says how it was made, in terms the root agrees with.

use std::collections::BTreeSet;

use super::findings::Findings;
use super::root::Root;
use super::tables::{Columns, Tables};
use crate::rollouts::dictionary::Dictionary;

pub(super) fn check(root: &Root, tables: &Tables, findings: &mut Findings) {
    for key in ["source_offline_store_version", "split_manifest_hash", "target_protocol_version", "reason_code_version"]
    {
        if root.text(key).is_empty() {
            findings.add(format!("root attribute {key}: is missing or empty"));
        }
    }
    let (lineage, rollouts) = (&tables.lineage, &tables.rollouts);
    if lineage.get::<i64>("rollout_row_id") != rollouts.get::<i64>("rollout_row_id") {
        findings.add("lineage/rollout_row_id: is not rollouts/rollout_row_id, row for row");
    }
    for name in ["candidate_config_id", "oracle_config_id", "rollout_config_id", "target_crop_policy_id"] {
        let wrong =
            lineage.get::<i32>(name).iter().map(|id| tables.text(Dictionary::Config, *id).is_none_or(str::is_empty));
        findings.flagged(&format!("lineage/{name}"), wrong, "names no text of its dictionary");
    }
    for (name, key) in
        [("target_protocol_version_id", "target_protocol_version"), ("reason_code_version_id", "reason_code_version")]
    {
        let bound = root.text(key);
        let ids = lineage.get::<i32>(name).iter();
        let wrong =
            ids.map(|id| tables.text(Dictionary::Config, *id).is_none_or(|text| text.is_empty() || text != bound));
        findings.flagged(&format!("lineage/{name}"), wrong, &format!("is not the root's {key}"));
    }
    references(tables, findings);
    let splits: BTreeSet<i32> = rollouts.get::<i32>("split_id").iter().copied().collect();
    if splits.len() > 1 {
        let name = |id: &i32| tables.text(Dictionary::Split, *id).map_or_else(|| id.to_string(), str::to_owned);
        let names: Vec<String> = splits.iter().map(name).collect();
        findings.add(format!("rollouts/split_id: a store has one split, but this one has {}", names.join(", ")));
    }
}

/// Ids that must name a text (`true`) or may be -1.
fn references(tables: &Tables, findings: &mut Findings) {
    let Tables { lineage, rollouts, targets, .. } = tables;
    let all: [(&str, &Columns, &str, Dictionary, bool); 15] = [
        ("rollouts", rollouts, "rollout_id", Dictionary::Rollout, true),
        ("rollouts", rollouts, "scene_id", Dictionary::Scene, true),
        ("rollouts", rollouts, "snippet_id", Dictionary::Snippet, true),
        ("rollouts", rollouts, "policy_id", Dictionary::Policy, true),
        ("rollouts", rollouts, "termination_reason", Dictionary::TerminationReason, true),
        ("rollouts", rollouts, "split_id", Dictionary::Split, true),
        ("lineage", lineage, "model_checkpoint_id", Dictionary::Config, false),
        ("lineage", lineage, "mesh_version_id", Dictionary::Config, false),
        ("lineage", lineage, "branch_schedule_id", Dictionary::Config, false),
        ("lineage", lineage, "selection_rng_state_hash_id", Dictionary::Config, false),
        ("targets", targets, "target_id", Dictionary::Target, true),
        ("targets", targets, "target_selection_policy_id", Dictionary::Policy, false),
        ("targets", targets, "target_class_name_id", Dictionary::ClassName, false),
        ("targets", targets, "target_reason_code_version_id", Dictionary::Config, false),
        ("targets", targets, "target_crop_policy_id", Dictionary::Config, false),
    ];
    for (group, columns, name, dictionary, required) in all {
        let missing = |id: i32| tables.text(dictionary, id).is_none() && (required || id != -1);
        let wrong = columns.get::<i32>(name).iter().map(|id| missing(*id));
        findings.flagged(&format!("{group}/{name}"), wrong, "is out of its dictionary's range");
    }
}
