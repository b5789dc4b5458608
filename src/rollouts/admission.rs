//! What may enter a store: whatever the validator would reject is refused here, with the place
//! in the record where it is to be mended.

use super::config::RolloutZarrStoreConfig;
use super::datum::mistake;
use super::identifier::{compact, names_snippet};
use super::labels::{self, Cumulative};
use super::quantity::{are_lengths, is_probability, is_rigid};
use super::record::{Candidates, Pose, RecordError, RolloutRecord, Step, Target};
use super::shell;
use super::tables::split_of;
use super::target::{Evidence, TargetInputProtocol, explicit_hash};

/// What a pose must be.
const NOT_RIGID: &str = "must be a rotation (rows of unit length, at right angles, no mirror) and a shift";

type Checked = Result<(), RecordError>;

/// What the records of a store agree on, settled by the first.
#[derive(Clone, Debug, Default)]
pub(super) struct Agreed {
    /// The physical split.
    pub(super) split: Option<String>,
    /// Whether sources are bound to a campaign.
    campaign: Option<bool>,
    /// Whether steps carry the candidate codec's facts.
    pub(super) codec: Option<bool>,
}

/// Checks `record` against the store's options and what the records before it agreed on; returns
/// what is agreed on with this one.
pub(super) fn check(
    record: &RolloutRecord,
    config: &RolloutZarrStoreConfig,
    agreed: &Agreed,
) -> Result<Agreed, RecordError> {
    record.check()?;
    let at = |field: &str| format!("{}: {field}", record.rollout_id_prefix);
    check_source(record, config, agreed, &at)?;
    let mut agreed = agreed.clone();
    agreed.split.get_or_insert_with(|| split_of(&record.source));
    agreed.campaign.get_or_insert(record.source.campaign().is_some());
    check_target(record, config, &at)?;
    let recipe = &record.policy;
    for (field, text) in [
        ("policy.candidate_config_hash", &recipe.candidate_config_hash),
        ("policy.oracle_config_hash", &recipe.oracle_config_hash),
        ("policy.rollout_config_hash", &recipe.rollout_config_hash),
        ("target.target_crop_policy", &record.target.target_crop_policy),
    ] {
        if text.as_deref().unwrap_or_default().is_empty() {
            return mistake(at(field), "is missing: every chain records how it was made");
        }
    }
    same(&at("policy.reason_code_version"), recipe.reason_code_version.as_deref(), &config.reason_code_version)?;
    if record.trajectories.is_empty() {
        return mistake(at("trajectories"), "a record needs at least one chain");
    }
    let trainable =
        Evidence::of(&record.target, config.target_protocol_version).trainable(config.target_protocol_version);
    for (chain, trajectory) in record.trajectories.iter().enumerate() {
        let path = at(&format!("trajectories[{chain}]"));
        if trajectory.steps.is_empty() {
            return mistake(format!("{path}.steps"), "a chain needs at least one step");
        }
        if trajectory.steps.len() > usize::try_from(record.horizon).unwrap_or(0) {
            return mistake(
                format!("{path}.steps"),
                format!("{} steps are more than the horizon of {}", trajectory.steps.len(), record.horizon),
            );
        }
        let mut sums = Cumulative::default();
        for (index, step) in trajectory.steps.iter().enumerate() {
            let path = format!("{path}.steps[{index}]");
            check_step(step, &record.root_pose_world, trainable, config, &path)?;
            sums.add(step);
            if sums.values().iter().any(|sum| sum.is_infinite()) {
                return mistake(format!("{path}.labels"), "sum to more than float32 holds along the chain");
            }
            let facts = step.candidate_trace_facts.as_ref();
            if *agreed.codec.get_or_insert(facts.is_some()) != facts.is_some() {
                let message = "is given for some steps of the store only: all have it, or none";
                return mistake(format!("{path}.candidate_trace_facts"), message);
            }
            if let Some(facts) = facts {
                let path = format!("{path}.candidate_trace_facts");
                facts.check(step, recipe.candidate_config_hash.as_deref(), &path)?;
            }
        }
    }
    Ok(agreed)
}

fn check_source(
    record: &RolloutRecord,
    config: &RolloutZarrStoreConfig,
    agreed: &Agreed,
    at: &dyn Fn(&str) -> String,
) -> Checked {
    let source = &record.source;
    for (field, text) in [
        ("source.source_shard_id", &source.source_shard_id),
        ("source.source_cache_version", &source.source_cache_version),
        ("source.source_offline_store_manifest_hash", &source.source_offline_store_manifest_hash),
    ] {
        if text.as_deref().unwrap_or_default().is_empty() {
            return mistake(at(field), "is missing: every source row names where it comes from");
        }
    }
    if source.source_shard_row.is_none_or(|row| row < 0) {
        return mistake(at("source.source_shard_row"), "must be a row of the source shard, from 0");
    }
    same(&at("source.split_manifest_hash"), source.split_manifest_hash.as_deref(), &config.split_manifest_hash)?;
    let bound = source.campaign().is_some();
    if agreed.campaign.is_some_and(|agreed| agreed != bound) {
        let message = "binds some sources of the store to a campaign: all are bound, or none";
        return mistake(at("source.campaign_split"), message);
    }
    if bound && source.split_manifest_hash.is_none() {
        return mistake(at("source.split_manifest_hash"), "is missing: a source bound to a campaign names its split");
    }
    match &agreed.split {
        Some(split) if *split != split_of(source) => mistake(
            at("source.split"),
            format!("is {}, but this store holds {split}: one split a store", split_of(source)),
        ),
        _ => Ok(()),
    }
}

fn check_target(record: &RolloutRecord, config: &RolloutZarrStoreConfig, at: &dyn Fn(&str) -> String) -> Checked {
    let (target, protocol) = (&record.target, config.target_protocol_version);
    same(&at("target.target_protocol_version"), target.target_protocol_version.as_deref(), protocol.name())?;
    let source = target.target_source.as_deref().unwrap_or_default();
    if !protocol.admits(source, target.descriptor_source.as_deref(), target.descriptor_provenance.as_deref()) {
        return mistake(
            at("target.target_source"),
            format!("`{}` is not admitted under {}: {}", source.escape_debug(), protocol.name(), protocol.admitted()),
        );
    }
    check_snippet(record, at)?;
    if !is_rigid(&record.root_pose_world) {
        return mistake(at("root_pose_world"), NOT_RIGID);
    }
    // What is not known is not given, or all of it not a number.
    let known = |numbers: &[f32]| !numbers.iter().all(|number| number.is_nan());
    if target.target_extents.is_some_and(|sides| known(&sides) && !are_lengths(&sides)) {
        return mistake(at("target.target_extents"), "must be finite and not negative");
    }
    if target.target_pose_world_object.is_some_and(|pose| known(&pose) && !is_rigid(&pose)) {
        return mistake(at("target.target_pose_world_object"), NOT_RIGID);
    }
    check_explicit(record, target, protocol)
}

/// Identifiers that name a snippet name the record's own.
fn check_snippet(record: &RolloutRecord, at: &dyn Fn(&str) -> String) -> Checked {
    let snippet = record.source.snippet_id.as_deref().unwrap_or_default();
    for (field, id) in [
        ("target.target_id", &record.target.target_id),
        ("target.matched_gt_target_id", &record.target.matched_gt_target_id),
    ] {
        let id = id.as_deref().unwrap_or_default();
        if !names_snippet(id, &compact(snippet)) {
            return mistake(at(field), format!("`{id}` names another snippet than the source's, {snippet}"));
        }
    }
    Ok(())
}

/// An observed target that is trained on carries the hash of its own fields; `target` is the
/// record's, or what several records of one target say together.
pub(super) fn check_explicit(record: &RolloutRecord, target: &Target, protocol: TargetInputProtocol) -> Checked {
    if protocol != TargetInputProtocol::V1Observed || !Evidence::of(target, protocol).trainable(protocol) {
        return Ok(());
    }
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let rows = (
        target.target_source_index.map(i64::from).or(target.target_row_id).unwrap_or(-1),
        target.matched_gt_target_row_id.unwrap_or(-1),
        target.matched_gt_target_id.as_deref().unwrap_or_default(),
    );
    let expected = explicit_hash(
        &compact(&text(&record.source.source_sample_key)),
        &text(&target.target_id),
        rows,
        target.gt_match_iou.unwrap_or(f32::NAN),
        &text(&target.descriptor_hash),
    );
    if target.explicit_target_hash.as_deref() == Some(expected.as_str()) {
        return Ok(());
    }
    let path = format!("{}: target.explicit_target_hash", record.rollout_id_prefix);
    mistake(path, format!("is not the hash of the target's fields, {expected}"))
}

/// `given`, if it is given, must be what the store says.
fn same(path: &str, given: Option<&str>, store: &str) -> Checked {
    match given {
        Some(given) if given != store => {
            mistake(path, format!("is `{given}`, but the store is written with `{store}`"))
        }
        _ => Ok(()),
    }
}

fn check_step(step: &Step, root: &Pose, trainable: bool, config: &RolloutZarrStoreConfig, path: &str) -> Checked {
    match &step.selected_depth {
        Some(depth) if config.selected_depth_enabled => depth.check(config, &format!("{path}.selected_depth"))?,
        None if config.selected_depth_enabled => {
            let message = "is missing: selected_depth_enabled is set, as it is unless told otherwise; set it to false";
            return mistake(format!("{path}.selected_depth"), message);
        }
        _ => {}
    }
    if let Some((name, told)) = labels::unknown(step) {
        return mistake(format!("{path}.labels.{}", name.escape_debug()), told);
    }
    let shell = &step.candidates;
    let valid = shell.mask_valid.iter().filter(|valid| **valid).count();
    match step.target_eval.as_ref().map(|eval| eval.candidate_points_world.len()) {
        Some(clouds) if clouds != 0 && clouds != valid => {
            let message = format!("must have one entry a valid candidate ({valid}), got {clouds}");
            return mistake(format!("{path}.target_eval.candidate_points_world"), message);
        }
        _ => {}
    }
    check_shell(shell, root, &format!("{path}.candidates"))?;
    let probabilities = step.selection_probabilities.iter().flatten().enumerate();
    if let Some((index, _)) = probabilities.into_iter().find(|(_, value)| !is_probability(**value)) {
        let message = "must be a probability, from 0 to 1";
        return mistake(format!("{path}.selection_probabilities[{index}]"), message);
    }
    let at = |names: &[&str], index: usize| step.label(names).and_then(|values| values.get(index)).copied();
    for index in (0..shell.len()).filter(|index| shell.mask_valid.get(*index) == Some(&true)) {
        let gain = at(labels::TARGET_ROOT_GAIN, index).unwrap_or(f32::NAN);
        let rri = at(labels::TARGET_RRI, index).unwrap_or(f32::NAN);
        if trainable && gain.is_finite() && !rri.is_finite() {
            return mistake(
                format!("{path}.labels.target_rri[{index}]"),
                "must be finite where target_root_gain is: the row is trained on",
            );
        }
        if config.is_dense() && !(trainable && gain.is_finite()) {
            return mistake(
                format!("{path}.labels.target_root_gain[{index}]"),
                "must be finite on a trainable target for every valid candidate under the dense profile",
            );
        }
    }
    Ok(())
}

fn check_shell(shell: &Candidates, root: &Pose, path: &str) -> Checked {
    let negative =
        |ids: &Option<Vec<i32>>, index: usize| ids.as_ref().and_then(|ids| ids.get(index)).is_none_or(|id| *id < 0);
    let flag = |mask: &[bool], index: usize| mask.get(index).copied().unwrap_or(false);
    for index in 0..shell.len() {
        let (collision, applicable, evaluated) = (
            flag(&shell.extras.path_collision_mask, index),
            flag(&shell.extras.path_collision_applicable_mask, index),
            flag(&shell.extras.path_collision_evaluated_mask, index),
        );
        if (evaluated && !applicable) || (collision && !evaluated) {
            return mistake(
                format!("{path}.extras.path_collision_mask[{index}]"),
                "a collision must have been evaluated, and what is evaluated must be applicable",
            );
        }
        let pair = shell.position_pair_id.as_ref().and_then(|ids| ids.get(index)).copied().unwrap_or(-1);
        let gaze = shell.gaze_variant_id.as_ref().and_then(|ids| ids.get(index)).copied().unwrap_or(-1);
        if !(-1..=1).contains(&gaze) || pair < -1 || (pair < 0) != (gaze < 0) {
            return mistake(
                format!("{path}.gaze_variant_id[{index}]"),
                "must be 0 or 1 with a pair id, and -1 exactly without one",
            );
        }
        if !flag(&shell.mask_valid, index) {
            continue;
        }
        for (field, ids) in [
            ("strategy_id", &shell.strategy_id),
            ("position_id", &shell.position_id),
            ("mixture_id", &shell.mixture_id),
        ] {
            if negative(ids, index) {
                return mistake(
                    format!("{path}.{field}[{index}]"),
                    "must be given and not negative for a valid candidate",
                );
            }
        }
        let probability = shell.sampler_probability.as_ref().and_then(|values| values.get(index));
        if !probability.is_some_and(|value| is_probability(*value)) {
            let message = "must be a probability, from 0 to 1, for a valid candidate";
            return mistake(format!("{path}.sampler_probability[{index}]"), message);
        }
        if !shell.shell_poses.get(index).is_some_and(is_rigid) {
            return mistake(format!("{path}.shell_poses[{index}]"), NOT_RIGID);
        }
        let relative = shell.shell_poses.get(index).map(|pose| shell::relative(root, pose));
        if !relative.is_some_and(|pose| pose.iter().all(|number| number.is_finite())) {
            let message = "is too far from root_pose_world for float32";
            return mistake(format!("{path}.shell_poses[{index}]"), message);
        }
        let left = shell.masks.iter().all(|(_, mask)| flag(mask, index));
        if collision || !left {
            return mistake(
                format!("{path}.mask_valid[{index}]"),
                "a candidate that a rule rejected, or whose path collides, cannot be valid",
            );
        }
    }
    Ok(())
}
