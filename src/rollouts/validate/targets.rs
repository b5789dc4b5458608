//! Targets: known, admitted under the store's protocol, and labelled on evidence.

use std::collections::{HashMap, HashSet};

use super::findings::Findings;
use super::root::Root;
use super::sources::repeated;
use super::tables::Tables;
use crate::rollouts::dictionary::Dictionary;
use crate::rollouts::identifier::compact;
use crate::rollouts::quantity::{are_lengths, is_rigid};
use crate::rollouts::target::{Evidence, ORACLE_SOURCE, TargetInputProtocol, explicit_hash};
use crate::value::Value;

/// Checks `targets` and says of each of its rows whether it can be trained on.
pub(super) fn check(root: &Root, tables: &Tables, findings: &mut Findings) -> Vec<bool> {
    let (targets, rollouts) = (&tables.targets, &tables.rollouts);
    let wrong = rollouts.get::<i64>("target_row_id").iter().map(|id| tables.target_rows.row(*id).is_none());
    findings.flagged("rollouts/target_row_id", wrong, "there is no such target");
    findings.rows("targets/target_row_id", repeated(targets.get("target_row_id")), "the id is used twice");
    let sources = targets.get::<i32>("target_source_id");
    let wrong = sources.iter().map(|id| tables.text(Dictionary::TargetSource, *id).is_none());
    findings.flagged("targets/target_source_id", wrong, "is out of its dictionary's range");
    let valid = targets.get::<bool>("target_valid_mask");
    let bits = targets.get::<u32>("target_invalid_reason_bitset");
    let wrong = valid.iter().zip(bits).map(|(valid, bits)| *valid != (*bits == 1));
    findings.flagged("targets/target_valid_mask", wrong, "disagrees with target_invalid_reason_bitset");
    let wrong = rollouts.vectors::<12>("root_pose_world").iter().map(|pose| !is_rigid(pose));
    findings.flagged("rollouts/root_pose_world", wrong, "is no rotation and shift");
    // What is not known is all of it not a number.
    let known = |numbers: &[f32]| !numbers.iter().all(|number| number.is_nan());
    let wrong = targets.vectors::<3>("target_extents").iter().map(|sides| known(sides) && !are_lengths(sides));
    findings.flagged("targets/target_extents", wrong, "is negative, or not finite");
    let wrong = targets.vectors::<12>("target_pose_world_object").iter().map(|pose| known(pose) && !is_rigid(pose));
    findings.flagged("targets/target_pose_world_object", wrong, "is no rotation and shift");
    identities(tables, findings);

    let owners = owners(tables);
    let wrong = targets.get::<i64>("target_row_id").iter().map(|id| owners.get(id).is_some_and(|set| set.len() > 1));
    findings.flagged("targets/target_row_id", wrong, "rollouts of several sources share the target");
    let text = root.text("target_protocol_version");
    let Some(protocol) = TargetInputProtocol::from_name(&text.replace('-', "_")) else {
        findings
            .add(format!("root attribute target_protocol_version: `{text}` is neither v0_gt_input nor v1_observed"));
        return vec![false; targets.rows];
    };
    let wrong = sources.iter().map(|id| {
        let source = tables.text(Dictionary::TargetSource, *id).unwrap_or_default();
        match protocol {
            TargetInputProtocol::V0GtInput => source != ORACLE_SOURCE,
            TargetInputProtocol::V1Observed => !protocol.admits(source, Some(source), Some("actor_visible_detector")),
        }
    });
    findings.flagged("targets/target_source_id", wrong, &format!("{} does not admit the source", protocol.name()));
    if protocol == TargetInputProtocol::V1Observed {
        binding(root, tables, findings);
    }
    // Only the canonical spelling makes labels.
    let canonical = text == protocol.name();
    let labels: Vec<bool> =
        (0..targets.rows).map(|row| canonical && trainable(tables, protocol, row, &owners).unwrap_or(false)).collect();
    let stored = targets.get::<bool>("gt_label_valid_mask");
    let wrong = stored.iter().zip(&labels).map(|(stored, label)| stored != label);
    findings.flagged("targets/gt_label_valid_mask", wrong, "is not what the target's evidence gives");
    labels.iter().zip(valid).map(|(label, valid)| *label && *valid).collect()
}

/// The sources whose rollouts use each target.
fn owners(tables: &Tables) -> HashMap<i64, HashSet<i64>> {
    let rollouts = &tables.rollouts;
    let mut owners: HashMap<i64, HashSet<i64>> = HashMap::new();
    for (target, source) in rollouts.get::<i64>("target_row_id").iter().zip(rollouts.get::<i64>("source_row_id")) {
        owners.entry(*target).or_default().insert(*source);
    }
    owners
}

/// Whether the evidence on disk makes target `row` one to train on.
fn trainable(
    tables: &Tables,
    protocol: TargetInputProtocol,
    row: usize,
    owners: &HashMap<i64, HashSet<i64>>,
) -> Option<bool> {
    let targets = &tables.targets;
    let text = |dictionary: Dictionary, name: &str| {
        targets.get::<i32>(name).get(row).and_then(|id| tables.text(dictionary, *id))
    };
    let evidence = Evidence {
        target_valid: *targets.get::<bool>("target_valid_mask").get(row)?,
        target_source: text(Dictionary::TargetSource, "target_source_id"),
        descriptor_source: text(Dictionary::DescriptorSource, "descriptor_source_id"),
        descriptor_provenance: text(Dictionary::DescriptorProvenance, "descriptor_provenance_id"),
        descriptor_hash: text(Dictionary::DescriptorHash, "descriptor_hash_id"),
        explicit_target_hash: text(Dictionary::ExplicitTargetHash, "explicit_target_hash_id"),
        matched_gt_target_row_id: *targets.get::<i64>("matched_gt_target_row_id").get(row)?,
        matched_gt_target_id: text(Dictionary::Target, "matched_gt_target_id"),
        gt_match_status: text(Dictionary::TargetMatchStatus, "gt_match_status_id"),
        gt_match_iou: *targets.get::<f32>("gt_match_iou").get(row)?,
    };
    if !evidence.trainable(protocol) || protocol == TargetInputProtocol::V0GtInput {
        return Some(evidence.trainable(protocol));
    }
    // An observed target belongs to one source, and its hash is that of its own fields.
    let users = owners.get(targets.get::<i64>("target_row_id").get(row)?)?;
    let source = users.iter().next().filter(|_| users.len() == 1)?;
    let source_row = tables.source_rows.row(*source)?;
    let key = *tables.sources.get::<i32>("sample_key_id").get(source_row)?;
    let hash = explicit_hash(
        tables.text(Dictionary::SourceKey, key)?,
        text(Dictionary::Target, "target_id")?,
        (
            i64::from(*targets.get::<i32>("target_source_index").get(row)?),
            evidence.matched_gt_target_row_id,
            evidence.matched_gt_target_id?,
        ),
        evidence.gt_match_iou,
        evidence.descriptor_hash?,
    );
    Some(evidence.explicit_target_hash == Some(hash.as_str()))
}

/// A campaign that is bound to one explicit target has stores of that target only.
fn binding(root: &Root, tables: &Tables, findings: &mut Findings) {
    let bound = ["generation", "shard", "campaign_binding"]
        .iter()
        .try_fold(&root.manifest, |map, key| map.get(*key).and_then(Value::as_map))
        .and_then(|binding| binding.get("explicit_target_hash"));
    let Some(bound) = bound.and_then(Value::as_text) else { return };
    let ids = tables.targets.get::<i32>("explicit_target_hash_id");
    let wrong = ids.iter().map(|id| tables.text(Dictionary::ExplicitTargetHash, *id) != Some(bound));
    findings.flagged("targets/explicit_target_hash_id", wrong, "is not the one that the manifest binds");
}

/// Structured ids name the snippet they come from.
fn identities(tables: &Tables, findings: &mut Findings) {
    let targets = &tables.targets;
    let rollouts = &tables.rollouts;
    for name in ["target_id", "matched_gt_target_id"] {
        let ids = targets.get::<i32>(name);
        let pairs = rollouts.get::<i64>("target_row_id").iter().zip(rollouts.get::<i32>("snippet_id"));
        let wrong = pairs.map(|(target, snippet)| {
            let text = tables.target_rows.row(*target).and_then(|row| tables.text(Dictionary::Target, *ids.get(row)?));
            let Some(text) = text else { return false };
            if !["AtekDataSample_", "AriaSyntheticEnvironment_"].iter().any(|mark| text.contains(mark)) {
                return false;
            }
            let snippet = tables.text(Dictionary::Snippet, *snippet).unwrap_or_default();
            !text.contains(snippet) && !compact(text).contains(&compact(snippet))
        });
        let what = format!("the target's {name} names another snippet");
        findings.flagged("rollouts/target_row_id", wrong, &what);
    }
}
