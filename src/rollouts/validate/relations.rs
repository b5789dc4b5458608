//! What the tables owe each other: dense ids, ownership, masks, sums, lineage.

use std::collections::BTreeMap;

use super::columns::{Columns, at};
use crate::rollouts::record::Pose;
use crate::rollouts::schema::{Candidates, Rollouts, Sources, Steps, Targets};
use crate::rollouts::shell;
use crate::rollouts::tables::{collides, id};
use crate::rollouts::target::{Evidence, TargetInputProtocol};
use crate::value::Value;

pub(super) fn check(columns: &mut Columns<'_>) {
    dense_ids(columns);
    counts(columns);
    steps(columns);
    candidates(columns);
    diagnostics(columns);
    poses(columns);
    cumulative(columns);
    sources(columns);
    targets(columns);
    lineage(columns);
    features_that_are_off(columns);
}

fn dense_ids(columns: &mut Columns<'_>) {
    for path in ["rollouts/rollout_row_id", "steps/step_row_id", "candidates/candidate_row_id", "targets/target_row_id"]
    {
        let ids = columns.get::<i64>(path);
        columns.rule(&format!("{path}: ids are not dense from 0"), ids.len(), |row| at(&ids, row) != id(row));
    }
    let rollouts = columns.get::<i64>("rollouts/rollout_row_id");
    let lineage = columns.get::<i64>("lineage/rollout_row_id");
    if rollouts != lineage {
        columns.errors.push("lineage: rows are not those of rollouts".to_owned());
    }
}

/// The counts among the root attributes.
fn counts(columns: &mut Columns<'_>) {
    let attributes = columns.store.attributes();
    for (key, group) in [
        ("num_sources", Sources::GROUP),
        ("num_targets", Targets::GROUP),
        ("num_rollouts", Rollouts::GROUP),
        ("num_steps", Steps::GROUP),
        ("num_candidates", Candidates::GROUP),
    ] {
        let rows = columns.rows(group);
        if attributes.get(key) != Some(&Value::Int(id(rows))) {
            columns.errors.push(format!("root attribute {key} is not the {rows} rows of {group}"));
        }
    }
}

/// Chains own consecutive steps from 0; steps own consecutive candidates.
fn steps(columns: &mut Columns<'_>) {
    let (rollout, index) = (columns.get::<i64>("steps/rollout_row_id"), columns.get::<i16>("steps/step_index"));
    let (count, valid) = (columns.get::<i32>("steps/num_candidates"), columns.get::<i32>("steps/num_valid_candidates"));
    let (selected, shell) =
        (columns.get::<i64>("steps/selected_candidate_row_id"), columns.get::<i32>("steps/selected_shell_index"));
    let compact = columns.get::<i32>("steps/selected_compact_valid_index");
    let horizon = columns.get::<i16>("rollouts/horizon");
    let chains = id(columns.rows(Rollouts::GROUP));
    let n = rollout.len();
    columns.rule("steps: rollout_row_id names no rollout", n, |row| !(0..chains).contains(&at(&rollout, row)));
    columns.rule("steps: a chain's steps are not consecutive from 0", n, |row| {
        let own = at(&rollout, row);
        match row.checked_sub(1) {
            Some(before) if at(&rollout, before) == own => at(&index, row) != at(&index, before).saturating_add(1),
            Some(before) => at(&rollout, before) > own || at(&index, row) != 0,
            None => at(&index, row) != 0,
        }
    });
    columns.rule("steps: step_index is beyond the rollout's horizon", n, |row| {
        let rollout = usize::try_from(at(&rollout, row)).unwrap_or(usize::MAX);
        horizon.get(rollout).is_some_and(|horizon| at(&index, row) >= *horizon)
    });
    let owner = columns.get::<i64>("candidates/step_row_id");
    let mask = columns.get::<bool>("candidates/actor_action_mask");
    let candidate_compact = columns.get::<i32>("candidates/compact_valid_index");
    let mut first = Vec::with_capacity(n);
    let mut next = 0_usize;
    for row in 0..n {
        first.push(next);
        next = next.saturating_add(usize::try_from(at(&count, row)).unwrap_or(0));
    }
    if next != owner.len() {
        columns.errors.push(format!("steps: num_candidates add up to {next}, not to {} candidates", owner.len()));
        return;
    }
    let shell_of = |row: usize| {
        let from = at(&first, row);
        from..from + usize::try_from(at(&count, row)).unwrap_or(0)
    };
    columns.rule("steps: candidates are not contiguous by step", n, |row| {
        at(&count, row) < 1 || shell_of(row).any(|candidate| at(&owner, candidate) != id(row))
    });
    columns.rule("steps: num_valid_candidates is not the count of actor-valid candidates", n, |row| {
        let valid_rows = shell_of(row).filter(|candidate| at(&mask, *candidate)).count();
        usize::try_from(at(&valid, row)) != Ok(valid_rows)
    });
    columns.rule("steps: the selected candidate is not in the shell at its index", n, |row| {
        let position = usize::try_from(at(&shell, row)).unwrap_or(usize::MAX);
        let candidate = at(&first, row).saturating_add(position);
        !shell_of(row).contains(&candidate)
            || at(&selected, row) != id(candidate)
            || at(&compact, row) != at(&candidate_compact, candidate)
    });
}

fn candidates(columns: &mut Columns<'_>) {
    let step = columns.get::<i64>("candidates/step_row_id");
    let rollout = columns.get::<i64>("candidates/rollout_row_id");
    let depth = columns.get::<i16>("candidates/step_index");
    let (step_rollout, step_depth) =
        (columns.get::<i64>("steps/rollout_row_id"), columns.get::<i16>("steps/step_index"));
    let (shell, compact) =
        (columns.get::<i32>("candidates/shell_index"), columns.get::<i32>("candidates/compact_valid_index"));
    let actor = columns.get::<bool>("candidates/actor_action_mask");
    let oracle = columns.get::<bool>("candidates/oracle_label_mask");
    let train = columns.get::<bool>("candidates/q_train_mask");
    let selected = columns.get::<bool>("candidates/selected_mask");
    let (gain, rri) = (columns.get::<f32>("candidates/target_root_gain"), columns.get::<f32>("candidates/target_rri"));
    let (bits, primary) = (
        columns.get::<u32>("candidates/invalid_reason_bitset"),
        columns.get::<u16>("candidates/primary_invalid_reason"),
    );
    let chosen = columns.get::<i64>("steps/selected_candidate_row_id");
    let n = step.len();
    let owner = |row: usize| usize::try_from(at(&step, row)).unwrap_or(usize::MAX);
    columns.rule("candidates: rollout or depth differs from the step's", n, |row| {
        step_rollout.get(owner(row)) != rollout.get(row) || step_depth.get(owner(row)) != depth.get(row)
    });
    columns.rule("candidates: shell_index does not count from 0 within its step", n, |row| {
        let first = row == 0 || at(&step, row - 1) != at(&step, row);
        at(&shell, row) != if first { 0 } else { at(&shell, row - 1).saturating_add(1) }
    });
    let mut valid_before = BTreeMap::new();
    let mut ranks = Vec::with_capacity(n);
    for row in 0..n {
        let rank = valid_before.entry(at(&step, row)).or_insert(0_i32);
        ranks.push(if at(&actor, row) { *rank } else { -1 });
        *rank += i32::from(at(&actor, row));
    }
    columns.rule("candidates: compact_valid_index is not the rank among valid rows", n, |row| {
        at(&compact, row) != at(&ranks, row)
    });
    columns.rule("candidates: a selected row is not actor-valid", n, |row| at(&selected, row) && !at(&actor, row));
    columns.rule("candidates: selected_mask differs from the step's selection", n, |row| {
        at(&selected, row) != (chosen.get(owner(row)) == Some(&id(row)))
    });
    columns.rule("candidates: oracle_label_mask is not actor-valid with a finite target_root_gain", n, |row| {
        at(&oracle, row) != (at(&actor, row) && at(&gain, row).is_finite())
    });
    columns.rule("candidates: q_train_mask holds on a row that is not labelled", n, |row| {
        at(&train, row) && !at(&oracle, row)
    });
    columns.rule("candidates: q_train_mask holds without a finite target_rri", n, |row| {
        at(&train, row) && !at(&rri, row).is_finite()
    });
    columns.rule("candidates: a label of an invalid row is not NaN", n, |row| {
        !(at(&actor, row) || at(&gain, row).is_nan() && at(&rri, row).is_nan())
    });
    columns.rule("candidates: invalid reasons contradict actor_action_mask", n, |row| {
        at(&actor, row) != (at(&bits, row) == shell::VALID)
    });
    columns.rule("candidates: primary_invalid_reason is not the first by priority", n, |row| {
        at(&primary, row) != if at(&actor, row) { 0 } else { shell::primary(at(&bits, row)) }
    });
    let (strategy, position, mixture) = (
        columns.get::<i32>("candidates/strategy_id"),
        columns.get::<i32>("candidates/position_id"),
        columns.get::<i32>("candidates/mixture_id"),
    );
    let probability = columns.get::<f32>("candidates/sampler_probability");
    columns.rule("candidates: a valid row lacks strategy, position, mixture or sampler probability", n, |row| {
        at(&actor, row)
            && (at(&strategy, row) < 0
                || at(&position, row) < 0
                || at(&mixture, row) < 0
                || !at(&probability, row).is_finite())
    });
    let (pair, gaze) =
        (columns.get::<i64>("candidates/position_pair_id"), columns.get::<i8>("candidates/gaze_variant_id"));
    columns.rule("candidates: gaze_variant_id is not 0 or 1 with a pair, -1 without", n, |row| {
        !(-1..=1).contains(&at(&gaze, row)) || (at(&pair, row) < 0) != (at(&gaze, row) < 0)
    });
}

fn diagnostics(columns: &mut Columns<'_>) {
    let (own, rows) = (
        columns.get::<i64>("candidate_diagnostics/candidate_row_id"),
        columns.get::<i64>("candidates/candidate_row_id"),
    );
    if own != rows {
        columns.errors.push("candidate_diagnostics: rows are not those of candidates".to_owned());
    }
    let collision = columns.get::<bool>("candidate_diagnostics/path_collision_mask");
    let applicable = columns.get::<bool>("candidate_diagnostics/path_collision_applicable_mask");
    let evaluated = columns.get::<bool>("candidate_diagnostics/path_collision_evaluated_mask");
    let actor = columns.get::<bool>("candidates/actor_action_mask");
    let bits = columns.get::<u32>("candidates/invalid_reason_bitset");
    columns.rule("candidate_diagnostics: a collision was not evaluated, or was not applicable", own.len(), |row| {
        (at(&evaluated, row) && !at(&applicable, row)) || (at(&collision, row) && !at(&evaluated, row))
    });
    columns.rule("candidate_diagnostics: a colliding row is actor-valid or lacks its reason", own.len(), |row| {
        at(&collision, row) && (at(&actor, row) || !collides(at(&bits, row)))
    });
}

/// Relative poses against the root's, within float32's rounding.
fn poses(columns: &mut Columns<'_>) {
    const TOLERANCE: f32 = 1e-3;
    fn pose(cells: &[f32], row: usize) -> Option<Pose> {
        cells.get(row * 12..row * 12 + 12)?.try_into().ok()
    }
    let roots = columns.get::<f32>("rollouts/root_pose_world");
    let (world, relative) =
        (columns.get::<f32>("candidates/pose_world_cam"), columns.get::<f32>("candidates/pose_relative_root"));
    let rollout = columns.get::<i64>("candidates/rollout_row_id");
    let actor = columns.get::<bool>("candidates/actor_action_mask");
    columns.rule("rollouts: root_pose_world is not finite", roots.len(), |cell| !at(&roots, cell).is_finite());
    columns.rule("candidates: pose_relative_root is not inverse(root) . candidate", actor.len(), |row| {
        let root = usize::try_from(at(&rollout, row)).ok().and_then(|rollout| pose(&roots, rollout));
        let (Some(root), Some(own), Some(stored)) = (root, pose(&world, row), pose(&relative, row)) else {
            return true;
        };
        if !own.iter().all(|number| number.is_finite()) {
            return at(&actor, row);
        }
        let expected = shell::relative(&root, &own);
        expected.iter().zip(stored).any(|(a, b)| (a - b).abs() > TOLERANCE * a.abs().max(1.0))
    });
}

/// Cumulative sums along chains, where every selected label is there to be added.
fn cumulative(columns: &mut Columns<'_>) {
    let selected = columns.get::<i64>("steps/selected_candidate_row_id");
    let rollout = columns.get::<i64>("steps/rollout_row_id");
    for name in ["target_root_gain", "target_rri"] {
        let labels = columns.get::<f32>(&format!("candidates/{name}"));
        let sums = columns.get::<f32>(&format!("steps/cumulative_{name}"));
        let finals = columns.get::<f32>(&format!("rollouts/final_cumulative_{name}"));
        let mut expected: Vec<f64> = Vec::with_capacity(sums.len());
        for row in 0..sums.len() {
            let label = usize::try_from(at(&selected, row))
                .ok()
                .and_then(|row| labels.get(row))
                .map_or(f64::NAN, |label| f64::from(*label));
            let before = match row.checked_sub(1) {
                Some(before) if at(&rollout, before) == at(&rollout, row) => expected.get(before).copied(),
                _ => Some(0.0),
            };
            expected.push(before.unwrap_or(f64::NAN) + label);
        }
        let off = |sum: f32, expected: f64| {
            expected.is_finite() && (f64::from(sum) - expected).abs() > 1e-5 * expected.abs().max(1.0)
        };
        columns.rule(&format!("steps: cumulative_{name} is not the running sum"), sums.len(), |row| {
            off(at(&sums, row), expected.get(row).copied().unwrap_or(f64::NAN))
        });
        columns.rule(&format!("rollouts: final_cumulative_{name} is not the last sum"), sums.len(), |row| {
            let last = rollout.get(row + 1) != rollout.get(row);
            let rollout = usize::try_from(at(&rollout, row)).unwrap_or(usize::MAX);
            let (stored, sum) = (finals.get(rollout).copied().unwrap_or(f32::NAN), at(&sums, row));
            last && !(stored.to_bits() == sum.to_bits() || (stored.is_nan() && sum.is_nan()))
        });
    }
}

fn sources(columns: &mut Columns<'_>) {
    let ids = columns.get::<i64>("sources/source_row_id");
    let used = columns.get::<i64>("rollouts/source_row_id");
    let splits = columns.get::<i32>("rollouts/split_id");
    columns.rule("sources: source_row_id occurs twice", ids.len(), |row| {
        ids.iter().take(row).any(|other| *other == at(&ids, row))
    });
    columns.rule("rollouts: source_row_id names no source", used.len(), |row| !ids.contains(&at(&used, row)));
    columns.rule("rollouts: more than one split in the store", splits.len(), |row| splits.first() != splits.get(row));
    let shard_row = columns.get::<i64>("sources/source_shard_row");
    columns.rule("sources: source_shard_row is negative", ids.len(), |row| at(&shard_row, row) < 0);
    for (path, dictionary) in [
        ("sources/source_shard_id", "source_shard"),
        ("sources/source_cache_version_id", "config"),
        ("sources/source_offline_store_manifest_hash_id", "config"),
    ] {
        let texts = columns.texts(path, dictionary);
        columns.rule(&format!("{path}: decodes to nothing"), texts.len(), |row| {
            texts.get(row).is_none_or(String::is_empty)
        });
    }
    let hash = root_text(columns, "split_manifest_hash");
    let hashes = columns.texts("sources/split_manifest_hash_id", "config");
    columns.rule("sources: split_manifest_hash_id is not the store's hash", hashes.len(), |row| {
        hashes.get(row) != Some(&hash)
    });
}

fn root_text(columns: &Columns<'_>, key: &str) -> String {
    columns.store.attributes().get(key).and_then(Value::as_text).unwrap_or_default().to_owned()
}

fn targets(columns: &mut Columns<'_>) {
    let ids = columns.get::<i64>("targets/target_row_id");
    let used = columns.get::<i64>("rollouts/target_row_id");
    let sources = columns.get::<i64>("rollouts/source_row_id");
    columns.rule("rollouts: target_row_id names no target", used.len(), |row| !ids.contains(&at(&used, row)));
    let mut owners: BTreeMap<i64, i64> = BTreeMap::new();
    for (target, source) in used.iter().zip(&sources) {
        owners.entry(*target).or_insert(*source);
    }
    columns.rule("targets: one target is used by several sources", used.len(), |row| {
        owners.get(&at(&used, row)) != sources.get(row)
    });
    let Some(protocol) = TargetInputProtocol::from_name(&root_text(columns, "target_protocol_version")) else { return };
    let source = columns.texts("targets/target_source_id", "target_source");
    let descriptor = columns.texts("targets/descriptor_source_id", "descriptor_source");
    let provenance = columns.texts("targets/descriptor_provenance_id", "descriptor_provenance");
    let (descriptor_hash, explicit_hash) = (
        columns.texts("targets/descriptor_hash_id", "descriptor_hash"),
        columns.texts("targets/explicit_target_hash_id", "explicit_target_hash"),
    );
    let status = columns.texts("targets/gt_match_status_id", "target_match_status");
    let matched = columns.texts("targets/matched_gt_target_id", "target");
    let matched_row = columns.get::<i64>("targets/matched_gt_target_row_id");
    let iou = columns.get::<f32>("targets/gt_match_iou");
    let (valid, bits) =
        (columns.get::<bool>("targets/target_valid_mask"), columns.get::<u32>("targets/target_invalid_reason_bitset"));
    let label = columns.get::<bool>("targets/gt_label_valid_mask");
    fn text(texts: &[String], row: usize) -> Option<&str> {
        texts.get(row).map(String::as_str).filter(|text| !text.is_empty())
    }
    let n = ids.len();
    columns.rule("targets: target_source is not admitted under the store's protocol", n, |row| {
        !protocol.admits(text(&source, row).unwrap_or_default(), text(&descriptor, row), text(&provenance, row))
    });
    columns.rule("targets: target_valid_mask is not (bitset == 1)", n, |row| at(&valid, row) != (at(&bits, row) == 1));
    let trainable = |row: usize| {
        Evidence {
            target_valid: at(&valid, row),
            target_source: text(&source, row),
            descriptor_source: text(&descriptor, row),
            descriptor_provenance: text(&provenance, row),
            descriptor_hash: text(&descriptor_hash, row),
            explicit_target_hash: text(&explicit_hash, row),
            matched_gt_target_row_id: at(&matched_row, row),
            matched_gt_target_id: text(&matched, row),
            gt_match_status: text(&status, row),
            gt_match_iou: at(&iou, row),
        }
        .trainable(protocol)
    };
    columns
        .rule("targets: gt_label_valid_mask is not what the evidence says", n, |row| at(&label, row) != trainable(row));
    let (train, oracle) =
        (columns.get::<bool>("candidates/q_train_mask"), columns.get::<bool>("candidates/oracle_label_mask"));
    let rollout = columns.get::<i64>("candidates/rollout_row_id");
    columns.rule("candidates: q_train_mask is not actor, oracle and target together", train.len(), |row| {
        let rollout = usize::try_from(at(&rollout, row)).unwrap_or(usize::MAX);
        let target = used.get(rollout).and_then(|target| usize::try_from(*target).ok()).unwrap_or(usize::MAX);
        let usable = valid.get(target) == Some(&true) && label.get(target) == Some(&true);
        at(&train, row) != (at(&oracle, row) && usable)
    });
}

fn lineage(columns: &mut Columns<'_>) {
    for name in ["candidate_config_id", "oracle_config_id", "rollout_config_id", "target_crop_policy_id"] {
        let path = format!("lineage/{name}");
        let texts = columns.texts(&path, "config");
        columns.rule(&format!("{path}: decodes to nothing"), texts.len(), |row| {
            texts.get(row).is_none_or(String::is_empty)
        });
    }
    for (name, key) in
        [("target_protocol_version_id", "target_protocol_version"), ("reason_code_version_id", "reason_code_version")]
    {
        let expected = root_text(columns, key);
        let texts = columns.texts(&format!("lineage/{name}"), "config");
        columns.rule(&format!("lineage/{name}: is not the root's {key}"), texts.len(), |row| {
            texts.get(row) != Some(&expected)
        });
    }
}

/// Depth and crops hold no rows unless they are on.
fn features_that_are_off(columns: &mut Columns<'_>) {
    let attributes = columns.store.attributes();
    for (group, key, array) in [
        ("selected_depth", "selected_depth_enabled", "selected_depth/step_row_id"),
        ("target_eval_crops", "target_eval_crops_enabled", "target_eval_crops/crop_row_id"),
    ] {
        let rows = columns.store.array(array).map_or(0, |array| array.len());
        match attributes.get(key) {
            Some(Value::Bool(false)) if rows == 0 => {}
            Some(Value::Bool(false)) => columns.errors.push(format!("{group}: has {rows} rows though {key} is false")),
            _ => columns.errors.push(format!("{group}: {key} is set, which this version does not check yet")),
        }
    }
}
